"""Code points replaced by none, one or several."""

from __future__ import annotations

import numpy as np

from firth.kernels import normalize
from firth.text.code_points import code_points

NONE = np.empty(0, np.bool_)


def test_digits_beside_latin_letters_are_found_and_kept():
    codes, out = code_points("MP3 3"), np.empty(5, np.uint32)
    kept = normalize.latin_digits(codes)
    assert kept.tolist() == [False, False, True, False, False]
    table = np.arange(0x110000, dtype=np.uint32)
    table[ord("3")] = ord("x")
    assert normalize.replace(codes, table, np.zeros(1, np.uint32), kept, out) == 5
    assert out.tobytes().decode("utf-32-le") == "MP3 x"


def test_replacing_writes_none_one_or_several():
    table = np.arange(0x110000, dtype=np.uint32)
    table[ord("a")], table[ord("b")], table[ord("c")] = ord("x"), normalize.SEVERAL, normalize.SEVERAL + 1
    several = np.array([0, 2, ord("y"), ord("z")], np.uint32)
    codes, out = code_points("abcd"), np.empty(4, np.uint32)
    assert normalize.first_change(codes, table) == 0
    assert normalize.first_change(code_points("dd"), table) == 2
    assert normalize.replace(codes, table, several, NONE, out) == 4
    assert out.tobytes().decode("utf-32-le") == "xyzd"
    assert normalize.replace(codes, table, several, NONE, out[:1]) == 4
