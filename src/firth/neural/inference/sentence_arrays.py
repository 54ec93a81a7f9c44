"""Splits the rows of a batch into an array for each sentence."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.runtime import Runtime

Floats = NDArray[Any]  # float32 or float16
Numbers = NDArray[np.int64]
Pooling = Literal["mean", "max", "first-last"]
TOO_LARGE = "a number is too large for float16. Use float32"


def word_rows(lengths: Numbers, layers: int) -> Numbers:
    """The rows of words in layers of tokens: sentence by sentence, in each layer by layer, without <S> and </S>.

    `lengths` are those of the sentences in tokens. Row numbers run through the first layer, then the second.

    >>> word_rows(np.array([4, 3]), 2).tolist()
    [1, 2, 8, 9, 5, 12]
    """
    counts = np.repeat(lengths - 2, layers)  # of each sentence in each layer
    starts = np.cumsum(lengths) - lengths + 1
    firsts = (starts[:, None] + int(lengths.sum()) * np.arange(layers)).reshape(-1)
    return np.arange(int(counts.sum())) + np.repeat(firsts - np.cumsum(counts) + counts, counts)


def split_arrays(rows: Floats, lengths: Numbers, layers: int | None) -> list[Floats]:
    """The rows of each sentence as a view: (length, dim), or (layers, length, dim). `lengths` are in words.

    >>> [array.shape for array in split_arrays(np.zeros((6, 5)), np.array([2, 1]), 2)]
    [(2, 2, 5), (2, 1, 5)]
    """
    ends = [0, *np.cumsum((layers or 1) * lengths).tolist()]
    views = [rows[start:end] for start, end in pairwise(ends)]
    return views if layers is None else [view.reshape(layers, -1, rows.shape[1]) for view in views]


def copy_arrays(rows: Floats, lengths: Numbers, layers: int | None, piece: int) -> list[Floats]:
    """As `split_arrays`, in new memory: each array in its own, or in pieces of this many bytes that arrays share.

    Large pieces, copied in threads, cost least; a small array then keeps its whole piece alive.
    """
    if not piece:
        return [view.copy() for view in split_arrays(rows, lengths, layers)]
    ends = np.cumsum((layers or 1) * lengths)
    cuts = np.flatnonzero(np.diff(ends * (rows.shape[1] * rows.itemsize) // piece, prepend=-1)).tolist()

    def copy(part: tuple[int, int]) -> list[Floats]:
        first, last = part
        start = int(ends[first - 1]) if first else 0
        return split_arrays(rows[start : int(ends[last - 1])].copy(), lengths[first:last], layers)

    pieces = Runtime.from_env().map(copy, pairwise([*cuts, len(lengths)]))
    return list(chain.from_iterable(pieces))


def pool_arrays(rows: Floats, lengths: Numbers, layers: int | None, pooling: Pooling, dtype: str) -> list[Floats]:
    """One vector for each sentence, or one for each of its layers."""
    views, runtime = split_arrays(rows, lengths, layers), Runtime.from_env()

    def pool_some(part: slice) -> list[Floats]:
        return [convert(pool(view, pooling), dtype) for view in views[part]]

    return list(chain.from_iterable(runtime.map(pool_some, runtime.shares(len(views)))))


def pool(array: Floats, pooling: Pooling | None) -> Floats:
    """One vector of a sentence's words, (..., length, 2 · dim) to (..., 2 · dim); zeros where it has no words.

    "first-last" joins the final hidden states of both directions: forward at the last word, backward at the first.

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


def convert(array: Floats, dtype: str) -> Floats:
    """The array in its final type. A number that is too large for the type is an error, never infinite."""
    try:
        with np.errstate(over="raise"):
            return array.astype(dtype, copy=False)
    except FloatingPointError as error:
        raise OptionError(TOO_LARGE) from error
