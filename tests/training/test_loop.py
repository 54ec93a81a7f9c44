"""The training loop: which blocks, which rate, what is kept, and what happens when something goes wrong."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.errors import Diverged, FormatError, OptionError
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.training import loop
from firth.training.checkpoints import CONFIG, Checkpoints
from firth.training.loop import BlockLoss, HeldOutBlocks, train
from firth.training.monitor import Monitor
from firth.training.record import EpochRecord
from firth.training.schedule import BlockSchedule, TextBlock

ONE = Runtime(1)


@dataclass
class Adder:
    """Learns nothing: its state depends on every block, on their order and on their rates."""

    loss: float = 1.0
    stop_after: int = 10**9
    trained: list[tuple[int, int]] = field(default_factory=list)
    arrays: dict[str, np.ndarray] = field(default_factory=lambda: {"state": np.ones((2, 3), np.float32)})
    chance_loss: float = 1.0

    def train(self, block: TextBlock) -> BlockLoss:
        self.trained.append((block.epoch, block.number))
        self.arrays["state"] *= np.float32(1 + block.rate / (1 + block.number + block.epoch))
        if len(self.trained) == self.stop_after:
            os.kill(os.getpid(), signal.SIGINT)
        return BlockLoss(self.loss * len(block.ids), len(block.ids))


def schedule(words: int = 1000, epochs: int = 3, size: int = 70, rate: float = 0.5) -> BlockSchedule:
    sentences = np.append(np.arange(0, words, 13), words).astype(np.uint64)
    return BlockSchedule(np.arange(words, dtype=np.uint32), sentences, epochs, rate, size)


def run(
    learner: Adder,
    plan: BlockSchedule,
    runtime: Runtime = ONE,
    *,
    report: Report = silent,
    checkpoint: Path | None = None,
    resume: bool = True,
    identity: dict[str, str] | None = None,
    **more: Any,
) -> EpochRecord:
    """One training as `fit` starts it."""
    identity = {**(identity or {}), **plan.identity}
    with Monitor.open(identity, report=report, checkpoint=checkpoint, resume=resume) as monitor:
        return train(learner, plan, runtime, monitor, **more)


def test_the_loss_curve_is_the_mean_of_a_prediction_in_each_epoch():
    assert run(Adder(loss=0.75), schedule()).curve == [0.75, 0.75, 0.75]


def test_reports_count_words_and_carry_loss_rate_and_epoch():
    seen: list[Progress] = []
    run(Adder(), schedule(words=200, epochs=2), Runtime(2), report=seen.append)
    assert [report.done for report in seen] == sorted(report.done for report in seen)
    assert seen[-1].done == seen[-1].total == 400
    assert seen[-1].values["epoch"] == 2
    assert seen[-1].values["loss"] == 1.0
    assert seen[-1].unit == "words"


def test_an_interrupted_run_goes_on_where_it_was_and_ends_in_the_same_bits(tmp_path: Path):
    whole = Adder()
    run(whole, schedule())
    folder = tmp_path / "checkpoint"
    first = Adder(stop_after=7)
    with pytest.raises(KeyboardInterrupt):
        run(first, schedule(), checkpoint=folder)
    second = Adder()
    end = run(second, schedule(), checkpoint=folder)
    assert first.trained + second.trained == whole.trained
    assert np.array_equal(second.arrays["state"], whole.arrays["state"])
    assert end.curve == [1.0, 1.0, 1.0]


def test_with_threads_every_block_is_trained_once_across_an_interruption(tmp_path: Path):
    first, second = Adder(stop_after=9), Adder()
    with pytest.raises(KeyboardInterrupt):
        run(first, schedule(), Runtime(2), checkpoint=tmp_path / "c")
    run(second, schedule(), Runtime(2), checkpoint=tmp_path / "c")
    everything = [(epoch, n) for epoch in range(3) for n in range(len(schedule().edges) - 1)]
    assert sorted(first.trained + second.trained) == everything


def test_checkpoints_are_kept_while_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kept: list[int] = []
    save = Checkpoints.save
    monkeypatch.setattr(Checkpoints, "save", lambda self, *given: (kept.append(given[1]["step"]), save(self, *given)))
    plan = schedule()
    run(Adder(), plan, checkpoint=tmp_path / "c", save_seconds=0.0)
    assert kept == list(range(1, plan.steps + 1))


def test_a_finished_checkpoint_leaves_nothing_to_do(tmp_path: Path):
    run(Adder(), schedule(), checkpoint=tmp_path / "c")
    again = Adder()
    assert run(again, schedule(), checkpoint=tmp_path / "c").curve == [1.0, 1.0, 1.0]
    assert again.trained == []


def test_without_resume_training_starts_anew(tmp_path: Path):
    run(Adder(), schedule(), checkpoint=tmp_path / "c")
    again = Adder()
    run(again, schedule(), checkpoint=tmp_path / "c", resume=False)
    assert len(again.trained) == schedule().steps


def test_a_checkpoint_of_another_training_is_refused_by_name(tmp_path: Path):
    run(Adder(), schedule(), checkpoint=tmp_path / "c", identity={"corpus": "a"})
    with pytest.raises(OptionError, match=r"another training: it differs in corpus\. Choose another folder"):
        run(Adder(), schedule(), checkpoint=tmp_path / "c", identity={"corpus": "b"})
    with pytest.raises(OptionError, match="differs in learning_rate"):
        run(Adder(), schedule(rate=0.1), checkpoint=tmp_path / "c", identity={"corpus": "a"})


def test_a_broken_checkpoint_is_an_error_with_its_place(tmp_path: Path):
    run(Adder(), schedule(), checkpoint=tmp_path / "c")
    next((tmp_path / "c").glob("state-*")).write_bytes(b"short")
    with pytest.raises(FormatError, match="the arrays of the checkpoint cannot be read"):
        run(Adder(), schedule(), checkpoint=tmp_path / "c")
    (tmp_path / "c" / CONFIG).write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        run(Adder(), schedule(), checkpoint=tmp_path / "c")


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), 11.0])
def test_a_loss_that_runs_away_stops_training_and_keeps_no_checkpoint(loss, tmp_path: Path):
    with pytest.raises(Diverged, match=r"Use a learning rate below 0\.5") as caught:
        run(Adder(loss=loss), schedule(), checkpoint=tmp_path / "c")
    assert caught.value.step > 0
    assert not (tmp_path / "c").exists()


def test_an_error_in_a_thread_is_raised():
    class Broken(Adder):
        def train(self, block: TextBlock) -> BlockLoss:
            raise OSError("the text is gone")

    with pytest.raises(OSError, match="the text is gone"):
        run(Broken(), schedule(), Runtime(2))


def apart(learner: Adder, words: int = 300) -> HeldOutBlocks:
    text = schedule(words=words)
    return HeldOutBlocks(learner, text.ids, text.sentences)


class Watcher(Adder):
    """Tells as its loss how many blocks were trained before, so that a held-out loss shows when it was taken."""

    def train(self, block: TextBlock) -> BlockLoss:
        if block.rate == 0:
            return BlockLoss(float(len(self.trained)) * len(block.ids), len(block.ids))
        return super().train(block)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_held_out_loss_is_taken_when_an_epoch_is_over_and_before_the_next_begins(threads):
    learner, plan, seen = Watcher(), schedule(epochs=3), []
    end = run(learner, plan, Runtime(threads), report=seen.append, held_out=apart(learner))
    blocks = len(plan.edges) - 1
    assert end.held_out == [blocks, 2 * blocks, 3 * blocks]
    assert "held_out_loss" not in seen[0].values
    assert [report.values["held_out_loss"] for report in seen if report.done == 2000] == [blocks, 2 * blocks]
    assert seen[-1].values["held_out_loss"] == 3 * blocks


def test_held_out_blocks_have_the_rate_zero_and_random_numbers_of_their_own():
    blocks = list(apart(Adder(), words=120_000).blocks())
    assert len(blocks) > 1
    assert {(block.rate, block.last_rate, block.epoch) for block in blocks} == {(0.0, 0.0, loop.HELD_OUT)}
    assert sum(len(block.ids) for block in blocks) == 120_000


def test_held_out_losses_outlive_an_interruption(tmp_path: Path):
    whole = Watcher()
    curve = run(whole, schedule(), held_out=apart(whole)).held_out
    first = Watcher(stop_after=len(schedule().edges) + 2)  # in the second epoch
    with pytest.raises(KeyboardInterrupt):
        run(first, schedule(), checkpoint=tmp_path / "c", held_out=apart(first))
    second = Watcher(trained=list(first.trained))
    resumed = run(second, schedule(), checkpoint=tmp_path / "c", held_out=apart(second))
    assert resumed.held_out == curve
    assert np.array_equal(second.arrays["state"], whole.arrays["state"])


def test_a_held_out_text_without_a_prediction_is_told_before_training():
    class Deaf(Adder):
        def train(self, block: TextBlock) -> BlockLoss:
            return super().train(block) if block.rate else BlockLoss(0.0, 0)

    learner = Deaf()
    with pytest.raises(OptionError, match="the held-out text has nothing to predict"):
        run(learner, schedule(), held_out=apart(learner))
    assert learner.trained == []


def test_a_checkpoint_is_whole_whenever_the_run_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "c"
    plan = schedule()
    steps: list[int] = []

    def copies_of_the_folder(*given: object) -> None:
        """Stands in for a kill at any moment between two changes of the folder: what is there must be usable."""
        if (folder / CONFIG).exists():
            state = json.loads((folder / CONFIG).read_text())
            assert (folder / state["arrays"]).exists()
            steps.append(state["state"]["step"])

    for name in ("replace", "unlink"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, real=real, **k: (copies_of_the_folder(), real(*a, **k))[1])
    run(Adder(), plan, checkpoint=folder, save_seconds=0.0)
    assert set(steps) >= set(range(1, plan.steps))
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, f"state-{plan.steps}.safetensors"]
