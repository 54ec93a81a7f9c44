"""A task that two agents of torchrun train: the steps of one process, and the same bits after a kill."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from firth.errors import OptionError
from firth.runtime import Runtime
from firth.tasks import training_loop
from firth.tasks.coref.task import Coref
from firth.tasks.inputs import Embedding
from firth.tasks.sentiment.data import SentimentExample
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.training import Training, fit

NEURAL = str(Path(__file__).resolve().parents[1] / "neural")
WORDS = ["good", "bad", "tea", "rain", "the", "a"]


def make_examples(count: int, seed: int) -> list[SentimentExample]:
    generator = torch.Generator().manual_seed(seed)
    examples = []
    for _ in range(count):
        words = [WORDS[place] for place in torch.randint(6, (5,), generator=generator).tolist()]
        examples.append(SentimentExample(tuple(words), "4" if "good" in words else "0"))
    return examples


def train(folder: Path, runtime: Runtime, kill: Path | None = None) -> dict[str, Tensor]:
    training = Training(epochs=3, batch=5, save_every=2, log_every=1, optimizer="sgd", learning_rate=0.1)
    step = training_loop.TaskTraining._step

    def step_or_die(loop: Any, batch: list[Any]) -> None:
        if kill is not None and loop.record.step == 5 and not kill.exists():
            kill.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        step(loop, batch)

    training_loop.TaskTraining._step = step_or_die  # type: ignore[method-assign]
    try:
        model = fit(
            replace(Sentiment(), dropout=0.0),
            Embedding(words=8),
            make_examples(21, 1),
            make_examples(8, 2),
            training,
            runtime=runtime,
            checkpoint=folder,
        )
    finally:
        training_loop.TaskTraining._step = step  # type: ignore[method-assign]
    return {name: tensor.cpu() for name, tensor in model.state().items()}


def train_all(folder: Path) -> None:
    """The program of each process."""
    runtime = Runtime.from_env(1)
    runtime.join()
    for way in ("whole", "killed"):
        kill = folder / "kill" if way == "killed" and runtime.rank == 1 else None
        weights = train(folder / way, runtime, kill)
        if runtime.is_main:
            torch.save(weights, folder / f"{way}.pt")


def test_two_agents_train_a_task_as_one_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(NEURAL)
    import test_ranks as neural_ranks  # type: ignore[import-not-found]

    alone = train(tmp_path / "alone", Runtime(1))
    said = neural_ranks.run_agents(tmp_path, "train_all", tests=Path(__file__).parent)
    assert "SIGKILL" in said or "exitcode: -9" in said
    whole, killed = (torch.load(tmp_path / f"{way}.pt", weights_only=True) for way in ("whole", "killed"))
    for name, values in alone.items():
        assert torch.allclose(values, whole[name], atol=1e-4)
        assert torch.equal(whole[name], killed[name])


def test_a_batch_that_cannot_be_split_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "join", lambda _: None)
    with pytest.raises(OptionError, match="a batch of 1 cannot be split over 2 processes"):
        fit(
            Sentiment(), Embedding(words=8), make_examples(4, 1), training=Training(batch=1), runtime=Runtime(1, size=2)
        )
    assert Coref.documents
