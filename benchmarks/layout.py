"""Layout of word vectors in the plane: CPU time and share of ten neighbors kept, compared with umap-learn and openTSNE.

python benchmarks/layout.py [words] [model]        (pip install umap-learn openTSNE)

All programs get the same unit vectors and one thread; each is first run on a few words, so that nothing is compiled in
the clock. umap-learn searches its neighbors approximately and is started from its own spectral layout.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import firth
from firth.maps.layout import Layout, neighbors_kept, search_blocks
from firth.runtime import Runtime

ONE = Runtime(threads=1)


def measure(run: Callable[[np.ndarray], np.ndarray], unit: np.ndarray) -> tuple[float, np.ndarray]:
    """CPU seconds and positions."""
    run(unit[:300])
    start = time.process_time()
    positions = run(unit)
    return time.process_time() - start, positions


def lay_out_by_umap(unit: np.ndarray) -> np.ndarray:
    import umap

    return umap.UMAP(metric="cosine", n_neighbors=15, random_state=1, n_jobs=1).fit_transform(unit)


def main(size: int = 18_000, model: str = "word2vec-en") -> None:
    unit = firth.load(model).unit
    if size > len(unit):
        more = np.random.default_rng(1)
        rows = unit[more.integers(0, len(unit), size)] + 0.08 * more.standard_normal((size, unit.shape[1]), np.float32)
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        print(f"{size:,} vectors drawn around those of {model}")
    unit = np.ascontiguousarray(unit[:size], np.float32)
    start = time.process_time()
    frame = next(Layout().frames(unit, ONE))
    print(f"first frame (PCA): {time.process_time() - start:.2f} CPU-s, {len(frame.positions):,} points")
    neighbors = np.concatenate([ids for _, ids, _ in search_blocks(unit, 10, ONE)])
    programs: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "firth": lambda rows: Layout().fit(rows, ONE).positions,
        "firth, repulsion 1": lambda rows: Layout(repulsion=1.0).fit(rows, ONE).positions,
    }
    if size <= 20_000:
        programs["umap-learn"] = lay_out_by_umap
        programs["openTSNE with firth's neighbors"] = lambda rows: Layout(method="tsne").fit(rows, ONE).positions
    ours = 0.0
    for name, run in programs.items():
        seconds, positions = measure(run, unit)
        ours = ours or seconds
        kept = neighbors_kept(np.asarray(positions, np.float32), neighbors).mean()
        print(
            f"{name:34} {seconds:7.1f} CPU-s   {100 * kept:5.1f} % kept   {seconds / ours:5.1f} times firth", flush=True
        )


if __name__ == "__main__":
    main(*(int(value) if value.isdecimal() else value for value in sys.argv[1:]))
