"""fastText's networks: the vector of a word is the mean of several rows, its own and those of its character n-grams.

Skip-gram predicts each context word from the mean of the center's rows, CBOW the center from the mean of all rows of
its context. Each of these rows takes the whole error, as in fastText, so after a step with the error e the mean itself
has moved by e. Thus sums need not be computed again:

* skip-gram sums the rows of a center once, moves the mean with every context word, and adds the sum of all errors to
  the rows at the end;
* CBOW keeps the sums of the words in the window, moves them with every center, and adds the errors to a word's rows
  when it leaves the window. A row that two of these words share takes the other's errors only then.

The loops take the arguments of those in `kernels/word2vec.py`, and `subwords` = (rows, pointers): the rows of word w
are rows[pointers[w] : pointers[w + 1]].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.kernels import full_softmax
from firth.kernels.hierarchical_softmax import set_path
from firth.kernels.logistic import GROUP, HALF, add_targets, differentiate_one, six
from firth.kernels.negative_sampling import (
    draw_for_center,
    draw_negatives,
    make_target_scratch,
    prefetch_target,
    set_negatives,
)
from firth.kernels.simd_float import LANES, inlined, load, loop, matrix, prefetch, splat, store
from firth.kernels.windows import add_to_rows, clear, rate_at, sum_rows

HIDDEN, ERROR, STEP_ERROR = 0, 1, 2  # the rows of `hidden`


@inlined
def step(hidden, outputs, targets, signs, group, rate, gradients):
    """One gradient step between hidden[0] and six targets; returns the loss before it.

    A target y becomes y + g·hidden; hidden[0] moves by Σ g·y, and hidden[ERROR] grows by as much.
    """
    six_gradients, loss = differentiate_one(hidden, HIDDEN, outputs, targets, signs, group, rate, gradients)
    six_targets = six(targets, group)
    for d in range(0, outputs.shape[1], LANES):
        x = load(hidden, HIDDEN, d)
        error = add_targets(outputs, six_targets, d, six_gradients, x, splat(0.0))
        store(hidden, HIDDEN, d, x + error)
        store(hidden, ERROR, d, load(hidden, ERROR, d) + error)
    return loss


@inlined
def move(hidden):
    """hidden[0] and hidden[ERROR] grow by the error of a step, hidden[STEP_ERROR], which becomes 0."""
    for d in range(0, hidden.shape[1], LANES):
        error = load(hidden, STEP_ERROR, d)
        store(hidden, HIDDEN, d, load(hidden, HIDDEN, d) + error)
        store(hidden, ERROR, d, load(hidden, ERROR, d) + error)
        store(hidden, STEP_ERROR, d, splat(0.0))


@inlined
def predict(word, turn, first, outputs, sampling, tree, probabilities, rate, loss, scratch):
    """Steps of hidden[0] towards a word; returns the given loss and theirs. Its negatives are drawn[turn, first …]."""
    targets, drawn, _, signs, masked, gradients, hidden, _, _ = scratch
    if probabilities is not None:
        loss += full_softmax.step(hidden, HIDDEN, outputs, word, rate, probabilities, hidden[STEP_ERROR:])
        move(hidden)
    if tree is not None:
        for group in range(set_path(tree, word, targets, signs)):
            loss += step(hidden, outputs, targets, signs, group, rate, gradients)
    if sampling is not None:
        set_negatives((word, word), (True, True), sampling[1], drawn, turn, first, targets, signs, masked)
        own_loss = 0.0
        for group in range(len(targets) // GROUP):
            own_loss += step(hidden, outputs, targets, signs, group, rate, gradients)
        loss += own_loss
    return loss


@inlined
def draw_pool(windows, center, outputs, sampling, drawn):
    """The row of `drawn` with the negatives of a center, their number, and how many a pair takes; 0 without sampling.

    A part of the next ones is drawn.
    """
    turn = pool = taken = 0
    if sampling is not None:
        words, before, after, window = windows
        noise, negatives, share, states = sampling
        taken = negatives
        prefetch_target(words, center + 1 + window, outputs)
        if share == 0:  # each pair has its own
            turn, pool = center % 2, drawn.shape[1]
            if center == 0:
                draw_negatives(noise, states, outputs, drawn, 0, 0, negatives * (before[0] + after[0]))
            if center + 1 < len(words):
                needed = negatives * (before[center + 1] + after[center + 1])
                draw_negatives(noise, states, outputs, drawn, 1 - turn, 0, needed)
        else:
            turn, pool = center // share % 2, window * negatives  # the pool is what a center needs on average
            if center == 0:
                draw_negatives(noise, states, outputs, drawn, 0, 0, pool)
            part = center % share
            begin, end = part * pool // share, (part + 1) * pool // share
            draw_negatives(noise, states, outputs, drawn, 1 - turn, begin, end)
    return turn, pool, taken


@inlined
def prefetch_word(words, at, rows, pointers, inputs):
    """Prefetches the rows of words[at], if there is such a word."""
    if at < len(words):
        for k in range(pointers[words[at]], pointers[words[at] + 1]):
            prefetch(inputs, rows[k])


@loop
def skip_gram(windows, subwords, inputs, outputs, sampling, tree, probabilities, rates, scratch):
    """Predicts all context words of each center.

    With negative sampling, `share` centers in a row take their negatives from one pool. The context words of one center
    still have different negatives, unless there are more of them than usual. Share 0 draws anew for each pair, as
    fastText does: slower, since more rows are touched.
    """
    words, before, after, _ = windows
    rows, pointers = subwords
    drawn, hidden = scratch[1], scratch[6]
    loss, pairs, count = 0.0, 0, len(words)
    for c in range(count):
        prefetch_word(words, c + 1, rows, pointers, inputs)
        turn, pool, negatives = draw_pool(windows, c, outputs, sampling, drawn)
        rate, own = rate_at(c, count, rates), rows[pointers[words[c]] : pointers[words[c] + 1]]
        sum_rows(inputs, own, len(own), np.float32(1.0 / len(own)), hidden)
        clear(hidden[ERROR:])
        first, center_loss = 0, loss if sampling is None else 0.0  # rounding depends on the order of a sum
        for i in range(c - before[c], c + after[c] + 1):
            if i != c:
                center_loss = predict(
                    words[i], turn, first, outputs, sampling, tree, probabilities, rate, center_loss, scratch
                )
                first += negatives
                if first == pool:
                    first = 0
        loss = center_loss if sampling is None else loss + center_loss
        add_to_rows(inputs, own, len(own), hidden[ERROR:])
        pairs += before[c] + after[c]
    return loss, pairs


@inlined
def enter(words, at, rows, pointers, inputs, sums, waiting):
    """A word enters the window: its rows are summed, and no errors wait for them."""
    if 0 <= at < len(words):
        slot, own = at % len(sums), rows[pointers[words[at]] : pointers[words[at] + 1]]
        sum_rows(inputs, own, len(own), np.float32(1.0), sums[slot:])
        clear(waiting[slot:])


@inlined
def leave(words, at, rows, pointers, inputs, waiting):
    """A word leaves the window: the errors that wait for its rows are added to them."""
    if 0 <= at < len(words):
        own = rows[pointers[words[at]] : pointers[words[at] + 1]]
        add_to_rows(inputs, own, len(own), waiting[at % len(waiting) :])


@inlined
def average_context(words, center, before, after, pointers, sums, hidden):
    """hidden = the mean of all rows of the context."""
    size = 0
    for i in range(center - before, center + after + 1):
        if i != center:
            size += pointers[words[i] + 1] - pointers[words[i]]
    scale = np.float32(1.0 / size)
    for d in range(0, hidden.shape[1], LANES):
        x = splat(0.0)
        for i in range(center - before, center + after + 1):
            if i != center:
                x = x + load(sums, i % len(sums), d)
        store(hidden, HIDDEN, d, x * scale)
        store(hidden, ERROR, d, splat(0.0))


@inlined
def spread(words, center, before, after, pointers, sums, waiting, errors):
    """Adds errors[0] to what waits for each context word, and to its sum once for each of its rows."""
    for i in range(center - before, center + after + 1):
        if i == center:
            continue
        slot = i % len(sums)
        size = np.float32(pointers[words[i] + 1] - pointers[words[i]])
        for d in range(0, sums.shape[1], LANES):
            error = load(errors, 0, d)
            store(sums, slot, d, load(sums, slot, d) + size * error)
            store(waiting, slot, d, load(waiting, slot, d) + error)


@loop
def cbow(windows, subwords, inputs, outputs, sampling, tree, probabilities, rates, scratch):
    """Predicts each center from its context; with negative sampling, `share` centers in a row share their negatives."""
    words, before, after, window = windows
    rows, pointers = subwords
    _, drawn, cursor, _, _, _, hidden, sums, waiting = scratch
    loss, centers, count = 0.0, 0, len(words)
    for at in range(window):
        enter(words, at, rows, pointers, inputs, sums, waiting)
    for c in range(count + window):
        prefetch_word(words, c + window + 1, rows, pointers, inputs)
        enter(words, c + window, rows, pointers, inputs, sums, waiting)
        turn = 0
        if c < count:
            turn = draw_for_center(words, c, c, outputs, sampling, drawn, cursor)
        if c < count and before[c] + after[c] > 0:
            centers += 1
            rate = rate_at(c, count, rates)
            average_context(words, c, before[c], after[c], pointers, sums, hidden)
            loss = predict(words[c], turn, 0, outputs, sampling, tree, probabilities, rate, loss, scratch)
            spread(words, c, before[c], after[c], pointers, sums, waiting, hidden[ERROR:])
        leave(words, c - window, rows, pointers, inputs, waiting)
    return loss, centers


def make_scratch(window: int, negatives: int, targets: int, dim: int) -> tuple[NDArray[Any], ...]:
    """The scratch arrays of one thread, for predictions of at most this many targets.

    Those of `make_target_scratch`; gradients; hidden with its errors; and for CBOW the sums of the words in the window
    and the errors that wait for their rows.
    """
    gradients, sums, waiting = np.zeros((2, HALF), np.float32), matrix(2 * window + 1, dim), matrix(2 * window + 1, dim)
    return *make_target_scratch(targets, 2 * window * negatives), gradients, matrix(3, dim), sums, waiting
