"""The LSTM's steps against the formula in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from firth.kernels import lstm as kernel
from firth.kernels.matmul import BLOCK, allocate_rows, pack
from firth.kernels.simd_float import LANES, load, matrix, splat, store, stride


class Plain:
    """One direction of one layer in double precision, one row at a time."""

    def __init__(self, cell, dim, known, *, seed=1, scale=1.0, projected=True):
        rng = np.random.default_rng(seed)
        self.table = rng.standard_normal((known, 4 * cell)).astype(np.float32)
        self.recurrent = (scale * rng.standard_normal((4 * cell, dim)) * dim**-0.5).astype(np.float32)
        self.projection = (2 * rng.standard_normal((dim, cell)) * cell**-0.5).astype(np.float32) if projected else None

    def read(self, words, cell_clip, said_clip):
        """What is said to a sentence of words, (words, dim)."""
        c, h, said = np.zeros(self.recurrent.shape[0] // 4), np.zeros(self.recurrent.shape[1]), []
        for word in words:
            i, f, g, o = np.split(self.table[word].astype(np.float64) + self.recurrent.astype(np.float64) @ h, 4)
            c = np.clip(sigmoid(f) * c + sigmoid(i) * np.tanh(g), -cell_clip, cell_clip)
            h = sigmoid(o) * np.tanh(c)
            if self.projection is not None:
                h = np.clip(self.projection.astype(np.float64) @ h, -said_clip, said_clip)
            said.append(h)
        return np.array(said)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run(plain, sentences, precision="float32", clips=(3.0, 3.0), read=kernel.run):
    """What the kernel says to sentences, sorted by length, each as rows of (words, dim)."""
    cell, dim = plain.recurrent.shape[0] // 4, plain.recurrent.shape[1]
    recurrent = pack(kernel.interleave(plain.recurrent), precision)
    projection = np.zeros((0, cell), np.float32) if plain.projection is None else plain.projection
    projection = pack(projection, precision)
    blocks = len(recurrent[0])
    columns = kernel.interleave(np.ascontiguousarray(plain.table.T)).reshape(blocks, BLOCK, -1)
    table = np.ascontiguousarray(columns.transpose(0, 2, 1)).reshape(-1, BLOCK)
    rows = len(sentences)
    sizes = np.array([sum(len(words) > t for words in sentences) for t in range(len(sentences[0]))])
    words = np.array([sentences[row][t] for t, size in enumerate(sizes) for row in range(size)])
    memory = [matrix(rows, width) for width in (cell, cell, len(projection[0]) * BLOCK or stride(cell))]
    outputs = np.empty((len(words), dim), np.float32)
    rooms = allocate_rows(rows, recurrent[0]), allocate_rows(rows, projection[0])
    limits = tuple(map(np.float32, clips))
    read(sizes, words, table, recurrent, rooms[0], projection, rooms[1], limits, *memory, outputs)
    starts = np.cumsum(sizes) - sizes
    return [np.array([outputs[starts[t] + row] for t in range(len(words))]) for row, words in enumerate(sentences)]


SENTENCES = [[3, 1, 4, 1, 5, 9], [2, 6, 5], [3, 5, 8], [9, 7], [9], [3], [2]]


def test_sixteen_cells_of_each_gate_lie_in_turn():
    gates = np.arange(1, 4 * 17 + 1, dtype=np.float32)  # 17 cells: i is 1 … 17, f is 18 … 34, and so on
    mixed = kernel.interleave(gates)
    assert mixed[:LANES].tolist() == list(range(1, 17))
    assert mixed[LANES : 2 * LANES].tolist() == list(range(18, 34))
    assert mixed[BLOCK::LANES].tolist() == [17, 34, 51, 68]
    assert np.count_nonzero(mixed) == 4 * 17


@pytest.mark.parametrize("cell, dim", [(32, 16), (21, 13), (40, 70)])
def test_what_is_said_follows_the_formula(cell, dim):
    plain = Plain(cell, dim, 10)
    for words, said in zip(SENTENCES, run(plain, SENTENCES)):
        assert np.abs(said - plain.read(words, 3.0, 3.0)).max() < 1e-6


def test_clips_hold_what_is_remembered_and_what_is_said():
    plain = Plain(20, 12, 10, scale=4)
    found = run(plain, SENTENCES, clips=(0.5, 0.25))
    for words, said in zip(SENTENCES, found):
        assert np.abs(said - plain.read(words, 0.5, 0.25)).max() < 1e-6
    assert max(np.abs(said).max() for said in found) == 0.25


def test_without_a_projection_what_the_cells_let_out_is_said_and_no_clip_is_infinity():
    plain = Plain(18, 18, 10, projected=False)
    for words, said in zip(SENTENCES, run(plain, SENTENCES, clips=(np.inf, np.inf))):
        assert np.abs(said - plain.read(words, np.inf, np.inf)).max() < 1e-6


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_lower_precisions_say_nearly_the_same(precision):
    plain = Plain(64, 32, 10)
    for words, said in zip(SENTENCES, run(plain, SENTENCES, precision)):
        expected = plain.read(words, 3.0, 3.0)
        assert 1e-4 < np.abs(said - expected).max() < 0.1
        assert (said * expected).sum() > 0.999 * np.linalg.norm(said) * np.linalg.norm(expected)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_a_sentence_has_the_same_bits_alone_and_among_others(precision):
    plain = Plain(32, 16, 10)
    for words, said in zip(SENTENCES, run(plain, SENTENCES, precision)):
        assert np.array_equal(said, run(plain, [words], precision)[0])


def test_the_compiled_steps_are_those_of_the_readable_ones(monkeypatch):
    plain = Plain(18, 10, 10)
    compiled = run(plain, SENTENCES[:4])
    for name in ("step", "multiply", "convert_rows"):
        monkeypatch.setattr(kernel, name, getattr(kernel, name).py_func)
    readable = run(plain, SENTENCES[:4], read=kernel.run.py_func)
    assert all(np.allclose(one, other, atol=1e-6) for one, other in zip(compiled, readable))


@njit
def each(numbers, most, out):
    for column in range(0, numbers.shape[1], LANES):
        x = load(numbers, 0, column)
        store(out, 0, column, kernel.sigmoid(x))
        store(out, 1, column, kernel.tanh(x))
        store(out, 2, column, kernel.clip(x, splat(most)))


def test_sigmoid_tanh_and_clip_are_those_of_numpy_over_the_whole_line():
    numbers = np.concatenate([np.linspace(-20, 20, 158), [-1e30, 1e30]]).astype(np.float32)[None]
    out = np.empty((3, numbers.shape[1]), np.float32)
    each(numbers, np.float32(3), out)
    exact = np.clip(numbers[0].astype(np.float64), -500, 500)
    assert np.abs(out[0] - sigmoid(exact)).max() < 2e-7
    assert np.abs(out[1] - np.tanh(exact)).max() < 2e-7
    assert np.array_equal(out[2], np.clip(numbers[0], -3, 3))


def test_what_is_not_a_number_stays_so():
    out = np.empty((3, LANES), np.float32)
    each(np.full((1, LANES), np.nan, np.float32), np.float32(3), out)
    assert np.isnan(out).all()
