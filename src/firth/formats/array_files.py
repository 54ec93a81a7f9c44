"""The arrays of a model in firth's own format, divided into files of a limited size, for places that limit files.

An array is in one file as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from firth.array_names import MOST
from firth.errors import OptionError

HEADER_BYTES = 512  # of a file of arrays, for each array at most


def divide_arrays(arrays: Mapping[str, NDArray[Any]], file_bytes: int | None) -> list[dict[str, NDArray[Any]]]:
    """The arrays of each file, in order, so that no file has more than `file_bytes`.

    >>> import numpy as np
    >>> one, two = np.zeros(1000, np.int8), np.zeros(3000, np.int8)
    >>> [list(file) for file in divide_arrays({"a": one, "b": two, "c": one}, 5500)]
    [['a', 'b'], ['c']]
    """
    files: list[dict[str, NDArray[Any]]] = [{}]
    size = 0
    for name, array in arrays.items():
        needed = array.nbytes + HEADER_BYTES
        if file_bytes is not None and needed > file_bytes:
            cure = "Allow larger files, or store the model with a smaller precision"
            raise OptionError(f"the array {name!r} needs a file of {needed:,} bytes, not {file_bytes:,}. {cure}")
        if file_bytes is not None and size + needed > file_bytes:
            files.append({})
            size = 0
        files[-1][name] = array
        size += needed
    if len(files) > MOST:
        raise OptionError(f"the model would have {len(files):,} files, more than {MOST:,}. Allow larger files")
    return files
