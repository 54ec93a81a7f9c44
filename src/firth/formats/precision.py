"""Reduced precision of stored arrays.

"int8" stores a matrix as int8 codes and one scale per row (row = codes · scale), and all other arrays as float16.
"float16" stores everything as float16. Codes are read back as float32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.vectors.rows import DenseRows, Int8Rows
from firth.vectors.words import WordVectors

Precision = Literal["float16", "int8"]
Arrays = Mapping[str, NDArray[Any]]
CODES, SCALES = ".codes", ".scales"
SHORTEST_ROW = 32  # for shorter rows, the scale costs as much as int8 saves
SMALLEST = float(np.finfo(np.float16).smallest_normal)
LARGEST = float(np.finfo(np.float16).max)


def check(precision: str) -> None:
    """Refuses an unknown precision."""
    if precision not in get_args(Precision):
        raise OptionError(f"precision is {precision!r}, but must be {' or '.join(map(repr, get_args(Precision)))}")


def reduce_vectors(vectors: WordVectors, precision: Precision) -> WordVectors:
    """Word vectors in this precision; product-quantized rows are unchanged, they are smaller than either.

    >>> reduce_vectors(WordVectors(["tea"], [[1.0, 0.5]]), "int8").rows.dtype_name
    'int8'
    """
    rows = vectors.rows
    if not isinstance(rows, (DenseRows, Int8Rows)) or rows.dtype_name == precision:
        return vectors
    return vectors.quantize(precision)


def reduce_precision(arrays: Arrays, precision: Precision) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """The arrays in this precision, and the names of those stored as codes and scales.

    >>> arrays = {"weight": np.ones((2, 40), np.float32), "bias": np.ones(2, np.float32)}
    >>> small, coded = reduce_precision(arrays, "int8")
    >>> {name: str(array.dtype) for name, array in small.items()}, coded
    ({'weight.codes': 'int8', 'weight.scales': 'float16', 'bias': 'float16'}, ['weight'])
    """
    small: dict[str, NDArray[Any]] = {}
    coded = []
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            small[name] = array
        elif precision == "int8" and array.ndim > 1 and array[0].size >= SHORTEST_ROW:
            small[name + CODES], small[name + SCALES] = quantize_rows(name, array)
            coded.append(name)
        else:
            small[name] = to_float16(name, array)
    return small, coded


def narrow_integers(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Converts int64 arrays to int32 where all values fit; other arrays are unchanged.

    >>> narrow = narrow_integers({"a": np.array([7]), "b": np.array([1 << 40])})
    >>> {name: str(array.dtype) for name, array in narrow.items()}
    {'a': 'int32', 'b': 'int64'}
    """
    small = dict(arrays)
    for name, array in arrays.items():
        if array.dtype == np.int64 and np.abs(array).max(initial=0) <= np.iinfo(np.int32).max:
            small[name] = array.astype(np.int32)
    return small


def quantize_rows(name: str, array: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[Any]]:
    """int8 codes in the shape of the array, and a scale for each row.

    Scales are float16 if all of them fit; the codes are rounded with the stored scale.
    """
    rows = np.asarray(array, np.float32).reshape(len(array), -1)
    if not np.isfinite(rows).all():
        raise OptionError(f"the array {name!r} has numbers that are NaN or infinite")
    quantized = Int8Rows.from_rows(DenseRows(rows))
    scales: NDArray[Any] = quantized.scales
    used = scales[scales > 0]
    if used.size == 0 or (used.min() >= SMALLEST and used.max() <= LARGEST):
        scales = scales.astype(np.float16)
        divisors = np.where(scales > 0, scales, 1).astype(np.float32)[:, None]
        codes = np.clip(np.rint(rows / divisors), -127, 127).astype(np.int8)
    else:
        codes = quantized.codes
    return codes.reshape(array.shape), scales


def to_float16(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array as float16, or as float32 if a number is too large for float16."""
    if not np.isfinite(array).all():
        raise OptionError(f"the array {name!r} has numbers that are NaN or infinite")
    small = np.asarray(array, np.float32)
    return small if np.abs(small).max(initial=0) > LARGEST else small.astype(np.float16)


def restore(arrays: Arrays, coded: object) -> dict[str, NDArray[Any]]:
    """Inverts `reduce_precision`: multiplies codes by their scales; other arrays are unchanged.

    >>> restore({"w.codes": np.full((1, 2), 64, np.int8), "w.scales": np.float32([0.5])}, ["w"])
    {'w': array([[32., 32.]], dtype=float32)}
    """
    if not isinstance(coded, Sequence) or isinstance(coded, str) or not all(isinstance(name, str) for name in coded):
        raise OptionError("the names of the arrays in int8 are not a list")
    whole = dict(arrays)
    for name in coded:
        for ending in (CODES, SCALES):
            if name + ending not in whole:
                raise OptionError(f"the array {name + ending!r} is missing")
        whole[name] = _multiply_scales(name, whole.pop(name + CODES), whole.pop(name + SCALES))
    return whole


def round_arrays(arrays: Arrays, precision: Precision) -> dict[str, NDArray[Any]]:
    """The arrays as float32, rounded to the values that a file of this precision stores; idempotent.

    >>> round_arrays({"w": np.float32([0.1, 1.0])}, "float16")["w"].tolist()
    [0.0999755859375, 1.0]
    """
    read = restore(*reduce_precision(arrays, precision))
    return {name: one.astype(np.float32) if one.dtype.kind == "f" else one for name, one in read.items()}


def _multiply_scales(name: str, codes: NDArray[Any], scales: NDArray[Any]) -> NDArray[np.float32]:
    if codes.dtype != np.int8 or codes.ndim < 1 or scales.dtype.kind != "f" or scales.shape != codes.shape[:1]:
        problem = f"{codes.dtype} {codes.shape} and {scales.dtype} {scales.shape}"
        raise OptionError(f"the array {name!r} needs int8 codes and a scale for each of their rows, but has {problem}")
    if not math.isfinite(float(scales.sum(dtype=np.float64))):
        raise OptionError(f"the array {name!r} has scales that are NaN or infinite")
    shape = (len(codes), *([1] * (codes.ndim - 1)))
    product: NDArray[np.float32] = codes * scales.astype(np.float32).reshape(shape)
    return product
