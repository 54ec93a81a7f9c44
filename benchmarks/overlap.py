"""What it saves to send gradients during the backward pass, on a slow network.

    python benchmarks/overlap.py --megabits 1000

Two processes train a biLM over gloo on loopback. Each exchange takes at least the time that a network of the given
speed would need for its bytes; exchanges follow one another, as on one cable. The same steps are made twice: with all
gradients sent after the backward pass, and with buckets that are sent while it goes on. The weights are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

import numpy as np
import torch
from torch import Tensor

from firth.models.elmo import Elmo
from firth.neural.training.buckets import BUCKET, GradientBuckets
from firth.neural.training.pretrain import Pretraining, sparse_names
from firth.runtime import Runtime
from firth.text.corpus import Corpus


@dataclass(frozen=True)
class SlowRuntime(Runtime):
    """A runtime whose exchanges take as long as on a network of some bytes per second."""

    bytes_per_second: float = 1e8
    free_at: list[float] = field(default_factory=lambda: [0.0])
    lock: Lock = field(default_factory=Lock)

    def _reserve(self, count: int) -> float:
        with self.lock:
            start = max(time.monotonic(), self.free_at[0])
            self.free_at[0] = start + count / self.bytes_per_second
            return self.free_at[0]

    def begin_add_up(self, flat: Tensor) -> Callable[[], None]:
        done, end = super().begin_add_up(flat), self._reserve(flat.numel() * flat.element_size())

        def wait() -> None:
            done()
            time.sleep(max(0.0, end - time.monotonic()))

        return wait

    def begin_gather(self, rows: Tensor) -> Callable[[], list[Tensor]]:
        done, end = super().begin_gather(rows), self._reserve(rows.numel() * rows.element_size())

        def wait() -> list[Tensor]:
            gathered = done()
            time.sleep(max(0.0, end - time.monotonic()))
            return gathered

        return wait


def train(runtime: SlowRuntime, size: int, steps: int) -> tuple[float, dict[str, Tensor]]:
    """The median time of a step, and the weights at the end. A `size` of 0 sends everything after the backward pass."""
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(3000)]
    tokens = Corpus.of([" ".join(rng.choice(words, 12)) for _ in range(2000)]).tokens()
    recipe = Elmo(preset="small", batch=16, unroll=10, min_count=1, negatives=512, steps=steps)
    bilm = recipe.new(tokens)
    training = Pretraining(bilm, tokens, replace(recipe.plan(Runtime(1)), batch=16), runtime)
    training.buckets = GradientBuckets(
        training.parameters, sparse_names(bilm, training.softmax), runtime, size or BUCKET
    )
    if not size:
        training.buckets.begin = lambda: None  # type: ignore[method-assign]
    training.begin()
    times = []
    for parts in training.batches(0, steps):
        start = time.monotonic()
        training._step(parts)
        times.append(time.monotonic() - start)
    return statistics.median(times[1:]), {name: one.clone() for name, one in bilm.state_dict().items()}


def run_rank(folder: Path, megabits: float, steps: int) -> None:
    """The program of each process."""
    plain = Runtime.from_env(1)
    plain.join()
    runtime = SlowRuntime(1, rank=plain.rank, size=plain.size, bytes_per_second=megabits * 1e6 / 8)
    after, one = train(runtime, 0, steps)
    during, other = train(runtime, BUCKET, steps)
    if plain.is_main:
        same = all(torch.equal(one[name], other[name]) for name in one)
        network = sum(tensor.numel() for tensor in one.values()) * 4 / runtime.bytes_per_second
        values = {"after": after, "during": during, "ratio": during / after, "same": same, "whole model": network}
        (folder / "result.json").write_text(json.dumps(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabits", type=float, default=1000)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder:
        run_rank(Path(options.folder), options.megabits, options.steps)
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__]
        command += ["--megabits", str(options.megabits), "--steps", str(options.steps), "--folder", folder]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        values = json.loads(Path(folder, "result.json").read_text())
    print(f"gradients sent after the backward pass: {values['after']:.3f} s a step")
    print(f"gradients sent during it:               {values['during']:.3f} s a step, {values['ratio']:.2f} of that")
    print(f"same weights to the bit: {values['same']}")


if __name__ == "__main__":
    main()
