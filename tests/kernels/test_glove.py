"""GloVe's step against plain NumPy and against finite differences; pieces against the laws of dealing cards."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import glove as kernel
from firth.kernels.simd_float import stride

RATE = 0.05


class Plain:
    """GloVe as the paper and the original program have it: float64, one number at a time, nothing packed."""

    def __init__(self, words, contexts, dim: int) -> None:
        half = words.shape[1] // 2
        self.w, self.c = words[:, :dim].astype(np.float64), contexts[:, :dim].astype(np.float64)
        self.b, self.d = words[:, dim].astype(np.float64), contexts[:, dim + 1].astype(np.float64)
        self.w_squares, self.c_squares = (m[:, half : half + dim].astype(np.float64) for m in (words, contexts))
        self.b_squares, self.d_squares = np.ones_like(self.b), np.ones_like(self.d)

    def difference(self, i: int, j: int, x: float) -> float:
        return float(self.w[i] @ self.c[j] + self.b[i] + self.d[j] - math.log(x))

    def cost(self, i: int, j: int, x: float, x_max: float = 100.0, alpha: float = 0.75) -> float:
        return 0.5 * min(1.0, (x / x_max) ** alpha) * self.difference(i, j, x) ** 2

    def gradients(self, i: int, j: int, x: float, x_max: float = 100.0, alpha: float = 0.75):
        slope = min(1.0, (x / x_max) ** alpha) * self.difference(i, j, x)
        return slope * self.c[j], slope * self.w[i], slope, slope

    def step(self, i: int, j: int, x: float) -> float:
        cost = self.cost(i, j, x)
        steps = [RATE * np.clip(g, -100, 100) for g in self.gradients(i, j, x)]
        numbers = (self.w, i), (self.c, j), (self.b, i), (self.d, j)
        squares = self.w_squares, self.c_squares, self.b_squares, self.d_squares
        for (array, at), sums, step in zip(numbers, squares, steps):
            array[at] -= step / np.sqrt(sums[at])
            sums[at] += step * step
        return cost


def rows(size: int, dim: int, seed: int = 1):
    return kernel.make_rows(size, dim, seed, dim + 1), kernel.make_rows(size, dim, seed, dim)


def train(cells, words, contexts, rate: float = RATE, kernel_function=kernel.train):
    """Trains on (row, column, X) in this order, as one piece."""
    pairs = np.array([cell[:2] for cell in cells], np.uint32)
    logs = np.log([cell[2] for cell in cells])
    targets = np.stack([logs, np.minimum(1.0, np.exp(0.75 * (logs - math.log(100.0))))], axis=1).astype(np.float32)
    starts, pieces = np.array([0, len(cells)]), np.array([0])
    return kernel_function(pairs, targets, starts, pieces, words, contexts, np.float32(rate))


def some_cells(size: int, count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return [(*rng.integers(size, size=2).tolist(), float(np.exp(rng.normal(1, 2)))) for _ in range(count)]


@pytest.mark.parametrize("dim", [1, 14, 15, 30, 100])
def test_many_steps_are_those_of_plain_numpy(dim: int):
    words, contexts = rows(7, dim)
    plain, cells = Plain(words, contexts, dim), some_cells(7, 300)
    cost, broken = train(cells, words, contexts)
    expected = sum(plain.step(*cell) for cell in cells)
    half = stride(dim + 2)
    assert broken == -1
    assert cost == pytest.approx(expected, rel=1e-3)
    for ours, theirs in (
        (words[:, :dim], plain.w),
        (contexts[:, :dim], plain.c),
        (words[:, dim], plain.b),
        (contexts[:, dim + 1], plain.d),
        (words[:, half : half + dim], plain.w_squares),
        (contexts[:, half + dim + 1], plain.d_squares),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-4)


def test_the_compiled_kernel_is_its_own_python():
    compiled, python = rows(5, 20), rows(5, 20)
    cells = some_cells(5, 40)
    fast, slow = train(cells, *compiled), train(cells, *python, kernel_function=kernel.train.py_func)
    assert fast[0] == pytest.approx(slow[0], rel=1e-4)
    for ours, theirs in zip(compiled, python):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)


def test_the_gradient_is_the_slope_of_the_cost():
    words, contexts = rows(3, 6, seed=4)
    plain = Plain(words, contexts, 6)
    cell, tiny = (0, 2, 7.0), 1e-6
    for array, at, gradient in zip((plain.w, plain.c, plain.b, plain.d), (0, 2, 0, 2), plain.gradients(*cell)):
        for d in np.ndindex(array[at].shape):
            place = (at, *d)
            before = array[place]
            array[place] = before + tiny
            above = plain.cost(*cell)
            array[place] = before - tiny
            below = plain.cost(*cell)
            array[place] = before
            assert (above - below) / (2 * tiny) == pytest.approx(np.asarray(gradient)[d], abs=1e-6)


def test_a_first_step_goes_down_the_slope_by_rate_times_gradient():
    """Squared sums start at 1, and the first step does not yet see its own square."""
    dim = 6
    words, contexts = rows(3, dim, seed=4)
    plain = Plain(words, contexts, dim)
    before, gradient = words[0, :dim].copy(), plain.gradients(0, 2, 7.0)[0]
    train([(0, 2, 7.0)], words, contexts)
    np.testing.assert_allclose((before - words[0, :dim]) / RATE, gradient, rtol=1e-3, atol=1e-7)
    half = stride(dim + 2)
    np.testing.assert_allclose(words[0, half : half + dim] - 1, (RATE * gradient) ** 2, atol=1e-6)


def test_the_ones_and_the_padding_stay_and_other_words_are_not_touched():
    dim = 10
    words, contexts = rows(4, dim)
    third = words[2].copy(), contexts[2].copy()
    train([(0, 1, 500.0), (1, 0, 0.5), (3, 3, 1e6)] * 50, words, contexts)
    half = stride(dim + 2)
    assert (words[:, dim + 1] == 1).all()
    assert (contexts[:, dim] == 1).all()
    assert not words[:, dim + 2 : half].any()
    assert not contexts[:, dim + 2 : half].any()
    np.testing.assert_array_equal(words[2], third[0])
    np.testing.assert_array_equal(contexts[2], third[1])


def test_a_gradient_is_cut_at_a_hundred():
    words, contexts = rows(2, 4)
    words[0, :4], contexts[1, :4] = 0.0, 1000.0
    contexts[1, 5] = 50.0  # the bias: a difference of about 50
    train([(0, 1, 100.0)], words, contexts)
    np.testing.assert_allclose(words[0, :4], -RATE * 100, rtol=1e-3)


def test_a_product_that_is_no_number_ends_training_and_says_where():
    words, contexts = rows(3, 4)
    words[1, 0] = np.nan
    cost, broken = train([(0, 0, 2.0), (2, 1, 2.0), (1, 2, 2.0), (0, 1, 2.0)], words, contexts)
    assert broken == 2
    assert math.isfinite(cost)


@given(st.floats(1e-20, 1e20))
@settings(max_examples=50, deadline=None)
def test_an_inverse_root_has_four_digits(number: float):
    words, contexts = rows(1, 1)
    half = stride(3)
    words[0, :half], contexts[0, :half] = [0, 0, 1, *[0] * (half - 3)], [1, 1, 0, *[0] * (half - 3)]
    words[0, half] = np.float32(number)
    train([(0, 0, 100 * math.e)], words, contexts, rate=1.0)  # the slope is -log(100 e), so the step is known
    expected = (math.log(100) + 1) / math.sqrt(np.float32(number))
    assert words[0, 0] == pytest.approx(expected, rel=1e-3)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=9), st.integers(1, 7))
@settings(deadline=None)
def test_pieces_hold_all_cells_of_their_tile_in_equal_shares(counts: list[int], size: int):
    tiles = np.array(counts)
    firsts, starts = np.empty(len(tiles) + 1, np.int64), np.full(tiles.sum() + len(tiles) + 2, -1)
    pieces = kernel.split_tiles(tiles, size, firsts, starts)
    lengths = np.diff(starts[: pieces + 1])
    for tile, count in enumerate(counts):
        inside = lengths[firsts[tile] : firsts[tile + 1]]
        assert inside.sum() == count
        assert len(inside) == (max(count // size, 1) if count else 0)
        assert not len(inside) or inside.max() - inside.min() <= 1


@given(st.integers(1, 60), st.integers(0, 2**40), st.integers(0, 9))
@settings(deadline=None)
def test_a_shuffled_order_is_a_permutation_and_depends_on_its_key_alone(count: int, seed: int, epoch: int):
    order = kernel.shuffle_order(count, seed, epoch)
    assert sorted(order.tolist()) == list(range(count))
    np.testing.assert_array_equal(order, kernel.shuffle_order(count, seed, epoch))


def test_every_order_of_three_is_drawn_about_as_often():
    orders = [tuple(kernel.shuffle_order(3, seed, 1).tolist()) for seed in range(6000)]
    counts = [orders.count(order) for order in sorted(set(orders))]
    assert len(counts) == 6
    assert min(counts) > 850
    assert max(counts) < 1150
