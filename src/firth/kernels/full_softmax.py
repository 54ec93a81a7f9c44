"""The full softmax: W has a row for each input word, W' one for each output word, and p = softmax(W'·h).

With h = W[word] (or the mean of the context's rows) the loss is -log p[target]. A step adds rate·(1 - p[target])·h to
the target's row, subtracts rate·p[j]·h from every other row j, and gives the input rows the error
rate·(W'[target] - Σ p[j]·W'[j]). Each prediction touches all of W', so this is for small vocabularies.
"""

from __future__ import annotations

import math

import numpy as np

from firth.kernels.simd_float import LANES, inlined, load, splat, store, total


@inlined
def score(hidden, row, outputs, target):
    """hidden[row] · outputs[target]."""
    products = splat(0.0)
    for d in range(0, outputs.shape[1], LANES):
        products = products + load(hidden, row, d) * load(outputs, target, d)
    return total(products)


@inlined
def update(hidden, row, outputs, target, gradient, errors):
    """Adds g·y to errors[0], and then g·h to y, with h = hidden[row] and y = outputs[target]."""
    for d in range(0, outputs.shape[1], LANES):
        y = load(outputs, target, d)
        store(errors, 0, d, load(errors, 0, d) + gradient * y)
        store(outputs, target, d, y + gradient * load(hidden, row, d))


@inlined
def softmax(hidden, row, outputs, probabilities):
    """probabilities[j] = p(j | hidden[row]); returns the logarithm of the normalizer Σ exp(score)."""
    highest = np.float32(-np.inf)
    for j in range(outputs.shape[0]):
        probabilities[j] = score(hidden, row, outputs, j)
        highest = max(highest, probabilities[j])
    normalizer = 0.0
    for j in range(len(probabilities)):
        probabilities[j] = math.exp(probabilities[j] - highest)
        normalizer += probabilities[j]
    for j in range(len(probabilities)):
        probabilities[j] = np.float32(probabilities[j] / normalizer)
    return np.float64(highest) + math.log(normalizer)


@inlined
def step(hidden, row, outputs, target, rate, probabilities, errors):
    """One gradient step towards a target; returns the loss before it. errors[0] grows by the error of the input."""
    target_score = score(hidden, row, outputs, target)
    loss = softmax(hidden, row, outputs, probabilities) - np.float64(target_score)
    for j in range(outputs.shape[0]):
        expected = np.float32(1.0 if j == target else 0.0)
        update(hidden, row, outputs, j, rate * (expected - probabilities[j]), errors)
    return loss


@inlined
def pull(hidden, row, outputs, target, rate, probabilities, errors):
    """As `step`, but the output rows stay."""
    target_score = score(hidden, row, outputs, target)
    loss = softmax(hidden, row, outputs, probabilities) - np.float64(target_score)
    for j in range(outputs.shape[0]):
        gradient = rate * (np.float32(1.0 if j == target else 0.0) - probabilities[j])
        for d in range(0, outputs.shape[1], LANES):
            store(errors, 0, d, load(errors, 0, d) + gradient * load(outputs, j, d))
    return loss
