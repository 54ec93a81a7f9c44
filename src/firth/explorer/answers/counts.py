"""A few sentences counted: the matrix of each kind of counts, small enough to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.explorer.problems import PageError
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.text.corpus import Corpus
from firth.vectors.words import WordVectors

CountKind = Literal["one-hot", "document-term", "tf-idf", "co-occurrence", "ppmi", "svd"]
COUNT_KINDS: tuple[CountKind, ...] = get_args(CountKind)
WINDOWED = ("co-occurrence", "ppmi", "svd")
SHOWN = 28  # rows and columns of a matrix that a page shows
DIM = 2  # of the SVD: a plane


@dataclass(frozen=True)
class CountTable:
    """A part of a matrix with the names of its rows and columns, and the shape of the whole matrix."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    shape: tuple[int, int]
    python: str


def count_text(text: str, kind: str, window: int = 1) -> CountTable:
    """The matrix of a text whose lines are the sentences and the documents.

    >>> table = count_text("I like NLP .\\nI like tea .", "co-occurrence")
    >>> table.rows, float(table.values[table.rows.index("I"), table.columns.index("like")])
    (('.', 'I', 'like', 'NLP', 'tea'), 2.0)
    """
    if kind not in COUNT_KINDS:
        raise OptionError(f"no kind of counts is called {kind!r}. There are: {', '.join(COUNT_KINDS)}")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise PageError("text-empty")
    options: dict[str, Any] = {"kind": kind}
    if kind in WINDOWED:
        options["window"] = window
    if kind == "svd":
        corpus = Corpus.of(lines)
        options["dim"] = min(DIM, len(corpus.vocabulary))
    result = Counts(**options).fit(Corpus.of(lines))
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    python = f"firth.Counts({arguments}).fit(firth.Corpus.of({lines!r}))"
    if kind == "svd":
        vectors = cast(WordVectors, result)
        names = tuple(f"{number}" for number in range(1, vectors.dim + 1))
        values = np.asarray(vectors.matrix, np.float64)
        return CountTable(tuple(vectors)[:SHOWN], names, values[:SHOWN], values.shape, f"{python}.matrix")
    matrix = cast(CountMatrix, result)
    part = np.asarray(matrix.matrix[:SHOWN, :SHOWN].toarray(), np.float64)
    rows, columns = tuple(matrix.rows)[:SHOWN], tuple(matrix.columns)[:SHOWN]
    return CountTable(rows, columns, part, matrix.shape, f"{python}.matrix.toarray()")
