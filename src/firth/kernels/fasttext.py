"""fastText's networks: a word is the mean of several rows, its own and those of its n-grams.

The rows of word w are rows[pointers[w] : pointers[w + 1]]. Skip-gram predicts each neighbor from the mean of the
center's rows, CBOW the center from the mean of all its neighbors' rows. Each of these rows takes the whole error, as
in fastText, so after a step with the error e the mean itself has moved by e. Thus sums need not be taken anew:

* skip-gram gathers the rows of a center once, moves the mean along from neighbor to neighbor, and gives the rows the
  sum of all errors at the end;
* CBOW keeps the sums of the words that are in reach, moves them along, and gives a word's rows their errors when it
  falls out of reach. A row that two of these words share learns of the other's errors only then.

The logistic step is that of `kernels/word2vec.py`, six targets at a time, each with a sign (+1 for the word that is
there, -1 for one from the noise) and a weight, which is 0 in places that are left over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from firth.kernels import full_softmax
from firth.kernels.random import STEP, draw, mix
from firth.kernels.simd_float import LANES, inlined, load, matrix, prefetch, splat, store, total
from firth.kernels.word2vec import GROUP, add_target, add_to_rows, clear, one_by_six, pull, sum_rows

HIDDEN, ERROR, STEP_ERROR = 0, 1, 2  # the rows of `hidden`
GRADIENTS, SIGNS, WEIGHTS = 0, 1, 2  # the rows of `lanes`; signs and weights of the next six targets follow


@inlined
def step(hidden, outputs, targets, lanes, group, rate):
    """One gradient step between hidden[0] and six targets; returns the loss before it.

    With s = hidden·y, sign t and weight w the loss is -w·log σ(t·s), and g = rate·w·t·σ(-t·s). A target y becomes
    y + g·hidden; hidden[0] moves by Σ g·y, and hidden[ERROR] grows by as much.
    """
    at = group * GROUP
    scores = one_by_six(hidden, HIDDEN, outputs, targets, at)
    gradient, loss = pull(scores, load(lanes, 2 * group + SIGNS, 0), rate)
    weight = load(lanes, 2 * group + WEIGHTS, 0)
    store(lanes, GRADIENTS, 0, gradient * weight)
    t0, t1, t2 = targets[at], targets[at + 1], targets[at + 2]
    t3, t4, t5 = targets[at + 3], targets[at + 4], targets[at + 5]
    g0, g1, g2 = lanes[GRADIENTS, 0], lanes[GRADIENTS, 1], lanes[GRADIENTS, 2]
    g3, g4, g5 = lanes[GRADIENTS, 3], lanes[GRADIENTS, 4], lanes[GRADIENTS, 5]
    for d in range(0, outputs.shape[1], LANES):
        x, error = load(hidden, HIDDEN, d), splat(0.0)
        error = add_target(outputs, t0, d, g0, x, error)
        error = add_target(outputs, t1, d, g1, x, error)
        error = add_target(outputs, t2, d, g2, x, error)
        error = add_target(outputs, t3, d, g3, x, error)
        error = add_target(outputs, t4, d, g4, x, error)
        error = add_target(outputs, t5, d, g5, x, error)
        store(hidden, HIDDEN, d, x + error)
        store(hidden, ERROR, d, load(hidden, ERROR, d) + error)
    return np.float64(total(loss * weight))


@inlined
def lay_signs(negatives, lanes):
    """The signs and weights of a target and its negatives; returns how many groups they fill."""
    groups = negatives // GROUP + 1
    for group in range(groups):
        for k in range(GROUP):
            place = group * GROUP + k
            lanes[2 * group + SIGNS, k] = np.float32(1.0 if place == 0 else -1.0)
            lanes[2 * group + WEIGHTS, k] = np.float32(1.0 if place <= negatives else 0.0)
    return groups


@inlined
def leave_out(targets, groups, lanes):
    """Gives the weight 0 to negatives that are the target itself."""
    for group in range(groups):
        for k in range(GROUP):
            if group + k > 0 and targets[group * GROUP + k] == targets[0]:
                lanes[2 * group + WEIGHTS, k] = np.float32(0.0)


@inlined
def predict(target, drawn, turn, first, negatives, groups, outputs, rate, targets, lanes, hidden):
    """One gradient step between hidden[0] and a target with its negatives, drawn[turn, first …]; returns the loss.

    Signs and weights lie ready (see `lay_signs`). They change only in the rare case that the target itself was drawn:
    lanes that are read all together would have to wait for a single one that was just written.
    """
    clash = False
    for place in range(len(targets)):
        targets[place] = target
    for k in range(negatives):
        negative = drawn[turn, first + k]
        targets[1 + k] = negative
        clash |= negative == target
    if clash:
        leave_out(targets, groups, lanes)
    loss = 0.0
    for group in range(groups):
        loss += step(hidden, outputs, targets, lanes, group, rate)
    if clash:
        lay_signs(negatives, lanes)
    return loss


@inlined
def set_path(starts, nodes, turns, word, at, targets, lanes):
    """The next six nodes of a word's path through the tree (see `kernels/hierarchical.py`), from place `at`."""
    for k in range(GROUP):
        inside = at + k < starts[word + 1]
        place = at + k if inside else at
        targets[k] = nodes[place]
        lanes[SIGNS, k] = np.float32(1.0) - np.float32(2.0) * np.float32(turns[place])
        lanes[WEIGHTS, k] = np.float32(1.0 if inside else 0.0)


@inlined
def draw_ahead(turn, first, last, noise, outputs, state, drawn):
    """Draws the negatives drawn[turn, first … last - 1] and asks for their rows."""
    for k in range(first, last):
        state += STEP
        negative = draw(mix(state), noise)
        drawn[turn, k] = negative
        prefetch(outputs, negative)
    return state


@inlined
def ask_for(words, at, rows, pointers, inputs):
    """Asks for the rows of a word that will soon be gathered."""
    if at < len(words):
        for k in range(pointers[words[at]], pointers[words[at] + 1]):
            prefetch(inputs, rows[k])


@inlined
def ask_for_target(words, at, outputs):
    """Asks for a word's row as a target."""
    if at < len(words):
        prefetch(outputs, words[at])


@inlined
def move(hidden, errors):
    """hidden[0] and the errors so far, errors[0], grow by the error of a step, errors[1], which becomes 0."""
    for d in range(0, hidden.shape[1], LANES):
        error = load(errors, 1, d)
        store(hidden, 0, d, load(hidden, 0, d) + error)
        store(errors, 0, d, load(errors, 0, d) + error)
        store(errors, 1, d, splat(0.0))


@inlined
def begin(word, rows, pointers, inputs, hidden):
    """hidden = the mean of a word's rows, with no errors yet."""
    own = rows[pointers[word] : pointers[word + 1]]
    sum_rows(inputs, own, len(own), np.float32(1.0 / len(own)), hidden)
    clear(hidden[ERROR:])


@inlined
def finish(word, rows, pointers, inputs, errors):
    """Adds errors[0] to each of a word's rows."""
    own = rows[pointers[word] : pointers[word + 1]]
    add_to_rows(inputs, own, len(own), errors)


@inlined
def predict_around(words, c, reach, drawn, turn, pool, negatives, groups, outputs, rate, targets, lanes, hidden):
    """Predicts the neighbors of a center in turn, each with the next negatives of a pool, and round again."""
    loss, first = 0.0, 0
    for i in range(c - reach[0], c + reach[1] + 1):
        if i != c:
            loss += predict(words[i], drawn, turn, first, negatives, groups, outputs, rate, targets, lanes, hidden)
            first += negatives
            if first == pool:
                first = 0
    return loss


@njit(cache=True, nogil=True)
def skip_gram(
    words, before, after, rows, pointers, inputs, outputs, noise, negatives, share, rate, last_rate, state, desk
):
    """Predicts all neighbors of each center, where `share` centers in a row take their negatives from one pool.

    Neighbors of one center still have different negatives, unless there are more of them than usual. The rate goes
    from `rate` to `last_rate`. Returns (loss, pairs), where the loss is summed over the pairs.
    """
    window, drawn, targets, lanes, hidden, _, _ = desk
    groups = lay_signs(negatives, lanes)
    pool = window * negatives  # what a center needs on average
    loss, pairs, count = 0.0, 0, len(words)
    state = draw_ahead(0, 0, pool, noise, outputs, state, drawn)
    for c in range(count):
        ask_for(words, c + 1, rows, pointers, inputs)
        ask_for_target(words, c + 1 + window, outputs)
        turn, part = c // share % 2, c % share
        first, last = part * pool // share, (part + 1) * pool // share
        state = draw_ahead(1 - turn, first, last, noise, outputs, state, drawn)
        now = np.float32(rate + (last_rate - rate) * c / count)
        reach = before[c], after[c]
        begin(words[c], rows, pointers, inputs, hidden)
        loss += predict_around(
            words, c, reach, drawn, turn, pool, negatives, groups, outputs, now, targets, lanes, hidden
        )
        finish(words[c], rows, pointers, inputs, hidden[ERROR:])
        pairs += before[c] + after[c]
    return loss, pairs


@njit(cache=True, nogil=True)
def skip_gram_by_pair(
    words, before, after, rows, pointers, inputs, outputs, noise, negatives, rate, last_rate, state, desk
):
    """As `skip_gram`, but every pair draws its own negatives, as in fastText: slower, since more rows are touched."""
    window, drawn, targets, lanes, hidden, _, _ = desk
    groups = lay_signs(negatives, lanes)
    loss, pairs, count = 0.0, 0, len(words)
    for c in range(-1, count):
        ask_for(words, c + 1, rows, pointers, inputs)
        ask_for_target(words, c + 1 + window, outputs)
        if c + 1 < count:
            needed = negatives * (before[c + 1] + after[c + 1])
            state = draw_ahead((c + 1) % 2, 0, needed, noise, outputs, state, drawn)
        if c < 0:
            continue
        now = np.float32(rate + (last_rate - rate) * c / count)
        reach, pool = (before[c], after[c]), drawn.shape[1]
        begin(words[c], rows, pointers, inputs, hidden)
        loss += predict_around(
            words, c, reach, drawn, c % 2, pool, negatives, groups, outputs, now, targets, lanes, hidden
        )
        finish(words[c], rows, pointers, inputs, hidden[ERROR:])
        pairs += before[c] + after[c]
    return loss, pairs


@njit(cache=True, nogil=True)
def skip_gram_by_path(
    words, before, after, rows, pointers, inputs, outputs, starts, nodes, turns, rate, last_rate, desk
):
    """As `skip_gram_by_pair`, with hierarchical softmax: a neighbor is a path through a tree."""
    _, _, targets, lanes, hidden, _, _ = desk
    error = hidden[ERROR:]
    loss, pairs, count = 0.0, 0, len(words)
    for c in range(count):
        ask_for(words, c + 1, rows, pointers, inputs)
        now = np.float32(rate + (last_rate - rate) * c / count)
        begin(words[c], rows, pointers, inputs, hidden)
        for i in range(c - before[c], c + after[c] + 1):
            if i == c:
                continue
            for at in range(starts[words[i]], starts[words[i] + 1], GROUP):
                set_path(starts, nodes, turns, words[i], at, targets, lanes)
                loss += step(hidden, outputs, targets, lanes, 0, now)
        pairs += before[c] + after[c]
        finish(words[c], rows, pointers, inputs, error)
    return loss, pairs


@njit(cache=True, nogil=True)
def skip_gram_softmax(words, before, after, rows, pointers, inputs, outputs, rate, last_rate, desk, chances):
    """As `skip_gram_by_pair`, with the full softmax of `kernels/full_softmax.py`."""
    _, _, _, _, hidden, _, _ = desk
    error = hidden[ERROR:]
    loss, pairs, count = 0.0, 0, len(words)
    for c in range(count):
        now = np.float32(rate + (last_rate - rate) * c / count)
        clear(hidden[STEP_ERROR:])
        begin(words[c], rows, pointers, inputs, hidden)
        for i in range(c - before[c], c + after[c] + 1):
            if i != c:
                loss += full_softmax.step(hidden, 0, outputs, words[i], now, chances, hidden[STEP_ERROR:])
                move(hidden, error)
        pairs += before[c] + after[c]
        finish(words[c], rows, pointers, inputs, error)
    return loss, pairs


@inlined
def come(words, at, rows, pointers, inputs, sums, waiting):
    """A word comes into reach: its rows are summed, and no errors wait for them."""
    if 0 <= at < len(words):
        slot = at % len(sums)
        own = rows[pointers[words[at]] : pointers[words[at] + 1]]
        sum_rows(inputs, own, len(own), np.float32(1.0), sums[slot:])
        clear(waiting[slot:])


@inlined
def go(words, at, rows, pointers, inputs, waiting):
    """A word falls out of reach: its rows take the errors that wait for them."""
    if 0 <= at < len(words):
        slot = at % len(waiting)
        finish(words[at], rows, pointers, inputs, waiting[slot:])


@inlined
def mean_around(words, c, before, after, pointers, sums, hidden):
    """hidden = the mean of all rows of the words around a center."""
    size = 0
    for i in range(c - before, c + after + 1):
        if i != c:
            size += pointers[words[i] + 1] - pointers[words[i]]
    scale = np.float32(1.0 / size)
    for d in range(0, hidden.shape[1], LANES):
        x = splat(0.0)
        for i in range(c - before, c + after + 1):
            if i != c:
                x = x + load(sums, i % len(sums), d)
        store(hidden, HIDDEN, d, x * scale)
        store(hidden, ERROR, d, splat(0.0))


@inlined
def spread(words, c, before, after, pointers, sums, waiting, errors):
    """Each word around a center takes the error: it waits for the rows, and their sum moves by it once for each."""
    for i in range(c - before, c + after + 1):
        if i == c:
            continue
        slot = i % len(sums)
        size = np.float32(pointers[words[i] + 1] - pointers[words[i]])
        for d in range(0, sums.shape[1], LANES):
            error = load(errors, 0, d)
            store(sums, slot, d, load(sums, slot, d) + size * error)
            store(waiting, slot, d, load(waiting, slot, d) + error)


@njit(cache=True, nogil=True)
def cbow(words, before, after, rows, pointers, inputs, outputs, noise, negatives, share, rate, last_rate, state, desk):
    """Predicts each center from its neighbors, with negatives common to `share` centers in a row.

    Returns (loss, centers).
    """
    window, drawn, targets, lanes, hidden, sums, waiting = desk
    groups = lay_signs(negatives, lanes)
    loss, centers, count = 0.0, 0, len(words)
    state = draw_ahead(0, 0, negatives, noise, outputs, state, drawn)
    for at in range(window):
        come(words, at, rows, pointers, inputs, sums, waiting)
    for c in range(count + window):
        ask_for(words, c + window + 1, rows, pointers, inputs)
        ask_for_target(words, c + 1, outputs)
        come(words, c + window, rows, pointers, inputs, sums, waiting)
        turn = c // share % 2
        if c < count and c % share == 0:
            state = draw_ahead(1 - turn, 0, negatives, noise, outputs, state, drawn)
        if c < count and before[c] + after[c] > 0:
            centers += 1
            now = np.float32(rate + (last_rate - rate) * c / count)
            mean_around(words, c, before[c], after[c], pointers, sums, hidden)
            loss += predict(words[c], drawn, turn, 0, negatives, groups, outputs, now, targets, lanes, hidden)
            spread(words, c, before[c], after[c], pointers, sums, waiting, hidden[ERROR:])
        go(words, c - window, rows, pointers, inputs, waiting)
    return loss, centers


@njit(cache=True, nogil=True)
def cbow_by_path(words, before, after, rows, pointers, inputs, outputs, starts, nodes, turns, rate, last_rate, desk):
    """As `cbow`, with hierarchical softmax."""
    window, _, targets, lanes, hidden, sums, waiting = desk
    error = hidden[ERROR:]
    loss, centers, count = 0.0, 0, len(words)
    for at in range(window):
        come(words, at, rows, pointers, inputs, sums, waiting)
    for c in range(count + window):
        ask_for(words, c + window + 1, rows, pointers, inputs)
        come(words, c + window, rows, pointers, inputs, sums, waiting)
        if c < count and before[c] + after[c] > 0:
            centers += 1
            now = np.float32(rate + (last_rate - rate) * c / count)
            mean_around(words, c, before[c], after[c], pointers, sums, hidden)
            for at in range(starts[words[c]], starts[words[c] + 1], GROUP):
                set_path(starts, nodes, turns, words[c], at, targets, lanes)
                loss += step(hidden, outputs, targets, lanes, 0, now)
            spread(words, c, before[c], after[c], pointers, sums, waiting, error)
        go(words, c - window, rows, pointers, inputs, waiting)
    return loss, centers


@njit(cache=True, nogil=True)
def cbow_softmax(words, before, after, rows, pointers, inputs, outputs, rate, last_rate, desk, chances):
    """As `cbow`, with the full softmax of `kernels/full_softmax.py`."""
    window, _, _, _, hidden, sums, waiting = desk
    loss, centers, count = 0.0, 0, len(words)
    for at in range(window):
        come(words, at, rows, pointers, inputs, sums, waiting)
    for c in range(count + window):
        come(words, c + window, rows, pointers, inputs, sums, waiting)
        if c < count and before[c] + after[c] > 0:
            centers += 1
            now = np.float32(rate + (last_rate - rate) * c / count)
            mean_around(words, c, before[c], after[c], pointers, sums, hidden)
            loss += full_softmax.step(hidden, 0, outputs, words[c], now, chances, hidden[ERROR:])
            spread(words, c, before[c], after[c], pointers, sums, waiting, hidden[ERROR:])
        go(words, c - window, rows, pointers, inputs, waiting)
    return loss, centers


def make_scratch(window: int, negatives: int, dim: int) -> tuple[Any, ...]:
    """The scratch arrays of one thread, behind the window.

    Negatives drawn ahead; targets, and the lanes with their gradients, signs and weights; hidden with its errors; and
    for CBOW the sums of the words in reach and the errors that wait for their rows.
    """
    groups = negatives // GROUP + 1
    return (
        window,
        np.zeros((2, 2 * window * negatives), np.uint32),
        np.zeros(groups * GROUP, np.uint32),
        matrix(2 * groups + 1, LANES),
        matrix(3, dim),
        matrix(2 * window + 1, dim),
        matrix(2 * window + 1, dim),
    )
