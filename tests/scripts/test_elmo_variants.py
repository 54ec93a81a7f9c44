"""scripts/elmo_variants.py: variants of a recipe, trained for the same time."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")


def test_a_variant_that_is_finished_is_not_trained_again(
    load_script: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = load_script("scripts/elmo_variants.py")
    text, out = tmp_path / "text.txt", tmp_path / "variants.jsonl"
    text.write_text("the cat sat on the mat\nthe dog sat on the rug\n" * 40, encoding="utf-8")
    tiny = replace(script.BASELINE, preset="tiny", vocabulary=20, min_count=1, negatives=8, batch=4, unroll=6)
    monkeypatch.setattr(script, "BASELINE", tiny)
    arguments = ["--text", str(text), "--held-out", str(text), "--minutes", "0.01", "--out", str(out)]
    names = ["baseline", "no dropout"]
    for only in (names[:1], names):
        monkeypatch.setattr(sys, "argv", ["elmo_variants.py", *arguments, "--device", "cpu", "--only", *only])
        script.main()
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["name"] for line in lines] == names
    assert all(line["tokens"] > 0 and line["perplexity"]["average"] > 1 for line in lines)
