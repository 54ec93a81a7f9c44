"""From the rows of a batch, one behind the other, to an array for each sentence."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.runtime import Runtime

Floats = NDArray[Any]  # float32, or float16 where that is asked for
Numbers = NDArray[np.int64]
Pooling = Literal["mean", "max", "first-last"]
TOO_LARGE = "a number is too large for float16. Use float32"
PIECE = 8 << 20  # bytes that are copied together: new memory costs least in large pieces


def rows_of_words(lengths: Numbers, layers: int) -> Numbers:
    """Which tokens of layers that lie one behind the other are words, not <S> or </S>: each sentence layer by layer.

    >>> rows_of_words(np.array([4, 3]), 2).tolist()
    [1, 2, 8, 9, 5, 12]
    """
    counts = np.repeat(lengths - 2, layers)  # of each sentence in each layer
    starts = np.cumsum(lengths) - lengths + 1
    firsts = (starts[:, None] + int(lengths.sum()) * np.arange(layers)).reshape(-1)
    return np.arange(int(counts.sum())) + np.repeat(firsts - np.cumsum(counts) + counts, counts)


def divided(rows: Floats, lengths: Numbers, layers: int | None) -> list[Floats]:
    """The arrays of sentences with so many words, whose rows lie one behind the other; they are views.

    >>> [array.shape for array in divided(np.zeros((6, 5)), np.array([2, 1]), 2)]
    [(2, 2, 5), (2, 1, 5)]
    """
    ends = [0, *np.cumsum((layers or 1) * lengths).tolist()]
    views = [rows[start:end] for start, end in pairwise(ends)]
    return views if layers is None else [view.reshape(layers, -1, rows.shape[1]) for view in views]


def copied(rows: Floats, lengths: Numbers, layers: int | None) -> list[Floats]:
    """As `divided`, but each array has its own memory."""
    return [view.copy() for view in divided(rows, lengths, layers)]


def copied_in_pieces(rows: Floats, lengths: Numbers, layers: int | None) -> list[Floats]:
    """As `divided`, in new memory that an array shares with its neighbors, some megabytes of them; in threads."""
    ends = np.cumsum((layers or 1) * lengths)
    cuts = np.flatnonzero(np.diff(ends * (rows.shape[1] * rows.itemsize) // PIECE, prepend=-1)).tolist()

    def copy(part: tuple[int, int]) -> list[Floats]:
        first, last = part
        start = int(ends[first - 1]) if first else 0
        return divided(rows[start : int(ends[last - 1])].copy(), lengths[first:last], layers)

    pieces = Runtime.from_env().map(copy, pairwise([*cuts, len(lengths)]))
    return list(chain.from_iterable(pieces))


def pooled(rows: Floats, lengths: Numbers, layers: int | None, pooling: Pooling, dtype: str) -> list[Floats]:
    """One vector for each sentence, or one for each of its layers."""
    views, runtime = divided(rows, lengths, layers), Runtime.from_env()

    def some(part: slice) -> list[Floats]:
        return [rounded(pool(view, pooling), dtype) for view in views[part]]

    return list(chain.from_iterable(runtime.map(some, runtime.shares(len(views)))))


def pool(array: Floats, pooling: Pooling | None) -> Floats:
    """One vector of a sentence's words, (..., length, 2 · dim) to (..., 2 · dim); zeros where it has no words.

    "first-last" is what each direction says when it has read the whole sentence: forwards at the last word, backwards
    at the first.

    >>> pool(np.array([[1, 2], [3, 4]], np.float32), "first-last")
    array([3., 2.], dtype=float32)
    """
    if pooling is None:
        return array
    if array.shape[-2] == 0:
        return np.zeros((*array.shape[:-2], array.shape[-1]), np.float32)
    if pooling == "mean":
        return cast(Floats, array.mean(-2))
    if pooling == "max":
        return cast(Floats, array.max(-2))
    half = array.shape[-1] // 2
    return np.concatenate([array[..., -1, :half], array[..., 0, half:]], -1)


def rounded(array: Floats, dtype: str) -> Floats:
    """The array in its final type; a number that is too large for it is an error, never infinite."""
    try:
        with np.errstate(over="raise"):
            return array.astype(dtype, copy=False)
    except FloatingPointError as error:
        raise OptionError(TOO_LARGE) from error
