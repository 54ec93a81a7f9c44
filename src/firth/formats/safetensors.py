"""The safetensors format: a length, a JSON header, and the raw arrays.

This reader returns every array as a view of the memory-mapped file, and this writer copies memory-mapped arrays in
chunks.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.files import Name
from firth.formats.reading import read_whole

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
LONGEST_HEADER = 100_000_000
MOST_DIMENSIONS = 8
MOST_EMPTY = 1 << 24  # the product of the other sizes of an array without numbers
ALIGNMENT = 64
CHUNK = 8 << 20


def read(path: Name) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name, each a read-only view of the memory-mapped file."""
    blob = read_whole(path)
    if len(blob) < 8:
        raise FormatError(path, f"a safetensors file begins with 8 bytes, but this one has {len(blob)}")
    (length,) = struct.unpack("<Q", blob[:8].tobytes())
    if length > min(LONGEST_HEADER, len(blob) - 8):
        raise FormatError(path, f"the header claims a length of {length:,} bytes, but only {len(blob) - 8:,} follow")
    try:
        header = json.loads(blob[8 : 8 + length].tobytes())
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise FormatError(path, "the header is not a table of arrays")
    data = blob[8 + length :]
    header.pop("__metadata__", None)
    arrays = {name: _read_array(path, name, entry, data) for name, entry in header.items()}
    _check_places(path, [tuple(entry["data_offsets"]) for entry in header.values()], len(data))
    return arrays


def _check_places(path: Name, places: list[tuple[int, int]], size: int) -> None:
    """Arrays must fill the file without gaps and without shared bytes, as the format demands."""
    at = 0
    for start, stop in sorted(places):
        if start != at:
            problem = f"an array begins at byte {start:,}, but the one before it ends at byte {at:,}"
            raise FormatError(path, problem, cure="The file is broken")
        at = stop
    if at != size:
        raise FormatError(path, f"the arrays end at byte {at:,} of {size:,}", cure="The file is broken")


def _read_array(path: Name, name: str, entry: Any, data: NDArray[np.uint8]) -> NDArray[Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str) or entry["dtype"] not in DTYPES:
        raise FormatError(path, f"the array {name!r} has an unknown type. Known types: {', '.join(DTYPES)}")
    shape, place = _parse_sizes(entry.get("shape")), _parse_sizes(entry.get("data_offsets"))
    if shape is None or place is None or len(place) != 2 or not _is_possible(shape):
        raise FormatError(path, f"the array {name!r} has an invalid shape or data_offsets")
    dtype = np.dtype(DTYPES[entry["dtype"]])
    start, stop = place
    if stop > len(data) or stop - start != math.prod(shape) * dtype.itemsize:
        raise FormatError(
            path,
            f"the array {name!r} of shape {shape} claims bytes {start:,} to {stop:,} of {len(data):,}",
            cure="The file is cut short or broken",
        )
    if stop == start:
        return np.empty(shape, dtype)
    array: NDArray[Any] = np.frombuffer(data[start:stop].data, dtype).reshape(shape)
    if dtype == np.bool_ and data[start:stop].max() > 1:
        raise FormatError(path, f"the array {name!r} has numbers that are neither true nor false")
    return array


def _is_possible(shape: tuple[int, ...]) -> bool:
    others = math.prod([size for size in shape if size > 0]) if 0 in shape else 0
    return len(shape) <= MOST_DIMENSIONS and others <= MOST_EMPTY


def _parse_sizes(values: Any) -> tuple[int, ...] | None:
    proper = isinstance(values, list) and all(type(value) is int and 0 <= value < 1 << 62 for value in values)
    return tuple(values) if proper else None


def write(arrays: Mapping[str, NDArray[Any]], path: Name) -> None:
    """Writes arrays by falling item size, so that each starts at a multiple of its item size."""
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header: dict[str, Any] = {}
    end = 0
    for name, array in ordered:
        little = array.dtype.newbyteorder("<")
        if little not in NAMES:
            raise FormatError(path, f"an array of {array.dtype} ({name!r}) cannot be stored in a safetensors file")
        start, end = end, end + array.size * array.dtype.itemsize
        header[name] = {"dtype": NAMES[little], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, array in ordered:
            for chunk in _split_rows(array):
                file.write(chunk.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def _split_rows(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Slices of a few megabytes each, so that a memory-mapped array is never copied whole."""
    if array.ndim == 0 or array.size == 0:
        return [array]
    step = max(1, CHUNK // max(1, array[0].nbytes))
    return [array[start : start + step] for start in range(0, len(array), step)]
