"""Word vectors.

`WordVectors` has a row for each word of its vocabulary. `SubwordVectors` also has rows for character n-grams, so that
unseen words have vectors too. Both are immutable; unit rows and the search index are computed on first use. The queries
are in `neighbors.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from firth.arguments import checked
from firth.errors import OptionError, UnknownWord
from firth.lazy import import_name
from firth.pooling import encode_texts
from firth.serialization import Parts
from firth.show import notebook
from firth.show.numbers import format_bytes
from firth.text.corpus import check_words
from firth.text.coverage import Coverage, measure, report_coverage
from firth.text.model_tokenizer import ModelTokenizer, Sentences, TextLike
from firth.text.normalize import Normalizer
from firth.text.tokenize import TokenizerLike, as_tokenizer
from firth.text.vocabulary import Vocabulary, check_ids, make_printable
from firth.uncached import Uncached
from firth.vectors.conversions import Conversions
from firth.vectors.neighbors import Neighbors, unit_rows
from firth.vectors.rows import DenseRows, Floats, Ids, Int8Rows, Rows, rows_from, rows_of, rows_to

Unknown = Literal["zeros", "skip", "error"]
BLOCK = 4096  # words per block


@checked
class WordVectors(Uncached, Neighbors, Conversions, notebook.FactSheet):
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
    composes = False  # vectors of unknown words from their characters

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
        """All vectors as one float32 array: the stored array, possibly a memory map, if it is float32."""
        return self.rows.block(0, len(self.vocabulary))

    @cached_property
    def unit(self) -> Floats:
        """All vectors, scaled to length 1; a row of zeros stays zero. NaN and infinity are an error."""
        return self.first_unit_rows(len(self))

    def first_unit_rows(self, count: int) -> Floats:
        """The vectors of the first words, scaled to length 1. The error of NaN and infinity names the word.

        >>> WordVectors(["tea", "rain"], [[3.0, 4.0], [np.nan, 0.0]]).first_unit_rows(1).tolist()
        [[0.6000000238418579, 0.800000011920929]]
        """
        if not 0 <= count <= len(self):
            raise OptionError(f"count is {count}, but must be from 0 to {len(self)}, the number of words")
        unit = np.empty((count, self.dim), np.float32)
        for start in range(0, count, BLOCK):
            rows = self.known.block(start, min(start + BLOCK, count))
            try:
                unit[start : start + BLOCK] = unit_rows(rows)
            except OptionError as error:
                bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
                problem = f"the vector of {self.vocabulary[start + bad]!r} contains NaN or infinity"
                raise OptionError(f"{problem}. Remove or repair it first") from error
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
        return word in self.vocabulary or (isinstance(word, str) and int(self.ids([word])[0]) >= 0)

    def __getitem__(self, words: str | Iterable[str]) -> Floats:
        if isinstance(words, str):
            row: Floats = self.of([words])[0]
            return row
        return self.of(check_words(words, "the query"))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """All vectors as one array: `np.asarray(vectors)` is `vectors.matrix`."""
        return np.array(self.matrix, dtype) if copy else np.asarray(self.matrix, dtype)

    def take(self, ids: Sequence[int] | Ids) -> Floats:
        """The vectors of the words with these ids."""
        return self.rows.take(check_ids(ids, len(self)))

    def of(self, words: Sequence[str]) -> Floats:
        """The vectors of words, one row each; a word that has none raises `UnknownWord`."""
        vectors, is_known = self._look_up(words)
        if not is_known.all():
            word = words[int(np.argmin(is_known))]
            raise UnknownWord(word, self.vocabulary.near(word))
        return vectors

    def of_or_zeros(self, words: Sequence[str]) -> Floats:
        """The vectors of words, one row each; a word that has none has a row of zeros.

        >>> WordVectors(["tea", "rain"], [[1, 0], [0, 1]]).of_or_zeros(["tea", "milk"]).tolist()
        [[1.0, 0.0], [0.0, 0.0]]
        """
        return self._look_up(words)[0]

    @cached_property
    def tokenizer(self) -> ModelTokenizer:
        """Splits texts as the training text was split. Vectors of other tools have the standard tokenizer."""
        return ModelTokenizer.of(self.metadata, self.vocabulary)

    @property
    def normalizer(self) -> Normalizer | None:
        """The normalizer of the words; None for vectors of other tools, whose words stay as they are."""
        return self.tokenizer.normalizer

    def ids(self, words: Iterable[str]) -> Ids:
        """The ids of words, -1 for a word that is not in the vocabulary.

        A word that is not found is looked up again as the training text was normalized: with its case folded, with
        Persian letters.

        >>> from firth.text.tokenize import Tokenizer
        >>> fold = Tokenizer(normalizer=Normalizer(fold_case=True))
        >>> vectors = WordVectors(["london"], [[1, 0]]).with_tokenizer(fold)
        >>> vectors.ids(["london", "London", "Paris"]), vectors["LONDON"], "London" in vectors
        (array([ 0,  0, -1]), array([1., 0.], dtype=float32), True)
        """
        return self._find(words if isinstance(words, list) else list(words))[1]

    def _find(self, words: list[str]) -> tuple[Sequence[str], Ids]:
        """Words, those outside the vocabulary normalized, and their ids."""
        try:
            return self.tokenizer.find(words, self.vocabulary)
        except (AttributeError, TypeError):
            check_words(words, "the query")  # names what is not a word
            raise

    def with_tokenizer(self, tokenizer: TokenizerLike) -> Self:
        """The same vectors with the tokenizer of their training text, for files that do not name it.

        It is a `Tokenizer`, or any function from a sentence to its words. Texts are split by it, and words are
        normalized as it does.
        """
        vectors = copy(self)
        vectors.__dict__.pop("tokenizer", None)
        vectors.metadata = {**self.metadata, "tokenizer": as_tokenizer(tokenizer).as_dict()}
        return vectors

    def _look_up(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """A row for each word, zero if it has no vector, and whether it has one."""
        ids = self.ids(words)
        is_known = ids >= 0
        if is_known.all():
            return self.rows.take(ids), is_known
        vectors = np.zeros((len(ids), self.dim), np.float32)
        vectors[is_known] = self.rows.take(ids[is_known])
        return vectors, is_known

    def count(self, word: str) -> int:
        """How often a word occurs in the training text.

        >>> WordVectors(Vocabulary(["the", "tea"], [9, 2]), [[1, 0], [0, 1]]).count("tea")
        2
        """
        if self.vocabulary.counts is None:
            raise OptionError("these vectors have no counts. Load a file that has them, such as a .bin of fastText")
        id = int(self.ids([word])[0])
        if id < 0:
            raise UnknownWord(word, self.vocabulary.near(word))
        return int(self.vocabulary.counts[id])

    def get_vector(self, word: str, norm: bool = False) -> Floats:
        """The vector of a word, as gensim names it; scaled to length 1 if `norm` is on."""
        vector: Floats = (unit_rows(self.of([word])) if norm else self.of([word]))[0]
        return vector

    def embed(self, sentences: Sentences, *, unknown: Unknown = "zeros") -> list[Floats]:
        """A (length, dim) array for each sentence, with one row per word.

        A sentence is a list of words, or text, which is tokenized as the training text was. A word without a vector
        has a row of zeros; with "skip" it has no row, with "error" it raises `UnknownWord`.

        >>> vectors = WordVectors(["tea", "rain"], [[1, 0], [0, 1]])
        >>> [array.tolist() for array in vectors.embed([["more", "tea"], []])]
        [[[0.0, 0.0], [1.0, 0.0]], []]
        >>> [array.shape for array in vectors.embed(["More tea!"])]
        [(3, 2)]
        """
        if unknown not in ("zeros", "skip", "error"):
            raise OptionError(f"unknown is {unknown!r}, but must be 'zeros', 'skip' or 'error'")
        lists = list(self.tokenizer.sentences(sentences))
        words = [word for sentence in lists for word in sentence]
        if not words:
            return [np.zeros((0, self.dim), np.float32) for _ in lists]
        if unknown == "error":
            vectors, is_known = self.of(words), np.ones(len(words), bool)
        else:
            vectors, is_known = self._look_up(words)
            report_coverage(measure(lists, self.ids, composes=self.composes))
        edges = np.cumsum([len(sentence) for sentence in lists])[:-1]
        arrays = np.split(vectors, edges)
        if unknown == "skip":
            return [array[mask] for array, mask in zip(arrays, np.split(is_known, edges))]
        return arrays

    encode = encode_texts

    def coverage(self, sentences: Sentences) -> Coverage:
        """How many words of sentences are outside the vocabulary; subword vectors know those only by their n-grams.

        >>> WordVectors(["tea", "rain"], [[1, 0], [0, 1]]).coverage(["More tea!"])
        Coverage(words=2, unknown=1, cut=0, longest=0, unit='bytes')
        """
        return measure(self.tokenizer.sentences(sentences), self.ids, composes=self.composes)

    def restrict(self, words: Iterable[str]) -> WordVectors:
        """The vectors of these words only, in the order of their ids; unknown words are skipped.

        >>> WordVectors(["tea", "coffee", "rain"], np.eye(3)).restrict(["rain", "milk", "tea"]).vocabulary.words
        ('tea', 'rain')
        """
        ids = np.unique(self.ids(words))
        ids = ids[ids >= 0]
        return WordVectors(self.vocabulary.take(ids), self.known.pick(ids), metadata=self.metadata)

    def wmdistance(self, first: TextLike, second: TextLike, norm: bool = True) -> float:
        """The word mover's distance of two texts: the least cost of moving the words of one to those of the other.

        A text is a string or a list of words. Words without a vector do not count; a text without a known word is at
        infinity. Vectors are scaled to length 1 first, unless `norm` is off.

        >>> vectors = WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]])
        >>> vectors.wmdistance("tea", "coffee") < vectors.wmdistance("tea", "rain")
        True
        """
        from firth.vectors.word_mover import word_mover_distance  # scipy.optimize is slow to import

        before, after = self.tokenizer.words(first), self.tokenizer.words(second)
        unique = list(dict.fromkeys(before + after))
        rows, is_known = self._look_up(unique)
        table = {word: row for word, row, known in zip(unique, unit_rows(rows) if norm else rows, is_known) if known}
        return word_mover_distance(before, after, table)

    def vectors_for_all(self, words: Iterable[str]) -> WordVectors:
        """The vectors of these words in this order, each once; words without a vector are skipped.

        Unlike `restrict`, it composes subword vectors for words outside the vocabulary.

        >>> WordVectors(["tea", "coffee", "rain"], np.eye(3)).vectors_for_all(["rain", "milk", "tea"]).vocabulary.words
        ('rain', 'tea')
        """
        unique = list(dict.fromkeys(words))
        rows, is_known = self._look_up(unique)
        known = [word for word, known in zip(unique, is_known.tolist()) if known]
        return WordVectors(known, rows[is_known], metadata=self.metadata)

    def add(self, words: Sequence[str], rows: NDArray[Any] | Sequence[Sequence[float]]) -> WordVectors:
        """These vectors with others: a known word gets the new vector, new words follow the old ones.

        >>> more = WordVectors(["tea", "rain"], [[1, 0], [0, 1]]).add(["rain", "milk"], [[0, 2], [1, 1]])
        >>> more.vocabulary.words, more["rain"].tolist()
        (('tea', 'rain', 'milk'), [0.0, 2.0])
        """
        new = check_rows(rows, len(words), self.dim)
        last = dict(zip(check_words(words, "the words"), new))  # the last vector of a word counts
        ids = self.vocabulary.ids(list(last))
        matrix = np.concatenate([self.matrix, np.stack(list(last.values()))[ids < 0]] if last else [self.matrix])
        for id, row in zip(ids.tolist(), last.values()):
            if id >= 0:
                matrix[id] = row
        more = [word for word, id in zip(last, ids.tolist()) if id < 0]
        counts = self.vocabulary.counts
        if counts is not None:
            counts = np.append(counts, np.zeros(len(more), np.int64))
        return WordVectors(Vocabulary([*self.vocabulary, *more], counts), matrix, metadata=self.metadata)

    def intersect(self, other: WordVectors) -> WordVectors:
        """These vectors, with those of `other` for the words that both have.

        >>> start = WordVectors(["tea", "rain"], [[1, 0], [0, 1]])
        >>> start.intersect(WordVectors(["milk", "tea"], [[7, 7], [5, 5]])).matrix.tolist()
        [[5.0, 5.0], [0.0, 1.0]]
        """
        common = [word for word in self.vocabulary if word in other.vocabulary]
        return self.add(common, check_dim(other, self.dim).take(other.vocabulary.ids(common)))

    def merge(self, other: WordVectors) -> WordVectors:
        """The words of both; a word of both keeps its vector here, and new words follow.

        >>> both = WordVectors(["tea"], [[1, 0]]).merge(WordVectors(["milk", "tea"], [[7, 7], [5, 5]]))
        >>> both.vocabulary.words, both["tea"].tolist()
        (('tea', 'milk'), [1.0, 0.0])
        """
        new = [word for word in other.vocabulary if word not in self.vocabulary]
        return self.add(new, check_dim(other, self.dim).take(other.vocabulary.ids(new)))

    def quantize(self, dtype: Literal["float16", "int8"]) -> WordVectors:
        """The same words with smaller rows; `metadata["quantized"]` has the worst cosine between old and new rows.

        >>> small = WordVectors(["tea", "rain"], [[1, 0.25], [0, 1]]).quantize("int8")
        >>> small.rows.nbytes, small.metadata["quantized"]["worst_cosine"] > 0.9999
        (12, True)
        """
        rows = quantize_vectors(self.rows, dtype)
        loss = {"dtype": dtype, "worst_cosine": worst_cosine(self.rows, rows)}
        return self._with_rows(rows, {**self.metadata, "quantized": loss})

    def _with_rows(self, rows: Rows, metadata: Mapping[str, Any]) -> WordVectors:
        return WordVectors(self.vocabulary, rows, metadata=metadata)

    def map(self, words: int = 20_000) -> Any:
        """A map of the most frequent words in a notebook: a widget. Needs the extra `notebook`.

        Near words lie near each other; points can be picked, searched and selected.
        """
        show_map = import_name("firth.maps.notebook:show_map", "a map in a notebook", "notebook")
        return show_map(self, words)

    def to_parts(self) -> Parts:
        """The config, arrays and vocabularies to save."""
        config, arrays = rows_to(self.rows)
        return Parts(self.kind, {"rows": config, "metadata": self.metadata}, arrays, {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> WordVectors:
        """Inverse of `to_parts`."""
        return WordVectors(parts.vocabulary, rows_from(parts.table("rows"), parts.arrays), metadata=parts.metadata)

    def _facts(self) -> list[notebook.Fact]:
        first = ", ".join(map(make_printable, self.vocabulary[:6])) + (", …" if len(self) > 6 else "")
        return [
            ("words", f"{len(self):,}"),
            ("dim", str(self.dim)),
            ("rows", f"{self.rows.dtype_name}, {format_bytes(self.rows.nbytes)}"),
            ("from", notebook.describe_origin(self.metadata)),
            ("first", first),
        ]

    def _repr_html_(self) -> str:
        """The facts and, of a model that was trained, the loss of each epoch."""
        return super()._repr_html_() + notebook.html_losses(self.metadata)

    def __repr__(self) -> str:
        facts = dict(self.facts())
        first = f": {facts['first']}" if "first" in facts else ""  # not where no word, or an empty one, comes first
        return f"{type(self).__name__}({facts['words']} words × {self.dim}, {facts['rows']}{first})"


def check_dim(vectors: WordVectors, dim: int) -> WordVectors:
    """The vectors, if they have `dim` numbers each.

    >>> check_dim(WordVectors(["tea"], [[1, 2]]), 3)
    Traceback (most recent call last):
    firth.errors.OptionError: the other vectors have 2 numbers each, but these have 3
    """
    if vectors.dim != dim:
        raise OptionError(f"the other vectors have {vectors.dim} numbers each, but these have {dim}")
    return vectors


def check_rows(rows: NDArray[Any] | Sequence[Sequence[float]], count: int, dim: int) -> Floats:
    """Vectors as float32 of shape (count, dim); another shape is an error.

    >>> check_rows([[1, 2]], 1, 3)
    Traceback (most recent call last):
    firth.errors.OptionError: the vectors have the shape (1, 2), but must have (1, 3)
    """
    try:
        array = np.asarray(rows, np.float32)
    except (TypeError, ValueError) as error:
        raise OptionError(f"the vectors are {rows!r:.80}, but must be {count} rows of {dim} numbers") from error
    if array.shape != (count, dim):
        raise OptionError(f"the vectors have the shape {array.shape}, but must have {(count, dim)}")
    return array


def quantize_vectors(rows: Rows, dtype: Literal["float16", "int8"]) -> Rows:
    """Converts rows to float16 or int8."""
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
    """The smallest cosine between rows with the same id; rows of zeros are skipped."""
    worst = 1.0
    for start in range(0, before.shape[0], BLOCK):
        stop = min(start + BLOCK, before.shape[0])
        old, new = (unit_rows(rows.block(start, stop)).astype(np.float64) for rows in (before, after))
        products = (old * new).sum(axis=1)[old.any(axis=1)]
        worst = min(worst, float(products.min(initial=1.0)))
    return worst
