"""scripts/elmo_over_time.py: perplexity, senses and tasks of the snapshots of a training."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
from firth.formats.registry import save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.studies.tasks import runs

SENSES = {"biLM layer 2": {"nearest": 75.0}}


@pytest.fixture
def script(load_script: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    module = load_script("scripts/elmo_over_time.py")
    monkeypatch.setattr(module, "measure_senses", lambda *_: SENSES)
    return module


def test_a_row_has_perplexity_senses_and_the_mean_of_the_seeds(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[tuple[str, int]] = []

    def pretend(run: runs.TaskRun, *_: Any, **__: Any) -> dict[str, Any]:
        """Scores of 0.5 and 0.6 by seed; the third training reached the limit of its epochs."""
        trained.append((Path(run.elmo or "").name, run.seed))
        epochs = [{"dev": {"f1": score}} for score in ((0.4, 0.5) if run.seed == 3 else (0.5, 0.4))]
        result = {"run": run.as_dict(), "test": {"f1": 0.4 + run.seed / 10}, "epochs": epochs}
        return result | {"training": {"patience": 1, "epochs": 200}}

    monkeypatch.setattr(runs, "train_and_evaluate", pretend)
    models = [tmp_path / "large-300s", tmp_path / "large"]
    for number, model in enumerate(models):
        bilm = BiLM(Architecture.named("tiny"), seed=number)
        bilm.metadata = {"perplexity": {"after": {"seconds": 300.0 * (number + 1), "average": 50.0 - number}}}
        save(bilm, model)
    out = tmp_path / "over-time.json"
    given = [*map(str, models), "--work", str(tmp_path / "work"), "--tasks", "ner", "--seeds", "3"]

    def call(*more: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", ["elmo_over_time.py", *given, "--out", str(out), *more])
        script.main()
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found

    senses = call("--only", "senses")
    assert not trained
    assert senses["rows"][0]["tasks"] == {}
    values = call()
    assert sorted(trained) == [(model.name, seed) for model in reversed(models) for seed in (1, 2, 3)]
    assert [row["model"] for row in values["rows"]] == ["large-300s", "large"]
    assert [row["perplexity"]["average"] for row in values["rows"]] == [50.0, 49.0]
    assert values["rows"][1]["senses"] == SENSES
    assert values["rows"][1]["tasks"] == {"ner": {"mean": 55.0, "scores": [50.0, 60.0]}}
    assert call() == values
    assert len(trained) == 6  # nothing was trained again
