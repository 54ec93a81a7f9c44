"""Speed of nearest-neighbor search in 400,000 x 300 vectors: one query and 1,000 queries, compared with gensim.

python benchmarks/search.py [words] [dim]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from firth.runtime import Runtime
from firth.vectors.words import WordVectors

ROUNDS = 15
TOPN = 10


def make_clusters(size: int, dim: int, seed: int = 1) -> np.ndarray:
    """Random vectors in clusters of different sizes, with different norms, like word vectors."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((2000, dim), dtype=np.float32)
    chosen = np.minimum(rng.zipf(1.3, size) - 1, 1999)
    rows = 0.7 * centers[chosen] + rng.standard_normal((size, dim), dtype=np.float32)
    return rows * rng.lognormal(0, 0.4, (size, 1)).astype(np.float32)


def seconds(function: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU seconds of a call, after a pause in which the threads of the previous call stop."""
    time.sleep(0.1)
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - cpu


def agree(ours: list[tuple[str, float]], theirs: list[tuple[str, float]]) -> bool:
    """Whether words and cosines are equal, up to the order of words whose cosines differ by less than rounding."""
    close = np.allclose([c for _, c in ours], [c for _, c in theirs], atol=2e-6)
    names = {word for word, _ in ours} ^ {word for word, _ in theirs}
    return close and all(abs(c - theirs[-1][1]) < 2e-6 for word, c in ours + theirs if word in names)


def report(name: str, ours: list[tuple[float, float]], theirs: list[tuple[float, float]]) -> None:
    """Prints the median milliseconds and their ratio."""
    a, b = (statistics.median(wall for wall, _ in times) for times in (ours, theirs))
    cpu_a, cpu_b = (statistics.median(cpu for _, cpu in times) for times in (ours, theirs))
    print(
        f"{name:28} firth {1e3 * a:9.2f} ms (CPU {1e3 * cpu_a:.2f})   gensim {1e3 * b:9.2f} ms (CPU {1e3 * cpu_b:9.2f})"
        f"   ratio {b / a:6.1f}"
    )


def main(size: int = 400_000, dim: int = 300) -> None:
    matrix = make_clusters(size, dim)
    words = [f"w{i}" for i in range(size)]
    gensim = KeyedVectors(dim)
    gensim.add_vectors(words, matrix)
    gensim.fill_norms()
    WordVectors(words[:4096], matrix[:4096]).most_similar_each(words[:9])  # compiles the kernels
    vectors = WordVectors(words, matrix)
    index = seconds(lambda: vectors.index)
    print(f"{size:,} x {dim}, {Runtime.from_env().threads} threads; the index took {index[0]:.2f} s", end=" ")
    print(f"(CPU {index[1]:.2f}) and {vectors.index.nbytes / matrix.nbytes:.0%} of the rows' bytes")

    rng = np.random.default_rng(2)
    queries = [words[i] for i in rng.integers(0, size, 1000)]
    unequal = sum(
        not agree(vectors.most_similar(word, topn=TOPN), gensim.most_similar(word, topn=TOPN)) for word in queries[:30]
    )
    each = vectors.most_similar_each(queries, topn=TOPN)
    unequal += sum(each[i] != vectors.most_similar(queries[i], topn=TOPN) for i in range(30))
    print(f"answers that differ from gensim's, or between one query and many: {unequal} of 60")

    ours, theirs = [], []
    for word in queries[:ROUNDS]:
        ours.append(seconds(lambda word=word: vectors.most_similar(word, topn=TOPN)))
        theirs.append(seconds(lambda word=word: gensim.most_similar(word, topn=TOPN)))
    report("one query", ours, theirs)

    ours, theirs = [], []
    for start in range(0, 100, 34):
        part = queries[start : start + 34]
        ours.append(seconds(lambda: vectors.most_similar_each(queries, topn=TOPN)))
        wall, cpu = seconds(lambda part=part: [gensim.most_similar(word, topn=TOPN) for word in part])
        theirs.append((wall * 1000 / len(part), cpu * 1000 / len(part)))
    report("1000 queries (gensim scaled)", ours, theirs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
