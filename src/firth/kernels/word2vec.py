"""Skip-gram and CBOW, each with negative sampling, hierarchical softmax or the full softmax.

All loops take the same arguments. `windows` is (words, before, after, window), see `kernels/windows.py`. One of three
is the objective, and the others are None: `sampling`, (noise, negatives, share, state), see
`kernels/negative_sampling.py`; `tree`, (starts, nodes, turns), see `kernels/hierarchical_softmax.py`; and
`probabilities`, an array for the full softmax. numba drops a block under `if x is not None` where the argument x is
None, so each objective is compiled on its own. `rates` are the learning rates of the first word and after the last;
`scratch` comes from `make_scratch`. A loop returns (loss, predictions), where the loss is summed over the predictions.

With `tags` = (documents, starts, rows), a center has further context: the input rows of the tags of its document,
rows[starts[d] : starts[d + 1]] with d = documents[center] (see `kernels/doc2vec.py`). With `locks`, an array of one
number per input row, the rows whose lock is not 0 never change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.kernels import full_softmax
from firth.kernels.hierarchical_softmax import set_path
from firth.kernels.logistic import GROUP, HALF, step_one, step_rows, step_two
from firth.kernels.negative_sampling import draw_ahead, draw_for_center, make_target_scratch, set_negatives
from firth.kernels.simd_float import inlined, loop, matrix, prefetch
from firth.kernels.windows import add_to_rows, clear, open_window, sum_rows


@inlined
def set_targets(words, center, index, outputs, sampling, tree, scratch):
    """Sets the targets of words[center] and their signs; returns how many groups of six they fill.

    `index` numbers the predictions that draw negatives.
    """
    _, targets, drawn, cursor, signs, masked, _, _ = scratch
    word, groups = words[center], 0
    if tree is not None:
        groups = set_path(tree, word, targets, signs)
    if sampling is not None:
        turn = draw_for_center(words, center, index, outputs, sampling, drawn, cursor)
        set_negatives((word, word), (True, True), sampling[1], drawn, turn, 0, targets, signs, masked)
        groups = len(targets) // GROUP
    return groups


@inlined
def add_tags(tags, center, rows, size):
    """Adds the rows of the tags of a center's document to its context; returns the size of both."""
    documents, starts, tag_rows = tags
    document = documents[center]
    for i in range(starts[document], starts[document + 1]):
        rows[size] = tag_rows[i]
        size += 1
    return size


@inlined
def add_to_unlocked(inputs, rows, count, errors, locks):
    """Adds errors[0] to each of the rows that is not locked."""
    if locks is None:
        add_to_rows(inputs, rows, count, errors)
    else:
        for i in range(count):
            if locks[rows[i]] == 0:
                add_to_rows(inputs, rows[i : i + 1], 1, errors)


@loop
def skip_gram(windows, inputs, outputs, sampling, tree, probabilities, rates, scratch, tags=None, locks=None):
    """Trains the targets of each center against all words of its context at once; not for the full softmax."""
    words, before, after, window = windows
    rows, targets, _, _, signs, _, gradients, _ = scratch
    loss, pairs = 0.0, 0
    for c in range(len(words)):
        size, rate = open_window(words, before, after, window, c, inputs, rates, rows)
        if tags is not None:
            size = add_tags(tags, c, rows, size)
        for group in range(set_targets(words, c, c, outputs, sampling, tree, scratch)):
            loss += step_rows(inputs, rows, size, outputs, targets, signs, group, rate, gradients, locks)
        pairs += size
    return loss, pairs


@loop
def skip_gram_by_pair(windows, inputs, outputs, sampling, tree, probabilities, rates, scratch, tags=None, locks=None):
    """Trains each center against each word of its context in turn.

    With negative sampling each pair has its own negatives, as in word2vec.c; many more rows are touched.
    """
    words, before, after, window = windows
    rows, targets, _, _, signs, _, gradients, hidden = scratch
    errors = hidden[1:]
    loss, pairs = 0.0, 0
    for c in range(len(words)):
        size, rate = open_window(words, before, after, window, c, inputs, rates, rows)
        if tags is not None:
            size = add_tags(tags, c, rows, size)
        for i in range(size):
            groups = set_targets(words, c, pairs + i, outputs, sampling, tree, scratch)
            if locks is None and groups == 1:
                loss += step_one(inputs, rows[i], outputs, targets, signs, 0, rate, gradients, inputs, rows[i])
                continue
            clear(errors)
            if probabilities is not None:
                loss += full_softmax.step(inputs, rows[i], outputs, words[c], rate, probabilities, errors)
            for group in range(groups):
                loss += step_one(inputs, rows[i], outputs, targets, signs, group, rate, gradients, errors, 0)
            add_to_unlocked(inputs, rows[i : i + 1], 1, errors, locks)
        pairs += size
    return loss, pairs


@loop
def cbow(windows, mean, inputs, outputs, sampling, tree, probabilities, rates, scratch, tags=None, locks=None):
    """Trains each center against the mean (or the sum) of its context.

    As in word2vec.c each row of the context takes the whole error, also after a mean.
    """
    words, before, after, window = windows
    rows, targets, _, _, signs, _, gradients, hidden = scratch
    errors = hidden[1:]
    loss, centers = 0.0, 0
    for c in range(len(words)):
        size, rate = open_window(words, before, after, window, c, inputs, rates, rows)
        if tags is not None:
            size = add_tags(tags, c, rows, size)
        groups = set_targets(words, c, c, outputs, sampling, tree, scratch)
        if size == 0:
            continue
        centers += 1
        sum_rows(inputs, rows, size, np.float32(1.0 / size if mean else 1.0), hidden)
        clear(errors)
        if probabilities is not None:
            loss += full_softmax.step(hidden, 0, outputs, words[c], rate, probabilities, errors)
        for group in range(groups):
            loss += step_one(hidden, 0, outputs, targets, signs, group, rate, gradients, errors, 0)
        add_to_unlocked(inputs, rows, size, errors, locks)
    return loss, centers


@loop
def cbow_two_centers(
    windows, mean, inputs, outputs, sampling, tree, probabilities, rates, scratch, tags=None, locks=None
):
    """As `cbow`, two adjacent centers at a time with the same negatives, which `share` // 2 such pairs in a row share.

    The rows of the negatives are touched once for both, and neither waits for the results of the other.
    """
    words, before, after, window = windows
    rows, targets, drawn, cursor, signs, masked, gradients, hidden = scratch
    noise, negatives, share, states = sampling
    loss, centers, count = 0.0, 0, len(words)
    for c in range(0, count, 2):
        turn = draw_ahead(c // 2, noise, negatives, share // 2, states, outputs, drawn, cursor)
        for ahead in range(c + 1, min(c + 3, count)):
            prefetch(outputs, words[ahead])
        other = words[c]
        first, rate = open_window(words, before, after, window, c, inputs, rates, rows)
        if tags is not None:
            first = add_tags(tags, c, rows, first)
        sum_rows(inputs, rows, first, np.float32(1.0 / max(1, first) if mean else 1.0), hidden)
        second = 0
        if c + 1 < count:
            other = words[c + 1]
            second, _ = open_window(words, before, after, window, c + 1, inputs, rates, rows[first:])
            if tags is not None:
                second = add_tags(tags, c + 1, rows[first:], second)
        sum_rows(inputs, rows[first:], second, np.float32(1.0 / max(1, second) if mean else 1.0), hidden[1:])
        clear(hidden[2:])
        clear(hidden[3:])
        present = first > 0, second > 0
        set_negatives((words[c], other), present, negatives, drawn, turn, 0, targets, signs, masked)
        for group in range(len(targets) // GROUP):
            first_target = other if group == 0 else targets[group * GROUP]
            loss += step_two(hidden, outputs, targets, first_target, signs, group, rate, gradients)
        add_to_unlocked(inputs, rows, first, hidden[2:], locks)
        add_to_unlocked(inputs, rows[first:], second, hidden[3:], locks)
        centers += present[0] + present[1]
    return loss, centers


def make_scratch(window: int, targets: int, dim: int, tags: int = 0) -> tuple[NDArray[Any], ...]:
    """The scratch arrays of one thread, for predictions of at most this many targets from at most this many tags.

    Context rows; those of `make_target_scratch`; gradients; hidden and errors.
    """
    most = 2 * window + tags  # rows of a context
    rows, gradients = np.zeros(2 * most + 2, np.uint32), np.zeros((most + 3, HALF), np.float32)
    return rows, *make_target_scratch(targets, targets), gradients, matrix(4, dim)
