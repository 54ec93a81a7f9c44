"""Question answering: questions from raw text, and training on a small set."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import firth
from firth.errors import OptionError
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding
from firth.tasks.model import TaskModel
from firth.tasks.qa.data import QaExample
from firth.tasks.qa.task import Qa
from firth.tasks.training import Training, fit


def test_questions_without_answers_can_be_asked_but_not_learnt_or_judged() -> None:
    (question,) = Qa().ask("The cat sat on the mat.", "Where did the cat sit?")
    with pytest.raises(OptionError, match="'Where did the cat sit \\?' has no gold labels"):
        Qa().training_examples([question])
    with pytest.raises(OptionError, match="'Where did the cat sit \\?' has no gold labels"):
        Qa().score([question], [{"text": "on the mat"}])


def test_one_passage_can_be_asked_several_questions() -> None:
    first, second = Qa().ask("The cat sat on the mat.", "Who sat?", "Where?")
    assert first.passage is second.passage
    assert second.words == ("Where", "?")


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (("The cat sat.",), "takes a passage and a question, but 1 texts were given"),
        (("", "Who sat?"), "the passage has no words"),
        (("The cat sat.", " "), "the question has no words"),
    ],
)
def test_what_is_no_question_is_refused(texts: tuple[str, ...], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        Qa().ask(*texts)


def test_windows_must_share_less_than_they_hold() -> None:
    with pytest.raises(OptionError, match="overlap is 128, but must be smaller than longest, 100"):
        Qa(longest=100)


@pytest.fixture(scope="module")
def slice_of_squad(data: Path) -> list[QaExample]:
    """12 questions about short passages."""
    read = Qa().read(data / "data" / "tasks" / "qa" / "squad-dev.json.xz")
    return [one for one in read if len(one.passage.words) < 50][::9][:12]


def test_a_slice_is_learnt_by_heart_and_a_saved_model_answers_as_before(
    slice_of_squad: list[QaExample], tmp_path: Path
) -> None:
    training = Training(epochs=14, batch=3, learning_rate=6e-3, patience=None)
    task = Qa(hidden=16, dropout=0.0)
    embedding = Embedding(words=24, characters=8)
    model = fit(task, embedding, slice_of_squad, slice_of_squad, training, runtime=Runtime(threads=1))
    losses = [epoch["loss"] for epoch in model.metadata["epochs"]]
    assert losses[-1] < losses[0] / 2
    assert model.metadata["dev"]["f1"] > 0.5
    firth.save(model, tmp_path / "model")
    again = firth.load(tmp_path / "model")
    assert isinstance(again, TaskModel)
    texts = "The cat sat on the mat.", "Where did the cat sit?"
    (answer,) = again.ask(*texts)
    assert [answer] == model.ask(*texts)
    assert isinstance(answer, dict)
    assert answer["answer"] == texts[0][answer["start"] : answer["end"]]


def test_a_run_that_goes_on_ends_where_one_that_never_stopped_does(
    slice_of_squad: list[QaExample], tmp_path: Path
) -> None:
    task, few = Qa(hidden=4), slice_of_squad[:4]
    embedding, runtime = Embedding(characters=8), Runtime(threads=1)

    def learn(epochs: int, folder: str) -> TaskModel:
        training = Training(epochs=epochs, batch=2, average=0.9, optimizer="adadelta", learning_rate=1.0)
        return fit(task, embedding, few, few, training, runtime=runtime, checkpoint=tmp_path / folder)

    learn(1, "stopped")
    resumed, whole = learn(2, "stopped").state(), learn(2, "whole").state()
    assert all(torch.equal(resumed[name], tensor) for name, tensor in whole.items())
