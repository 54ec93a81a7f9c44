"""Paragraph vectors: the loops that `kernels/word2vec.py` does not have.

In PV-DM with a mean or a sum, and in PV-DBOW, the tags of a document are further rows of each context, so that they are
trained by CBOW and skip-gram. Here are PV-DM with concatenation, where each place of the context has its own part of
the output rows, and inference: the same steps, but only the row of one document changes. Arguments are those of
`kernels/word2vec.py`.
"""

from __future__ import annotations

import numpy as np

from firth.kernels import full_softmax
from firth.kernels.logistic import differentiate_one, six, step_one
from firth.kernels.simd_float import LANES, inlined, load, loop, store
from firth.kernels.windows import clear, open_window, rate_at, sum_rows
from firth.kernels.word2vec import add_tags, set_targets


@inlined
def fill_places(words, before, after, window, center, padding, rows, size):
    """Adds the `window` words on each side of a center to `rows`; a place outside its document is `padding`."""
    for offset in range(-window, window + 1):
        if offset != 0:
            is_inside = -before[center] <= offset <= after[center]
            rows[size] = words[center + offset] if is_inside else padding
            size += 1
    return size


@inlined
def concatenate(inputs, rows, first, count, hidden):
    """hidden[0] = … inputs[rows[first]], inputs[rows[first + 1]], …: the places from `first` on."""
    width = inputs.shape[1]
    for i in range(first, count):
        for d in range(0, width, LANES):
            store(hidden, 0, i * width + d, load(inputs, rows[i], d))


@inlined
def add_parts(inputs, rows, count, errors):
    """Adds each part of errors[0] to the row of its place."""
    width = inputs.shape[1]
    for i in range(count):
        for d in range(0, width, LANES):
            store(inputs, rows[i], d, load(inputs, rows[i], d) + load(errors, 0, i * width + d))


@loop
def concatenation(windows, padding, inputs, outputs, sampling, tree, probabilities, rates, scratch, tags):
    """PV-DM: trains each center against the concatenation of its tags and its context, which has a fixed length.

    hidden = [tag …, word c - window, …, word c - 1, word c + 1, …, word c + window]; s = hidden · output.
    """
    words, before, after, window = windows
    rows, targets, _, _, signs, _, gradients, hidden = scratch
    errors = hidden[1:]
    loss = 0.0
    for c in range(len(words)):
        rate = rate_at(c, len(words), rates)
        size = fill_places(words, before, after, window, c, padding, rows, add_tags(tags, c, rows, 0))
        groups = set_targets(words, c, c, outputs, sampling, tree, scratch)
        concatenate(inputs, rows, 0, size, hidden)
        clear(errors)
        if probabilities is not None:
            loss += full_softmax.step(hidden, 0, outputs, words[c], rate, probabilities, errors)
        for group in range(groups):
            loss += step_one(hidden, 0, outputs, targets, signs, group, rate, gradients, errors, 0)
        add_parts(inputs, rows, size, errors)
    return loss, len(words)


@inlined
def pull(hidden, outputs, targets, signs, group, rate, gradients, errors):
    """As `step_one`, but the output rows stay: errors[0] grows by Σ g·y. Returns the loss."""
    (g0, g1, g2, g3, g4, g5), loss = differentiate_one(hidden, 0, outputs, targets, signs, group, rate, gradients)
    t0, t1, t2, t3, t4, t5 = six(targets, group)
    for d in range(0, outputs.shape[1], LANES):
        left = g0 * load(outputs, t0, d) + g1 * load(outputs, t1, d) + g2 * load(outputs, t2, d)
        right = g3 * load(outputs, t3, d) + g4 * load(outputs, t4, d) + g5 * load(outputs, t5, d)
        store(errors, 0, d, load(errors, 0, d) + left + right)
    return loss


@inlined
def predict(words, center, outputs, sampling, tree, probabilities, rate, scratch):
    """hidden[1] = the error of hidden[0], which predicts a center; returns the loss. No row changes."""
    _, targets, _, _, signs, _, gradients, hidden = scratch
    groups = set_targets(words, center, center, outputs, sampling, tree, scratch)
    errors = hidden[1:]
    clear(errors)
    loss = 0.0
    if probabilities is not None:
        loss += full_softmax.pull(hidden, 0, outputs, words[center], rate, probabilities, errors)
    for group in range(groups):
        loss += pull(hidden, outputs, targets, signs, group, rate, gradients, errors)
    return loss


@loop
def infer(windows, mean, document, inputs, outputs, sampling, tree, probabilities, rates, scratch):
    """Trains document[0] alone, as the only tag of PV-DM with a mean or a sum; without context words it is PV-DBOW."""
    words, before, after, window = windows
    rows, hidden = scratch[0], scratch[7]
    loss = 0.0
    for c in range(len(words)):
        size, rate = open_window(words, before, after, window, c, inputs, rates, rows)
        scale = np.float32(1.0 / (size + 1) if mean else 1.0)
        sum_rows(inputs, rows, size, scale, hidden)
        for d in range(0, document.shape[1], LANES):
            store(hidden, 0, d, load(hidden, 0, d) + scale * load(document, 0, d))
        loss += predict(words, c, outputs, sampling, tree, probabilities, rate, scratch)
        for d in range(0, document.shape[1], LANES):
            store(document, 0, d, load(document, 0, d) + load(hidden, 1, d))
    return loss, len(words)


@loop
def infer_concatenation(windows, padding, document, inputs, outputs, sampling, tree, probabilities, rates, scratch):
    """Trains document[0] alone, in the place of every tag of `concatenation`."""
    words, before, after, window = windows
    rows, hidden = scratch[0], scratch[7]
    width = document.shape[1]
    tags = outputs.shape[1] // width - 2 * window
    loss = 0.0
    for c in range(len(words)):
        size = fill_places(words, before, after, window, c, padding, rows, tags)
        concatenate(inputs, rows, tags, size, hidden)
        for i in range(tags):
            for d in range(0, width, LANES):
                store(hidden, 0, i * width + d, load(document, 0, d))
        rate = rate_at(c, len(words), rates)
        loss += predict(words, c, outputs, sampling, tree, probabilities, rate, scratch)
        for i in range(tags):
            for d in range(0, width, LANES):
                store(document, 0, d, load(document, 0, d) + load(hidden, 1, i * width + d))
    return loss, len(words)
