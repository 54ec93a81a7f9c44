"""Numbers as strips of color: one pixel for each number, orange above zero, blue below, clear at zero."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.explorer.markup import Markup, tag

ABOVE, BELOW = (234, 88, 12), (37, 99, 235)


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of pixels, (rows, columns, 4) in red, green, blue, opacity.

    >>> encode_png(np.zeros((2, 3, 4), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    rows, columns, _ = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def color_numbers(values: NDArray[Any], most: float) -> NDArray[np.uint8]:
    """The pixels of numbers, (rows, columns): the color is the sign, the opacity the size relative to `most`.

    >>> color_numbers(np.array([[4.0, -1.0, 0.0]]), 4.0)[0, :, 3].tolist()
    [255, 128, 0]
    """
    share = np.clip(np.abs(values) / most if most > 0 else np.zeros_like(values), 0, 1)
    pixels = np.empty((*values.shape, 4), np.uint8)
    pixels[..., :3] = np.where(values[..., None] > 0, np.array(ABOVE), np.array(BELOW))
    pixels[..., 3] = np.round(255 * np.sqrt(share))
    return pixels


def draw_strip(values: NDArray[Any], label: str, *, height: int = 22) -> Markup:
    """Numbers as a strip; a matrix has a line for each row. The mouse reads single numbers.

    >>> draw_strip(np.array([1.0, -2.0]), "gate")[:45]
    '<span class="strip"><img src="data:image/png;'
    """
    rows = np.atleast_2d(np.asarray(values, np.float64))
    finite = rows if rows.size else np.zeros((1, 1))
    image = b64encode(encode_png(color_numbers(finite, float(np.abs(finite).max())))).decode()
    numbers = json.dumps([[float(f"{one:.3g}") for one in row] for row in rows])
    limits = f"{finite.min():.2f} … {finite.max():.2f}"
    summary = f"{label}: {limits}"
    picture = tag(
        "img", src=f"data:image/png;base64,{image}", alt=summary, title=summary, data_numbers=numbers,
        data_limits=limits,
        style=f"block-size:{height * len(finite)}px", onmousemove="firth.read(event)", onmouseleave="firth.read(event)",
    )  # fmt: skip
    return tag("span", picture, tag("output", limits, dir="ltr"), class_="strip")
