"""Entailment as a task: labels, scores, questions from raw text, and a slice that can be learnt."""

from __future__ import annotations

from pathlib import Path

import pytest

import firth
from firth.errors import OptionError
from firth.runtime import Runtime
from firth.tasks.entailment.data import EntailmentExample
from firth.tasks.entailment.task import Entailment
from firth.tasks.inputs import Embedding
from firth.tasks.labels import likeliest
from firth.tasks.model import TaskModel
from firth.tasks.training import Training, fit

SMALL = Training(epochs=14, batch=16, learning_rate=4e-3, patience=None)


def example(label: str | None) -> EntailmentExample:
    return EntailmentExample(("A", "dog"), ("A", "cat"), label)


def test_early_stopping_watches_accuracy() -> None:
    assert next(iter(Entailment().score([example("neutral")], [{"neutral": 1.0}]))) == "accuracy"


def test_labels_have_their_usual_order_and_others_follow() -> None:
    examples = [example(label) for label in ("other", "contradiction", "entailment", "other")]
    assert Entailment().learn_labels(examples) == {"labels": ["entailment", "contradiction", "other"]}


def test_pairs_without_labels_can_be_asked_about_but_not_learnt_or_judged() -> None:
    with pytest.raises(OptionError, match="'A dog => A cat' has no gold labels"):
        Entailment().learn_labels([example("neutral"), example(None)])
    with pytest.raises(OptionError, match="'A dog => A cat' has no gold labels"):
        Entailment().score([example(None)], [{"neutral": 1.0}])


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (("A dog runs.",), "takes two texts, a premise and a hypothesis, but 1 were given"),
        (("A dog runs.", " "), "the hypothesis has no words"),
        (("", "A dog runs."), "the premise has no words"),
    ],
)
def test_what_is_no_pair_is_refused(texts: tuple[str, ...], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        Entailment().ask(*texts)


def test_letters_of_persian_files_are_unified_where_that_is_asked_for() -> None:
    (pair,) = Entailment(letters="persian").ask("كتاب علي", "کتاب علی")
    assert pair.premise == pair.hypothesis


@pytest.fixture(scope="module")
def slice_of_sick(data: Path) -> list[EntailmentExample]:
    """48 pairs, as many of each label."""
    read = Entailment().read(data / "data" / "tasks" / "entailment" / "sick-train.txt")
    return [one for label in ("entailment", "neutral", "contradiction") for one in read if one.label == label][::90][
        :48
    ]


@pytest.mark.parametrize("architecture", ["esim", "decomposable"])
def test_a_slice_is_learnt_by_heart(slice_of_sick: list[EntailmentExample], architecture: str) -> None:
    task = Entailment(architecture=architecture, hidden=24, dropout=0.1)  # type: ignore[arg-type]
    embedding = Embedding(words=24, characters=8)
    model = fit(task, embedding, slice_of_sick, slice_of_sick, SMALL, runtime=Runtime(threads=1))
    losses = [epoch["loss"] for epoch in model.metadata["epochs"]]
    assert losses[-1] < losses[0] / 2
    most = max(sum(one.label == label for one in slice_of_sick) for label in ("entailment", "neutral", "contradiction"))
    assert model.metadata["dev"]["accuracy"] > most / len(slice_of_sick) + 0.2


def test_a_saved_model_answers_as_before(slice_of_sick: list[EntailmentExample], tmp_path: Path) -> None:
    task = Entailment(architecture="decomposable", hidden=8)
    training = Training(epochs=1)
    model = fit(task, Embedding(characters=8), slice_of_sick, training=training, runtime=Runtime(threads=1))
    firth.save(model, tmp_path / "model")
    again = firth.load(tmp_path / "model")
    assert isinstance(again, TaskModel)
    texts = "All birds can fly.", "Penguins can fly."
    assert again.ask(*texts) == model.ask(*texts)
    answers = again.predict(slice_of_sick)
    assert [likeliest(one) for one in answers] == [likeliest(one) for one in model.predict(slice_of_sick)]
