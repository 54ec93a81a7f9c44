"""Results of finished tasks on disk, so that a killed driver goes on where it stopped.

A stage has a folder, a task a file of arrays (safetensors) that appears under its name when it is complete. What a
result depends on is in the name of the folder, so that results of another text or other options are never used.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.files import atomic_file

Arrays = Mapping[str, NDArray[Any]]
CHECKSUM = "crc32"


class ResultStore:
    """The results of one stage: dictionaries of arrays, or lists of them.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = ResultStore(Path(folder), "counting words of abc")
    ...     store.save(3, [{"ids": np.arange(2)}, {"ids": np.arange(0)}])
    ...     found = ResultStore(Path(folder), "counting words of abc").load(3)
    ...     other = ResultStore(Path(folder), "counting words of another text").load(3)
    >>> [part["ids"].tolist() for part in found], other
    ([[0, 1], []], None)
    """

    def __init__(self, folder: Path, stage: str) -> None:
        self.folder = folder / f"tasks-{hashlib.sha256(stage.encode()).hexdigest()[:16]}"

    def load(self, number: int) -> Any:
        """The result of a task; None if it is not finished, or its file is damaged."""
        from safetensors import SafetensorError, safe_open

        path = self._path(number)
        if not path.is_file():
            return None
        try:
            with safe_open(path, "numpy") as file:
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                checksum = (file.metadata() or {}).get(CHECKSUM)
        except (SafetensorError, OSError, ValueError, KeyError, TypeError):
            return None
        if checksum != sum_arrays(arrays):
            return None
        if not any("/" in name for name in arrays):
            return arrays
        parts: list[dict[str, NDArray[Any]]] = []
        for name in sorted(arrays, key=lambda name: int(name.partition("/")[0])):
            part, _, own = name.partition("/")
            while len(parts) <= int(part):
                parts.append({})
            parts[int(part)][own] = arrays[name]
        return parts

    def save(self, number: int, result: Arrays | Sequence[Arrays]) -> None:
        """Keeps the result of a task."""
        from safetensors.numpy import save_file

        if isinstance(result, Mapping):
            arrays = dict(result)
        else:
            arrays = {f"{part}/{name}": array for part, one in enumerate(result) for name, array in one.items()}
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        with atomic_file(self._path(number)) as draft:
            save_file(arrays, draft, metadata={CHECKSUM: sum_arrays(arrays)})

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08}.safetensors"


def sum_arrays(arrays: Arrays) -> str:
    """A checksum of arrays with their names, types and shapes."""
    checksum = 0
    for name in sorted(arrays):
        array = arrays[name]
        checksum = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), checksum)
        checksum = zlib.crc32(array.tobytes(), checksum)
    return str(checksum)
