"""Strips: colors of numbers, and a PNG that a browser reads."""

from __future__ import annotations

import json
import re
import zlib
from html import unescape

import numpy as np

from firth.explorer.strips import ABOVE, BELOW, color_numbers, draw_strip, encode_png


def test_the_color_is_the_sign_and_the_opacity_the_size() -> None:
    pixels = color_numbers(np.array([[2.0, -0.5, 0.0]]), 2.0)
    assert tuple(pixels[0, 0]) == (*ABOVE, 255)
    assert tuple(pixels[0, 1]) == (*BELOW, 128)
    assert pixels[0, 2, 3] == 0
    assert color_numbers(np.zeros((1, 2)), 0.0)[..., 3].max() == 0


def test_a_png_has_its_size_and_its_pixels() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    png = encode_png(pixels)
    assert png[16:24] == (3).to_bytes(4, "big") + (2).to_bytes(4, "big")
    start = png.index(b"IDAT") + 4
    lines = zlib.decompressobj().decompress(png[start:])
    assert lines == b"\0" + pixels[0].tobytes() + b"\0" + pixels[1].tobytes()


def test_a_strip_carries_its_numbers_and_a_summary() -> None:
    shown = draw_strip(np.array([[1.2345, -2.0]]), "gate")
    assert "gate: -2.00 … 1.23" in shown
    found = re.search(r'data-numbers="([^"]*)"', shown)
    assert found is not None
    assert json.loads(unescape(found[1])) == [[1.23, -2.0]]
    assert "data:image/png" in draw_strip(np.zeros((0, 0)), "nothing")
