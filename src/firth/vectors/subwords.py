"""Vectors of words and of their character n-grams, which also compose vectors of unseen words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError, UnknownWord
from firth.kernels import subwords as kernel
from firth.runtime import Runtime
from firth.serialization import Parts, check_number
from firth.text.subwords import MOST_BUCKETS, Subwords
from firth.text.vocabulary import Vocabulary, check_ids, to_bytes
from firth.vectors.fasttext_names import FastTextNames
from firth.vectors.rows import DenseRows, Floats, Ids, Rows, rows_from, rows_to
from firth.vectors.words import BLOCK

MODELS = ("cbow", "skipgram", "supervised")
LOSSES = ("hs", "ns", "softmax", "ova")
MOST_WORD_NGRAMS = (1 << 31) - 1


def word_ngrams(metadata: Mapping[str, Any]) -> int:
    """The length of the longest n-grams of words that a classifier uses, from its metadata.

    >>> word_ngrams({}), word_ngrams({"fasttext": {"wordNgrams": 2}})
    (1, 2)
    """
    settings = metadata.get("fasttext", {})
    if not isinstance(settings, dict):
        raise OptionError(f"metadata.fasttext is {settings!r:.60}, but must be a table")
    return max(1, check_number("metadata.fasttext.wordNgrams", settings.get("wordNgrams", 1), 0, MOST_WORD_NGRAMS))


@dataclass(frozen=True)
class Share:
    """A piece of a word: the word itself (`own`) or an n-gram, with its row and its share of the word's vector."""

    ngram: str
    row: int
    share: float
    own: bool


@dataclass(frozen=True, eq=False)
class Output:
    """The output layer of a fastText model: its rows and the training options that they depend on.

    `labels` are the classes of a supervised model; None if the outputs are the words.
    """

    rows: Rows
    labels: Vocabulary | None
    model: Literal["cbow", "skipgram", "supervised"]
    loss: Literal["hs", "ns", "softmax", "ova"]

    def check(self, dim: int) -> None:
        """Raises OptionError if the rows do not fit the labels or input rows of this length."""
        for name, value, known in (("model", self.model, MODELS), ("loss", self.loss, LOSSES)):
            if value not in known:
                raise OptionError(f"output.{name} is {value!r:.60}, but must be one of {', '.join(known)}")
        if self.rows.shape[1] != dim:
            raise OptionError(f"the output rows have {self.rows.shape[1]:,} numbers, but the input rows have {dim:,}")
        labels = None if self.labels is None else len(self.labels)
        if self.model == "supervised" and labels is not None and not 1 <= labels <= self.rows.shape[0]:
            raise OptionError(f"{labels:,} labels need as many output rows, not {self.rows.shape[0]:,}")


@checked
class SubwordVectors(FastTextNames):
    """Vectors of words and of their character n-grams, as in fastText.

    Row i < len(vocabulary) belongs to word i; the rows of n-grams follow. The vector of a word is the mean of its own
    row and the rows of its n-grams; for an unseen word, of its n-grams alone. `in` is true for both.

    >>> vectors = SubwordVectors(["tea"], np.arange(22).reshape(11, 2), Subwords(3, 3, 10))
    >>> vectors["tea"].tolist(), "teapot" in vectors, "teapot" in vectors.vocabulary
    ([11.5, 12.5], True, False)
    """

    kind = "subword-vectors"
    composes = True

    def __init__(
        self,
        vocabulary: Vocabulary | Iterable[str],
        rows: Rows | NDArray[Any] | Sequence[Sequence[float]],
        subwords: Subwords,
        *,
        output: Output | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.subwords, self.output = subwords, output
        super().__init__(vocabulary, rows, metadata=metadata)

    def _check(self) -> None:
        ngrams = self.subwords.size
        if self.output is not None:
            self.output.check(self.dim)
            if self.output.model == "supervised" and word_ngrams(self.metadata) > 1:
                ngrams = self.subwords.bucket_rows  # n-grams of words have buckets, too
        needed = len(self.vocabulary) + ngrams
        if self.rows.shape[0] < needed:
            raise OptionError(
                f"{len(self.vocabulary)} words and {ngrams} n-grams need {needed} rows, "
                f"but there are {self.rows.shape[0]}"
            )

    @property
    def known(self) -> Rows:
        """The vectors of the words of the vocabulary, n-grams included, by id."""
        return DenseRows(self.matrix)

    @cached_property
    def matrix(self) -> Floats:
        """The vectors of all words of the vocabulary, composed in threads on first use."""
        table = self.subwords.table(self.vocabulary, self.runtime)
        matrix = np.empty((len(self.vocabulary), self.dim), np.float32)

        def compose(part: slice) -> None:
            matrix[part] = self._compose_known(table, part)

        starts = range(0, len(matrix), BLOCK)
        self.runtime.map(compose, [slice(start, min(start + BLOCK, len(matrix))) for start in starts])
        return matrix

    def _compose_known(self, table: tuple[Ids, Ids, Ids], part: slice) -> Floats:
        """The means of the rows of words part.start … part.stop - 1 of a table (see `Subwords.table`)."""
        rows, pointers, lengths = table
        first, last = int(pointers[part.start]), int(pointers[part.stop])
        return mean_rows(self.rows, rows[first:last], pointers[part] - first, lengths[part])

    def take(self, ids: Sequence[int] | Ids) -> Floats:
        """The vectors of the words with these ids; reads only their rows."""
        if "matrix" in self.__dict__:
            return self.matrix[check_ids(ids, len(self))]
        vocabulary = self.vocabulary.take(ids)
        return self._look_up(list(vocabulary))[0]

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        (spelled,), ids = self._find([word])
        return int(ids[0]) >= 0 or len(self.subwords.rows(to_bytes(spelled))) > 0

    def _look_up(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        words, ids = self._find(list(words))
        runtime = self.runtime if len(words) > BLOCK else Runtime(1)
        rows, pointers, lengths = self.subwords.table(Vocabulary(words), runtime, first=len(self.vocabulary))
        rows[pointers[:-1]] = np.maximum(ids, 0)
        seen = ids >= 0
        pointers[:-1] += ~seen  # an unseen word has only n-grams
        lengths -= ~seen
        vectors = np.empty((len(words), self.dim), np.float32)
        for start in range(0, len(words), BLOCK):
            part = slice(start, min(start + BLOCK, len(words)))
            vectors[part] = self._compose_known((rows, pointers, lengths), part)
        return vectors, lengths > 0

    def explain(self, word: str) -> list[Share]:
        """Each piece of a word and its share of the word's vector; shares add up to 1, and one may be negative.

        The share of a piece is the projection of its row on the vector: row·vector / (pieces · ‖vector‖²).

        >>> vectors = SubwordVectors(["tea"], np.arange(22).reshape(11, 2), Subwords(3, 3, 10))
        >>> [(share.ngram, round(share.share, 2)) for share in vectors.explain("tea")]
        [('tea', 0.01), ('<te', 0.39), ('tea', 0.34), ('ea>', 0.26)]
        """
        size, ((word,), (id, *_)) = len(self.vocabulary), self._find([word])
        pieces = [(ngram, row + size, False) for ngram, row in self.subwords.pairs(word)]
        if id >= 0:
            pieces.insert(0, (word, id, True))
        if not pieces:
            raise UnknownWord(word, self.vocabulary.near(word))
        rows = self.rows.take([row for _, row, _ in pieces]).astype(np.float64)
        vector = rows.mean(axis=0)
        square = len(rows) * float(vector @ vector)
        shares = rows @ vector / (square if square > 0 else 1)
        return [Share(ngram, row, share, own) for (ngram, row, own), share in zip(pieces, shares.tolist())]

    def _with_rows(self, rows: Rows, metadata: Mapping[str, Any]) -> SubwordVectors:
        return type(self)(self.vocabulary, rows, self.subwords, output=self.output, metadata=metadata)

    def to_parts(self) -> Parts:
        """The config, arrays and vocabularies to save."""
        parts = super().to_parts()
        subwords = self.subwords
        config = dict(parts.config)
        arrays, vocabularies = dict(parts.arrays), dict(parts.vocabularies)
        config["subwords"] = {name: getattr(subwords, name) for name in ("minn", "maxn", "buckets", "sentence_end")}
        if subwords.units != "characters":
            config["subwords"]["units"] = subwords.units
        if subwords.pruned is not None:
            arrays["pruned"] = np.array(list(subwords.pruned.items()), np.int64).reshape(-1, 2)
        if self.output is not None:
            output_rows, output_arrays = rows_to(self.output.rows, "output.")
            config["output"] = {"rows": output_rows, "model": self.output.model, "loss": self.output.loss}
            arrays |= output_arrays
            if self.output.labels is not None:
                vocabularies["labels"] = self.output.labels
        return Parts(self.kind, config, arrays, vocabularies)

    @classmethod
    def from_parts(cls, parts: Parts) -> SubwordVectors:
        """Inverse of `to_parts`."""
        rows, arrays = rows_from(parts.table("rows"), parts.arrays), parts.arrays
        pruned = None
        if "pruned" in arrays:
            pruned = dict(parts.ids("pruned", None, 2, below=MOST_BUCKETS).tolist())
        output = None
        if "output" in parts.config:
            settings = parts.table("output")
            if not isinstance(settings.get("rows"), dict):
                raise OptionError("output.rows is not a table")
            output_rows = rows_from(settings["rows"], arrays, "output.")
            output = Output(output_rows, parts.vocabularies.get("labels"), settings["model"], settings["loss"])
        subwords = Subwords(**parts.table("subwords"), pruned=pruned)
        return cls(parts.vocabulary, rows, subwords, output=output, metadata=parts.metadata)


def mean_rows(rows: Rows, ids: Ids, pointers: Ids, lengths: Ids) -> Floats:
    """The mean of the rows ids[pointers[i] : pointers[i] + lengths[i]], for each i; zero where there are none."""
    means = np.empty((len(lengths), rows.shape[1]), np.float32)
    if isinstance(rows, DenseRows) and rows.array.dtype == np.float32:
        kernel.mean_rows(np.asarray(rows.array), ids, pointers, lengths, means)
    else:
        used, places = np.unique(ids, return_inverse=True)
        kernel.mean_rows(rows.take(used), places, pointers, lengths, means)
    return means
