"""Storage of vectors: as floats, as int8 codes, or product-quantized.

Rows are read by id (`take`) or by range (`block`), as float32, and only on request. So they may be in a memory-mapped
file that is larger than memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.serialization import check_array, check_number

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
MOST_DIM = 1_000_000
CENTROIDS = 256  # a code is one byte


class Rows(ABC):
    """A table of numbers with `shape` (rows, dim), read as float32: each kind of rows is a subclass."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def dtype_name(self) -> str: ...

    @abstractmethod
    def part(self, which: slice | Ids) -> Self:
        """Some of the rows, in the same format."""

    @abstractmethod
    def decode(self) -> Floats:
        """All rows, as float32; a view where that is possible."""

    @abstractmethod
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, under the names that `rows_from` reads."""

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.to_arrays().values())

    def take(self, ids: Sequence[int] | Ids) -> Floats:
        """The rows with these ids, as a new float32 array."""
        return self.pick(ids).decode()

    def block(self, start: int, stop: int) -> Floats:
        """The rows from start to stop, as float32; a view where that is possible."""
        return self.part(slice(start, stop)).decode()

    def pick(self, ids: Sequence[int] | Ids) -> Self:
        """The rows with these ids, in the same format."""
        return self.part(np.asarray(ids, np.int64))


@dataclass(frozen=True, eq=False)
class DenseRows(Rows):
    """Rows of one array of floats, which may be a memory map.

    >>> DenseRows(np.array([[1, 2], [3, 4]], np.float16)).take([1])
    array([[3., 4.]], dtype=float32)
    """

    array: NDArray[Any]

    def __post_init__(self) -> None:
        if self.array.ndim != 2 or self.array.dtype.kind != "f":
            raise OptionError(
                f"rows must be a 2-D array of floats, but this is {self.array.dtype} of shape {self.array.shape}"
            )
        _check_dim(self.array.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape[0], self.array.shape[1]

    @property
    def dtype_name(self) -> str:
        return self.array.dtype.name

    def part(self, which: slice | Ids) -> DenseRows:
        return DenseRows(np.asarray(self.array[which]))

    def decode(self) -> Floats:
        return np.require(np.asarray(self.array), np.float32, ["C", "ALIGNED"])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"vectors": self.array}


@dataclass(frozen=True, eq=False)
class Int8Rows(Rows):
    """Rows quantized to int8; row i is codes[i] * scales[i].

    >>> rows = Int8Rows.from_rows(DenseRows(np.array([[1.0, -0.5]], np.float32)))
    >>> rows.codes.tolist(), rows.take([0]).round(2).tolist()
    ([[127, -64]], [[1.0, -0.5]])
    """

    codes: NDArray[np.int8]
    scales: Floats

    def __post_init__(self) -> None:
        check_array("codes", self.codes, "i", None, None)
        if self.codes.dtype != np.int8:
            raise OptionError(f"the array 'codes' must be int8, but is {self.codes.dtype}")
        check_array("scales", self.scales, "f", len(self.codes))
        _check_dim(self.codes.shape[1])

    @classmethod
    def from_rows(cls, rows: Rows) -> Int8Rows:
        """Quantizes rows: the largest absolute value of a row becomes ±127."""
        size, dim = rows.shape
        codes, scales = np.empty((size, dim), np.int8), np.empty(size, np.float32)
        for start in range(0, size, 16384):
            block = rows.block(start, min(start + 16384, size))
            scale = np.abs(block).max(axis=1, initial=0) / np.float32(127)
            scales[start : start + len(block)] = scale
            codes[start : start + len(block)] = np.rint(block / np.where(scale > 0, scale, 1)[:, None])
        return cls(codes, scales)

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def dtype_name(self) -> str:
        return "int8"

    def part(self, which: slice | Ids) -> Int8Rows:
        return Int8Rows(self.codes[which], self.scales[which])

    def decode(self) -> Floats:
        return self.codes * self.scales.astype(np.float32, copy=False)[:, None]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"codes": self.codes, "scales": self.scales}


@dataclass(frozen=True, eq=False)
class ProductRows(Rows):
    """Product-quantized rows, as in fastText's `.ftz` files.

    A row is cut into pieces of `dsub` numbers (the last may be shorter); codes[i, m] is the index of the
    centroid, out of 256, of piece m. If norms are quantized separately, the row is multiplied by
    norm_centroids[norm_codes[i]]. `centroids` is flat: 256 centroids of the first piece, then of the second, and so on.

    >>> centroids = np.concatenate([np.arange(512), np.full(256, 7)]).astype(np.float32)
    >>> ProductRows(np.array([[1, 9]], np.uint8), centroids, dim=3, dsub=2).take([0])
    array([[2., 3., 7.]], dtype=float32)
    """

    codes: NDArray[np.uint8]
    centroids: Floats
    dim: int
    dsub: int
    norm_codes: NDArray[np.uint8] | None = None
    norm_centroids: Floats | None = None

    def __post_init__(self) -> None:
        check_number("dim", self.dim, 1, MOST_DIM)
        check_number("dsub", self.dsub, 1, MOST_DIM)  # longer than a row: one piece
        self._check_codes("codes", self.codes, None, -(-self.dim // self.dsub))
        check_array("centroids", self.centroids, "f", CENTROIDS * self.dim)
        if (self.norm_codes is None) != (self.norm_centroids is None):
            raise OptionError("quantized norms need both their codes and their centroids")
        if self.norm_codes is not None and self.norm_centroids is not None:
            self._check_codes("norm_codes", self.norm_codes, len(self.codes))
            check_array("norm_centroids", self.norm_centroids, "f", CENTROIDS)

    @staticmethod
    def _check_codes(name: str, codes: NDArray[Any], *shape: int | None) -> None:
        check_array(name, codes, "u", *shape)
        if codes.dtype != np.uint8:
            raise OptionError(f"the array {name!r} must be uint8, but is {codes.dtype}")

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.codes), self.dim

    @property
    def dtype_name(self) -> str:
        return f"pq{self.codes.shape[1]}x8"

    def part(self, which: slice | Ids) -> ProductRows:
        norm_codes = None if self.norm_codes is None else self.norm_codes[which]
        return ProductRows(self.codes[which], self.centroids, self.dim, self.dsub, norm_codes, self.norm_centroids)

    def decode(self) -> Floats:
        rows = np.empty((len(self.codes), self.dim), np.float32)
        for piece in range(self.codes.shape[1]):
            start, stop = piece * self.dsub, min((piece + 1) * self.dsub, self.dim)
            table = self.centroids[CENTROIDS * start : CENTROIDS * stop].reshape(CENTROIDS, stop - start)
            rows[:, start:stop] = table[self.codes[:, piece]]
        if self.norm_codes is not None and self.norm_centroids is not None:
            rows *= self.norm_centroids[self.norm_codes][:, None]
        return rows

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"codes": self.codes, "centroids": self.centroids}
        if self.norm_codes is not None and self.norm_centroids is not None:
            arrays |= {"norm_codes": self.norm_codes, "norm_centroids": self.norm_centroids}
        return arrays


def _check_dim(dim: int) -> None:
    if dim > MOST_DIM:
        raise OptionError(f"the vectors have {dim:,} dimensions, but can have at most {MOST_DIM:,}")


def rows_of(rows: Rows | NDArray[Any] | Sequence[Sequence[float]]) -> Rows:
    """Wraps an array or nested lists in DenseRows; Rows are returned unchanged."""
    if isinstance(rows, Rows):
        return rows
    array = np.asanyarray(rows)
    if array.dtype.kind in "iub":
        array = array.astype(np.float32)
    return DenseRows(array)


def rows_to(rows: Rows, prefix: str = "") -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The config and the named arrays of rows, to save.

    >>> rows_to(DenseRows(np.zeros((2, 3), np.float32)), "output.")[0]
    {'kind': 'dense'}
    """
    arrays = {prefix + name: array for name, array in rows.to_arrays().items()}
    if isinstance(rows, ProductRows):
        return {"kind": "product", "dim": rows.dim, "dsub": rows.dsub}, arrays
    return {"kind": "int8" if isinstance(rows, Int8Rows) else "dense"}, arrays


def rows_from(config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> Rows:
    """Inverse of `rows_to`; a missing array raises OptionError."""

    def get_array(name: str) -> NDArray[Any]:
        if prefix + name not in arrays:
            raise OptionError(f"rows of kind {config.get('kind')!r} need the array {prefix + name!r}, which is missing")
        return arrays[prefix + name]

    kind = config.get("kind", "dense")
    if kind == "dense":
        return DenseRows(get_array("vectors"))
    if kind == "int8":
        return Int8Rows(get_array("codes"), get_array("scales"))
    if kind == "product":
        norms = (
            (get_array("norm_codes"), get_array("norm_centroids")) if prefix + "norm_codes" in arrays else (None, None)
        )
        return ProductRows(get_array("codes"), get_array("centroids"), config["dim"], config["dsub"], *norms)
    raise OptionError(f"rows of kind {kind!r} are unknown. Known kinds: dense, int8, product")
