"""The same values as JSON or as a picture."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.text import Text

from firth.cli.output import answer, json_line


def test_values_are_json_or_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"cosine": np.float32(0.5), "word": "چای"}
    answer(values, Text("0.5"), True)
    assert json.loads(capsys.readouterr().out) == {"cosine": 0.5, "word": "چای"}
    answer(values, Text("0.5"), False)
    assert capsys.readouterr().out == "0.5\n"


def test_a_line_of_json_has_one_line_end() -> None:
    assert json_line([float("nan"), "a\nb"]) == '[null, "a\\nb"]\n'
