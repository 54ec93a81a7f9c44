"""Phrase detection: adjacent words that co-occur far more often than by chance become one token.

A pair a b has the score (count(a b) - delta) / (count(a) · count(b)) · words, as in the word2vec paper: its count
relative to the count expected by chance; `delta` lowers the scores of rare pairs. Pairs above a threshold are joined
(new york → new_york); a second pass over the joined text finds longer phrases (new_york times → new_york_times).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.files import Name, write_bytes
from firth.kernels import phrases as kernel
from firth.models.ngram_counts import (
    RANGES,
    KeyCounts,
    Run,
    TextShard,
    count_keys,
    cut_sentences,
    cut_shards,
    join_ranges,
    merge_ranges,
    merge_runs,
    report_progress,
    split_run,
)
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.serialization import Parts
from firth.show.bar import shows_progress
from firth.text.corpus import Corpus, Source
from firth.text.model_tokenizer import ModelTokenizer, TextLike, tokenizer_of
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import MOST_TOKENS, Vocabulary, pack

Ids = NDArray[np.int64]
Text = tuple[NDArray[np.uint32], Ids]  # ids, and the ends of the sentences
MOST_PHRASES = 1 << 40
PairScorer = Callable[[int, int, int, int], float]  # of the counts of left, right and pair, and the number of words
ENGLISH_CONNECTORS = (
    "a",
    "an",
    "the",
    "of",
    "in",
    "on",
    "at",
    "by",
    "to",
    "from",
    "for",
    "with",
    "without",
    "and",
    "or",
)
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

    scoring: Literal["word2vec", "npmi"] = option(
        "word2vec",
        "Score of a pair. word2vec: its count, less delta, over the count by chance. npmi: normalized pointwise mutual "
        "information, from -1 to 1; pairs with fewer than delta occurrences are left out.",
    )
    connectors: tuple[str, ...] = option(
        (), "Words that may stand inside a phrase, such as of and the, but neither begin nor end it."
    )
    threshold: float = option(
        100.0, "Join pairs with a score above this; higher values give fewer phrases.", minimum=-1
    )
    delta: int = option(
        5, "Discount subtracted from the count of a pair; higher values give fewer phrases of rare words.", minimum=0
    )
    passes: int = option(
        2, "Passes over the text; each one joins the phrases of the previous pass to longer ones.", minimum=1
    )
    threshold_factor: float = option(1.0, "Factor of the threshold from one pass to the next.", minimum=0)
    joiner: str = option("_", "Separator between the words of a phrase.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if BLANKS & set(self.joiner):
            raise OptionError(f"Phrases: joiner is {self.joiner!r}, but must not contain whitespace")
        if self.scoring == "npmi" and self.threshold >= 1:
            raise OptionError(f"Phrases: threshold is {self.threshold}, but npmi is at most 1. Use about 0.5")

    @shows_progress
    def fit(
        self,
        corpus: Source,
        *,
        scorer: PairScorer | None = None,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
    ) -> PhraseModel:
        """Finds the phrases of a corpus. Counts are exact for any number of threads.

        `scorer` replaces the score: a function of the counts of the first word, of the second word and of the pair, and
        of the number of words of the text.
        """
        runtime = runtime or Runtime.from_env()
        corpus = Corpus.of(corpus)
        tokens = corpus.tokens(report, runtime)
        if len(tokens) == 0:
            raise OptionError("the corpus holds no words")
        metadata = {
            "recipe": {"name": "phrases", **self.as_dict(), "connectors": list(self.connectors)},
            "tokenizer": corpus.tokenizer.as_dict(),
            "corpus": {"fingerprint": tokens.fingerprint, "tokens": len(tokens)},
        }
        if self.connectors:
            return self._find_connected(corpus, scorer, metadata)
        words = tokens.vocabulary
        joins: list[Join] = []
        for index in range(self.passes):
            reader = PhraseReader(tokens, tuple(one.by_first(len(words)) for one in joins))
            threshold = self.threshold * self.threshold_factor**index

            def report_pass(progress: Progress, number: int = index + 1) -> None:
                report(replace(progress, step=f"{progress.step}, pass {number}"))

            join = self._search(reader, words, threshold, scorer, runtime, report_pass)
            if len(join.lefts) == 0:
                break
            words, join = name_phrases(words, join, self.joiner)
            joins.append(join)
        return PhraseModel.compact(words, joins, self.joiner, metadata)

    def _find_connected(self, corpus: Corpus, scorer: PairScorer | None, metadata: Mapping[str, Any]) -> PhraseModel:
        from firth.models.connected_phrases import ConnectedPhrases, find_phrases, join_words  # they import this file

        def score(left: int, right: int, pair: int, total: int) -> float:
            if scorer is not None:
                return float(scorer(left, right, pair, total))
            return float(self._scores(np.array([left]), np.array([right]), np.array([pair]), total)[0])

        tables: list[Any] = []
        connectors = frozenset(self.connectors)

        def joined(sentence: list[str]) -> list[str]:
            for table in tables:
                sentence = join_words(sentence, connectors, table, self.joiner)
            return sentence

        for index in range(self.passes):
            threshold = self.threshold * self.threshold_factor**index
            sentences = map(joined, corpus.sentences())
            table = find_phrases(sentences, connectors, self._least(scorer), threshold, score)
            if not table:
                break
            tables = [*tables, table]
        return ConnectedPhrases(tables, connectors, self.joiner, metadata)

    def _least(self, scorer: PairScorer | None) -> int:
        """The smallest count of a pair that may be a phrase."""
        if scorer is not None:
            return 1
        return self.delta + 1 if self.scoring == "word2vec" else max(1, self.delta)

    def _scores(self, lefts: Ids, rights: Ids, pairs: Ids, total: int) -> NDArray[np.float64]:
        """The scores of pairs, from the counts of both words and of the pair, and the number of words."""
        expected = lefts.astype(np.float64) * rights
        if self.scoring == "npmi":
            shares = pairs / total
            with np.errstate(divide="ignore"):  # a text of one pair only has log 1 = 0
                return np.asarray(np.log(pairs * float(total) / expected) / -np.log(shares))
        return np.asarray((pairs - self.delta) / expected * total)

    def _search(
        self,
        reader: PhraseReader,
        words: Vocabulary,
        threshold: float,
        scorer: PairScorer | None,
        runtime: Runtime,
        report: Report,
    ) -> Join:
        """The pairs above the threshold; their words are still 0."""
        counts = reader.count_words(len(words), runtime)
        least = self._least(scorer)
        frequent = np.flatnonzero(counts >= least)  # a pair that occurs so often has no other words
        numbers = np.full(len(words), -1, np.int64)
        numbers[frequent] = np.arange(len(frequent))
        keys, pair_counts = reader.count_pairs(numbers, len(frequent), runtime, report)
        lefts, rights = (frequent[part.astype(np.int64)] for part in np.divmod(keys, np.uint64(max(1, len(frequent)))))
        total = int(counts.sum())
        if scorer is None:
            scores = self._scores(counts[lefts], counts[rights], pair_counts, total)
        else:
            columns = zip(counts[lefts].tolist(), counts[rights].tolist(), pair_counts.tolist())
            scores = np.array([scorer(*column, total) for column in columns], np.float64)
        chosen = (scores > threshold) & (pair_counts >= least)
        unnamed = np.zeros(int(chosen.sum()), np.int64)
        return Join(lefts[chosen], rights[chosen], unnamed, pair_counts[chosen], scores[chosen])


class PairIndex(NamedTuple):
    """Pairs by their first word (see `kernels/phrases.py`)."""

    starts: Ids
    seconds: NDArray[np.uint32]
    joined: NDArray[np.uint32]


class Join(NamedTuple):
    """The pairs of one pass as ids of words: words[i] replaces lefts[i] rights[i]."""

    lefts: Ids
    rights: Ids
    words: Ids
    counts: Ids
    scores: NDArray[np.float64]

    def by_first(self, size: int) -> PairIndex:
        """The index of the pairs by their first word, for `size` words."""
        order = np.lexsort((self.rights, self.lefts))
        starts = np.searchsorted(self.lefts[order], np.arange(size + 1))
        return PairIndex(starts, self.rights[order].astype(np.uint32), self.words[order].astype(np.uint32))

    def map_ids(self, ids: Ids) -> Join:
        """The same pairs with other ids: id i becomes ids[i]."""
        return Join(ids[self.lefts], ids[self.rights], ids[self.words], self.counts, self.scores)


@dataclass(frozen=True)
class JoinedText:
    """A text with joined pairs, read chunk by chunk."""

    tokens: TextShard | TokenFile
    joins: tuple[PairIndex, ...]

    def text(self, chunk: tuple[int, int]) -> Text:
        """The sentences first … last - 1 of a chunk (first, last)."""
        first, last = chunk
        ends = np.asarray(self.tokens.sentences[first : last + 1]).astype(np.int64)
        ids, ends = np.asarray(self.tokens.ids[ends[0] : ends[-1]]), ends[1:] - ends[0]
        for index in self.joins:
            out, out_ends = np.empty(len(ids), np.uint32), np.empty(len(ends), np.int64)
            used = kernel.join(ids, ends, *index, out, out_ends)
            ids, ends = out[:used], out_ends
        return ids, ends

    def count_chunk(self, chunk: tuple[int, int], numbers: Ids, size: int) -> tuple[int, Run]:
        """The number of words of a chunk, and its pairs with their counts."""
        ids, ends = self.text(chunk)
        buffers = np.empty((2, len(ids)), np.uint64)
        used = kernel.pair_keys(ids, ends, numbers, size, buffers[0])
        return len(ids), count_keys(buffers[:, :used], max(1, size * size))


@dataclass(frozen=True)
class PhraseReader(JoinedText):
    """Counts the words and pairs of a whole text with joined pairs."""

    tokens: TokenFile

    def count_words(self, size: int, runtime: Runtime) -> Ids:
        """The count of each word in the text."""
        if not self.joins and self.tokens.vocabulary.counts is not None:
            return np.asarray(self.tokens.vocabulary.counts)
        counts = np.zeros(size, np.int64)
        if runtime.workers:
            counter = PhraseCounter(self.joins, np.zeros(0, np.int64), size)
            stage = f"words {self.tokens.fingerprint} {counter.checksum}"
            shards = runtime.scatter(PhraseCounter.count_words, cut_shards(self.tokens), shared=counter, stage=stage)
            for shard in shards:
                counts += shard["counts"]
            return counts
        chunks = cut_sentences(self.tokens, runtime)
        for chunk_counts in runtime.stream(lambda chunk: np.bincount(self.text(chunk)[0], minlength=size), chunks):
            counts += chunk_counts
        return counts

    def count_pairs(self, numbers: Ids, size: int, runtime: Runtime, report: Report) -> Run:
        """The pairs of numbered words as sorted keys left · size + right, with their counts."""
        if runtime.workers:
            return self._count_pairs_on_cluster(numbers, size, runtime, report)
        runs = runtime.stream(lambda chunk: self.count_chunk(chunk, numbers, size), cut_sentences(self.tokens, runtime))
        return merge_runs(report_progress(runs, "counting pairs", len(self.tokens), report))

    def _count_pairs_on_cluster(self, numbers: Ids, size: int, runtime: Runtime, report: Report) -> Run:
        if size == 0:
            return merge_runs([])
        counter, total = PhraseCounter(self.joins, numbers, size, RANGES * runtime.workers), len(self.tokens)
        done = np.cumsum([len(shard.ids) for shard in cut_shards(self.tokens)])
        ranges = runtime.map_reduce(
            PhraseCounter.count_pairs,
            merge_ranges,
            cut_shards(self.tokens),
            parts=len(counter.edges) - 1,
            shared=counter,
            stage=f"pairs {self.tokens.fingerprint} {counter.checksum} {size} {counter.parts}",
            done=lambda number: report(Progress("counting pairs", int(done[number - 1]), total, "words")),
        )
        return join_ranges(ranges)


@dataclass(frozen=True)
class PhraseCounter:
    """Counts words and pairs of a shard, with the phrases of earlier passes joined, on a worker."""

    joins: tuple[PairIndex, ...]
    numbers: Ids
    size: int
    parts: int = 1

    @property
    def edges(self) -> NDArray[np.uint64]:
        """The first key of each range of the first word, and the end. Frequent words are few: ranges grow."""
        shares = (np.arange(self.parts + 1) / self.parts) ** 3 * self.size
        return np.asarray(np.unique(shares.astype(np.uint64)) * np.uint64(self.size))

    @property
    def checksum(self) -> int:
        """A checksum of the phrases and of the words."""
        checksum = zlib.crc32(self.numbers.data)
        for index in self.joins:
            for array in index:
                checksum = zlib.crc32(array.data, checksum)
        return checksum

    def count_words(self, shard: TextShard) -> KeyCounts:
        """The count of each word."""
        ids, _ = JoinedText(shard, self.joins).text(shard.chunk)
        return {"counts": np.bincount(ids, minlength=self.size)}

    def count_pairs(self, shard: TextShard) -> list[KeyCounts]:
        """The pairs of each range of keys."""
        _, run = JoinedText(shard, self.joins).count_chunk(shard.chunk, self.numbers, self.size)
        return split_run(run, self.edges)


def name_phrases(words: Vocabulary, join: Join, joiner: str) -> tuple[Vocabulary, Join]:
    """The vocabulary with the new phrases, and the pairs with the ids of their phrases.

    A phrase may be in the vocabulary already: as a word of the text, or as another pair with the same name.
    """
    names = [words[left] + joiner + words[right] for left, right in zip(join.lefts.tolist(), join.rights.tolist())]
    known = words.ids(names).tolist()
    fresh = list(dict.fromkeys(name for name, id in zip(names, known) if id < 0))
    places = {name: len(words) + i for i, name in enumerate(fresh)}
    ids = [id if id >= 0 else places[name] for name, id in zip(names, known)]
    return extend_vocabulary(words, fresh), join._replace(words=np.array(ids, np.int64))


def extend_vocabulary(words: Vocabulary, more: Sequence[str]) -> Vocabulary:
    """The vocabulary with more words at its end, without counts."""
    blob, starts, ends = pack(more)
    shift = len(words.blob)
    return Vocabulary.from_arrays(
        np.concatenate([words.blob, blob]),
        np.concatenate([words.starts, starts + shift]),
        np.concatenate([words.ends, ends + shift]),
    )


@dataclass(frozen=True)
class Phrase:
    """A phrase with its count and its score."""

    name: str
    count: int
    score: float


@checked
class PhraseModel:
    """The phrases of each pass: `Phrases(...).fit(corpus)` makes one, `firth.load` opens one.

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
                raise OptionError("the phrases do not fit their vocabulary. Make or download the model again")

    @classmethod
    def compact(cls, words: Vocabulary, joins: Sequence[Join], joiner: str, metadata: Mapping[str, Any]) -> PhraseModel:
        """A model with only the words that occur in phrases."""
        used = np.unique(np.concatenate([np.zeros(0, np.int64), *(column for join in joins for column in join[:3])]))
        numbers = np.zeros(len(words), np.int64)
        numbers[used] = np.arange(len(used))
        small = Vocabulary(words[int(id)] for id in used)
        return cls(small, [join.map_ids(numbers) for join in joins], joiner, metadata)

    def __len__(self) -> int:
        return sum(len(join.lefts) for join in self.joins)

    def __repr__(self) -> str:
        first = ", ".join(phrase.name for phrase in self.top(3))
        return f"PhraseModel({len(self):,} phrases in {len(self.joins)} passes" + (f": {first}, …)" if first else ")")

    @cached_property
    def tokenizer(self) -> ModelTokenizer:
        """The tokenizer of the training text, which splits and normalizes texts to join."""
        return ModelTokenizer.of(self.metadata, self.vocabulary)

    @cached_property
    def _tables(self) -> list[dict[tuple[str, str], str]]:
        words = self.vocabulary.words
        return [
            {(words[left], words[right]): words[word] for left, right, word in zip(*map(np.ndarray.tolist, join[:3]))}
            for join in self.joins
        ]

    def apply(self, words: TextLike) -> list[str]:
        """The words of one sentence, a text or a list of words, with its phrases joined."""
        tokens = self.tokenizer.words(words)
        for table in self._tables:
            joined: list[str] = []
            at = 0
            while at < len(tokens):
                phrase = table.get((tokens[at], tokens[at + 1])) if at + 1 < len(tokens) else None
                joined.append(tokens[at] if phrase is None else phrase)
                at += 1 if phrase is None else 2
            tokens = joined
        return tokens

    def top(self, n: int = 10) -> list[Phrase]:
        """The n phrases with the highest scores, of all passes; those with equal scores by count, then by name."""
        words = self.vocabulary.words
        every = [
            Phrase(words[id], count, score)
            for join in self.joins
            for id, count, score in zip(join.words.tolist(), join.counts.tolist(), join.scores.tolist())
        ]
        return sorted(every, key=lambda phrase: (-phrase.score, -phrase.count, phrase.name))[:n]

    def rewrite(self, corpus: Source, path: Name, *, runtime: Runtime | None = None, report: Report = silent) -> Corpus:
        """Writes a corpus with joined phrases, one sentence per line, and returns the corpus of that file.

        Texts that are no `Corpus` are split and normalized as the text of the model was. The ending of the name (.gz,
        .zst, …) selects compression. The file appears only when it is complete.
        """
        runtime = runtime or Runtime.from_env()
        tokens = self._read(corpus).tokens(report)
        ids_in_text = tokens.vocabulary.ids(self.vocabulary)
        missing = np.flatnonzero(ids_in_text < 0)
        words = extend_vocabulary(tokens.vocabulary, [self.vocabulary[int(id)] for id in missing])
        ids_in_text[missing] = len(tokens.vocabulary) + np.arange(len(missing))
        reader = PhraseReader(tokens, tuple(join.map_ids(ids_in_text).by_first(len(words)) for join in self.joins))

        def print_chunk(chunk: tuple[int, int]) -> tuple[int, NDArray[np.uint8]]:
            ids, ends = reader.text(chunk)
            size = kernel.write_words(ids, ends, words.blob, words.starts, words.ends, np.empty(0, np.uint8))
            lines = np.empty(size, np.uint8)
            kernel.write_words(ids, ends, words.blob, words.starts, words.ends, lines)
            return chunk[1], lines

        with write_bytes(path) as file:
            for done, lines in runtime.stream(print_chunk, cut_sentences(tokens, runtime)):
                file.write(lines.data)
                report(Progress("joining phrases", done, len(tokens.sentences) - 1, "sentences"))
        return Corpus(path, tokenizer=Tokenizer(mode="whitespace"))

    def _read(self, source: Source) -> Corpus:
        """The corpus of a source. Texts are split as the training text was; a corpus and lists of words stay."""
        corpus = Corpus.of(source)
        if corpus is not source and corpus.tokenizer.mode == "running":
            corpus.tokenizer = tokenizer_of(self)
        return corpus

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        columns = zip(*self.joins) if self.joins else ([np.zeros(0, np.int64)] for _ in Join._fields)
        arrays = {name: np.concatenate(list(column)) for name, column in zip(Join._fields, columns)}
        arrays["passes"] = np.array([len(join.lefts) for join in self.joins], np.int64)
        return Parts(self.kind, {"joiner": self.joiner, "metadata": self.metadata}, arrays, {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> PhraseModel:
        """The artifact that `to_parts` took apart."""
        passes = parts.ids("passes", None, below=MOST_PHRASES)
        edges = np.cumsum(passes, dtype=np.int64)
        total, words = int(edges[-1]) if len(edges) else 0, parts.vocabulary
        ids = [parts.ids(name, total, below=len(words)) for name in ("lefts", "rights", "words")]
        counts = parts.ids("counts", total, below=MOST_TOKENS)
        columns = [*ids, counts, parts.array("scores", "f" if total else "fiu", total)]
        joins = [
            Join(*(column[end - size : end] for column in columns))
            for end, size in zip(edges.tolist(), passes.tolist())
        ]
        return cls(words, joins, str(parts.config["joiner"]), parts.metadata)
