"""The data of a scatter plot, packed for `static/scatter.js`: a header in JSON, then float32 arrays.

The same bytes serve the explorer (by HTTP), the report (in base64) and the notebook.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError

SCRIPT = Path(__file__).resolve().parent / "static" / "scatter.js"
PAIRS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True, eq=False)
class PlotField:
    """A number for each point that can color it.

    A "category" is an index into `names`. A "ramp" goes from 0 (`low`) to 1 (`high`), a "diverging" field too, with its
    middle at 0.5.
    """

    key: str
    label: str
    kind: Literal["category", "ramp", "diverging"]
    values: NDArray[Any]
    names: Sequence[str] | None = None
    low: str = ""
    high: str = ""

    def head(self) -> dict[str, Any]:
        """What the header says of the field."""
        names = None if self.names is None else list(self.names)
        return {
            "key": self.key,
            "label": self.label,
            "kind": self.kind,
            "names": names,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, eq=False)
class ScatterData:
    """Points with one to three layers of positions (points, 2), names or contexts, fields, arrows and tags.

    `vectors` are the full vectors (layers, points, dim): their inner products are sent, so that mixed vectors can be
    scaled to unit length. `second` are other positions, to which a button of the mixer leads; with `starts_second` the
    plot begins there. A context is (text before, word, text after). An arrow is {"from", "to", "tone", "dashed"}, a
    tag is {"at", "text", "tone"}; points are meant by their index.

    >>> data = ScatterData([np.array([[0, 1], [2, 3]])], names=["tea", "چای"])
    >>> head, arrays = unpack(data.pack())
    >>> head["size"], head["names"], arrays[0].tolist()
    (2, ['tea', 'چای'], [0.0, 1.0, 2.0, 3.0])
    """

    layers: Sequence[NDArray[Any]]
    names: Sequence[str] | None = None
    contexts: Sequence[tuple[str, str, str]] | None = None
    fields: Sequence[PlotField] = ()
    vectors: NDArray[Any] | None = None
    mixing: tuple[float, float, float] = (1.0, 0.0, 0.0)
    gamma: float = 1.0
    second: NDArray[Any] | None = None
    starts_second: bool = False
    arrows: Sequence[dict[str, Any]] = ()
    tags: Sequence[dict[str, Any]] = field(default=())

    def __post_init__(self) -> None:
        size = len(self)
        for name, values in (("names", self.names), ("contexts", self.contexts)):
            if values is not None and len(values) != size:
                raise OptionError(f"{size} points cannot have {len(values)} {name}")
        if any(np.shape(layer) != (size, 2) for layer in self.positions()):
            raise OptionError(f"each layer needs positions of shape ({size}, 2)")
        if any(len(one.values) != size for one in self.fields):
            raise OptionError(f"each field needs {size} values")

    def __len__(self) -> int:
        return len(self.layers[0])

    def positions(self) -> list[NDArray[Any]]:
        """All positions: those of the layers, and the second ones, if there are any."""
        return [*self.layers, *([] if self.second is None else [self.second])]

    def pack(self) -> bytes:
        """The plot as bytes."""
        head = {
            "size": len(self),
            "layers": len(self.layers),
            "second": self.second is not None,
            "startsSecond": self.starts_second,
            "norms": self.vectors is not None,
            "names": None if self.names is None else list(self.names),
            "contexts": self.contexts,
            "fields": [one.head() for one in self.fields],
            "mixing": self.mixing,
            "gamma": self.gamma,
            "arrows": list(self.arrows),
            "tags": list(self.tags),
        }
        text = json.dumps(head, ensure_ascii=False).encode()
        text += b" " * (-(4 + len(text)) % 4)
        norms = [] if self.vectors is None else inner_products(self.vectors)
        arrays = [*self.positions(), *norms, *(one.values for one in self.fields)]
        blocks = [np.ascontiguousarray(array, "<f4").tobytes() for array in arrays]
        return b"".join([struct.pack("<I", len(text)), text, *blocks])


def inner_products(vectors: NDArray[Any]) -> list[NDArray[np.float64]]:
    """The inner products of the layers of each point: (points, 3) of a layer with itself, (points, 3) of two layers.

    Missing layers count as zeros.

    >>> squares, products = inner_products(np.array([[[1, 2]], [[0, 3]]]))
    >>> squares.tolist(), products.tolist()
    ([[5.0, 9.0, 0.0]], [[6.0, 0.0, 0.0]])
    """
    layers = np.zeros((3, *vectors.shape[1:]))
    layers[: len(vectors)] = vectors
    squares = np.stack([(layer * layer).sum(axis=1) for layer in layers], axis=1)
    products = np.stack([(layers[i] * layers[j]).sum(axis=1) for i, j in PAIRS], axis=1)
    return [squares, products]


def unpack(packed: bytes) -> tuple[dict[str, Any], list[NDArray[np.float32]]]:
    """The header and the arrays of a packed plot, as `unpack` of scatter.js reads them."""
    (length,) = struct.unpack("<I", packed[:4])
    head = json.loads(packed[4 : 4 + length])
    counts = [2] * (head["layers"] + head["second"]) + ([3, 3] if head["norms"] else []) + [1] * len(head["fields"])
    numbers = np.frombuffer(packed, "<f4", offset=4 + length)
    edges = np.cumsum([count * head["size"] for count in counts])
    return head, np.split(numbers, edges)[: len(counts)]
