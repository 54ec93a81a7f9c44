"""Several processes, started by torchrun, train as one does: with their rows of a batch, and after one was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from firth.models.elmo import Elmo
from firth.neural.softmax import sparse_rows
from firth.neural.training.optimizers import all_reduce_gradients
from firth.neural.training.pretrain import Pretraining
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.training.checkpoints import Checkpoints
from firth.training.monitor import Monitor

SMALL = Elmo(preset="tiny", cell=8, dim=6, batch=4, unroll=5, min_count=1, epochs=2, learning_rate=0.01, log_every=1)
MODELS: dict[str, dict[str, Any]] = {
    "characters": {"dropout": 0.1},
    "words": {"encoder": "words", "softmax": "sampled", "negatives": 5, "optimizer": "paper"},
}


CODE = """
import sys
from pathlib import Path

sys.path.insert(0, {tests!r})
import test_ranks

test_ranks.train_all(Path(sys.argv[1]))
"""


def make_text(sentences: int, seed: int) -> TokenFile:
    rng = np.random.default_rng(seed)
    return Corpus.of([" ".join(rng.choice(list("abcdefgh"), 6)) for _ in range(sentences)]).tokens()


def train(folder: Path, more: dict[str, Any], runtime: Runtime, *, is_killed: bool = False) -> dict[str, Tensor]:
    """One training, and its weights at the end."""
    recipe, tokens = replace(SMALL, save_every=3, **more), make_text(60, 1)
    monitor = Monitor(checkpoints=Checkpoints(folder, {}), log=folder / "log.jsonl")
    plan, held_out = recipe.plan(runtime), make_text(9, 2)
    made = Pretraining(recipe.new(tokens), tokens, plan, runtime, held_out=held_out, monitor=monitor)
    step = made._step

    def step_or_die(batches: Any) -> None:
        if is_killed and made.record.step == 10:
            os.kill(os.getpid(), signal.SIGKILL)
        step(batches)

    made._step = step_or_die  # type: ignore[method-assign]
    made.run()
    return made.bilm.state_dict()


def train_all(folder: Path) -> None:
    """The program of each process; the second one is killed once."""
    runtime = Runtime.from_env(1)
    runtime.join()
    is_killed = runtime.rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    for name, more in MODELS.items():
        weights = train(folder / name, more, runtime, is_killed=is_killed)
        if runtime.is_main:
            torch.save(weights, folder / f"{name}.pt")


def run(folder: Path) -> None:
    """Two processes; the second is killed in the tenth step of all, and torchrun starts both again.

    It may do so twice: gloo at times aborts a process that starts while the connections of the old one close.
    """
    script = folder / "train.py"
    script.write_text(CODE.format(tests=str(Path(__file__).parent)))
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=3"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [*start, "--monitor-interval=0.1", str(script), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "SIGKILL" in done.stderr or "exitcode: -9" in done.stderr


def read_log(folder: Path) -> list[list[float]]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [[line.get(name, 0.0) for name in ("step", "loss", "norm", "forward", "backward")] for line in lines]


def test_two_ranks_train_as_one_process_does_although_one_is_killed(tmp_path: Path) -> None:
    run(tmp_path)
    for name, more in MODELS.items():
        alone = train(tmp_path / "alone" / name, more, Runtime(1))
        lines = read_log(tmp_path / "alone" / name)
        assert len(lines) > 30
        for one, other in zip(lines, read_log(tmp_path / name), strict=True):
            assert other == pytest.approx(one, rel=1e-4)
        together = torch.load(tmp_path / f"{name}.pt", weights_only=True)
        for tensor, values in alone.items():
            assert torch.allclose(values, together[tensor], atol=1e-4)


class Pair(Runtime):
    """Two ranks in one process, of which the other has the same gradients. It records what is sent."""

    sent: ClassVar[list[int]] = []

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            self.sent.append(tensor.numel())
            tensor.mul_(2)

    def gather(self, rows: Tensor) -> list[Tensor]:
        self.sent.append(rows.numel())
        return [rows, rows]


def test_only_rows_of_a_large_table_are_sent() -> None:
    table, bias = nn.Parameter(torch.zeros(10_000, 8)), nn.Parameter(torch.zeros(3))
    table.grad = sparse_rows(torch.tensor([5, 70, 9000]), torch.ones(3, 8), table.shape)
    bias.grad = torch.ones(3)
    all_reduce_gradients([table, bias], Pair(1, size=2))
    assert sum(Pair.sent) == 3 + 3 + 3 * 8
    assert table.grad.is_sparse
    assert table.grad.coalesce().values().unique().tolist() == [2.0]
    assert bias.grad.tolist() == [2, 2, 2]
