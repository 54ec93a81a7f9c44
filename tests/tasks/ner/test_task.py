"""Named entities from files to a trained model."""

from __future__ import annotations

from pathlib import Path

from firth.formats.registry import load, save
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding
from firth.tasks.ner.data import NerExample
from firth.tasks.ner.task import Ner
from firth.tasks.training import Training, fit

SMALL = Ner(hidden=(32, 16), dropout=0.0)


def test_a_file_without_any_name_can_be_learnt_from() -> None:
    examples = [NerExample(("all", "quiet"), ())]
    model = fit(SMALL, Embedding(characters=4), examples, training=Training(epochs=1), runtime=Runtime(1))
    assert model.predict([NerExample(("all", "quiet"))]) == [{"tags": ["O", "O"], "probabilities": []}]


def test_the_tagger_learns_a_slice_of_real_news_and_comes_back_from_a_file(data: Path, tmp_path: Path) -> None:
    examples = [one for one in Ner().read(data / "data/tasks/ner/wikigold.conll") if one.entities]
    examples = [one for one in examples if len(one.words) < 12][:24]
    training = Training(epochs=40, batch=8, learning_rate=1e-2, patience=None)
    model = fit(SMALL, Embedding(words=24, characters=16), examples, training=training, runtime=Runtime(1))
    scores = model.evaluate(examples)
    assert scores["f1"] > 0.8
    save(model, tmp_path / "ner")
    assert load(tmp_path / "ner").predict(examples) == model.predict(examples)
