"""Skip-gram with negative sampling on a GPU: how the kernels of word2vec.cu are started.

The twin of `word2vec.skip_gram`: the same formulas, the same negatives for the same windows. Arrays are tensors on the
GPU, and rows are padded to 128 numbers, so that a warp reads four numbers a lane.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from firth.kernels.cuda import Kernel, compile_source

TILE = 1024  # words of a block of threads that chooses words
WARP = 32
NAMES = ("count_kept", "place_kept", "cut_windows", "skip_gram")


def width(dim: int) -> int:
    """The length of a padded row."""
    return (dim + 127) // 128 * 128


@cache
def compile_kernels(width: int, negatives: int) -> dict[str, Kernel]:
    """The kernels for rows of this width."""
    source = Path(__file__).with_name("word2vec.cu").read_text(encoding="utf-8")
    return compile_source(source, NAMES, {"WIDTH": width, "NEGATIVES": negatives})


def make_scratch(size: int) -> tuple[Any, ...]:
    """Where a block of at most `size` words is stored: words, before, after, their number, sentences, tile counts."""
    import torch

    lengths = size, size, size, 1, size, (size + TILE - 1) // TILE
    return tuple(torch.zeros(length, dtype=torch.int32, device="cuda") for length in lengths)


def draw_windows(
    kernels: dict[str, Kernel],
    ids: Any,
    sentence_of: Any,
    keep: Any,
    window: int,
    dynamic: bool,
    state: np.uint64,
    scratch: tuple[Any, ...],
) -> None:
    """Chooses the words of a block that are trained and how far their windows reach, into words, before and after.

    Word i of the block has the random bits mix(state + (i + 1)·STEP) in every thread: the lower half decides whether it
    stays, the upper half how far its window reaches.
    """
    words, before, after, kept_words, sentences, kept = scratch
    count, tiles = len(ids), (len(ids) + TILE - 1) // TILE
    chosen = count, keep, len(keep), state
    kernels["count_kept"](tiles, TILE, ids, *chosen, kept)
    more = window, int(dynamic), kept, words, sentences, before, kept_words
    kernels["place_kept"](tiles, TILE, ids, sentence_of, *chosen, *more)
    kernels["cut_windows"](tiles, TILE, sentences, kept_words, before, after)


def skip_gram(
    kernels: dict[str, Kernel],
    scratch: tuple[Any, ...],
    inputs: Any,
    outputs: Any,
    noise: Any,
    share: int,
    rate: float,
    last_rate: float,
    state: np.uint64,
    warps: int,
    tally: Any,
) -> None:
    """Trains the windows in `scratch` with this number of warps, and adds (loss, pairs) to `tally`, two float64.

    Each warp takes a run of windows, then the next free one. All write to the same rows; additions are atomic,
    so that none is lost, but a row may be a few windows old when it is read.
    """
    words, before, after, kept_words, _, _ = scratch
    layers = inputs, outputs, noise, len(noise), share
    kernels["skip_gram"](warps, WARP, words, before, after, kept_words, *layers, rate, last_rate, state, tally)
