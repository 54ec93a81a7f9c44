"""Prediction and evaluation with a supervised fastText model.

    line → rows of its words, character n-grams and word n-grams → their mean → a score per label → probabilities

A model gives the same answers as in fastText, with one difference: fastText adds 0.00001 to every probability that it
shows, firth does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError, suggest
from firth.files import Name
from firth.kernels import classifier as kernel
from firth.kernels import subwords as subwords_kernel
from firth.models.huffman import HuffmanTree
from firth.models.precision_recall import PrecisionRecallCurve
from firth.runtime import Runtime
from firth.text.chunks import chunks
from firth.text.corpus import check_words
from firth.text.coverage import Coverage, measure, report_coverage
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary, to_bytes, to_word
from firth.vectors.fasttext_names import LABEL_PREFIX, SENTENCE_END, cut_line
from firth.vectors.rows import Floats, Ids
from firth.vectors.subwords import SubwordVectors, mean_rows, word_ngrams
from firth.vectors.words import WordVectors

SCORES = 1 << 22  # computed at a time
LINES = 4096  # looked up at a time


class TypeTable(NamedTuple):
    """For each type: word or label, hash, and rows (see `kernels/classifier.py`)."""

    kinds: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    rows: Ids
    pointers: Ids
    lengths: Ids


class EncodedLines(NamedTuple):
    """Lines as row and label ids; those of line i end at row_ends[i] and label_ends[i]."""

    rows: Ids
    row_ends: Ids
    labels: NDArray[np.int32]
    label_ends: Ids


@dataclass(frozen=True, eq=False)
class Features:
    """How a line becomes rows and labels: words, labels, character n-grams and word n-grams."""

    words: Vocabulary
    labels: Vocabulary
    subwords: Subwords
    word_ngrams: int
    label_prefix: str = LABEL_PREFIX

    def table(self, types: Vocabulary, runtime: Runtime) -> TypeTable:
        """The table of some types."""
        size = len(types)
        hashes, is_label = np.empty(size, np.uint64), np.empty(size, bool)
        subwords_kernel.hash_words(types.blob, types.starts, types.ends, hashes)
        prefix = np.frombuffer(to_bytes(self.label_prefix), np.uint8)
        kernel.find_prefix(types.blob, types.starts, types.ends, prefix, is_label)
        labels, words = self.labels.ids(types), self.words.ids(types)
        kinds = np.where(labels >= 0, labels, np.where(is_label & (words < 0), kernel.IGNORED, kernel.WORD))
        rows, pointers, lengths = self.subwords.table(types, runtime, first=len(self.words))
        rows[pointers[:-1]] = np.maximum(words, 0)
        pointers[:-1] += words < 0  # an unknown word has no row of its own
        lengths -= words < 0
        return TypeTable(kinds.astype(np.int32), hashes, rows, pointers, lengths)

    def lines(self, text: bytes, runtime: Runtime) -> EncodedLines:
        """The rows and labels of each line. Every line must end with a newline."""
        raw = np.frombuffer(text + to_bytes(SENTENCE_END), np.uint8)
        blob = raw[: len(text)]
        empty = np.empty(0, np.int64)
        word_count, line_count = kernel.split_words(blob, empty, empty, empty)  # counts only
        starts, ends, line_ends = (np.empty(count, np.int64) for count in (word_count, word_count, line_count))
        kernel.split_words(blob, starts, ends, line_ends)
        is_end = starts == ends
        starts[is_end], ends[is_end] = len(text), len(raw)
        table = self.table(Vocabulary.from_arrays(raw, starts, ends), runtime)
        types = np.arange(word_count, dtype=np.uint32)
        _, _, row_count = kernel.measure_lines(types, line_ends, table.lengths, self.word_ngrams)
        rows, labels = np.empty(row_count, np.int64), np.empty(word_count, np.int32)
        row_ends, label_ends = np.empty(line_count, np.int64), np.empty(line_count, np.int64)
        buckets = 0 if self.subwords.pruned == {} else self.subwords.buckets
        hashing = self.word_ngrams, buckets, self.subwords.pruned_rows, len(self.words)
        kernel.gather_lines(types, line_ends, tuple(table), *hashing, rows, row_ends, labels, label_ends)
        return EncodedLines(rows, row_ends, labels, label_ends)


@dataclass(frozen=True)
class LabelScore:
    """The counts of one label: lines for which it was predicted, lines that have it (gold), and both (right)."""

    predicted: int
    gold: int
    right: int

    @property
    def precision(self) -> float:
        """The fraction of predictions that are right; 0 if there are none."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The fraction of gold labels that are predicted; 0 if there are none."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (self.predicted + self.gold) if self.predicted + self.gold else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        return asdict(self) | {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class ClassifierScore(LabelScore):
    """Precision and recall at k over all lines that have a known label, and for each label."""

    k: int
    lines: int
    by_label: dict[str, LabelScore]

    @property
    def score(self) -> LabelScore:
        """The counts over all labels."""
        return LabelScore(self.predicted, self.gold, self.right)

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        labels = {label: score.as_dict() for label, score in self.by_label.items()}
        return {"k": self.k, "lines": self.lines, **self.score.as_dict(), "labels": labels}


@checked
class Classifier:
    """Predicts labels with a supervised fastText model, or with the file of one.

    >>> from firth.models.classifier import FastTextClassifier
    >>> from firth.text.corpus import Corpus
    >>> from firth.text.tokenize import Tokenizer
    >>> lines = ["__label__drink hot tea", "__label__sky hot sun", "__label__drink cold milk"] * 20
    >>> corpus = Corpus.of(lines, tokenizer=Tokenizer(mode="whitespace"))
    >>> classifier = Classifier(FastTextClassifier(dim=8, learning_rate=0.5).fit(corpus))
    >>> [(label, round(probability, 1)) for label, probability in classifier.predict("milk tea")]
    [('__label__drink', 1.0)]
    """

    def __init__(self, model: WordVectors | Name, *, runtime: Runtime | None = None) -> None:
        vectors: object = model
        if not isinstance(model, WordVectors):
            from firth import load  # formats import models, not the other way around

            vectors = load(model)
        output = vectors.output if isinstance(vectors, SubwordVectors) else None
        if (
            not isinstance(vectors, SubwordVectors)
            or output is None
            or output.model != "supervised"
            or output.labels is None
        ):
            raise OptionError("this model has no labels. Train one with `firth train classifier` on lines with labels")
        self.model, self.output, self.labels = vectors, output, output.labels
        self.runtime = runtime or Runtime.from_env()
        ngrams = word_ngrams(vectors.metadata)
        prefix = vectors.metadata.get("fasttext", {}).get("label_prefix", LABEL_PREFIX)  # not in fastText's files
        self.features = Features(vectors.vocabulary, self.labels, vectors.subwords, ngrams, str(prefix))

    def __repr__(self) -> str:
        return f"Classifier({len(self.labels):,} labels: {', '.join(self.labels[:3])}, …; {self.model!r})"

    @cached_property
    def _weights(self) -> Floats:
        """The output rows, transposed: (dim, labels)."""
        return np.ascontiguousarray(self.output.rows.block(0, len(self.labels)).T)

    @cached_property
    def _tree(self) -> HuffmanTree:
        counts = self.labels.counts
        return HuffmanTree.of_counts(np.ones(len(self.labels), np.int64) if counts is None else counts)

    def predict(self, text: str | Sequence[str], k: int = 1, threshold: float = 0.0) -> list[tuple[str, float]]:
        """The k most probable labels of one line of text or list of words, best first; none below the threshold.

        -1 is all labels. With negative sampling and one-vs-all, labels whose scores are in the same step of the table
        of sigmoids have the same probability; they come in the order that fastText gives them. A line without a single
        row, which is possible in a pruned model only, gets no labels.
        """
        return self.predict_all([text], k, threshold)[0]

    def predict_all(
        self, texts: Iterable[str | Sequence[str]], k: int = 1, threshold: float = 0.0
    ) -> list[list[tuple[str, float]]]:
        """`predict` for many lines, computed in threads."""
        k = self._check_k(k)
        names = self.labels.words

        def work(batch: Sequence[str]) -> list[list[tuple[str, float]]]:
            results: list[list[tuple[str, float]]] = []
            for labels, probabilities in self._best(self._encode(batch), k, threshold):
                results.append([(names[label], probability) for label, probability in zip(labels, probabilities)])
            return results

        coverage = Coverage()

        def batches() -> Iterator[list[str]]:
            nonlocal coverage
            for batch in _batches(texts):
                coverage += self.coverage(batch)
                yield batch

        results = [one for some in self.runtime.stream(work, batches()) for one in some]
        report_coverage(coverage)
        return results

    def coverage(self, texts: Iterable[str | Sequence[str]]) -> Coverage:
        """How many words of texts are outside the vocabulary. A model with character n-grams knows all words."""
        if self.features.subwords.maxn > 0:
            return Coverage()
        words = self.features.words
        return measure((self._normalize(text).split() for batch in _batches(texts) for text in batch), words.ids)

    def probabilities(self, texts: Iterable[str | Sequence[str]]) -> Floats:
        """The probability of every label for every line, (lines, labels).

        They sum to 1 for a model trained with softmax or hierarchical softmax. With negative sampling or one-vs-all,
        each label has a probability of its own.
        """
        parts = [self._probabilities(self._scores(self._hidden(self._encode(batch)))) for batch in _batches(texts)]
        return np.concatenate([np.zeros((0, len(self.labels)), np.float32), *parts])

    def vectors(self, texts: Iterable[str | Sequence[str]]) -> Floats:
        """The mean of the rows of each line, (lines, dim): the vector that its labels are predicted from."""
        parts = [self._hidden(self._encode(batch)) for batch in _batches(texts)]
        return np.concatenate([np.zeros((0, self.model.dim), np.float32), *parts])

    def test(self, source: Name | Iterable[str], k: int = 1, threshold: float = 0.0) -> ClassifierScore:
        """Precision and recall at k on labeled lines: a file, or lines of text.

        Lines without a known label are left out, and so are unknown labels. A k of -1 is all labels.
        """
        size = len(self.labels)
        predicted, gold, right = (np.zeros(size, np.int64) for _ in range(3))
        lines = 0
        for own, labels, _ in self._judge(source, k, threshold):
            lines += 1
            np.add.at(gold, own, 1)
            predicted[labels] += 1
            right[[label for label in labels if label in own]] += 1
        by_label = {label: LabelScore(*map(int, counts)) for label, *counts in zip(self.labels, predicted, gold, right)}
        totals = int(predicted.sum()), int(gold.sum()), int(right.sum())
        return ClassifierScore(*totals, self._check_k(k), lines, by_label)

    def precision_recall_curve(
        self, source: Name | Iterable[str], k: int = -1, label: str | None = None
    ) -> PrecisionRecallCurve:
        """The precision and recall at each probability on labeled lines, of all labels or of one.

        The k most probable labels of a line count as predictions; -1 is all labels. Lines without a known label are
        left out.
        """
        if label is not None and label not in self.labels:
            raise OptionError(f"{label!r} is no label of the model. {suggest(label, self.labels.words)}")
        chosen = None if label is None else self.labels.id(label)
        found: list[tuple[float, bool]] = []
        gold = 0
        for own, labels, probabilities in self._judge(source, k, 0.0):
            gold += len(own) if chosen is None else own.count(chosen)
            pairs = zip(labels, probabilities)
            found += [(probability, one in own) for one, probability in pairs if chosen is None or one == chosen]
        return PrecisionRecallCurve.of([pair[0] for pair in found], [pair[1] for pair in found], gold)

    def _judge(
        self, source: Name | Iterable[str], k: int, threshold: float
    ) -> Iterator[tuple[list[int], list[int], list[float]]]:
        """For each line with a known label: its labels, and the predicted ones with their probabilities."""
        k = self._check_k(k)

        def work(text: bytes) -> tuple[EncodedLines, list[tuple[list[int], list[float]]]]:
            if self.model.normalizer is not None:
                text = to_bytes(self._normalize(to_word(text)))
            encoded = self.features.lines(text, Runtime(1))
            return encoded, list(self._best(encoded, k, threshold))

        for encoded, best in self.runtime.stream(work, _texts(source)):
            first = 0
            for i, (labels, probabilities) in enumerate(best):
                own = encoded.labels[first : encoded.label_ends[i]].tolist()
                first = int(encoded.label_ends[i])
                has_rows = encoded.row_ends[i] > (encoded.row_ends[i - 1] if i else 0)
                if own and has_rows:
                    yield own, labels, probabilities

    def _normalize(self, text: str) -> str:
        """A text, normalized as the training text was."""
        return text if self.model.normalizer is None else self.model.normalizer(text)

    def _check_k(self, k: int) -> int:
        """The number of labels to predict: at most all of them."""
        if k < 1 and k != -1:
            raise OptionError(f"k is {k}, but must be at least 1, or -1 for all labels")
        return len(self.labels) if k == -1 else min(k, len(self.labels))

    def _encode(self, texts: Sequence[str]) -> EncodedLines:
        for text in texts:
            if "\n" in text:
                raise OptionError(
                    "a text to classify must be one line, but this one has several. Join or split it first"
                )
        joined = "".join(cut_line(self._normalize(text)) + "\n" for text in texts)
        return self.features.lines(joined.encode("utf-8", "surrogateescape"), Runtime(1))

    def _hidden(self, lines: EncodedLines) -> Floats:
        """The mean of each line's rows."""
        pointers = np.concatenate([[0], lines.row_ends[:-1]]).astype(np.int64)
        used = lines.rows[: lines.row_ends[-1]] if len(lines.row_ends) else lines.rows[:0]
        return mean_rows(self.model.rows, used, pointers, lines.row_ends - pointers)

    def _scores(self, hidden: Floats) -> Floats:
        """A score per label that rises with its probability: the logit, or for a tree the log probability."""
        products = hidden @ self._weights
        if self.output.loss != "hs":
            return products
        tree = self._tree
        if len(self.labels) == 1:
            return np.zeros((len(hidden), 1), np.float32)
        logits = products[:, tree.nodes.astype(np.int64)] * np.where(tree.turns == 1, 1, -1).astype(np.float32)
        return np.add.reduceat(-np.logaddexp(0, -logits), tree.starts[:-1], axis=1).astype(np.float32)

    def _probabilities(self, scores: Floats) -> Floats:
        """The probabilities of scores."""
        if self.output.loss == "hs":
            return np.exp(scores)
        if self.output.loss == "softmax":
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)
        return sigmoid(scores)

    def _best(self, lines: EncodedLines, k: int, threshold: float) -> Iterator[tuple[list[int], list[float]]]:
        """For each line, its best labels and their probabilities."""
        hidden = self._hidden(lines)
        lengths = np.diff(lines.row_ends, prepend=0)
        step = max(1, SCORES // max(1, len(self.labels)))
        for start in range(0, len(hidden), step):
            scores = self._scores(hidden[start : start + step])
            probabilities = self._probabilities(scores)
            every = self._rank(scores, probabilities, k, threshold)
            for i, best in enumerate(every):
                if not lengths[start + i]:
                    best = best[:0]
                yield best.tolist(), probabilities[i, best].tolist()

    def _rank(self, scores: Floats, probabilities: Floats, k: int, threshold: float) -> Iterator[Ids]:
        """For each line, the k most probable labels above the threshold, best first."""
        if self.output.loss in ("hs", "softmax"):
            for i in range(len(scores)):
                best = find_best(scores[i], k)
                yield best[probabilities[i, best] >= threshold]
            return
        ranked, counts = np.empty((len(scores), k), np.int64), np.empty(len(scores), np.int64)
        kernel.best_in_heap(probabilities, np.float32(threshold), ranked, counts)
        for best, count in zip(ranked, counts.tolist()):
            yield best[:count]


def find_best(scores: Floats, k: int) -> Ids:
    """The indices of the k highest scores, highest first; of equal scores, the first comes first.

    >>> find_best(np.array([1, 3, 3, 2], np.float32), 3)
    array([1, 2, 3])
    """
    if k < len(scores):
        lowest = np.partition(scores, len(scores) - k)[len(scores) - k]
        chosen = np.flatnonzero(scores >= lowest)
    else:
        chosen = np.arange(len(scores))
    return np.asarray(chosen[np.argsort(-scores[chosen], kind="stable")][:k], np.int64)


def sigmoid(scores: Floats) -> Floats:
    """1 / (1 + exp(-s)), rounded as in fastText: s down to the next 1/32, and 0 or 1 beyond ±8.

    >>> sigmoid(np.array([0, 0.03, 9], np.float32))
    array([0.5, 0.5, 1. ], dtype=float32)
    """
    steps = np.floor((np.clip(scores, -8, 8) + np.float32(8)) * np.float32(32)) / 32 - 8
    values = 1 / (1 + np.exp(-steps))
    return np.where(scores < -8, 0, np.where(scores > 8, 1, values)).astype(np.float32)


def _batches(texts: Iterable[str | Sequence[str]]) -> Iterator[list[str]]:
    if isinstance(texts, str):
        raise OptionError("texts must be a list. For one text write [text]")
    batch: list[str] = []
    for place, text in enumerate(texts):
        batch.append(text if isinstance(text, str) else " ".join(check_words(text, f"text {place}")))
        if len(batch) == LINES:
            yield batch
            batch = []
    if batch:
        yield batch


def _texts(source: Name | Iterable[str]) -> Iterator[bytes]:
    """Whole lines, some at a time."""
    if isinstance(source, (str, os.PathLike)):
        for chunk in chunks(source):
            text = chunk.text
            if text:
                yield text if text.endswith(b"\n") else text + b"\n"
        return
    for batch in _batches(source):
        yield b"".join(to_bytes(text.rstrip("\n")) + b"\n" for text in batch)
