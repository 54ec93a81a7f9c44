"""Phrases: words that stand side by side far more often than chance would have it become one word.

A pair a b has the score (count(a b) - delta) / (count(a) · count(b)) · words, as in the word2vec paper: how many times
more often than by chance the pair is seen, with `delta` against pairs of rare words. Pairs above a threshold are joined
(new york → new_york); a second pass over the joined text finds longer ones (new_york times → new_york_times).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.files import Name, write_bytes
from firth.kernels import ngram as ngram_kernel
from firth.kernels import phrases as kernel
from firth.models.ngram_counts import Run, cut_sentences, merge_runs
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.serialization import Parts
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary, pack

Ids = NDArray[np.int64]
Text = tuple[NDArray[np.uint32], Ids]  # ids, and the ends of sentences among them
BLANKS = frozenset(" \t\n\v\f\r")


@dataclass(frozen=True)
class Phrases(Recipe):
    """Finds phrases in a corpus.

    >>> text = ["he lives in new york", "new york is large", "new ideas come from york"] * 3
    >>> model = Phrases(threshold=1, delta=2, passes=1).fit(Corpus.of(text))
    >>> model.apply(["to", "new", "york", "again"])
    ['to', 'new_york', 'again']
    """

    commands = ("firth train phrases corpus.txt --threshold 100 --passes 2 --out phrases/",)

    threshold: float = option(100.0, "join pairs with a score above this: higher for fewer phrases", minimum=0)
    delta: int = option(5, "count pairs so many times less: higher for fewer phrases of rare words", minimum=0)
    passes: int = option(2, "so often is the joined text searched again, for longer phrases", minimum=1)
    threshold_factor: float = option(1.0, "each pass has the threshold of the one before times this", minimum=0)
    joiner: str = option("_", "what stands between the words of a phrase")

    def __post_init__(self) -> None:
        super().__post_init__()
        if BLANKS & set(self.joiner):
            raise OptionError(f"Phrases: joiner is {self.joiner!r}, but white space ends a word")

    def fit(self, corpus: Corpus, *, runtime: Runtime | None = None, report: Report = silent) -> PhraseModel:
        """The phrases of a corpus: exact counts, whatever the number of threads."""
        runtime = runtime or Runtime.from_env()
        tokens = corpus.tokens(report)
        if len(tokens) == 0:
            raise OptionError("the corpus holds no words")
        words = tokens.vocabulary
        joins: list[Join] = []
        for turn in range(self.passes):
            reading = PhraseReader(tokens, tuple(join.by_first(len(words)) for join in joins))
            threshold = self.threshold * self.threshold_factor**turn
            found = self._search(reading, words, threshold, runtime, _renamed(report, f"pass {turn + 1}"))
            if len(found.lefts) == 0:
                break
            words, found = name_phrases(words, found, self.joiner)
            joins.append(found)
        metadata = {
            "recipe": {"name": "phrases", **self.as_dict()},
            "tokenizer": corpus.tokenizer.as_dict(),
            "corpus": {"fingerprint": tokens.fingerprint, "tokens": len(tokens)},
        }
        return PhraseModel.of_used(words, joins, self.joiner, metadata)

    def _search(
        self, reading: PhraseReader, words: Vocabulary, threshold: float, runtime: Runtime, report: Report
    ) -> Join:
        """The pairs above the threshold in the text as it is now; they have no names yet."""
        counts = reading.count_words(len(words), runtime)
        frequent = np.flatnonzero(counts > self.delta)  # no other word can be in a pair of count above delta
        numbers = np.full(len(words), -1, np.int64)
        numbers[frequent] = np.arange(len(frequent))
        keys, pair_counts = reading.count_pairs(numbers, len(frequent), runtime, report)
        lefts, rights = (frequent[part.astype(np.int64)] for part in np.divmod(keys, np.uint64(max(1, len(frequent)))))
        chance = counts[lefts].astype(np.float64) * counts[rights]
        scores = (pair_counts - self.delta) / chance * counts.sum()
        chosen = (scores > threshold) & (pair_counts > self.delta)
        nothing = np.zeros(int(chosen.sum()), np.int64)
        return Join(lefts[chosen], rights[chosen], nothing, pair_counts[chosen], scores[chosen])


class PairIndex(NamedTuple):
    """Pairs by their first word (see `kernels/phrases.py`)."""

    starts: Ids
    seconds: NDArray[np.uint32]
    joined: NDArray[np.uint32]


class Join(NamedTuple):
    """The pairs of one pass, by their words' ids: words[i] stands for lefts[i] rights[i]."""

    lefts: Ids
    rights: Ids
    words: Ids
    counts: Ids
    scores: NDArray[np.float64]

    def by_first(self, size: int) -> PairIndex:
        """The pairs by their first word, of `size` words."""
        order = np.lexsort((self.rights, self.lefts))
        starts = np.searchsorted(self.lefts[order], np.arange(size + 1))
        return PairIndex(starts, self.rights[order].astype(np.uint32), self.words[order].astype(np.uint32))

    def renamed(self, ids: Ids) -> Join:
        """The same pairs with other ids: id i becomes ids[i]."""
        return Join(ids[self.lefts], ids[self.rights], ids[self.words], self.counts, self.scores)


@dataclass(frozen=True)
class PhraseReader:
    """A text in which some pairs are joined, chunk by chunk; nothing is kept."""

    tokens: TokenFile
    joins: tuple[PairIndex, ...]

    def text(self, chunk: tuple[int, int]) -> Text:
        """The sentences first … last - 1."""
        first, last = chunk
        ends = np.asarray(self.tokens.sentences[first : last + 1]).astype(np.int64)
        ids, ends = np.asarray(self.tokens.ids[ends[0] : ends[-1]]), ends[1:] - ends[0]
        for index in self.joins:
            out, out_ends = np.empty(len(ids), np.uint32), np.empty(len(ends), np.int64)
            used = kernel.join(ids, ends, *index, out, out_ends)
            ids, ends = out[:used], out_ends
        return ids, ends

    def count_words(self, size: int, runtime: Runtime) -> Ids:
        """How often each word stands in the text."""
        if not self.joins and self.tokens.vocabulary.counts is not None:
            return np.asarray(self.tokens.vocabulary.counts)
        chunks = cut_sentences(self.tokens, runtime)
        counts = np.zeros(size, np.int64)
        for found in runtime.stream(lambda chunk: np.bincount(self.text(chunk)[0], minlength=size), chunks):
            counts += found
        return counts

    def count_pairs(self, numbers: Ids, size: int, runtime: Runtime, report: Report) -> Run:
        """The pairs of words with numbers, as sorted keys left · size + right, and their counts."""

        def count(chunk: tuple[int, int]) -> tuple[int, Run]:
            ids, ends = self.text(chunk)
            buffers = np.empty((2, len(ids)), np.uint64)
            found = kernel.pair_keys(ids, ends, numbers, size, buffers[0])
            keys = ngram_kernel.sort_keys(buffers[0, :found], buffers[1, :found], max(1, size * size))
            counts = np.empty(found, np.int64)
            distinct = ngram_kernel.count_sorted(keys, counts)
            return len(ids), (keys[:distinct].copy(), counts[:distinct].copy())

        def runs() -> Iterator[Run]:
            done = 0
            for words, run in runtime.stream(count, cut_sentences(self.tokens, runtime)):
                done += words
                report(Progress("counting pairs", done, len(self.tokens), "words"))
                yield run

        return merge_runs(runs())


def name_phrases(words: Vocabulary, found: Join, joiner: str) -> tuple[Vocabulary, Join]:
    """The words with the phrases that are new among them, and the pairs with their phrases' ids.

    A phrase may be a word already: the text may hold it, or another pair may have the same name.
    """
    names = [words[left] + joiner + words[right] for left, right in zip(found.lefts.tolist(), found.rights.tolist())]
    known = words.ids(names).tolist()
    fresh = list(dict.fromkeys(name for name, id in zip(names, known) if id < 0))
    places = {name: len(words) + i for i, name in enumerate(fresh)}
    ids = [id if id >= 0 else places[name] for name, id in zip(names, known)]
    return extend_vocabulary(words, fresh), found._replace(words=np.array(ids, np.int64))


def extend_vocabulary(words: Vocabulary, more: Sequence[str]) -> Vocabulary:
    """The words, and more behind them; counts are left out."""
    blob, starts, ends = pack(more)
    shift = len(words.blob)
    return Vocabulary.from_arrays(
        np.concatenate([words.blob, blob]),
        np.concatenate([words.starts, starts + shift]),
        np.concatenate([words.ends, ends + shift]),
    )


def _renamed(report: Report, name: str) -> Report:
    return lambda progress: report(
        Progress(f"{progress.step}, {name}", progress.done, progress.total, progress.unit, progress.values)
    )


@dataclass(frozen=True)
class Phrase:
    """A phrase that was found: its name, how often it was seen, and its score."""

    name: str
    count: int
    score: float


class PhraseModel:
    """Phrases that were found, by pass: `Phrases(...).fit(corpus)` makes one, `firth.load` opens one.

    >>> text = ["the new york times", "new york wakes", "the times change"] * 3
    >>> model = Phrases(threshold=2, delta=2).fit(Corpus.of(text))
    >>> model.apply("the new york times".split())
    ['the', 'new_york', 'times']
    >>> model.top(1)
    [Phrase(name='new_york', count=6, score=3.333333333333333)]
    """

    kind = "phrases"

    def __init__(
        self, vocabulary: Vocabulary, joins: Sequence[Join], joiner: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        self.vocabulary, self.joins, self.joiner = vocabulary, tuple(joins), joiner
        self.metadata: dict[str, Any] = dict(metadata or {})
        for join in self.joins:
            ids = np.concatenate([join.lefts, join.rights, join.words])
            if len({len(column) for column in join}) != 1 or np.any(ids < 0) or np.any(ids >= len(vocabulary)):
                raise OptionError("the pairs of these phrases do not fit their words. Find or download them again")

    @classmethod
    def of_used(cls, words: Vocabulary, joins: Sequence[Join], joiner: str, metadata: Mapping[str, Any]) -> PhraseModel:
        """A model of only those words that are in a phrase."""
        nothing = np.zeros(0, np.int64)
        used = np.unique(np.concatenate([nothing, *(column for join in joins for column in join[:3])]))
        numbers = np.zeros(len(words), np.int64)
        numbers[used] = np.arange(len(used))
        small = Vocabulary(words[int(id)] for id in used)
        return cls(small, [join.renamed(numbers) for join in joins], joiner, metadata)

    def __len__(self) -> int:
        return sum(len(join.lefts) for join in self.joins)

    def __repr__(self) -> str:
        first = ", ".join(phrase.name for phrase in self.top(3))
        return f"PhraseModel({len(self):,} phrases in {len(self.joins)} passes" + (f": {first}, …)" if first else ")")

    @cached_property
    def _tables(self) -> list[dict[tuple[str, str], str]]:
        words = self.vocabulary.words
        return [
            {(words[left], words[right]): words[word] for left, right, word in zip(*map(np.ndarray.tolist, join[:3]))}
            for join in self.joins
        ]

    def apply(self, words: Iterable[str]) -> list[str]:
        """The words of one sentence with its phrases joined."""
        found = list(words)
        for table in self._tables:
            joined: list[str] = []
            at = 0
            while at < len(found):
                phrase = table.get((found[at], found[at + 1])) if at + 1 < len(found) else None
                joined.append(found[at] if phrase is None else phrase)
                at += 1 if phrase is None else 2
            found = joined
        return found

    def top(self, n: int = 10) -> list[Phrase]:
        """The n phrases with the highest scores, of all passes; those with equal scores by count, then by name."""
        words = self.vocabulary.words
        every = [
            Phrase(words[id], count, score)
            for join in self.joins
            for id, count, score in zip(join.words.tolist(), join.counts.tolist(), join.scores.tolist())
        ]
        return sorted(every, key=lambda phrase: (-phrase.score, -phrase.count, phrase.name))[:n]

    def rewrite(self, corpus: Corpus, path: Name, *, runtime: Runtime | None = None, report: Report = silent) -> Corpus:
        """Writes a corpus with its phrases joined, a sentence a line, and returns the corpus of that file.

        The file is packed as its name ends (.gz, .zst, …) and appears only when it is whole.
        """
        runtime = runtime or Runtime.from_env()
        tokens = corpus.tokens(report)
        found = tokens.vocabulary.ids(self.vocabulary)
        missing = np.flatnonzero(found < 0)
        words = extend_vocabulary(tokens.vocabulary, [self.vocabulary[int(id)] for id in missing])
        found[missing] = len(tokens.vocabulary) + np.arange(len(missing))
        reading = PhraseReader(tokens, tuple(join.renamed(found).by_first(len(words)) for join in self.joins))

        def print_chunk(chunk: tuple[int, int]) -> tuple[int, NDArray[np.uint8]]:
            ids, ends = reading.text(chunk)
            size = kernel.write_words(ids, ends, words.blob, words.starts, words.ends, np.empty(0, np.uint8))
            lines = np.empty(size, np.uint8)
            kernel.write_words(ids, ends, words.blob, words.starts, words.ends, lines)
            return chunk[1], lines

        with write_bytes(path) as file:
            for done, lines in runtime.stream(print_chunk, cut_sentences(tokens, runtime)):
                file.write(lines.data)
                report(Progress("joining phrases", done, len(tokens.sentences) - 1, "sentences"))
        return Corpus(path, tokenizer=Tokenizer(mode="whitespace"))

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        columns = zip(*self.joins) if self.joins else ([np.zeros(0, np.int64)] for _ in Join._fields)
        arrays = {name: np.concatenate(list(column)) for name, column in zip(Join._fields, columns)}
        arrays["passes"] = np.array([len(join.lefts) for join in self.joins], np.int64)
        return Parts(self.kind, {"joiner": self.joiner, "metadata": self.metadata}, arrays, {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> PhraseModel:
        """The artifact that `to_parts` took apart."""
        edges = np.cumsum(np.asarray(parts.arrays["passes"], np.int64))
        columns = [np.asarray(parts.arrays[name]) for name in Join._fields]
        if any(len(column) != (edges[-1] if len(edges) else 0) for column in columns):
            raise OptionError("the pairs of these phrases do not fit their passes. Find or download them again")
        joins = [
            Join(*(column[end - size : end] for column in columns))
            for end, size in zip(edges.tolist(), parts.arrays["passes"].tolist())
        ]
        return cls(parts.vocabularies["vocab"], joins, str(parts.config["joiner"]), parts.config.get("metadata"))
