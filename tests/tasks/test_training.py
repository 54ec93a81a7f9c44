"""The training loop: the same seed gives the same model, a killed run goes on to the bit, the best weights are kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firth.errors import Diverged, OptionError
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.progress import Progress
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding
from firth.tasks.model import TaskModel
from firth.tasks.sentiment.data import SentimentExample
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.sources import Sources
from firth.tasks.training import Training, apply_defaults, draw_share, fit

ONE = Runtime(threads=1)
TASK = Sentiment(architecture="plain", hidden=6, dropout=0.2)
EMBEDDING = Embedding(words=8, elmo="tiny", characters=3, at="both", mix_decay=0.01)
TRAINING = Training(epochs=4, batch=4, learning_rate=0.02, patience=None, log_every=2)


def examples(count: int, seed: int = 1) -> list[SentimentExample]:
    """Texts that are positive when they have more good words than bad ones."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        words = rng.choice(["good", "fine", "bad", "poor", "the", "film", "is"], rng.integers(2, 9)).tolist()
        weight = sum((word in ("good", "fine")) - (word in ("bad", "poor")) for word in words)
        found.append(SentimentExample(tuple(words), "positive" if weight > 0 else "negative"))
    return found


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources(bilm=BiLM(Architecture.named("tiny"), seed=2))


@pytest.fixture(scope="module")
def whole(sources: Sources) -> TaskModel:
    """A training that nothing interrupted."""
    return fit(TASK, EMBEDDING, examples(30), examples(20, 2), TRAINING, runtime=ONE, sources=sources)


def same(one: TaskModel, other: TaskModel) -> bool:
    left, right = one.state(), other.state()
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def scores(model: TaskModel) -> list[Any]:
    return [(line["loss"], line["dev"]) for line in model.metadata["epochs"]]


def test_the_same_seed_gives_the_same_model_and_another_one_does_not(whole: TaskModel, sources: Sources) -> None:
    before = torch.random.get_rng_state()
    again = fit(TASK, EMBEDDING, examples(30), examples(20, 2), TRAINING, runtime=ONE, sources=sources)
    assert same(whole, again)
    assert scores(whole) == scores(again)
    assert torch.equal(before, torch.random.get_rng_state())
    other = replace(TRAINING, seed=2)
    assert not same(whole, fit(TASK, EMBEDDING, examples(30), (), other, runtime=ONE, sources=sources))


class Killed(Exception):
    """What stands for a kill in these tests."""


def killer(step: int) -> Any:
    seen = Counter[str]()

    def report(progress: Progress) -> None:
        seen[progress.step] += progress.step == "training"
        if seen["training"] == step:
            raise Killed

    return report


@pytest.mark.parametrize("optimizer", ["adam", "adadelta", "adagrad", "sgd"])
@pytest.mark.parametrize("cache", [0.0, 1.0])
def test_a_killed_run_goes_on_to_the_last_bit(tmp_path: Path, sources: Sources, optimizer: Any, cache: float) -> None:
    training = replace(TRAINING, optimizer=optimizer, log_every=1, save_every=3, average=0.9, halve_after=1)
    training = replace(training, cache=cache)
    given: tuple[Any, ...] = (TASK, EMBEDDING, examples(30), examples(20, 2), training)
    unbroken = fit(*given, runtime=ONE, sources=sources)
    for step in (5, 9):  # in the first epoch of eight steps, and, counted from the checkpoint, in the second
        with pytest.raises(Killed):
            fit(*given, runtime=ONE, sources=sources, checkpoint=tmp_path / "kept", report=killer(step))
    resumed = fit(*given, runtime=ONE, sources=sources, checkpoint=tmp_path / "kept")
    assert same(unbroken, resumed)
    assert scores(unbroken) == scores(resumed)
    lines = [json.loads(line) for line in (tmp_path / "kept" / "log.jsonl").read_text().splitlines()]
    steps = [line["step"] for line in lines if "dev" not in line]
    assert steps == list(range(1, 33))
    assert [line["epoch"] for line in lines if "dev" in line] == [1, 2, 3, 4]


def test_a_finished_run_can_be_given_more_epochs(tmp_path: Path, whole: TaskModel, sources: Sources) -> None:
    short = replace(TRAINING, epochs=2)
    for training in (short, TRAINING):
        model = fit(
            *(TASK, EMBEDDING, examples(30), examples(20, 2), training),
            runtime=ONE,
            sources=sources,
            checkpoint=tmp_path / "kept",
        )
    assert same(whole, model)


def test_the_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    embedding = Embedding(words=4)
    fit(TASK, embedding, examples(8), (), replace(TRAINING, epochs=1), runtime=ONE, checkpoint=tmp_path / "kept")
    with pytest.raises(OptionError, match="differs in learning_rate, train"):
        fit(
            *(TASK, embedding, examples(9), (), replace(TRAINING, learning_rate=1.0)),
            runtime=ONE,
            checkpoint=tmp_path / "kept",
        )


def test_training_learns(whole: TaskModel) -> None:
    model = fit(TASK, Embedding(words=8), examples(60), examples(40, 2), replace(TRAINING, epochs=12), runtime=ONE)
    assert model.metadata["dev"]["accuracy"] > 0.85
    losses = [line["loss"] for line in model.metadata["epochs"]]
    assert losses[-1] < losses[0] / 2


def test_it_stops_when_the_dev_set_has_had_no_progress_and_keeps_the_best_weights() -> None:
    training = replace(TRAINING, epochs=60, patience=3)
    dev = examples(40, 2)
    model = fit(TASK, Embedding(words=8), examples(60), dev, training, runtime=ONE)
    lines = model.metadata["epochs"]
    best = max(range(len(lines)), key=lambda place: lines[place]["dev"]["accuracy"])
    assert len(lines) == best + 1 + 3 < 60
    assert model.evaluate(dev) == model.metadata["dev"] == lines[best]["dev"]


def test_without_a_dev_set_the_last_weights_are_the_result() -> None:
    model = fit(TASK, Embedding(words=8), examples(12), (), replace(TRAINING, epochs=2), runtime=ONE)
    assert model.metadata["dev"] == {}
    assert len(model.metadata["epochs"]) == 2


def test_without_a_dev_set_a_run_that_has_ended_gives_its_result_again(tmp_path: Path) -> None:
    given: tuple[Any, ...] = (TASK, Embedding(words=4), examples(12), (), replace(TRAINING, epochs=2, average=0.9))
    first, again = (fit(*given, runtime=ONE, checkpoint=tmp_path / "kept") for _ in range(2))
    assert same(first, again)


def test_the_share_of_time_in_the_biLM_is_told(whole: TaskModel) -> None:
    lines = whole.metadata["epochs"]
    assert 0 < whole.metadata["bilm_share"] < 1
    assert lines[0]["bilm_seconds"] == lines[-1]["bilm_seconds"] > 0  # later epochs never ran it
    assert whole.metadata["words_per_second"] > 0
    assert [sum(one) for one in whole.metadata["layer_shares"].values()] == pytest.approx([1, 1])


def test_a_running_mean_of_the_weights_is_judged_and_kept() -> None:
    given: tuple[Any, ...] = (TASK, Embedding(words=8), examples(30), examples(20, 2))
    plain, mean = (fit(*given, replace(TRAINING, average=keep), runtime=ONE) for keep in (0.0, 0.9))
    assert not same(plain, mean)
    assert [line["loss"] for line in plain.metadata["epochs"]] == [line["loss"] for line in mean.metadata["epochs"]]


def test_the_step_size_is_halved_where_there_is_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sentiment, "score", lambda self, examples, answers: {"accuracy": 0.5})
    rates: list[float] = []
    step = torch.optim.SGD.step

    def watched(self: Any, *more: Any) -> Any:
        rates.append(self.param_groups[0]["lr"])
        return step(self, *more)

    monkeypatch.setattr(torch.optim.SGD, "step", watched)
    training = replace(TRAINING, batch=30, optimizer="sgd", halve_after=1)
    fit(TASK, Embedding(words=4), examples(30), examples(5), training, runtime=ONE)
    assert rates == [0.02, 0.02, 0.01, 0.005]


def test_a_loss_that_runs_away_ends_the_training() -> None:
    with pytest.raises(Diverged, match="learning rate below"):
        fit(
            *(TASK, Embedding(words=4), examples(30), ()),
            replace(TRAINING, optimizer="sgd", learning_rate=1e38, clip=0),
            runtime=ONE,
        )


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(OptionError, match="no training examples"):
        fit(TASK, Embedding(words=4), [], (), TRAINING, runtime=ONE)


def test_a_larger_share_of_the_examples_holds_a_smaller_one() -> None:
    shares: list[Sequence[int]] = [draw_share(range(1000), share, seed=7) for share in (0.01, 0.1, 0.5)]
    assert [len(one) for one in shares] == [10, 100, 500]
    assert set(shares[0]) < set(shares[1]) < set(shares[2])
    assert draw_share(range(1000), 0.1, seed=8) != shares[1]
    assert len(draw_share(range(3), 0.001, seed=1)) == 1


def test_a_task_has_options_it_is_used_to() -> None:
    assert apply_defaults(Sentiment, Embedding, {"at": "input"}) == {"at": "input", "mix_decay": 0.001}
    assert apply_defaults(Sentiment, Training, {})["batch"] == 64


def test_a_training_out_of_time_ends_in_the_middle_of_an_epoch_with_its_best_weights(
    sources: Sources, whole: TaskModel, tmp_path: Path
) -> None:
    data = TASK, EMBEDDING, examples(30), examples(20, 2)
    short = replace(TRAINING, minutes=0.0)
    model = fit(*data, short, runtime=ONE, sources=sources, checkpoint=tmp_path)
    assert [line["step"] for line in model.metadata["epochs"]] == [1]
    assert model.metadata["dev"] == model.evaluate(examples(20, 2))
    longer = fit(*data, TRAINING, runtime=ONE, sources=sources, checkpoint=tmp_path)  # goes on where it ended
    ends = [line["step"] for line in longer.metadata["epochs"]]
    per_epoch = whole.metadata["epochs"][0]["step"]
    assert ends == [1, *(1 + per_epoch * epoch for epoch in range(1, 4))]
    ample = fit(*data, replace(TRAINING, minutes=60.0), runtime=ONE, sources=sources)
    assert same(ample, whole)
