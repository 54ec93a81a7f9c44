"""The example of Ray Train: its function in one process. benchmarks/cluster_losses.py launches it on a cluster."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import firth

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "ray_train.py"


@pytest.fixture
def example() -> Any:
    spec = importlib.util.spec_from_file_location("ray_train", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_options_reach_a_training_that_saves_its_model(
    example: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text("the king rules the land .\nthe queen rules the land .\n" * 20)
    asked = []
    monkeypatch.setattr(example, "launch", lambda settings, workers: asked.append((settings, workers)))
    places = [str(tmp_path / "text.txt"), "--out", str(tmp_path / "model"), "--state", str(tmp_path / "state")]
    example.main([*places, "--workers", "3", "--preset", "tiny", "--batch", "4", "--epochs", "1"])
    [(settings, workers)] = asked
    assert workers == 3
    example.train(settings)
    assert firth.load(tmp_path / "model").vocabulary.words[3] == "the"
    assert json.loads((tmp_path / "state" / "config.json").read_text())
