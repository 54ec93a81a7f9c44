"""The full softmax against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import full_softmax as kernel
from firth.kernels.simd_float import matrix

DIM, SIZE = 10, 7


def make_layers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    inputs, outputs = matrix(SIZE, DIM), matrix(SIZE, DIM)
    inputs[:, :DIM], outputs[:, :DIM] = rng.normal(size=(2, SIZE, DIM)) * 0.5
    return inputs, outputs


def test_probabilities_add_up_to_one_and_the_normalizer_comes_back():
    inputs, outputs = make_layers()
    probabilities = np.zeros(SIZE, np.float32)
    normalizer = kernel.softmax(inputs, 3, outputs, probabilities)
    scores = outputs @ inputs[3]
    assert probabilities.sum() == pytest.approx(1)
    assert normalizer == pytest.approx(np.log(np.exp(scores).sum()))
    np.testing.assert_allclose(probabilities, np.exp(scores) / np.exp(scores).sum(), rtol=1e-5)


def test_a_step_is_that_of_the_formulas():
    inputs, outputs = make_layers()
    errors, probabilities = matrix(1, DIM), np.zeros(SIZE, np.float32)
    before, scores = outputs.copy(), outputs @ inputs[3]
    expected = np.exp(scores) / np.exp(scores).sum()
    loss = kernel.step(inputs, 3, outputs, 5, np.float32(0.1), probabilities, errors)
    gradients = 0.1 * ((np.arange(SIZE) == 5) - expected)
    assert loss == pytest.approx(-np.log(expected[5]), rel=1e-5)
    np.testing.assert_allclose(outputs - before, gradients[:, None] * inputs[3], atol=1e-6)
    np.testing.assert_allclose(errors[0], gradients @ before, atol=1e-6)
