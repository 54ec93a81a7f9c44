"""Speed of counting co-occurrences: window 10 on both sides, weight 1 / distance, words with at least 5 occurrences.

    python benchmarks/counting.py [words, 5 million by default]

The peer uses NumPy and SciPy: a sparse matrix of the pairs at each distance, and the sum of these matrices. It runs on
one thread, like the first run of firth. Both start from the same ids in memory and must give the same matrix; this is
checked. Runs alternate; medians are printed.
"""

from __future__ import annotations

import itertools
import lzma
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix

from firth.models.cooccurrence import ContextWindow, count_pairs
from firth.models.counts import Counts, choose_words
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))
WINDOW = 10


def read(words: int) -> TokenFile:
    """Reads the first sentences of the English corpus, with this many words in total."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        left = words
        with lzma.open(DATA / "data/corpora/en-01.txt.xz", "rb") as source, open(path, "wb") as file:
            for line in source:
                file.write(line)
                left -= line.count(b" ") + 1
                if left <= 0:
                    break
        start = time.perf_counter()
        tokens = Corpus([path], tokenizer=Tokenizer(mode="whitespace")).tokens()
        print(f"read {len(tokens):,} words in {time.perf_counter() - start:.2f} s")
        return tokens


def count_with_scipy(tokens: TokenFile, kept: NDArray[np.int32], size: int) -> csr_matrix:
    """The sum over distances of sparse matrices of pairs."""
    ids = kept[np.asarray(tokens.ids)]
    lengths = np.diff(np.asarray(tokens.sentences).astype(np.int64))
    sentence = np.repeat(np.arange(len(lengths)), lengths)[ids >= 0]
    ids = ids[ids >= 0]
    total = csr_matrix((size, size))
    for distance in range(1, WINDOW + 1):
        together = sentence[distance:] == sentence[:-distance]
        left, right = ids[:-distance][together], ids[distance:][together]
        total = total + coo_matrix((np.full(len(left), 1 / distance), (left, right)), (size, size)).tocsr()
    both = (total + total.T).tocsr()
    both.sort_indices()
    return both


def measure(work: Callable[[], csr_matrix]) -> tuple[float, float, csr_matrix]:
    """The wall seconds and CPU seconds of a call, and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def main() -> None:
    tokens = read(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
    recipe = Counts(window=WINDOW, weighting="harmonic", min_count=5)
    vocabulary, kept = choose_words(tokens.vocabulary, recipe)
    size, near, cores = len(vocabulary), ContextWindow(WINDOW, WINDOW, harmonic=True), Runtime.from_env().threads
    methods: dict[str, Callable[[], csr_matrix]] = {
        "scipy, 1 thread": lambda: count_with_scipy(tokens, kept, size),
        "firth, 1 thread": lambda: count_pairs(tokens, kept, size, near, runtime=Runtime(1)),
        f"firth, {cores} threads": lambda: count_pairs(tokens, kept, size, near, runtime=Runtime(cores)),
        f"firth, {cores} threads, 50 MB": lambda: count_pairs(
            tokens, kept, size, near, runtime=Runtime(cores), memory_limit=50 * 10**6
        ),
    }
    methods["firth, 1 thread"]()  # compiles the kernels
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    for name in itertools.chain.from_iterable([methods] * 3):
        wall, cpu, counts = measure(methods[name])
        runs[name].append((wall, cpu))
        if name.startswith("firth, 1 "):
            ours = counts
        if name.startswith("scipy"):
            theirs = counts
    if ours.nnz != theirs.nnz or not np.allclose(ours.data, theirs.data, rtol=1e-9):
        raise SystemExit("the two ways do not agree")
    print(f"{size:,} words kept, {ours.nnz:,} pairs counted, both ways agree")
    peer = statistics.median(wall for wall, _ in runs["scipy, 1 thread"])
    for name, times in runs.items():
        wall, cpu = (statistics.median(column) for column in zip(*times))
        rates = f"{len(tokens) / wall / 1e6:6.2f} M words/s  {len(tokens) / cpu / 1e6:6.2f} M words/CPU-s"
        print(f"{name:28} {wall:6.2f} s  {cpu:6.2f} CPU-s  {rates}  {peer / wall:5.1f} x the scipy way")


if __name__ == "__main__":
    main()
