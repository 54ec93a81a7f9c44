"""A sparse matrix of counts or weights with named rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table
from scipy.sparse import csr_matrix

from firth.arguments import checked
from firth.errors import OptionError
from firth.models import weighting
from firth.models.smart import SmartCode
from firth.serialization import Parts
from firth.show.bidi import Cell
from firth.text.model_tokenizer import ModelTokenizer
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

Floats = NDArray[np.float64]
Documents = Iterable[str] | Iterable[Sequence[str]]

CORNER = 8  # rows and columns that are displayed
DENSE_LIMIT = 2 * 10**9  # most bytes of a dense matrix
LONGEST_DOCUMENT = 1e15  # in characters
BY_DOCUMENT = ("document-term", "tf-idf")


@checked
class CountMatrix:
    """Counts or weights by name: words × contexts or documents × words.

    >>> words = Vocabulary(["ice", "steam"])
    >>> counts = CountMatrix(csr_matrix([[3.0, 1.0], [0.0, 2.0]]), words, Vocabulary(["solid", "water"]))
    >>> counts["ice"], counts.value("steam", "water"), counts.top("ice", 1)
    (array([3., 1.]), 2.0, [('solid', 3.0)])
    """

    kind = "count-matrix"

    def __init__(
        self,
        matrix: csr_matrix,
        rows: Vocabulary,
        columns: Vocabulary,
        metadata: Mapping[str, Any] | None = None,
        *,
        idf: Floats | None = None,
    ) -> None:
        if matrix.shape != (len(rows), len(columns)):
            shape = f"{matrix.shape[0]:,} × {matrix.shape[1]:,}"
            raise OptionError(f"a matrix of {shape} does not fit {len(rows):,} row and {len(columns):,} column names")
        self.matrix, self.rows, self.columns, self.idf = matrix, rows, columns, idf
        self.metadata: dict[str, Any] = dict(metadata or {})

    @property
    def options(self) -> dict[str, Any]:
        """The options of the recipe that made this matrix."""
        return dict(self.metadata.get("recipe", {}))

    @property
    def by_document(self) -> bool:
        """Whether rows are documents and columns are words."""
        return self.options.get("kind") in BY_DOCUMENT

    @property
    def vocabulary(self) -> Vocabulary:
        """The words: the names of the rows or, if rows are documents, of the columns."""
        return self.columns if self.by_document else self.rows

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.rows), len(self.columns)

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._find(self.vocabulary, word) >= 0

    @cached_property
    def tokenizer(self) -> ModelTokenizer:
        """The tokenizer of the counted corpus."""
        return ModelTokenizer.of(self.metadata)

    @property
    def normalizer(self) -> Normalizer | None:
        """The normalizer of the words; None where the counts name none."""
        return self.tokenizer.normalizer

    def _find(self, names: Vocabulary, word: str) -> int:
        """The id of a word, or -1; a word that is not found is normalized as the counted text was."""
        return int(self.tokenizer.find([word], names)[1][0])

    def _id(self, names: Vocabulary, word: str) -> int:
        id = self._find(names, word)
        return id if id >= 0 else names.id(word)

    def __getitem__(self, word: str) -> Floats:
        """The values of a word as a dense array, one for each context or document."""
        id = self._id(self.vocabulary, word)
        values = self.matrix[:, [id]] if self.by_document else self.matrix[[id]]
        return np.asarray(values.toarray(), np.float64).ravel()

    def value(self, row: str, column: str) -> float:
        """The value of one cell; an empty cell is 0.0."""
        return float(self.matrix[self._id(self.rows, row), self._id(self.columns, column)])

    def top(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """The n contexts or documents with the largest values for a word; ties keep the order of the names."""
        values = self[word]
        nonzero = np.flatnonzero(values)
        best = nonzero[np.argsort(-values[nonzero], kind="stable")[:n]]
        names = self.rows if self.by_document else self.columns
        return [(names[int(i)], float(values[i])) for i in best]

    def probabilities(self, word: str, contexts: str | Sequence[str] | None = None) -> Floats:
        """P(k | word) = X(word, k) / (sum over all k of X(word, k)), for the given contexts or for all.

        >>> words = Vocabulary(["ice", "solid", "water"])
        >>> CountMatrix(csr_matrix([[0, 3, 1], [3, 0, 0], [1, 0, 0]]), words, words).probabilities("ice", ["solid"])
        array([0.75])
        """
        kind = self.options.get("kind")
        if kind in ("one-hot", "pmi", "ppmi", *BY_DOCUMENT):
            problem = f"probabilities need co-occurrence counts, but this matrix is {kind}"
            raise OptionError(f"{problem}. Use kind='co-occurrence'")
        counts = self[word]
        total = counts.sum()
        if total <= 0:
            raise OptionError(
                f"nothing was counted near {word!r}, so P(k | {word}) is not defined. Count a larger text"
            )
        if contexts is None:
            return np.asarray(counts / total)
        names = [contexts] if isinstance(contexts, str) else contexts
        return np.asarray(counts[[self._id(self.columns, name) for name in names]] / total)

    def ratio(self, first: str, second: str, probes: Sequence[str]) -> Ratios:
        """GloVe's table: P(k | first), P(k | second) and their ratio, for each probe word k.

        A probe that is unknown, or was never counted near the second word, has no ratio; its note gives the reason.
        """
        p_first, p_second = self.probabilities(first), self.probabilities(second)
        lines = []
        for probe in probes:
            id = self._find(self.columns, probe)
            if id < 0:
                lines.append(Ratio(probe, None, None, None, "not in the vocabulary"))
                continue
            lines.append(_compare(probe, first, second, float(p_first[id]), float(p_second[id])))
        return Ratios(first, second, tuple(lines))

    def vectors(self) -> WordVectors:
        """The words with their rows as dense vectors; at most 2 GB."""
        by_word = self.matrix.T if self.by_document else self.matrix
        if 4 * by_word.shape[0] * by_word.shape[1] > DENSE_LIMIT:
            shape = f"{by_word.shape[0]:,} × {by_word.shape[1]:,}"
            raise OptionError(f"{shape} numbers are too many for a dense matrix. Use kind='svd' for short vectors")
        return WordVectors(self.vocabulary, by_word.astype(np.float32).toarray(), metadata=self.metadata)

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """The names of the columns, by the interface of scikit-learn."""
        return np.array(self.columns.words, dtype=object)

    def transform(self, documents: Documents, *, tokenizer: Tokenizer | None = None) -> csr_matrix:
        """New documents as rows, counted and weighted like this matrix.

        Documents are lists of words, or texts, which are split by the tokenizer of the counted corpus or by the given
        one. Unknown words are dropped.
        """
        if not self.by_document:
            kind = self.options.get("kind")
            raise OptionError(f"only document-term and tf-idf matrices transform documents, but this matrix is {kind}")
        if tokenizer is None:
            tokenizer = self.tokenizer.tokenizer
        counts = count_words(tokenize_documents(documents, tokenizer), self.columns)
        options = self.options
        if self.idf is not None and options.get("smart") is not None:
            log, slope, pivot = options["log"], options["slope"], self.metadata.get("pivot")
            code = SmartCode.parse(options["smart"])
            return code.weigh(counts, self.columns, self.idf, log=log, slope=slope, pivot=pivot)
        if self.idf is not None:
            counts = weighting.tf_idf(counts, self.idf, tf=options["tf"], log=options["log"])
        return weighting.normalize_rows(counts) if options.get("normalize") == "l2" else counts

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        arrays = {"indptr": self.matrix.indptr, "indices": self.matrix.indices, "data": self.matrix.data}
        if self.idf is not None:
            arrays["idf"] = self.idf
        vocabularies = {"vocab": self.rows}
        if self.columns is not self.rows:
            vocabularies["columns"] = self.columns
        return Parts(self.kind, {"shape": list(self.shape), "metadata": self.metadata}, arrays, vocabularies)

    @classmethod
    def from_parts(cls, parts: Parts) -> CountMatrix:
        """The artifact that `to_parts` took apart."""
        rows = parts.vocabulary
        columns = parts.vocabularies.get("columns", rows)
        data = parts.array("data", "fiu", None)
        if data.dtype not in (np.float64, np.float32, np.int64, np.int32):
            raise OptionError(f"the array 'data' has the type {data.dtype}, which a sparse matrix cannot have")
        indices = parts.ids("indices", len(data), below=len(columns))
        starts = parts.pointers("indptr", len(rows), len(data))
        matrix = csr_matrix((data, indices, starts), shape=(len(rows), len(columns)), copy=False)
        idf = parts.array("idf", "f", len(columns)) if "idf" in parts.arrays else None
        if idf is not None:
            recipe = parts.metadata.get("recipe", {})
            for name, known in (("tf", weighting.TermFrequency), ("log", weighting.Log)):
                if recipe.get(name) not in get_args(known):
                    raise OptionError(f"metadata.recipe.{name} is {recipe.get(name)!r:.60}, which is unknown")
            if recipe.get("smart") is not None:
                _check_smart(recipe, parts.metadata.get("pivot"))
        return cls(matrix, rows, columns, parts.metadata, idf=idf)

    def __repr__(self) -> str:
        kind = self.options.get("kind", "counts")
        return f"CountMatrix({kind}, {len(self.rows):,} × {len(self.columns):,}, {self.matrix.nnz:,} cells used)"

    def __rich__(self) -> Table:
        table = Table(title=repr(self), box=box.SIMPLE_HEAD, title_justify="left")
        table.add_column("")
        for name in self.columns[:CORNER]:
            table.add_column(Cell(name), justify="right")
        corner = self.matrix[:CORNER, :CORNER].toarray()
        for name, numbers in zip(self.rows[:CORNER], corner):
            table.add_row(Cell(name, style="bold"), *[f"{number:.4g}" if number else "." for number in numbers])
        return table


@dataclass(frozen=True)
class Ratio:
    """One line of GloVe's table. An undefined value is None, and `note` gives the reason."""

    probe: str
    first: float | None
    second: float | None
    ratio: float | None
    note: str = ""


@dataclass(frozen=True)
class Ratios:
    """GloVe's table for two words: a ratio far above 1 relates k to the first word, far below 1 to the second."""

    first: str
    second: str
    lines: tuple[Ratio, ...]

    def as_dict(self) -> dict[str, Any]:
        """The table as plain values."""
        return asdict(self)

    def __rich__(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("k")
        for name in (f"P(k|{self.first})", f"P(k|{self.second})", "ratio"):
            table.add_column(Cell(name), justify="right")
        table.add_column("")
        for line in self.lines:
            first, second = ("–" if p is None else f"{p:.3g}" for p in (line.first, line.second))
            ratio = "–" if line.ratio is None else f"{line.ratio:.3g}"
            table.add_row(Cell(line.probe), first, second, ratio, Cell(line.note))
        return table


def _check_smart(recipe: Mapping[str, Any], pivot: object) -> None:
    """Checks the SMART code of a file with its slope and its pivot."""
    if not isinstance(recipe["smart"], str):
        raise OptionError(f"metadata.recipe.smart is {recipe['smart']!r:.60}, but must be a code of three letters")
    ranges: list[tuple[str, object, float]] = [("recipe.slope", recipe.get("slope"), 1.0)]
    if SmartCode.parse(recipe["smart"]).is_pivoted:
        ranges.append(("pivot", pivot, LONGEST_DOCUMENT))
    elif pivot is not None:
        raise OptionError(f"metadata.pivot is {pivot!r:.60}, but the code {recipe['smart']} has none")
    for name, value, most in ranges:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
            raise OptionError(f"metadata.{name} is {value!r:.60}, but must be a number from 0 to {most:g}")


def _compare(probe: str, first: str, second: str, p_first: float, p_second: float) -> Ratio:
    if p_first and p_second:
        return Ratio(probe, p_first, p_second, p_first / p_second)
    if not p_first and not p_second:
        return Ratio(probe, 0.0, 0.0, None, f"never near {first} or {second}")
    if p_second:
        return Ratio(probe, 0.0, p_second, 0.0, f"never near {first}")
    return Ratio(probe, p_first, 0.0, None, f"never near {second}")


def tokenize_documents(documents: Documents, tokenizer: Tokenizer) -> list[list[str]]:
    """Documents as lists of words; the tokenizer splits texts, lists stay as they are."""
    if isinstance(documents, str):
        raise OptionError("documents must be a list of texts. For one text write [text]")
    split = ModelTokenizer(tokenizer)
    return [split.words(one) for one in documents]


def count_words(documents: Sequence[Sequence[str]], words: Vocabulary) -> csr_matrix:
    """The count of each word in each document, one row per document; other words are dropped.

    >>> count_words([["a", "b", "a"], ["c"]], Vocabulary(["a", "b"])).toarray()
    array([[2., 1.],
           [0., 0.]])
    """
    ids = words.ids([word for document in documents for word in document])
    rows = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    known = ids >= 0
    shape = (len(documents), len(words))
    counts = csr_matrix((np.ones(int(known.sum())), (rows[known], ids[known])), shape=shape)
    counts.sum_duplicates()
    return counts
