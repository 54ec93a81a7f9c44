"""How far are the training kernels from what this machine can do? One thread, dim 100 and 300.

    python benchmarks/limits.py [--words 3000000]

Three limits are measured: arithmetic (a large matrix product), memory in order (a copy), and rows at random (each row
of a matrix read, changed and written, drawn as negatives are drawn, and asked for in time). Then each kernel is run
twice on the same windows: once as it is, and once with all words mapped to forty, so that every row lies in the nearest
cache. The difference is what waiting for memory costs; the rest is compared with the arithmetic.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit

from firth.kernels import random as random_kernel
from firth.kernels import word2vec as kernel
from firth.kernels.hierarchical_softmax import NO_TREE
from firth.kernels.simd_float import LANES, load, matrix, prefetch, store
from firth.kernels.windows import draw_windows
from firth.models.window_network import keep_thresholds
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.training.schedule import BlockSchedule
from train_static import lay_out

WINDOW, NEGATIVES, SHARE, RATE = 5, 5, 2, 0.02
FEW = 40  # words whose rows all lie in the nearest cache


@njit(nogil=True)
def change_rows(weights, order):
    """Adds 1 to rows in a given order, each asked for sixteen turns ahead."""
    for at in range(len(order)):
        if at + 16 < len(order):
            prefetch(weights, order[at + 16])
        for d in range(0, weights.shape[1], LANES):
            store(weights, order[at], d, load(weights, order[at], d) + np.float32(1.0))


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """The shortest of several runs, by the clock of this thread."""
    work()
    found = []
    for _ in range(times):
        start = time.thread_time()
        work()
        found.append(time.thread_time() - start)
    return min(found)


class Stage:
    """Some text with its windows laid, and two matrices that were trained on the text before it."""

    def __init__(self, path: Path, dim: int) -> None:
        tokens = Corpus([path], tokenizer=Tokenizer(mode="whitespace", normalizer=None)).tokens()
        self.dim, counts = dim, np.asarray(tokens.vocabulary.cut(5).counts, np.int64)
        self.noise = random_kernel.alias_table(counts.astype(np.float64) ** 0.75)
        self.keep = keep_thresholds(counts, 1e-3)
        self.inputs, self.outputs = matrix(len(counts), dim), matrix(len(counts), dim)
        random_kernel.fill_uniform(self.inputs, dim, 0, 0.5 / dim, np.uint64(1))
        schedule = BlockSchedule(tokens.ids, tokens.sentences, 1, RATE)
        laid = [self.lay(schedule, step) for step in range(schedule.steps)]
        for block in laid[:-4]:
            self.run("skip-gram", [block])
        self.laid = laid[-4:]
        self.few = [(words % np.uint32(FEW), before, after) for words, before, after in self.laid]
        self.centers = sum(len(words) for words, _, _ in self.laid)
        self.pairs = sum(int(b[: len(w)].sum() + a[: len(w)].sum()) for w, b, a in self.laid)

    def lay(self, schedule: BlockSchedule, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        block = schedule.block(step)
        words, before, after = (np.empty(len(block.ids), kind) for kind in (np.uint32, np.int32, np.int32))
        state = np.uint64(step)
        count = draw_windows(block.ids, block.ends, self.keep, WINDOW, True, state, words, before, after)
        return words[:count], before, after

    def run(self, name: str, laid: list, noise: np.ndarray | None = None) -> None:
        """Trains some windows with one of the kernels."""
        noise = self.noise if noise is None else noise
        scratch = kernel.make_scratch(WINDOW, 1 + NEGATIVES, self.dim)
        share = 0 if name == "skip-gram, per pair" else SHARE
        layers, rates = (self.inputs, self.outputs), (RATE, RATE)
        for words, before, after in laid:
            windows, sampling = (words, before, after, WINDOW), (noise, NEGATIVES, share, np.array([7], np.uint64))
            if name == "cbow":
                kernel.cbow_two_centers(windows, True, *layers, sampling, rates, scratch)
            elif share:
                kernel.skip_gram(windows, *layers, sampling, NO_TREE, rates, scratch)
            else:
                kernel.skip_gram_by_pair(windows, *layers, sampling, None, rates, scratch)


def report(stage: Stage, flops: float, row: float) -> None:
    """Prints nanoseconds a center: as it is, from the nearest cache, and the two limits."""
    around = stage.pairs / stage.centers
    # A prediction is a product, an error and a change for each of six targets: three times two operations a number.
    work = 6 * (1 + NEGATIVES) * stage.dim
    predictions = {"skip-gram": around, "skip-gram, per pair": around, "cbow": 1.0}
    rows = {
        "skip-gram": 2 + NEGATIVES / SHARE,
        "skip-gram, per pair": 2 + NEGATIVES * around,
        "cbow": 2 + NEGATIVES / SHARE,
    }
    few = random_kernel.alias_table(np.ones(FEW))
    for name, times in predictions.items():
        real = seconds(lambda n=name: stage.run(n, stage.laid)) / stage.centers
        near = seconds(lambda n=name: stage.run(n, stage.few, few)) / stage.centers
        arithmetic = (work * times + (4 * around * stage.dim if name == "cbow" else 0)) / flops
        memory = rows[name] * row
        cells = (f"{1e9 * value:10.0f}" for value in (real, near, arithmetic, memory))
        print(f"{name:22} {stage.dim:4}" + "".join(cells) + f"{(arithmetic + memory) / real:10.0%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=3_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        lay_out(path, asked.words)
        try:
            from threadpoolctl import threadpool_limits

            threadpool_limits(1)
        except ImportError:
            print("threadpoolctl is not installed: the matrix product may use all cores")
        square = np.ones((1500, 1500), np.float32)
        flops = 2 * 1500**3 / seconds(lambda: square @ square)
        source, target = np.ones(30_000_000, np.float32), np.ones(30_000_000, np.float32)
        copied = 2 * source.nbytes / seconds(lambda: np.copyto(target, source))
        print(f"a matrix product: {flops / 1e9:.0f} G operations/s; a copy: {copied / 1e9:.1f} GB/s read and written")
        print(f"\n{'ns a center':22} {'dim':>4}{'measured':>10}{'cached':>10}{'arithm.':>10}{'rows':>10}{'limits':>10}")
        for dim in (100, 300):
            stage = Stage(path, dim)
            bits = np.random.default_rng(1).integers(0, 2**64, 200_000, np.uint64)
            with np.errstate(over="ignore"):
                order = np.array([random_kernel.draw(some, stage.noise) for some in bits], np.uint32)
            row = seconds(lambda s=stage, o=order: change_rows(s.outputs.copy(), o)) / len(order)
            row -= seconds(lambda s=stage: s.outputs.copy()) / len(order)
            report(stage, flops, row)
            print(f"{'a row at random':22} {dim:4}{1e9 * row:10.0f}")


if __name__ == "__main__":
    main()
