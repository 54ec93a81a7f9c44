"""Values become plain JSON."""

from __future__ import annotations

import json

import numpy as np

from firth.show.json import to_json


def test_arrays_and_odd_values_become_json_that_can_be_written_and_read() -> None:
    values = {1: np.arange(2), "nan": np.float64("nan"), "word": "a\udce9", "nested": ({"x": np.int8(3)},)}
    plain = to_json(values)
    assert plain == {"1": [0, 1], "nan": None, "word": "a?", "nested": [{"x": 3}]}
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
