"""`firth predict` and `firth test`."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_a_classifier_is_trained_tested_asked_and_made_small(
    answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = tmp_path / "labeled.txt"
    lines.write_text("__label__drink hot tea\n__label__sky hot sun\n__label__drink cold milk\n" * 20)
    model = str(tmp_path / "c.bin")
    options = ("--dim", "8", "--learning-rate", "0.5", "--buckets", "0", "--out", model)
    answer("train", "fasttext", str(lines), "--labels", *options)
    assert answer("test", model, str(lines))["precision"] == 1.0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"milk tea\n\nhot sun\n")))
    found = answer("predict", model, "-")
    assert [max(one["labels"], key=one["labels"].get) for one in found] == ["__label__drink", "__label__sky"]
    small = answer("quantize", model, str(tmp_path / "c.ftz"))
    assert answer("info", str(tmp_path / "c.ftz"))["words"] == small["words"]
