"""Skip-gram and CBOW against a plain reference, and their gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import random as random_kernel
from firth.kernels import word2vec as kernel
from firth.kernels.simd_float import matrix
from firth.kernels.windows import draw_windows

DIM, SIZE, WINDOW = 20, 12, 3
STATE = np.uint64(77)


def state() -> np.ndarray:
    """The state of the random numbers, which kernels change."""
    return np.array([STATE])


def network(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random inputs and outputs of a small vocabulary, and its noise."""
    rng = np.random.default_rng(seed)
    inputs, outputs = matrix(SIZE, DIM), matrix(SIZE, DIM)
    inputs[:, :DIM], outputs[:, :DIM] = rng.normal(size=(2, SIZE, DIM)) * 0.5
    return inputs, outputs, random_kernel.alias_table(np.arange(SIZE, 0, -1.0))


def text(length: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two sentences of random words with windows of random reach."""
    ids = np.random.default_rng(seed).integers(0, SIZE, length).astype(np.uint32)
    keep = np.full(SIZE, random_kernel.SURE, np.uint32)
    words, before, after = np.zeros(length, np.uint32), np.zeros(length, np.int32), np.zeros(length, np.int32)
    ends = np.array([length // 3, length])
    assert draw_windows(ids, ends, keep, WINDOW, True, STATE, words, before, after) == length
    return words, before, after


class Drawn:
    """The same negatives that the kernels draw, one set after another."""

    def __init__(self, noise: np.ndarray, negatives: int) -> None:
        self.noise, self.negatives, self.state = noise, negatives, STATE

    def next(self) -> list[int]:
        found = []
        with np.errstate(over="ignore"):
            for _ in range(self.negatives):
                self.state += random_kernel.STEP
                found.append(int(random_kernel.draw(random_kernel.mix(self.state), self.noise)))
        return found


def sigmoid(x: float) -> float:
    return 1 / (1 + np.exp(-x))


def reference(words, before, after, inputs, outputs, noise, negatives, share, rate, mode):
    """word2vec written out in float64: (loss, predictions). `mode` is "shared", "pair", "mean" or "sum"."""
    x, y = inputs.astype(np.float64), outputs.astype(np.float64)
    drawn, loss, count = Drawn(noise, negatives), 0.0, 0
    for c, center in enumerate(words.tolist()):
        if mode != "pair" and c % share == 0:
            negative = drawn.next()
        around = [words[i] for i in range(c - before[c], c + after[c] + 1) if i != c]
        groups = {"shared": [around], "pair": [[row] for row in around]}.get(mode, [around] if around else [])
        for rows in groups:
            if mode == "pair":
                negative = drawn.next()
            targets = [(center, 1)] + [(word, -1) for word in negative if word != center]
            hidden = x[rows].copy()
            if mode in ("mean", "sum"):
                hidden = hidden.sum(axis=0, keepdims=True) / (len(rows) if mode == "mean" else 1)
            step_x, step_y = np.zeros_like(hidden), np.zeros_like(y)
            for h, vector in enumerate(hidden):
                count += 1
                for target, sign in targets:
                    score = sign * vector @ y[target]
                    loss -= np.log(sigmoid(score))
                    gradient = rate * sign * sigmoid(-score)
                    step_x[h] += gradient * y[target]
                    step_y[target] += gradient * vector
            y += step_y
            if mode in ("mean", "sum"):
                for row in rows:
                    x[row] += step_x[0]
            else:
                np.add.at(x, rows, step_x)
    return loss, count, x, y


def run(mode, words, before, after, inputs, outputs, noise, negatives, share, rate, python=False):
    """Trains with a kernel: (loss, predictions)."""
    chosen = {"shared": kernel.skip_gram, "pair": kernel.skip_gram_by_pair}.get(mode, kernel.cbow)
    chosen = chosen.py_func if python else chosen
    windows, sampling = (words, before, after, WINDOW), (noise, negatives, 0 if mode == "pair" else share, state())
    mean = [] if mode in ("shared", "pair") else [mode == "mean"]
    scratch = kernel.make_scratch(WINDOW, 1 + negatives, DIM)
    return chosen(windows, *mean, inputs, outputs, sampling, None, None, (rate, rate), scratch)


def run_two_centers(words, before, after, inputs, outputs, noise, negatives, share, rate, mean):
    """Trains with CBOW in twos: (loss, predictions)."""
    windows, sampling = (words, before, after, WINDOW), (noise, negatives, share, state())
    scratch = kernel.make_scratch(WINDOW, 1 + negatives, DIM)
    return kernel.cbow_two_centers(windows, mean, inputs, outputs, sampling, None, None, (rate, rate), scratch)


@pytest.mark.parametrize("mode", ["shared", "pair", "mean", "sum"])
@pytest.mark.parametrize("negatives, share", [(5, 1), (5, 3), (2, 1)])
def test_a_kernel_does_what_the_formulas_say(mode, negatives, share):
    words, before, after = text()
    inputs, outputs, noise = network()
    start = inputs.copy()
    loss, count, x, y = reference(words, before, after, inputs, outputs, noise, negatives, share, 1e-3, mode)
    found = run(mode, words, before, after, inputs, outputs, noise, negatives, share, 1e-3)
    assert found[1] == count
    # A word that is there twice sees its own first step in the kernel: a difference of the order of rate².
    assert found[0] == pytest.approx(loss, rel=1e-4)
    assert abs(inputs - start).max() > 5e-3
    np.testing.assert_allclose(inputs, x, atol=2e-4)
    np.testing.assert_allclose(outputs, y, atol=2e-4)


@pytest.mark.parametrize("mode", ["shared", "pair", "mean", "sum"])
def test_more_negatives_than_a_group_holds_all_take_part(mode):
    words, before, after = text()
    inputs, outputs, noise = network()
    start, rate = outputs.copy(), 1e-5
    loss, _, _, y = reference(words, before, after, inputs, outputs, noise, 13, 2, rate, mode)
    found = run(mode, words, before, after, inputs, outputs, noise, 13, 2, rate)
    assert found[0] == pytest.approx(loss, rel=1e-3)
    moved = (outputs - start) / rate
    assert abs(moved).max() > 5
    np.testing.assert_allclose(moved, (y - start) / rate, atol=0.5)


@pytest.mark.parametrize("mode", ["shared", "pair", "mean"])
def test_the_python_of_a_kernel_gives_the_same_numbers(mode):
    words, before, after = text(15)
    inputs, outputs, noise = network()
    plain_inputs, plain_outputs = inputs.copy(), outputs.copy()
    found = run(mode, words, before, after, inputs, outputs, noise, 5, 2, 0.05)
    with np.errstate(over="ignore"):
        plain = run(mode, words, before, after, plain_inputs, plain_outputs, noise, 5, 2, 0.05, python=True)
    assert found[1] == plain[1]
    assert found[0] == pytest.approx(float(plain[0]), rel=1e-5)
    np.testing.assert_allclose(inputs, plain_inputs, atol=1e-5)
    np.testing.assert_allclose(outputs, plain_outputs, atol=1e-5)


def in_twos(words, before, after, inputs, outputs, noise, negatives, share, rate, mean):
    """CBOW in float64 where two centers in a row step at once, from the same numbers, against the same negatives."""
    x, y = inputs.astype(np.float64), outputs.astype(np.float64)
    drawn, loss, count = Drawn(noise, negatives), 0.0, 0
    for first in range(0, len(words), 2):
        if first // 2 % (share // 2) == 0:
            negative = drawn.next()
        step_x, step_y = np.zeros_like(x), np.zeros_like(y)
        for c in range(first, min(first + 2, len(words))):
            around = [words[i] for i in range(c - before[c], c + after[c] + 1) if i != c]
            if not around:
                continue
            count += 1
            hidden = x[around].sum(axis=0) / (len(around) if mean else 1)
            for target, sign in [(words[c], 1)] + [(word, -1) for word in negative if word != words[c]]:
                score = sign * hidden @ y[target]
                loss -= np.log(sigmoid(score))
                np.add.at(step_x, around, rate * sign * sigmoid(-score) * y[target])
                step_y[target] += rate * sign * sigmoid(-score) * hidden
        x, y = x + step_x, y + step_y
    return loss, count, x, y


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("negatives, share, length", [(5, 2, 40), (5, 4, 41), (2, 2, 40), (13, 2, 15)])
def test_two_centers_step_at_once(mean, negatives, share, length):
    words, before, after = text(length)
    before[20:22] = after[20:22] = 0  # two centers with nothing around them, in different twos
    inputs, outputs, noise = network()
    start, rate = inputs.copy(), 1e-4
    loss, count, x, y = in_twos(words, before, after, inputs, outputs, noise, negatives, share, rate, mean)
    found = run_two_centers(words, before, after, inputs, outputs, noise, negatives, share, rate, mean)
    assert found[1] == count
    assert found[0] == pytest.approx(loss, rel=5e-4)  # groups of six take their step one after the other
    assert abs(inputs - start).max() > 3e-4
    np.testing.assert_allclose(inputs, x, atol=1e-5)
    np.testing.assert_allclose(outputs, y, atol=1e-5)


def test_a_lone_center_steps_in_twos_as_it_steps_alone():
    words, before, after = np.array([4, 7, 2], np.uint32), np.array([0, 0, 2], np.int32), np.zeros(3, np.int32)
    alone, twos = network(), network()
    one = run("mean", words, before, after, *alone, 5, 4, 0.1)
    two = run_two_centers(words, before, after, *twos, 5, 4, 0.1, True)
    assert one[1] == two[1] == 1
    assert one[0] == pytest.approx(two[0], rel=1e-6)
    np.testing.assert_allclose(alone[0], twos[0], atol=1e-7)
    np.testing.assert_allclose(alone[1], twos[1], atol=1e-7)


def exact_loss(x, y, rows, targets, signs, mean):
    """The loss of one step, in float64."""
    hidden = x[rows].mean(axis=0, keepdims=True) if mean else x[rows]
    return -np.log(sigmoid((hidden @ y[targets].T) * signs)).sum()


@pytest.mark.parametrize("mode", ["shared", "mean"])
def test_a_step_follows_the_gradient(mode):
    """A step of rate r moves each number by -r · dloss/dnumber; after a mean, inputs get it times their count."""
    inputs, outputs, noise = network(3)
    words, before, after = np.array([4, 7, 2], np.uint32), np.array([0, 1, 0], np.int32), np.array([0, 1, 0], np.int32)
    negative, rate, small = Drawn(noise, 5).next(), 1e-3, 1e-5
    assert 7 not in negative
    x, y = inputs.astype(np.float64), outputs.astype(np.float64)
    targets, signs = np.array([7, *negative]), np.array([1, -1, -1, -1, -1, -1])
    run(mode, words, before, after, inputs, outputs, noise, 5, 3, rate)
    times = 2 if mode == "mean" else 1
    for table, moved, row, scale in ((x, inputs, 4, times), (x, inputs, 2, times), (y, outputs, 7, 1)):
        for d in range(DIM):
            sides = []
            for sign in (1, -1):
                table[row, d] += sign * small
                sides.append(exact_loss(x, y, [4, 2], targets, signs, mode == "mean"))
                table[row, d] -= sign * small
            slope = (sides[0] - sides[1]) / (2 * small)
            assert moved[row, d] - table[row, d] == pytest.approx(-rate * slope * scale, abs=2e-6)
