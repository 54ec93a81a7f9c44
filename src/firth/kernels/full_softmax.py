"""The textbook network: W has a row for each input word, W' one for each output word, and softmax lies between.

h = W[word] (or the mean of the context's rows), p = softmax(W'·h), loss -log p[target]. A step adds
rate·(1 - p[target])·h to the target's row, subtracts rate·p[j]·h from every other row j, and gives the input rows the
error rate·(W'[target] - Σ p[j]·W'[j]). Each prediction touches all of W', so this is for small vocabularies.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from firth.kernels.simd_float import LANES, inlined, load, splat, store, total
from firth.kernels.word2vec import add_to_rows, clear, gather, sum_rows


@inlined
def softmax(hidden, row, outputs, chances):
    """chances[j] = p(j | hidden[row]); returns the logarithm of what the scores were divided by."""
    most = np.float32(-np.inf)
    for j in range(outputs.shape[0]):
        score = splat(0.0)
        for d in range(0, outputs.shape[1], LANES):
            score = score + load(hidden, row, d) * load(outputs, j, d)
        chances[j] = total(score)
        most = max(most, chances[j])
    whole = 0.0
    for j in range(len(chances)):
        chances[j] = math.exp(chances[j] - most)
        whole += chances[j]
    for j in range(len(chances)):
        chances[j] = np.float32(chances[j] / whole)
    return np.float64(most) + math.log(whole)


@inlined
def step(hidden, row, outputs, target, rate, chances, errors):
    """One gradient step of a prediction; returns its loss before it. errors[0] grows by the input's step."""
    score = splat(0.0)
    for d in range(0, outputs.shape[1], LANES):
        score = score + load(hidden, row, d) * load(outputs, target, d)
    loss = softmax(hidden, row, outputs, chances) - np.float64(total(score))
    for j in range(outputs.shape[0]):
        there = np.float32(1.0 if j == target else 0.0)
        gradient = rate * (there - chances[j])
        for d in range(0, outputs.shape[1], LANES):
            y = load(outputs, j, d)
            store(errors, 0, d, load(errors, 0, d) + gradient * y)
            store(outputs, j, d, y + gradient * load(hidden, row, d))
    return loss


@njit(cache=True, nogil=True)
def skip_gram(words, before, after, inputs, outputs, rate, last_rate, desk, chances):
    """Predicts the center of each window from every word around it. Returns (loss, pairs)."""
    rows, _, _, _, _, hidden = desk
    errors = hidden[1:]
    loss, pairs = 0.0, 0
    for c in range(len(words)):
        around = gather(words, c, before[c], after[c], rows)
        now = np.float32(rate + (last_rate - rate) * c / len(words))
        for i in range(around):
            pairs += 1
            clear(errors)
            loss += step(inputs, rows[i], outputs, words[c], now, chances, errors)
            add_to_rows(inputs, rows[i : i + 1], 1, errors)
    return loss, pairs


@njit(cache=True, nogil=True)
def cbow(words, before, after, mean, inputs, outputs, rate, last_rate, desk, chances):
    """Predicts the center of each window from the mean (or sum) of the words around it. Returns (loss, centers)."""
    rows, _, _, _, _, hidden = desk
    errors = hidden[1:]
    loss, centers = 0.0, 0
    for c in range(len(words)):
        around = gather(words, c, before[c], after[c], rows)
        if around == 0:
            continue
        centers += 1
        sum_rows(inputs, rows, around, np.float32(1.0 / around if mean else 1.0), hidden)
        clear(errors)
        now = np.float32(rate + (last_rate - rate) * c / len(words))
        loss += step(hidden, 0, outputs, words[c], now, chances, errors)
        add_to_rows(inputs, rows, around, errors)
    return loss, centers
