"""The logistic step in its three forms: many rows, one row, two rows with different first targets."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import logistic as kernel
from firth.kernels.simd_float import matrix

DIM = 20
TARGETS, SIGNS, RATE = np.array([3, 1, 4, 7, 5, 9], np.uint32), np.array([1, -1, -1, -1, -1, 0.0]), np.float32(0.25)


def make_layers() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, outputs and the lanes of SIGNS."""
    rng = np.random.default_rng(4)
    inputs, outputs, lanes = matrix(10, DIM), matrix(10, DIM), matrix(2, 16)
    inputs[:, :DIM], outputs[:, :DIM] = rng.normal(size=(2, 10, DIM)) * 0.5
    lanes[0, :6] = lanes[0, 8:14] = lanes[1, :6] = SIGNS
    return inputs, outputs, lanes


def differentiate(rows: np.ndarray, outputs: np.ndarray, targets: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss of some rows and RATE · its negative gradient by each score."""
    scores = rows.astype(np.float64) @ outputs[targets].T.astype(np.float64)
    loss = (abs(SIGNS) * np.log1p(np.exp(-SIGNS * scores))).sum()
    return float(loss), 0.25 * SIGNS / (1 + np.exp(SIGNS * scores))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_step_of_many_rows(count):
    inputs, outputs, lanes = make_layers()
    rows, start, other = np.array([2, 0, 6, 8, 3], np.uint32)[:count], inputs.copy(), outputs.copy()
    loss, gradients = differentiate(inputs[rows], outputs, TARGETS)
    scratch = np.zeros((count + 1, 8), np.float32)
    found = kernel.step_rows(inputs, rows, count, outputs, TARGETS, lanes, 0, RATE, scratch, None)
    assert found == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(inputs[rows] - start[rows], gradients @ other[TARGETS], atol=1e-6)
    np.testing.assert_allclose(outputs[TARGETS] - other[TARGETS], gradients.T @ start[rows], atol=1e-6)


def test_a_step_of_one_row_leaves_the_row_and_returns_its_error():
    inputs, outputs, lanes = make_layers()
    start, other, errors = inputs.copy(), outputs.copy(), matrix(1, DIM)
    loss, gradients = differentiate(inputs[[2]], outputs, TARGETS)
    scratch = np.zeros((2, 8), np.float32)
    found = kernel.step_one(inputs, 2, outputs, TARGETS, lanes, 0, RATE, scratch, errors, 0)
    assert found == pytest.approx(loss, rel=1e-5)
    np.testing.assert_array_equal(inputs, start)
    np.testing.assert_allclose(errors, gradients @ other[TARGETS], atol=1e-6)
    np.testing.assert_allclose(outputs[TARGETS] - other[TARGETS], gradients.T @ start[[2]], atol=1e-6)


def test_a_step_of_two_rows_has_two_first_targets():
    inputs, outputs, lanes = make_layers()
    hidden, other, changed = matrix(4, DIM), outputs.copy(), np.array([8, 1, 4, 7, 5, 9])
    hidden[:2] = inputs[:2]
    first, second = differentiate(inputs[[0]], outputs, TARGETS), differentiate(inputs[[1]], outputs, changed)
    found = kernel.step_two(hidden, outputs, TARGETS, 8, lanes, 0, RATE, np.zeros((2, 8), np.float32))
    assert found == pytest.approx(first[0] + second[0], rel=1e-5)
    np.testing.assert_allclose(hidden[2:3], first[1] @ other[TARGETS], atol=1e-6)
    np.testing.assert_allclose(hidden[3:4], second[1] @ other[changed], atol=1e-6)
    np.testing.assert_allclose(outputs[8] - other[8], second[1][0, 0] * inputs[1], atol=1e-6)
