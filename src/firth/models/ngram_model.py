"""A backoff n-gram language model: the probability of a word after the words before it.

The n-grams are in a sorted trie (see `kernels/ngram.py`). The probability of an unseen n-gram is that of the shorter
context times the backoff weight of the longer one. Logarithms are natural here; the trie and ARPA files store log10.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from firth.arguments import checked
from firth.errors import FirthError, OptionError
from firth.kernels import ngram as kernel
from firth.models.ngram_state import NgramState, advance, begin_sentence
from firth.models.perplexity import Perplexity, SentenceLogProbs, exponential
from firth.runtime import Runtime
from firth.serialization import Parts, check_array, check_number, check_pointers, check_range
from firth.text.corpus import Corpus
from firth.text.coverage import Coverage, measure, report_coverage
from firth.text.model_tokenizer import ModelTokenizer, Sentences, TextLike
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary

MOST_NGRAMS = 1 << 48
MOST_ORDER = 1000
LARGEST_BACKOFF = 100.0  # log10; a backoff weight is a ratio of probabilities
BATCH = 1 << 16  # words per batch of scoring
SPELLINGS = {"<unk>": ("<unk>", "<UNK>"), "<s>": ("<s>", "<S>"), "</s>": ("</s>", "</S>")}
Floats = NDArray[np.float64]

MARKERS = {"<s>", "</s>"}


@dataclass(frozen=True)
class SentenceScore:
    """The log-probability of a sentence. `per_word` is the geometric mean of its probabilities, its end included."""

    words: tuple[str, ...]
    log_prob: float
    unknown: int
    per_word: float

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        return asdict(self)


@checked
class NgramModel:
    """A finished n-gram model: `Ngram(...).fit(corpus)` makes one, `firth.load` opens one.

    >>> from firth.models.ngram import Ngram
    >>> text = ["he drinks strong tea", "she drinks strong coffee", "he has a powerful computer"]
    >>> model = Ngram(order=2).fit(Corpus.of(text))
    >>> model
    NgramModel(order 2: 13 words, 14 2-grams)
    >>> model.score(["strong", "tea"]).per_word > model.score(["powerful", "tea"]).per_word
    True

    `levels` are the numbers of n-grams of each order; `starts`, `words`, `log10` and `backoffs` are the trie.
    """

    kind = "ngram"

    def __init__(
        self,
        vocabulary: Vocabulary,
        levels: Sequence[int],
        starts: NDArray[Any],
        words: NDArray[np.uint32],
        log10: NDArray[np.float32],
        backoffs: NDArray[np.float32],
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.levels = tuple(check_number("levels", level, 1, MOST_NGRAMS) for level in levels)
        self.starts = starts
        if starts.dtype != np.uint32 and starts.ndim == 1 and starts.dtype.kind in "iu":
            is_narrow = len(words) < kernel.DROPPED and len(starts) > 0 and 0 <= starts.min() <= starts.max() < 1 << 32
            self.starts = starts.astype(np.uint32 if is_narrow else np.int64)
        self.words, self.log10, self.backoffs = words, log10, backoffs
        self.metadata: dict[str, Any] = dict(metadata or {})
        self._check()

    def _check(self) -> None:
        """Checks the trie; kernels would read outside the arrays of an incomplete one."""
        try:
            self._check_arrays()
        except OptionError as error:
            problem = f"the arrays of this n-gram model do not fit together: {error}"
            raise OptionError(f"{problem}. Make or download it again") from error

    def _check_arrays(self) -> None:
        if not 1 <= len(self.levels) <= MOST_ORDER:
            raise OptionError(f"an n-gram model has orders from 1 to {MOST_ORDER:,}, but this has {len(self.levels):,}")
        if self.levels[0] != len(self.vocabulary):
            raise OptionError(f"{self.levels[0]:,} 1-grams do not fit {len(self.vocabulary):,} words")
        edges = np.cumsum([0, *self.levels])
        total, inner = int(edges[-1]), int(edges[-2])
        check_array("words", self.words, "u", total)
        check_range("words", self.words, 0, len(self.vocabulary) - 1)
        check_array("log10", self.log10, "f", total)
        check_range("log10", self.log10, -np.inf, 0)
        check_array("backoffs", self.backoffs, "f", inner)
        check_range("backoffs", self.backoffs, -np.inf, LARGEST_BACKOFF)
        check_array("starts", self.starts, "iu", inner + 1)
        check_pointers("starts", self.starts, self.levels[0], total)
        for order, (node, children) in enumerate(zip(edges[:-2].tolist(), edges[1:-1].tolist()), 1):
            if int(self.starts[node]) != children:  # a node would have children of another order than the next
                raise OptionError(f"the {order}-grams do not fit the {order + 1}-grams")

    @cached_property
    def unknown(self) -> int:
        """The id of <unk>. The ids of the markers are found on demand, so that a model opens fast."""
        return _find_marker(self.vocabulary, "<unk>")

    @cached_property
    def begin(self) -> int:
        """The id of <s>."""
        return _find_marker(self.vocabulary, "<s>")

    @cached_property
    def end(self) -> int:
        """The id of </s>."""
        return _find_marker(self.vocabulary, "</s>")

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels)

    @property
    def counts(self) -> dict[int, int]:
        """The number of n-grams of each order."""
        return dict(enumerate(self.levels, 1))

    @property
    def nbytes(self) -> int:
        """The size of the trie in bytes."""
        return sum(array.nbytes for array in self._trie)

    def __len__(self) -> int:
        return sum(self.levels)

    def __repr__(self) -> str:
        longer = "".join(f", {count:,} {n}-grams" for n, count in self.counts.items() if n > 1)
        return f"NgramModel(order {self.order}: {self.levels[0]:,} words{longer})"

    def __rich__(self) -> Table:
        table = Table(title=f"n-gram model of order {self.order}, {self.nbytes / 1e6:,.1f} MB", title_justify="left")
        table.add_column("order", justify="right")
        table.add_column("n-grams", justify="right")
        for n, count in self.counts.items():
            table.add_row(str(n), f"{count:,}")
        return table

    @property
    def _trie(self) -> tuple[NDArray[Any], NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32]]:
        return self.starts, self.words, self.log10, self.backoffs

    @cached_property
    def _table(self) -> NDArray[np.uint32]:
        """Maps word ids to themselves, and <s>, </s> and -1 (not in the vocabulary) to <unk>."""
        table = np.append(np.arange(len(self.vocabulary), dtype=np.uint32), np.uint32(self.unknown))
        table[[self.begin, self.end]] = self.unknown
        return table

    @cached_property
    def tokenizer(self) -> ModelTokenizer:
        """Splits texts as the training text was split; every method that takes a sentence uses it."""
        return ModelTokenizer.of(self.metadata, self.vocabulary)

    def log_probs(self, words: TextLike) -> Floats:
        """The natural log-probability of each word after those before it, then of the end of the sentence."""
        return self._score_words(self.tokenizer.words(words))[0] * math.log(10)

    def score(self, words: TextLike) -> SentenceScore:
        """The probability of a sentence, in total and per word. A sentence is a text or a list of words.

        >>> from firth.models.ngram import Ngram
        >>> Ngram(order=2).fit(Corpus.of(["strong tea"])).score("strong tea").words
        ('strong', 'tea')
        """
        words = self.tokenizer.words(words)
        log_prob = float(self.log_probs(words).sum())
        unknown = int(np.count_nonzero(self._table[self._find(words)] == self.unknown))
        if 2 * unknown > len(words):
            report_coverage(self.coverage([words]))
        return SentenceScore(tuple(words), log_prob, unknown, exponential(log_prob / (len(words) + 1)))

    def match_lengths(self, words: TextLike) -> list[int]:
        """The length of the n-gram that gives each word, then the end, its probability."""
        return [int(length) for length in self._score_words(self.tokenizer.words(words))[1]]

    def full_scores(self, words: TextLike, *, bos: bool = True, eos: bool = True) -> list[tuple[float, int, bool]]:
        """For each word, then the end: log10 probability, length of the matched n-gram, whether the word is unknown.

        The order of the values and the base are those of KenLM. Without `bos` the first word has no context; without
        `eos` the end is not scored. <s> and </s> within a list of words are scored as words of the model.

        >>> from firth.models.ngram import Ngram
        >>> model = Ngram(order=2).fit(Corpus.of(["strong tea", "strong coffee"]))
        >>> [(length, unknown) for _, length, unknown in model.full_scores("strong rain")]
        [(2, False), (1, True), (1, False)]
        """
        tokens = self.tokenizer.words(words)
        if MARKERS & set(tokens):
            return self._step_through(tokens, bos, eos)
        ids = self._table[self._find(tokens)]
        text = np.concatenate([[self.begin] * bos, ids, [self.end] * eos]).astype(np.uint32)
        values, lengths = self._score_text(text)
        scores = zip(values.tolist(), lengths.tolist(), (text == self.unknown).tolist())
        return list(scores)[int(bos) :]

    def _step_through(self, words: Sequence[str], bos: bool, eos: bool) -> list[tuple[float, int, bool]]:
        """`full_scores` word by word."""
        state, scores = begin_sentence(self) if bos else NgramState(), []
        for word in (*words, *(["</s>"] * eos)):
            value, length, unknown, state = advance(self, state, word)
            scores.append((value, length, unknown))
        return scores

    def _score_words(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.int32]]:
        ids = self._table[self._find(words)]
        values, lengths = self._score_text(np.concatenate([[self.begin], ids, [self.end]]).astype(np.uint32))
        return values[1:], lengths[1:]

    def _score_text(self, text: NDArray[np.uint32]) -> tuple[Floats, NDArray[np.int32]]:
        values, lengths = np.empty(len(text)), np.empty(len(text), np.int32)
        kernel.score(text, self.begin, *self._trie, self.order, values, lengths)
        return values, lengths

    def perplexity(self, sentences: Sentences | TokenFile, *, runtime: Runtime | None = None) -> Perplexity:
        """The perplexity of a corpus, a text or a list of sentences, with and without unknown words.

        A sentence is a text or a list of words. A file is a `Path` or a `Corpus`.

        >>> from firth.models.ngram import Ngram
        >>> model = Ngram(order=1).fit(Corpus.of(["a b", "a b"]))
        >>> result = model.perplexity([["a", "b"], ["a", "x"]])
        >>> result.words, result.unknown, result.value > result.without_unknown
        (6, 1, True)
        """
        result = Perplexity.of(self.surprises(sentences, runtime=runtime))
        report_coverage(Coverage(result.words - result.sentences, result.unknown))
        return result

    def coverage(self, sentences: Sentences) -> Coverage:
        """How many words of sentences the model does not know; punctuation does not count.

        >>> from firth.models.ngram import Ngram
        >>> Ngram(order=1).fit(Corpus.of(["strong tea"])).coverage(["strong rain!"])
        Coverage(words=2, unknown=1, cut=0, longest=0, unit='bytes')
        """

        def find(words: list[str]) -> NDArray[np.int64]:
            return np.where(self._table[self._find(words)] == self.unknown, -1, 0)

        return measure(self.tokenizer.sentences(sentences), find)

    def surprises(
        self, sentences: Sentences | TokenFile, *, runtime: Runtime | None = None
    ) -> Iterator[SentenceLogProbs]:
        """The log-probabilities of sentences, in batches."""
        return (runtime or Runtime.from_env()).stream(self._score_batch, self._frame_batches(sentences))

    def _score_batch(self, text: NDArray[np.uint32]) -> SentenceLogProbs:
        log_probs = self._score_text(text)[0] * math.log(10)
        begins, known = np.flatnonzero(text == self.begin), text != self.unknown
        known[begins] = False  # <s> is context, not a predicted word
        return SentenceLogProbs(
            np.add.reduceat(log_probs, begins),
            np.diff(begins, append=len(text)) - 1,
            np.add.reduceat(np.where(known, log_probs, 0.0), begins),
            np.add.reduceat(known, begins, dtype=np.int64),
        )

    def _frame_batches(self, sentences: Sentences | TokenFile) -> Iterator[NDArray[np.uint32]]:
        if isinstance(sentences, Corpus):
            sentences = sentences.tokens()
        elif isinstance(sentences, PathLike):
            sentences = Corpus(sentences, tokenizer=self.tokenizer.tokenizer).tokens()
        if isinstance(sentences, TokenFile):
            return self._frame_tokens(sentences)
        return self._frame_words(self.tokenizer.sentences(sentences))

    def _frame_tokens(self, tokens: TokenFile) -> Iterator[NDArray[np.uint32]]:
        table = self._table[self.vocabulary.ids(tokens.vocabulary)]
        cuts = np.arange(0, len(tokens) + BATCH, BATCH, dtype=np.uint64)
        edges = np.unique(np.append(np.searchsorted(tokens.sentences, cuts), [0, len(tokens.sentences) - 1]))
        for first, last in itertools.pairwise(edges.clip(max=len(tokens.sentences) - 1).tolist()):
            offsets = np.asarray(tokens.sentences[first : last + 1])
            ids = np.asarray(tokens.ids[int(offsets[0]) : int(offsets[-1])])
            yield self._frame(ids, offsets, table)

    def _frame_words(self, sentences: Iterable[Sequence[str]]) -> Iterator[NDArray[np.uint32]]:
        words: list[str] = []
        offsets = [0]
        for sentence in sentences:
            words.extend(sentence)
            offsets.append(len(words))
            if len(words) >= BATCH:
                yield self._frame(self._find_ids(words), np.array(offsets), self._table)
                words, offsets = [], [0]
        if len(offsets) > 1:
            yield self._frame(self._find_ids(words), np.array(offsets), self._table)

    def _find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The ids of words, -1 for each unknown word."""
        return self.tokenizer.find(words, self.vocabulary)[1]

    def _find_ids(self, words: list[str]) -> NDArray[np.int64]:
        """As `_find`, but faster: the words are encoded as one text."""
        try:
            blob = np.frombuffer("\n".join(words).encode("utf-8", "surrogateescape"), np.uint8)
        except UnicodeEncodeError:
            return self._find(words)
        ids, ours = np.empty(len(words), np.int64), self.vocabulary
        lines = kernel.find_lines(blob, ours.blob, ours.starts, ours.ends, ours.slots, ids)
        if lines == len(words) and (ids >= 0).all():
            return ids
        return self._find(words)  # an unknown word, or one with a newline

    def _frame(self, ids: NDArray[Any], offsets: NDArray[Any], table: NDArray[np.uint32]) -> NDArray[np.uint32]:
        text = np.empty(len(ids) + 2 * len(offsets) - 2, np.uint32)
        return text[: kernel.frame_sentences(ids, offsets, table, self.begin, self.end, text)]

    def _contexts(self, text: TextLike) -> list[int]:
        """The nodes of the last word, the last two, ... of a context, up to the order; NONE if unknown."""
        context = self.tokenizer.words(text)
        ids = [self._id(word) for word in context[max(0, len(context) - self.order + 1) :]]
        nodes = []
        for size in range(1, len(ids) + 1):
            node = ids[-size]
            for id in ids[len(ids) - size + 1 :]:
                if node != kernel.NONE:
                    node = int(kernel.find_child(self.starts, self.words, node, np.uint32(id)))
            nodes.append(node)
        return nodes

    def _id(self, word: str) -> int:
        id = self.vocabulary.find(word)
        if id < 0:
            id = int(self._find([word])[0])
        if id >= 0:
            return id
        return {"<s>": self.begin, "</s>": self.end}.get(word, self.unknown)

    def probability(self, word: str, context: TextLike = ()) -> float:
        """The probability of a word after a context; a context at the start of a sentence begins with "<s>".

        An unknown word has the probability of <unk>.

        >>> from firth.models.ngram import Ngram
        >>> model = Ngram(order=2).fit(Corpus.of(["a b", "a b", "b a"]))
        >>> model.probability("a", ["<s>"]) > model.probability("b", ["<s>"])
        True
        """
        id = self._id(word)
        if id == self.begin:
            return 0.0
        value = float(self.log10[id])
        for node in self._contexts(context):
            if node != kernel.NONE:
                ngram = int(kernel.find_child(self.starts, self.words, node, np.uint32(id)))
                value = value + float(self.backoffs[node]) if ngram == kernel.NONE else float(self.log10[ngram])
        return float(10**value) if value < 300 else math.inf

    def distribution(self, context: TextLike = ()) -> Floats:
        """The probability of every word of the vocabulary after a context, by id. They sum to one."""
        probs = 10.0 ** self.log10[: len(self.vocabulary)].astype(np.float64)
        probs[self.begin] = 0.0
        for node in self._contexts(context):
            if node != kernel.NONE:
                first, last = int(self.starts[node]), int(self.starts[node + 1])
                probs *= 10.0 ** float(self.backoffs[node])
                probs[self.words[first:last]] = 10.0 ** self.log10[first:last].astype(np.float64)
        return np.asarray(probs, np.float64)

    def predict(self, context: TextLike = (), topn: int = 10) -> list[tuple[str, float]]:
        """The most probable next words with their probabilities; </s> is the end of the sentence, <unk> is excluded."""
        context = self.tokenizer.words(context)
        report_coverage(self.coverage([context]))
        probs = self.distribution(context)
        probs[self.unknown] = -1.0
        best = np.argsort(-probs, kind="stable")[:topn]
        return [(self.vocabulary[int(id)], float(probs[id])) for id in best if probs[id] > 0]

    def sample(
        self,
        context: TextLike = (),
        *,
        length: int = 40,
        seed: int = 1,
        temperature: float = 1.0,
        top_k: int | None = None,
    ) -> list[str]:
        """Draws at most `length` words that continue a sentence after the context.

        </s> ends the sentence and <unk> is never drawn. A temperature below 1 sharpens the distribution, above 1 it
        flattens it; `top_k` restricts it to the k most probable words.

        >>> from firth.models.ngram import Ngram
        >>> Ngram(order=3).fit(Corpus.of(["to be or not to be"])).sample(["to"], length=1, top_k=1)
        ['be']
        """
        if not temperature > 0 or length < 0 or seed < 0 or (top_k is not None and top_k < 1):
            needed = "a temperature above 0, a length and a seed of 0 or more and a top_k of at least 1"
            raise OptionError(f"sampling needs {needed}")
        rng = np.random.default_rng(seed)
        context = self.tokenizer.words(context)
        report_coverage(self.coverage([context]))
        start = ["<s>", *context]
        words = list(start)
        for _ in range(length):
            probs = self.distribution(words)
            probs[self.unknown] = 0.0
            id = _draw(probs, temperature, top_k, rng)
            if id == self.end:
                break
            words.append(self.vocabulary[id])
        return words[len(start) :]

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        names = ("starts", "words", "log10", "backoffs")
        config = {"levels": list(self.levels), "metadata": self.metadata}
        return Parts(self.kind, config, dict(zip(names, self._trie)), {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> NgramModel:
        """The artifact that `to_parts` took apart."""
        words = parts.array("words", "iu", None)
        if words.dtype != np.uint32:  # narrow: the kernels know one type
            check_range("words", words, 0, len(parts.vocabulary) - 1)
            words = words.astype(np.uint32)
        log10, backoffs = (
            parts.array(name, "f", None).astype(np.float32, copy=False) for name in ("log10", "backoffs")
        )
        starts, levels = parts.array("starts", "iu", None), parts.config.get("levels")
        if not isinstance(levels, list):
            raise OptionError("levels must be a list: the number of n-grams of each order")
        return cls(parts.vocabulary, levels, starts, words, log10, backoffs, metadata=parts.metadata)


def _find_marker(vocabulary: Vocabulary, name: str) -> int:
    for spelling in SPELLINGS[name]:
        id = vocabulary.find(spelling)
        if id >= 0:
            return id
    raise FirthError(f"this n-gram model has no {name}. Add it to the unigrams of the model")


def _draw(probs: Floats, temperature: float, top_k: int | None, rng: np.random.Generator) -> int:
    if top_k is not None and top_k < len(probs):
        best = np.argsort(-probs, kind="stable")[:top_k]
        probs = np.where(np.isin(np.arange(len(probs)), best), probs, 0.0)
    if temperature != 1:
        probs = (probs / max(probs.max(), np.finfo(np.float64).tiny)) ** (1 / temperature)
    edges = np.cumsum(probs)
    if not 0 < edges[-1] < math.inf:
        raise OptionError("no word can follow: the model gives every word the probability 0, or an infinite one")
    return int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))
