"""Speed of GloVe training: dimension 100, window 10 on both sides, words with at least 5 occurrences, 15 epochs.

    python benchmarks/train_glove.py [words, 5 million by default] [epochs, 15 by default]

The peer is the loop of the original program: one cell at a time in random order, in double precision, with logarithm
and weight computed for every cell, compiled with fast math on one thread. It runs on a part of the cells, alternating
with an epoch of firth; medians are printed. Both use the same equations, and their losses are printed next to the
speeds. The original program is not run here. Measured once on one core of a Zen 4, it took 5.1 CPU seconds to count,
4.5 to shuffle and 16.7 for an epoch of 16.4 million cells.
"""

from __future__ import annotations

import itertools
import lzma
import os
import resource
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from firth.kernels import glove as kernel
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.glove import Glove, GloveWeights
from firth.models.glove_cells import MatrixCells
from firth.progress import Progress, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.training.monitor import Monitor

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))
DIM, WINDOW, MIN_COUNT, RATE, X_MAX, ALPHA = 100, 10, 5, 0.05, 100.0, 0.75
PEER_CELLS = 2_000_000
ORIGINAL = {"counting": 5.1, "shuffling": 4.5, "pairs per CPU-second": 0.98e6, "pairs": 16.4e6}


@njit(fastmath=True)
def train_plain(rows, columns, values, words, contexts, word_squares, context_squares):
    """The training loop of GloVe in double precision; the last column is the bias. Returns the loss."""
    dim = words.shape[1] - 1
    loss = 0.0
    for k in range(len(rows)):
        i, j, x = rows[k], columns[k], values[k]
        difference = words[i, dim] + contexts[j, dim] - np.log(x)
        for d in range(dim):
            difference += words[i, d] * contexts[j, d]
        grad = difference if x > X_MAX else (x / X_MAX) ** ALPHA * difference
        loss += 0.5 * grad * difference
        grad *= RATE
        for d in range(dim):
            step, other = grad * contexts[j, d], grad * words[i, d]
            words[i, d] -= step / np.sqrt(word_squares[i, d])
            contexts[j, d] -= other / np.sqrt(context_squares[j, d])
            word_squares[i, d] += step * step
            context_squares[j, d] += other * other
        words[i, dim] -= grad / np.sqrt(word_squares[i, dim])
        contexts[j, dim] -= grad / np.sqrt(context_squares[j, dim])
        word_squares[i, dim] += grad * grad
        context_squares[j, dim] += grad * grad
    return loss


class Peer:
    """The plain loop with its own weights, over all cells in one random order, PEER_CELLS at a time."""

    def __init__(self, counts: CountMatrix) -> None:
        rng = np.random.default_rng(1)
        matrix, size = counts.matrix, len(counts)
        start = time.process_time()
        order = rng.permutation(matrix.nnz)
        self.rows = np.repeat(np.arange(size, dtype=np.int32), np.diff(matrix.indptr))[order]
        self.columns, self.values = matrix.indices[order], matrix.data[order]
        self.shuffling = time.process_time() - start
        self.arrays: list[NDArray[np.float64]] = [(rng.random((size, DIM + 1)) - 0.5) / DIM for _ in range(2)]
        self.arrays += [np.ones((size, DIM + 1)) for _ in range(2)]
        train_plain(self.rows[:1], self.columns[:1], self.values[:1], *self.arrays)  # compiles
        self.at, self.loss, self.is_past_first = 0, 0.0, False

    def train_some(self) -> tuple[int, float]:
        """Trains the next cells of the epoch; returns their number and the CPU seconds."""
        part = slice(self.at, min(self.at + PEER_CELLS, len(self.rows)))
        start = time.process_time()
        loss = train_plain(self.rows[part], self.columns[part], self.values[part], *self.arrays)
        spent, self.at = time.process_time() - start, part.stop % len(self.rows)
        self.loss += 0.0 if self.is_past_first else loss
        self.is_past_first |= self.at == 0
        return part.stop - part.start, spent


def read(words: int, path: Path) -> Corpus:
    """Writes the first sentences of the English corpus in lower case to `path` and returns the corpus."""
    left = words
    with lzma.open(DATA / "data/corpora/en-01.txt.xz", "rt", encoding="utf-8") as source, open(path, "w") as file:
        for line in source:
            file.write(line.lower())
            left -= line.count(" ") + 1
            if left <= 0:
                break
    return Corpus([path], tokenizer=Tokenizer(mode="whitespace"), threads=1)


def measure_fit(corpus: Corpus, epochs: int, threads: int) -> dict[str, Any]:
    """Wall and CPU seconds of each step of `Glove.fit`, from ids in memory to vectors."""
    marks: list[tuple[str, float, float]] = [("counting", time.perf_counter(), time.process_time())]

    def report(progress: Progress) -> None:
        if progress.step != marks[-1][0] and progress.step in ("shuffling", "training"):
            marks.append((progress.step, time.perf_counter(), time.process_time()))

    recipe = Glove(dim=DIM, window=WINDOW, min_count=MIN_COUNT, epochs=epochs, x_max=100)
    vectors = recipe.fit(corpus, runtime=Runtime(threads), report=report)
    marks.append(("", time.perf_counter(), time.process_time()))
    steps = {name: (after[1] - wall, after[2] - cpu) for (name, wall, cpu), after in itertools.pairwise(marks)}
    steps["all"] = (marks[-1][1] - marks[0][1], marks[-1][2] - marks[0][2])
    return {"steps": steps, "pairs": vectors.metadata["pairs"], "loss": vectors.metadata["loss"]}


def compare_with_peer(corpus: Corpus) -> tuple[float, float, float]:
    """Pairs per CPU second on one thread of firth and of the plain loop, and the loop's CPU seconds of shuffling."""
    counts = Counts(window=WINDOW, weighting="harmonic", min_count=MIN_COUNT).fit(corpus)
    assert isinstance(counts, CountMatrix)
    recipe, one, peer = Glove(dim=DIM, x_max=100), Runtime(1), Peer(counts)
    speeds: list[float] = []
    peer_speeds: list[float] = []
    with ExitStack() as stack:
        cells = recipe._shuffle(MatrixCells(counts.matrix), counts.rows, stack, one, silent)
        weights = GloveWeights.initial(recipe, len(counts))
        kernel.train(cells.pairs, cells.targets, cells.starts, np.zeros(0, np.int64), *weights.arrays.values(), RATE)
        for epoch in range(5):
            start = time.process_time()
            loss = recipe._epoch(epoch, cells, counts.rows, weights, one, Monitor())
            speeds.append(len(cells) / (time.process_time() - start))
            count, spent = peer.train_some()
            peer_speeds.append(count / spent)
            if epoch == 0:
                first = loss / len(cells)
    while not peer.is_past_first:  # finish the first epoch of the peer, so that the losses are comparable
        peer.train_some()
    print(f"mean loss of a pair in the first epoch: ours {first:.5f}, the plain loop {peer.loss / len(peer.rows):.5f}")
    return statistics.median(speeds), statistics.median(peer_speeds), peer.shuffling


def main() -> None:
    words = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    with tempfile.TemporaryDirectory() as folder:
        corpus = read(words, Path(folder) / "text.txt")
        corpus.tokens()
    Glove(dim=DIM, min_count=1, epochs=1).fit(Corpus.of(["a b c"]), runtime=Runtime(1))  # compiles
    runs = {threads: measure_fit(corpus, epochs, threads) for threads in (1, Runtime.from_env().threads)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    ours, theirs, shuffling = compare_with_peer(corpus)
    print(f"{len(corpus.tokens()):,} words, {runs[1]['pairs']:,} pairs, {epochs} epochs, peak memory {peak:,.0f} MB")
    for threads, run in runs.items():
        for name, (wall, cpu) in run["steps"].items():
            print(f"firth, {threads} threads, {name:10} {wall:7.2f} s {cpu:7.2f} CPU-s")
        print(f"firth, {threads} threads, loss by epoch: {' '.join(f'{loss:.5f}' for loss in run['loss'])}")
    print(
        f"training: {ours / 1e6:.2f} M pairs per CPU-second, the plain loop {theirs / 1e6:.2f}: {ours / theirs:.1f} x"
    )
    steps, pairs = runs[1]["steps"], runs[1]["pairs"]
    plain = steps["counting"][1] + shuffling + epochs * pairs / theirs
    print(f"end to end with the plain loop (and our counting): {plain:.1f} CPU-s, {plain / steps['all'][1]:.1f} x ours")
    scale = pairs / ORIGINAL["pairs"]
    original = (
        scale * (ORIGINAL["counting"] + ORIGINAL["shuffling"]) + epochs * pairs / ORIGINAL["pairs per CPU-second"]
    )
    print(f"the original, from its known speed: {original:.1f} CPU-s, {original / steps['all'][1]:.1f} x ours")
    if len(runs) > 1:
        more = max(runs)
        gain = steps["training"][0] / runs[more]["steps"]["training"][0]
        print(f"training on {more} threads: {gain:.2f} x as fast as on one, by the clock")


if __name__ == "__main__":
    main()
