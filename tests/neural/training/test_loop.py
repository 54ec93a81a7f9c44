"""The training loop: divergence, best weights, and checkpoints that restore everything."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from firth.errors import Diverged
from firth.neural.training.loop import Tensors, TrainingLoop, add_prefix, select_prefix
from firth.neural.training.optimizers import Optimizer
from firth.runtime import Runtime
from firth.training.checkpoints import Checkpoints
from firth.training.monitor import Monitor
from firth.training.record import Record


class LineTraining(TrainingLoop[Record]):
    """Fits one number, with a counter as a further tensor."""

    learning_rate, log_every, save_every = 0.1, 1, 2
    device = torch.device("cpu")

    def __init__(self, folder: Path | None = None) -> None:
        monitor = Monitor() if folder is None else Monitor(checkpoints=Checkpoints(folder, {}))
        super().__init__(Record(), Runtime(1), monitor)
        self.slope = torch.nn.Parameter(torch.tensor([1.0]))
        self.counter = torch.zeros(1)
        self.optimizer = Optimizer("adam", {"slope": self.slope}, [], 0.0)

    def weights(self) -> Tensors:
        return {"slope": self.slope}

    def load_weights(self, tensors: Tensors) -> None:
        self.slope.data.copy_(tensors["slope"])

    def extra_tensors(self) -> Tensors:
        return {"counter": self.counter}

    def load_extra_tensors(self, tensors: Tensors) -> None:
        self.counter = tensors["counter"]

    def step(self) -> None:
        loss = (self.slope - 3.0).square().sum()
        loss.backward()
        self.optimizer.step(self.learning_rate)
        self.counter += 1
        self.add_loss(loss, torch.tensor(1.0))
        self.record.step += 1


def test_a_restored_training_makes_the_same_steps(tmp_path: Path) -> None:
    whole = LineTraining()
    for _ in range(5):
        whole.step()
    first = LineTraining(tmp_path)
    assert not first.begin()
    for _ in range(3):
        first.step()
    first.update_best(0.5, higher_is_better=True)
    first.save()
    second = LineTraining(tmp_path)
    assert second.begin()
    assert second.record.losses == first.record.losses
    assert second.best is not None
    assert torch.equal(second.best["slope"], first.slope)
    for _ in range(2):
        second.step()
    assert torch.equal(second.slope, whole.slope)
    assert second.counter.item() == 5


def test_best_weights_are_a_copy_and_older_ones_are_removed(tmp_path: Path) -> None:
    training = LineTraining(tmp_path)
    for value in (0.3, 0.1, 0.4):
        training.step()
        training.update_best(value, higher_is_better=True)
    kept = training.slope.item()
    training.step()
    training.save()
    assert training.best is not None
    assert training.best["slope"].item() == kept
    assert [path.name for path in tmp_path.glob("best-*")] == ["best-3.safetensors"]


@pytest.mark.parametrize(("loss", "norm"), [(math.nan, 1.0), (1.0, math.inf), (11.0, 1.0)])
def test_a_loss_or_a_norm_that_runs_away_is_an_error(loss: float, norm: float) -> None:
    training = LineTraining()
    training.largest_loss = 10.0
    training.add_loss(torch.tensor(10.0), torch.tensor(1.0))
    training.add_loss(torch.tensor(loss), torch.tensor(norm))
    with pytest.raises(Diverged, match=r"learning rate below 0\.1"):
        training.fetch_losses()


def test_checkpoints_are_due_after_so_many_steps_or_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    training = LineTraining()
    training.record.step = 3
    assert not training.is_time_to_save()
    training.record.step = 4
    assert training.is_time_to_save()
    training.save_every = 0
    assert not training.is_time_to_save()
    training.saved -= 601
    assert training.is_time_to_save()


def test_prefixes_come_off_again() -> None:
    tensors = {"bias": torch.zeros(1)}
    both = add_prefix("model", tensors) | add_prefix("models", tensors)
    assert select_prefix("model", both).keys() == {"bias"}
