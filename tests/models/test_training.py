"""The training loop: which blocks, which rate, what is kept, and what happens when something goes wrong."""

from __future__ import annotations

import itertools
import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import Diverged, FormatError, OptionError
from firth.models import training
from firth.models.training import Block, Schedule, Tally, train
from firth.progress import Progress
from firth.runtime import Runtime

ONE = Runtime(1)


@dataclass
class Adder:
    """Learns nothing: its state depends on every block, on their order and on their rates."""

    loss: float = 1.0
    stop_after: int = 10**9
    trained: list[tuple[int, int]] = field(default_factory=list)
    arrays: dict[str, np.ndarray] = field(default_factory=lambda: {"state": np.ones((2, 3), np.float32)})
    guess: float = 1.0

    def train(self, block: Block) -> Tally:
        self.trained.append((block.epoch, block.number))
        self.arrays["state"] *= np.float32(1 + block.rate / (1 + block.number + block.epoch))
        if len(self.trained) == self.stop_after:
            os.kill(os.getpid(), signal.SIGINT)
        return Tally(self.loss * len(block.ids), len(block.ids))


def schedule(words: int = 1000, epochs: int = 3, size: int = 70, rate: float = 0.5) -> Schedule:
    sentences = np.append(np.arange(0, words, 13), words).astype(np.uint64)
    return Schedule(np.arange(words, dtype=np.uint32), sentences, epochs, rate, size)


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 50))
def test_blocks_hold_every_word_once_and_every_sentence_end(lengths, size):
    sentences = np.cumsum([0, *lengths]).astype(np.uint64)
    plan = Schedule(np.arange(sum(lengths), dtype=np.uint32), sentences, 1, 1.0, size)
    blocks = list(plan.blocks())
    assert list(itertools.chain.from_iterable(block.ids.tolist() for block in blocks)) == list(range(sum(lengths)))
    assert all(0 < len(block.ids) <= size and block.ends[-1] == len(block.ids) for block in blocks)
    ends = {int(block.ids[end - 1]) + 1 for block in blocks for end in block.ends if end > 0}
    assert ends >= {int(end) for end in sentences} - {0}
    assert len(ends) <= len(set(sentences.tolist()) - {0}) + len(blocks)


def test_the_rate_falls_linearly_over_all_epochs_to_its_floor():
    plan = schedule(words=1000, epochs=2, rate=0.5)
    blocks = list(plan.blocks())
    assert blocks[0].rate == 0.5
    assert all(left.last_rate == right.rate for left, right in itertools.pairwise(blocks))
    assert plan.rate_at(1000) == pytest.approx(0.25)
    assert blocks[-1].last_rate == pytest.approx(0.5e-4)


def test_the_loss_curve_is_the_mean_of_a_prediction_in_each_epoch():
    assert train(Adder(loss=0.75), schedule(), runtime=ONE) == [0.75, 0.75, 0.75]


def test_reports_count_words_and_carry_loss_rate_and_epoch():
    seen: list[Progress] = []
    train(Adder(), schedule(words=200, epochs=2), runtime=Runtime(2), report=seen.append)
    assert [report.done for report in seen] == sorted(report.done for report in seen)
    assert seen[-1].done == seen[-1].total == 400
    assert seen[-1].values["epoch"] == 2
    assert seen[-1].values["loss"] == 1.0
    assert seen[-1].unit == "words"


def test_an_interrupted_run_goes_on_where_it_was_and_ends_in_the_same_bits(tmp_path: Path):
    whole = Adder()
    train(whole, schedule(), runtime=ONE)
    folder = tmp_path / "checkpoint"
    first = Adder(stop_after=7)
    with pytest.raises(KeyboardInterrupt):
        train(first, schedule(), runtime=ONE, checkpoint=folder)
    second = Adder()
    curve = train(second, schedule(), runtime=ONE, checkpoint=folder)
    assert first.trained + second.trained == whole.trained
    assert np.array_equal(second.arrays["state"], whole.arrays["state"])
    assert curve == [1.0, 1.0, 1.0]


def test_with_threads_every_block_is_trained_once_across_an_interruption(tmp_path: Path):
    first, second = Adder(stop_after=9), Adder()
    with pytest.raises(KeyboardInterrupt):
        train(first, schedule(), runtime=Runtime(2), checkpoint=tmp_path / "c")
    train(second, schedule(), runtime=Runtime(2), checkpoint=tmp_path / "c")
    everything = [(epoch, n) for epoch in range(3) for n in range(len(schedule().edges) - 1)]
    assert sorted(first.trained + second.trained) == everything


def test_checkpoints_are_kept_while_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kept: list[int] = []
    keep = training.keep
    monkeypatch.setattr(training, "keep", lambda *given: (kept.append(given[3].step), keep(*given)))
    plan = schedule()
    train(Adder(), plan, runtime=ONE, checkpoint=tmp_path / "c", every=0.0)
    assert kept == list(range(1, plan.steps + 1))


def test_a_finished_checkpoint_leaves_nothing_to_do(tmp_path: Path):
    train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path / "c")
    again = Adder()
    assert train(again, schedule(), runtime=ONE, checkpoint=tmp_path / "c") == [1.0, 1.0, 1.0]
    assert again.trained == []


def test_without_resume_training_starts_anew(tmp_path: Path):
    train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path / "c")
    again = Adder()
    train(again, schedule(), runtime=ONE, checkpoint=tmp_path / "c", resume=False)
    assert len(again.trained) == schedule().steps


def test_a_checkpoint_of_another_training_is_refused_by_name(tmp_path: Path):
    train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path / "c", identity={"corpus": "a"})
    with pytest.raises(OptionError, match=r"another training: it differs in corpus\. Choose another folder"):
        train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path / "c", identity={"corpus": "b"})
    with pytest.raises(OptionError, match="differs in learning_rate"):
        train(Adder(), schedule(rate=0.1), runtime=ONE, checkpoint=tmp_path / "c", identity={"corpus": "a"})


def test_a_broken_checkpoint_is_an_error_with_its_place(tmp_path: Path):
    train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path / "c")
    (tmp_path / "c" / training.ARRAYS).write_bytes(b"short")
    with pytest.raises(FormatError, match="does not hold the arrays of this training"):
        train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path / "c")
    (tmp_path / "c" / training.CONFIG).write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path / "c")


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path):
    (tmp_path / "config.json").write_text(json.dumps({"library": "firth", "kind": "word-vectors"}))
    with pytest.raises(OptionError, match="something else than a checkpoint"):
        train(Adder(), schedule(), runtime=ONE, checkpoint=tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["kind"] == "word-vectors"


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), 11.0])
def test_a_loss_that_runs_away_stops_training_and_keeps_no_checkpoint(loss, tmp_path: Path):
    with pytest.raises(Diverged, match=r"Use a learning rate below 0\.5") as caught:
        train(Adder(loss=loss), schedule(), runtime=ONE, checkpoint=tmp_path / "c")
    assert caught.value.step > 0
    assert not (tmp_path / "c").exists()


def test_an_error_in_a_thread_is_raised():
    class Broken(Adder):
        def train(self, block: Block) -> Tally:
            raise OSError("the text is gone")

    with pytest.raises(OSError, match="the text is gone"):
        train(Broken(), schedule(), runtime=Runtime(2))
