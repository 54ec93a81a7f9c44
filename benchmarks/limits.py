"""Comparison of the word2vec kernels with the limits of this machine: one thread, dim 100 and 300.

    python benchmarks/limits.py [--words 3000000]

Three limits are measured: arithmetic (a large matrix product), sequential memory (a copy) and random rows (each row of
a matrix is prefetched, read, changed and written, in the random order of negative samples). Each kernel then runs twice
on the same windows: once on the real words, and once with all words mapped to forty, so that all rows are in the L1
cache. The difference is the cost of waiting for memory; the rest is compared with the arithmetic limit.
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
from firth.kernels.simd_float import LANES, load, matrix, prefetch, store
from firth.kernels.windows import draw_windows
from firth.models.window_network import keep_thresholds
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.training.schedule import BlockSchedule
from train_static import write_text

WINDOW, NEGATIVES, SHARE, RATE = 5, 5, 2, 0.02
FEW = 40  # words whose rows fit into the L1 cache


@njit(nogil=True)
def change_rows(weights, order):
    """Adds 1 to rows in the given order, with a prefetch distance of 16 rows."""
    for at in range(len(order)):
        if at + 16 < len(order):
            prefetch(weights, order[at + 16])
        for d in range(0, weights.shape[1], LANES):
            store(weights, order[at], d, load(weights, order[at], d) + np.float32(1.0))


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """The shortest CPU time of several runs in this thread."""
    work()
    found = []
    for _ in range(times):
        start = time.thread_time()
        work()
        found.append(time.thread_time() - start)
    return min(found)


class Workload:
    """Windows of the last blocks of a text, and two matrices trained on the blocks before them."""

    def __init__(self, path: Path, dim: int) -> None:
        tokens = Corpus([path], tokenizer=Tokenizer(mode="whitespace", normalizer=None)).tokens()
        self.dim, counts = dim, np.asarray(tokens.vocabulary.cut(5).counts, np.int64)
        self.noise = random_kernel.alias_table(counts.astype(np.float64) ** 0.75)
        self.keep = keep_thresholds(counts, 1e-3)
        self.inputs, self.outputs = matrix(len(counts), dim), matrix(len(counts), dim)
        random_kernel.fill_uniform(self.inputs, dim, 0, 0.5 / dim, np.uint64(1))
        schedule = BlockSchedule(tokens.ids, tokens.sentences, 1, RATE)
        blocks = [self.make_windows(schedule, step) for step in range(schedule.steps)]
        for block in blocks[:-4]:
            self.run("skip-gram", [block])
        self.blocks = blocks[-4:]
        self.few = [(words % np.uint32(FEW), before, after) for words, before, after in self.blocks]
        self.centers = sum(len(words) for words, _, _ in self.blocks)
        self.pairs = sum(int(b[: len(w)].sum() + a[: len(w)].sum()) for w, b, a in self.blocks)

    def make_windows(self, schedule: BlockSchedule, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The words of a block after subsampling, and the size of each window to both sides."""
        block = schedule.block(step)
        words, before, after = (np.empty(len(block.ids), kind) for kind in (np.uint32, np.int32, np.int32))
        state = np.uint64(step)
        count = draw_windows(block.ids, block.ends, self.keep, WINDOW, True, state, words, before, after)
        return words[:count], before, after

    def run(self, name: str, blocks: list, noise: np.ndarray | None = None) -> None:
        """Trains blocks of windows with one of the kernels."""
        noise = self.noise if noise is None else noise
        scratch = kernel.make_scratch(WINDOW, 1 + NEGATIVES, self.dim)
        share = 0 if name == "skip-gram, per pair" else SHARE
        for words, before, after in blocks:
            windows, sampling = (words, before, after, WINDOW), (noise, NEGATIVES, share, np.array([7], np.uint64))
            rest = self.inputs, self.outputs, sampling, None, None, (RATE, RATE), scratch
            if name == "cbow":
                kernel.cbow_two_centers(windows, True, *rest)
            else:
                (kernel.skip_gram if share else kernel.skip_gram_by_pair)(windows, *rest)


def report(workload: Workload, flops: float, row: float) -> None:
    """Prints nanoseconds per center word: real, from the L1 cache, and the two limits."""
    around = workload.pairs / workload.centers
    # A prediction is a dot product and two updates for each of six targets: three times two operations per dimension.
    work = 6 * (1 + NEGATIVES) * workload.dim
    predictions = {"skip-gram": around, "skip-gram, per pair": around, "cbow": 1.0}
    rows = {
        "skip-gram": 2 + NEGATIVES / SHARE,
        "skip-gram, per pair": 2 + NEGATIVES * around,
        "cbow": 2 + NEGATIVES / SHARE,
    }
    few = random_kernel.alias_table(np.ones(FEW))
    for name, times in predictions.items():
        real = seconds(lambda n=name: workload.run(n, workload.blocks)) / workload.centers
        near = seconds(lambda n=name: workload.run(n, workload.few, few)) / workload.centers
        arithmetic = (work * times + (4 * around * workload.dim if name == "cbow" else 0)) / flops
        memory = rows[name] * row
        cells = (f"{1e9 * value:10.0f}" for value in (real, near, arithmetic, memory))
        print(f"{name:22} {workload.dim:4}" + "".join(cells) + f"{(arithmetic + memory) / real:10.0%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=3_000_000, help="Words of text; default: 3,000,000.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        write_text(path, args.words)
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
            workload = Workload(path, dim)
            bits = np.random.default_rng(1).integers(0, 2**64, 200_000, np.uint64)
            with np.errstate(over="ignore"):
                order = np.array([random_kernel.draw(some, workload.noise) for some in bits], np.uint32)
            row = seconds(lambda s=workload, o=order: change_rows(s.outputs.copy(), o)) / len(order)
            row -= seconds(lambda s=workload: s.outputs.copy()) / len(order)
            report(workload, flops, row)
            print(f"{'a row at random':22} {dim:4}{1e9 * row:10.0f}")


if __name__ == "__main__":
    main()
