"""Several processes, started by torchrun, train as one does: with their rows of a batch, and after one was killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from firth.models.elmo import Elmo
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
    "sharded": {"encoder": "words", "softmax": "sampled", "negatives": 5, "shard_optimizer": True},
}


CODE = """
import sys
from pathlib import Path

sys.path.insert(0, {tests!r})
import test_ranks

test_ranks.{program}(Path(sys.argv[1]))
"""


def make_text(sentences: int, seed: int) -> TokenFile:
    rng = np.random.default_rng(seed)
    return Corpus.of([" ".join(rng.choice(list("abcdefgh"), 6)) for _ in range(sentences)]).tokens()


def train(
    folder: Path, more: dict[str, Any], runtime: Runtime, *, kill: Path | None = None, last: int | None = None
) -> Pretraining:
    """One training. With `kill`, this process is killed in the tenth step, unless that file says that it was."""
    recipe, tokens = replace(SMALL, save_every=3, **more), make_text(60, 1)
    monitor = Monitor(checkpoints=Checkpoints(folder, {}), log=folder / "log.jsonl")
    plan, held_out = recipe.plan(runtime), make_text(9, 2)
    made = Pretraining(recipe.new(tokens), tokens, plan, runtime, held_out=held_out, monitor=monitor)
    step = made._step

    def step_or_die(batches: Any) -> None:
        if kill is not None and made.record.step == 10 and not kill.exists():
            kill.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        step(batches)
        if made.record.step == last:
            made.stopped = True
            made._check_clock_and_interrupt = lambda: None  # type: ignore[method-assign]

    made._step = step_or_die  # type: ignore[method-assign]
    made.run()
    return made


def train_all(folder: Path) -> None:
    """The program of each process: all models, a training that one process began, and one that is killed once."""
    runtime = Runtime.from_env(1)
    runtime.join()
    for name, more in MODELS.items():
        made = train(folder / name, more, runtime)
        if runtime.is_main:
            torch.save(made.bilm.state_dict(), folder / f"{name}.pt")
            if made.buckets.early:  # a training that was finished before the restart has made no step
                (folder / f"{name}.early").write_text(f"{made.buckets.early} {len(made.buckets.buckets)}")
    kill = folder / "kill" if runtime.rank == 1 else None
    for name in ("begun", "killed"):
        made = train(folder / name, MODELS["sharded"], runtime, kill=kill if name == "killed" else None)
        if runtime.is_main:
            torch.save(made.bilm.state_dict(), folder / f"{name}.pt")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run_agents(folder: Path, program: str, *, processes: int = 1, tests: Path = Path(__file__).parent) -> str:
    """Two agents on loopback, each with some processes, as on two machines; returns what they print.

    They may restart three times: gloo at times aborts a process that starts while the connections of the old one close.
    """
    script = folder / "train.py"
    script.write_text(CODE.format(tests=str(tests), program=program))
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", f"--nproc-per-node={processes}"]
    command += [
        "--max-restarts=4",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint=127.0.0.1:{free_port()}",
        "--rdzv-id=firth",
    ]
    command += ["--rdzv-id=firth", "--local-addr=127.0.0.1", "--monitor-interval=0.1", str(script), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    agents = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(2)
    ]
    try:
        said = [agent.communicate(timeout=600)[0] for agent in agents]
    finally:
        for agent in agents:
            agent.kill()
    assert [agent.returncode for agent in agents] == [0, 0], "\n".join(said)[-4000:]
    return "\n".join(said)


def read_log(folder: Path) -> list[list[float]]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [[line.get(name, 0.0) for name in ("step", "loss", "norm", "forward", "backward")] for line in lines]


def read_weights(path: Path) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = torch.load(path, weights_only=True)
    return weights


def test_two_agents_train_as_one_process_does_and_a_killed_training_gives_the_same_bits(tmp_path: Path) -> None:
    train(tmp_path / "begun", MODELS["sharded"], Runtime(1), last=12)
    said = run_agents(tmp_path, "train_all")
    assert (tmp_path / "kill").exists()
    assert "SIGKILL" in said or "exitcode: -9" in said
    for name, more in MODELS.items():
        alone = train(tmp_path / "alone" / name, more, Runtime(1)).bilm.state_dict()
        lines = read_log(tmp_path / "alone" / name)
        assert len(lines) > 30
        for one, other in zip(lines, read_log(tmp_path / name), strict=True):
            assert other == pytest.approx(one, rel=1e-4)
        together = read_weights(tmp_path / f"{name}.pt")
        assert all(torch.allclose(values, together[tensor], atol=1e-4) for tensor, values in alone.items())
        early, count = (tmp_path / f"{name}.early").read_text().split()
        assert early == count  # all buckets were sent during the backward pass
    whole, killed, begun = (read_weights(tmp_path / f"{name}.pt") for name in ("sharded", "killed", "begun"))
    assert all(torch.equal(values, killed[tensor]) for tensor, values in whole.items())
    assert read_log(tmp_path / "sharded") == read_log(tmp_path / "killed")
    # A training that one process began and two went on with
    assert all(torch.allclose(values, begun[tensor], atol=1e-4) for tensor, values in whole.items())
