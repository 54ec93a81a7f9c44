"""Finished maps on disk. A map is found by a hash of its vectors and options, so that it is never out of date.

The folder is FIRTH_CACHE, or `firth` in the user's folder for caches. It can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth import data
from firth.errors import FormatError
from firth.files import atomic_file
from firth.formats import safetensors
from firth.maps.layout import Frame, Layout, PointMap

VERSION = 1  # of the method; a change of it makes older maps unreachable


def cache_folder() -> Path:
    """The folder of finished maps."""
    return data.cache_folder("maps")


def map_key(vectors: NDArray[Any], layout: Layout) -> str:
    """A hash of vectors and options.

    >>> rows = np.eye(4, dtype=np.float32)
    >>> map_key(rows, Layout()) == map_key(rows.copy(), Layout()) != map_key(rows, Layout(seed=2))
    True
    """
    head = {"version": VERSION, "shape": vectors.shape, "dtype": str(vectors.dtype), **layout.as_dict()}
    digest = hashlib.blake2b(json.dumps(head, sort_keys=True).encode(), digest_size=16)
    digest.update(np.ascontiguousarray(vectors).data)
    return digest.hexdigest()


def read_map(key: str) -> PointMap | None:
    """A finished map; None if there is none, or if its file is damaged."""
    path = cache_folder() / f"{key}.safetensors"
    try:
        arrays = safetensors.read(path)
        return PointMap(arrays["positions"], arrays["kept"])
    except (OSError, FormatError, KeyError):
        return None


def write_map(key: str, result: PointMap) -> None:
    """Stores a map, whole or not at all. A warning says if the folder cannot be written."""
    path = cache_folder() / f"{key}.safetensors"
    try:
        with atomic_file(path) as draft:
            safetensors.write({"positions": result.positions, "kept": result.kept}, draft)
    except OSError as error:
        warnings.warn(f"the map is not kept on disk: {error}", stacklevel=2)


def frames_or_map(vectors: NDArray[Any], layout: Layout) -> Iterator[Frame | PointMap]:
    """The frames of a layout and, last, its map, which is stored; only the map if it is stored already."""
    key = map_key(vectors, layout)
    result = read_map(key)
    if result is None:
        for frame in layout.frames(vectors):
            yield frame
        result = PointMap.of(frame)
        write_map(key, result)
    yield result


def cached_map(vectors: NDArray[Any], layout: Layout | None = None) -> PointMap:
    """The map of vectors: `layout.fit(vectors)`, computed once."""
    *_, result = frames_or_map(vectors, layout or Layout())
    assert isinstance(result, PointMap)
    return result
