"""Words with vectors.

`WordVectors` has a row for each word of its vocabulary. `SubwordVectors` also has rows for pieces of words, so that it
has an answer for words that it never saw. Both are finished values: nothing here changes them, and whatever can be
derived (unit rows, the index of the search) is derived when it is first needed. What can be asked of them is in
`neighbours.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth import portrait
from firth.errors import OptionError, UnknownWord
from firth.kernels import subwords as kernel
from firth.neighbours import Neighbours, unit_rows
from firth.parts import Parts
from firth.rows import DenseRows, Floats, Ids, Int8Rows, Rows, rows_from, rows_of, rows_to
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary, to_bytes

Unknown = Literal["zeros", "skip", "error"]
BLOCK = 4096  # words at a time, where all of them are needed


class WordVectors(Neighbours):
    """A vector for each word of a vocabulary.

    >>> vectors = WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]])
    >>> vectors["tea"]
    array([1. , 0.1], dtype=float32)
    >>> vectors[["tea", "rain"]].shape, "milk" in vectors, len(vectors)
    ((2, 2), False, 3)
    >>> vectors["cofee"]
    Traceback (most recent call last):
    firth.errors.UnknownWord: 'cofee' is not in the vocabulary. Near spellings: 'coffee'
    """

    kind = "word-vectors"

    def __init__(
        self,
        vocabulary: Vocabulary | Iterable[str],
        rows: Rows | NDArray[Any] | Sequence[Sequence[float]],
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary)
        self.rows = rows_of(rows)
        self.metadata: dict[str, Any] = dict(metadata or {})
        self._check()

    def _check(self) -> None:
        if self.rows.shape[0] != len(self.vocabulary):
            raise OptionError(f"{len(self.vocabulary)} words need as many rows, but there are {self.rows.shape[0]}")

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.rows.shape[1]

    @property
    def known(self) -> Rows:
        """The rows of the words of the vocabulary, by id."""
        return self.rows

    @cached_property
    def matrix(self) -> Floats:
        """All words' vectors as one float32 array: the array itself, maybe a memory map, where that is what we have."""
        return self.rows.block(0, len(self.vocabulary))

    @cached_property
    def unit(self) -> Floats:
        """All words' vectors, scaled to length 1; a row of zeros stays zero."""
        unit = np.empty((len(self), self.dim), np.float32)
        for start in range(0, len(self), BLOCK):
            unit[start : start + BLOCK] = unit_rows(self.known.block(start, min(start + BLOCK, len(self))))
        return unit

    @cached_property
    def key_to_index(self) -> dict[str, int]:
        """The id of each word, as gensim names it."""
        return {word: id for id, word in enumerate(self.vocabulary)}

    @property
    def index_to_key(self) -> Vocabulary:
        """The words by id, as gensim names it."""
        return self.vocabulary

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __iter__(self) -> Iterator[str]:
        return iter(self.vocabulary)

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def __getitem__(self, words: str | Iterable[str]) -> Floats:
        if isinstance(words, str):
            row: Floats = self.of([words])[0]
            return row
        return self.of(list(words))

    def take(self, ids: Sequence[int] | Ids) -> Floats:
        """The vectors of the words with these ids."""
        return self.rows.take(ids)

    def of(self, words: Sequence[str]) -> Floats:
        """The vectors of words, one row each; a word that has none raises `UnknownWord`."""
        vectors, found = self._look_up(words)
        if not found.all():
            word = words[int(np.argmin(found))]
            raise UnknownWord(word, self.vocabulary.near(word))
        return vectors

    def _look_up(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """A row for each word, zero where it has no vector, and whether it has one."""
        ids = self.vocabulary.ids(words)
        found = ids >= 0
        if found.all():
            return self.rows.take(ids), found
        vectors = np.zeros((len(ids), self.dim), np.float32)
        vectors[found] = self.rows.take(ids[found])
        return vectors, found

    def get_vector(self, word: str, norm: bool = False) -> Floats:
        """The vector of a word, as gensim names it; scaled to length 1 where `norm` is on."""
        vector: Floats = (unit_rows(self.of([word])) if norm else self.of([word]))[0]
        return vector

    def embed(self, sentences: Iterable[Sequence[str]], *, unknown: Unknown = "zeros") -> list[Floats]:
        """For each sentence a (length, dim) array, a row a word.

        A word without a vector gets a row of zeros; with "skip" it gets none, with "error" it raises `UnknownWord`.

        >>> vectors = WordVectors(["tea", "rain"], [[1, 0], [0, 1]])
        >>> [array.tolist() for array in vectors.embed([["more", "tea"], []])]
        [[[0.0, 0.0], [1.0, 0.0]], []]
        """
        if unknown not in ("zeros", "skip", "error"):
            raise OptionError(f"unknown is {unknown!r}, but must be 'zeros', 'skip' or 'error'")
        lists = [list(sentence) for sentence in sentences]
        words = [word for sentence in lists for word in sentence]
        if not words:
            return [np.zeros((0, self.dim), np.float32) for _ in lists]
        if unknown == "error":
            vectors, found = self.of(words), np.ones(len(words), bool)
        else:
            vectors, found = self._look_up(words)
        edges = np.cumsum([len(sentence) for sentence in lists])[:-1]
        arrays = np.split(vectors, edges)
        if unknown == "skip":
            return [array[kept] for array, kept in zip(arrays, np.split(found, edges))]
        return arrays

    def restrict(self, words: Iterable[str]) -> WordVectors:
        """The vectors of those of these words that are in the vocabulary, in the order of their ids.

        >>> WordVectors(["tea", "coffee", "rain"], np.eye(3)).restrict(["rain", "milk", "tea"]).vocabulary.words
        ('tea', 'rain')
        """
        ids = np.unique(self.vocabulary.ids(words))
        ids = ids[ids >= 0]
        return WordVectors(self.vocabulary.take(ids), self.known.pick(ids), metadata=self.metadata)

    def quantize(self, dtype: Literal["float16", "int8"]) -> WordVectors:
        """The same words with smaller rows; `metadata["quantized"]` tells the worst cosine between old and new.

        >>> small = WordVectors(["tea", "rain"], [[1, 0.25], [0, 1]]).quantize("int8")
        >>> small.rows.nbytes, small.metadata["quantized"]["worst_cosine"] > 0.9999
        (12, True)
        """
        rows = quantized(self.rows, dtype)
        loss = {"dtype": dtype, "worst_cosine": worst_cosine(self.rows, rows)}
        return self._with_rows(rows, {**self.metadata, "quantized": loss})

    def _with_rows(self, rows: Rows, metadata: Mapping[str, Any]) -> WordVectors:
        return WordVectors(self.vocabulary, rows, metadata=metadata)

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        config, arrays = rows_to(self.rows)
        return Parts(self.kind, {"rows": config, "metadata": self.metadata}, arrays, {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> WordVectors:
        """The artifact that `to_parts` took apart."""
        rows = rows_from(parts.config.get("rows", {}), parts.arrays)
        return WordVectors(parts.vocabularies["vocab"], rows, metadata=parts.config.get("metadata"))

    def facts(self) -> list[portrait.Fact]:
        """What there is to say about these vectors, by name."""
        first = ", ".join(map(portrait.printable, self.vocabulary[:6])) + (", …" if len(self) > 6 else "")
        facts = [
            ("words", f"{len(self):,}"),
            ("dim", str(self.dim)),
            ("rows", f"{self.rows.dtype_name}, {portrait.in_bytes(self.rows.nbytes)}"),
            ("from", portrait.origin(self.metadata)),
            ("first", first),
        ]
        return [(name, value) for name, value in facts if value]

    def __repr__(self) -> str:
        facts = dict(self.facts())
        first = f": {facts['first']}" if len(self) else ""
        return f"{type(self).__name__}({facts['words']} words × {self.dim}, {facts['rows']}{first})"

    def __rich__(self) -> Any:
        return portrait.as_table(type(self).__name__, self.facts())

    def _repr_html_(self) -> str:
        return portrait.as_html(type(self).__name__, self.facts())


def quantized(rows: Rows, dtype: Literal["float16", "int8"]) -> Rows:
    """The rows in fewer bytes."""
    if dtype == "int8":
        return Int8Rows.from_rows(rows)
    if dtype != "float16":
        raise OptionError(f"dtype is {dtype!r}, but must be 'float16' or 'int8'")
    array = np.empty(rows.shape, np.float16)
    for start in range(0, len(array), BLOCK):
        block = rows.block(start, min(start + BLOCK, len(array)))
        if np.abs(block).max(initial=0) > np.finfo(np.float16).max:
            raise OptionError("a number is too large for float16. Use int8, which scales each row")
        array[start : start + BLOCK] = block
    return DenseRows(array)


def worst_cosine(before: Rows, after: Rows) -> float:
    """The smallest cosine between rows with the same id; rows of zeros are left out."""
    worst = 1.0
    for start in range(0, before.shape[0], BLOCK):
        stop = min(start + BLOCK, before.shape[0])
        old, new = (unit_rows(rows.block(start, stop)).astype(np.float64) for rows in (before, after))
        products = (old * new).sum(axis=1)[old.any(axis=1)]
        worst = min(worst, float(products.min(initial=1.0)))
    return worst


@dataclass(frozen=True)
class Share:
    """A piece of a word: the word itself (`own`) or an n-gram, its row, and its part of the word's vector."""

    ngram: str
    row: int
    share: float
    own: bool


@dataclass(frozen=True, eq=False)
class Output:
    """What a fastText file holds beyond the input rows: the rows of its output layer, and what they stand for.

    `labels` are the classes of a supervised model, and None where the outputs are the words themselves.
    """

    rows: Rows
    labels: Vocabulary | None
    model: Literal["cbow", "skipgram", "supervised"]
    loss: Literal["hs", "ns", "softmax", "ova"]


class SubwordVectors(WordVectors):
    """Vectors of words and of their character n-grams, as fastText has them.

    Row i < len(vocabulary) is a word's own; the rows of n-grams follow. A word's vector is the mean of its own row and
    those of its n-grams; a word that was never seen has the mean of its n-grams' rows, and counts as contained.

    >>> vectors = SubwordVectors(["tea"], np.arange(22).reshape(11, 2), Subwords(3, 3, 10))
    >>> vectors["tea"].tolist(), "teapot" in vectors, "teapot" in vectors.vocabulary
    ([11.5, 12.5], True, False)
    """

    kind = "subword-vectors"

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
        needed = len(self.vocabulary) + self.subwords.size
        if self.rows.shape[0] < needed:
            raise OptionError(
                f"{len(self.vocabulary)} words and {self.subwords.size} n-grams need {needed} rows, "
                f"but there are {self.rows.shape[0]}"
            )

    @property
    def known(self) -> Rows:
        """The vectors of the words of the vocabulary, n-grams included, by id."""
        return DenseRows(self.matrix)

    @cached_property
    def matrix(self) -> Floats:
        """The vectors of all words of the vocabulary, composed in threads when first needed; never the n-grams'."""
        table = self.subwords.table(self.vocabulary, self.runtime)
        matrix = np.empty((len(self.vocabulary), self.dim), np.float32)

        def compose(part: slice) -> None:
            matrix[part] = self._composed(table, part)

        starts = range(0, len(matrix), BLOCK)
        self.runtime.spread(compose, [slice(start, min(start + BLOCK, len(matrix))) for start in starts])
        return matrix

    def _composed(self, table: tuple[Ids, Ids, Ids], part: slice) -> Floats:
        """The means of the rows of words part.start … part.stop - 1 of a table (see `Subwords.table`)."""
        rows, pointers, lengths = table
        first, last = int(pointers[part.start]), int(pointers[part.stop])
        means = np.empty((part.stop - part.start, self.dim), np.float32)
        if isinstance(self.rows, DenseRows) and self.rows.array.dtype == np.float32:
            kernel.mean_rows(np.asarray(self.rows.array), rows, pointers[part], lengths[part], means)
        else:
            ids, places = np.unique(rows[first:last], return_inverse=True)
            kernel.mean_rows(self.rows.take(ids), places, pointers[part] - first, lengths[part], means)
        return means

    def take(self, ids: Sequence[int] | Ids) -> Floats:
        """The vectors of the words with these ids; only the rows that they need are read."""
        if "matrix" in self.__dict__:
            return self.matrix[np.asarray(ids, np.int64)]
        vocabulary = self.vocabulary.take(ids)
        return self._look_up(list(vocabulary))[0]

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary or (isinstance(word, str) and len(self.subwords.rows(to_bytes(word))) > 0)

    def _look_up(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        ids = self.vocabulary.ids(words)
        runtime = self.runtime if len(words) > BLOCK else Runtime(1)
        rows, pointers, lengths = self.subwords.table(Vocabulary(words), runtime, first=len(self.vocabulary))
        rows[pointers[:-1]] = np.maximum(ids, 0)
        seen = ids >= 0
        pointers[:-1] += ~seen  # an unseen word has no row of its own
        lengths -= ~seen
        vectors = np.empty((len(words), self.dim), np.float32)
        for start in range(0, len(words), BLOCK):
            part = slice(start, min(start + BLOCK, len(words)))
            vectors[part] = self._composed((rows, pointers, lengths), part)
        return vectors, lengths > 0

    def explain(self, word: str) -> list[Share]:
        """Each piece of a word and its share of the word's vector; shares add up to 1, and one may be negative.

        The share of a piece is the projection of its row on the vector: row·vector / (pieces · ‖vector‖²).

        >>> vectors = SubwordVectors(["tea"], np.arange(22).reshape(11, 2), Subwords(3, 3, 10))
        >>> [(share.ngram, round(share.share, 2)) for share in vectors.explain("tea")]
        [('tea', 0.01), ('<te', 0.39), ('tea', 0.34), ('ea>', 0.26)]
        """
        size, id = len(self.vocabulary), self.vocabulary.find(word)
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
        return SubwordVectors(self.vocabulary, rows, self.subwords, output=self.output, metadata=metadata)

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        parts = super().to_parts()
        subwords = self.subwords
        config = dict(parts.config)
        arrays, vocabularies = dict(parts.arrays), dict(parts.vocabularies)
        config["subwords"] = {name: getattr(subwords, name) for name in ("minn", "maxn", "buckets", "sentence_end")}
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
        """The artifact that `to_parts` took apart."""
        config, arrays = parts.config, parts.arrays
        pruned = {int(b): int(row) for b, row in arrays["pruned"].tolist()} if "pruned" in arrays else None
        output = None
        if "output" in config:
            output_rows = rows_from(config["output"]["rows"], arrays, "output.")
            labels = parts.vocabularies.get("labels")
            output = Output(output_rows, labels, config["output"]["model"], config["output"]["loss"])
        return SubwordVectors(
            parts.vocabularies["vocab"],
            rows_from(config.get("rows", {}), arrays),
            Subwords(**config["subwords"], pruned=pruned),
            output=output,
            metadata=config.get("metadata"),
        )
