"""Semantic roles from files to a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firth.formats.registry import load, save
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding
from firth.tasks.srl.task import Srl
from firth.tasks.training import Training, fit

SMALL = Srl(layers=2, hidden=24, predicate_dim=8, finder=12, dropout=0.0, recurrent_dropout=0.0)


@pytest.mark.parametrize("highway", ["within", "between"])
def test_the_labeller_learns_a_slice_of_the_web_treebank(data: Path, tmp_path: Path, highway: Any) -> None:
    task = Srl(**(SMALL.as_dict() | {"highway": highway}))
    examples = [one for one in task.read(data / "data/tasks/srl/ewt-test.conll.xz") if len(one.words) < 10][:24]
    training = Training(epochs=20, batch=8, learning_rate=2e-2, patience=None)
    model = fit(task, Embedding(words=24, characters=8), examples, training=training, runtime=Runtime(1))
    scores = model.evaluate(examples)
    assert scores["f1"] > 0.7
    assert scores["predicates"] > 0.8
    save(model, tmp_path / "srl")
    assert load(tmp_path / "srl").predict(examples) == model.predict(examples)
