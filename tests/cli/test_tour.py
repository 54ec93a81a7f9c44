"""`firth tour`."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def test_the_tour_makes_a_picture_and_a_command_a_step(answer: Callable[..., Any]) -> None:
    steps = answer("tour")
    assert [step["title"] for step in steps][:3] == ["Tokens", "Counts", "TF-IDF"]
    skipped = [step["title"] for step in steps if step["values"] == {"skipped": True}]
    need_torch = ['The two banks of "bank"', "Strong tea, powerful tea", "Six tasks"]
    assert skipped == ([] if find_spec("torch") else need_torch)
    assert all(step["command"].startswith("firth ") for step in steps if step["title"] not in skipped)
    [files] = [step for step in steps if step["title"] == "Files"]
    assert all(one["kept"] for one in files["values"]["formats"])
    assert [step["title"] for step in steps][-2:] == ["Six tasks", "Look"]


def test_the_tour_walks_over_a_text_of_the_users(answer: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("The old lighthouse keeper watched the ships. The ships passed the lighthouse at night.\n" * 20)
    assert "lighthouse" in json.dumps(answer("tour", str(path)))
