"""Filters by table against filters by multiplication."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import character_cnn as kernel
from firth.kernels.matmul import BLOCK
from firth.kernels.simd_float import matrix

FILL = 9


def drawn(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("answers", [kernel.max_pool, kernel.max_pool.py_func], ids=["compiled", "readable"])
@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_a_filter_keeps_its_highest_answer_over_all_windows(width, answers):
    characters, filters = drawn(1, FILL + 1, 4), drawn(2, 20, width, 4)
    ids = np.full((4, 8), FILL, np.int32)
    ids[0, :3], ids[1, :7], ids[2, :8] = [1, 2, 3], [5, 0, 4, 4, 8, 7, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    lengths = (ids != FILL).sum(1)  # 3, 7, 8 and 0
    table = matrix(width * len(characters), 20)
    table[:, :20] = np.einsum("cd,fjd->jcf", characters, filters).reshape(-1, 20)
    out = np.empty((4, table.shape[1]), np.float32)
    answers(ids, lengths, table, width, out)
    seen = characters[ids]  # (words, 8, 4)
    windows = np.stack([seen[:, p : p + width] for p in range(8 - width + 1)], 1)
    expected = np.einsum("npjd,fjd->npf", windows, filters).max(1)
    assert np.abs(out[:, :20] - expected).max() < 1e-5


@pytest.mark.parametrize("highway", [kernel.highway, kernel.highway.py_func], ids=["compiled", "readable"])
def test_a_highway_mixes_what_it_was_given_with_what_it_makes_of_it(highway):
    sums, x = drawn(3, 3, 2 * BLOCK), drawn(4, 3, BLOCK)
    turns = sums.reshape(3, -1, 2, 16)
    transformed, gate = (turns[:, :, side].reshape(3, BLOCK) for side in (0, 1))
    g = 1 / (1 + np.exp(-gate))
    expected = g * np.maximum(transformed, 0) + (1 - g) * x
    highway(sums, x)
    assert np.abs(x - expected).max() < 1e-6
