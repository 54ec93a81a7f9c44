"""fastText's networks: a word is the mean of several rows, its own and those of its n-grams.

The rows of word w are rows[pointers[w] : pointers[w + 1]]. Skip-gram predicts each neighbour from the mean of the
centre's rows, CBOW the centre from the mean of all its neighbours' rows. Each of these rows takes the whole error, as
in fastText, so after a step with the error e the mean itself has moved by e. Thus sums need not be taken anew:

* skip-gram gathers the rows of a centre once, moves the mean along from neighbour to neighbour, and gives the rows the
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
from numba.extending import register_jitable

from firth.kernels import full_softmax
from firth.kernels.floats import LANES, load, matrix, prefetch, splat, store, total
from firth.kernels.random import STEP, draw, mix
from firth.kernels.word2vec import GROUP, add_to_rows, clear, one_by_six, pull, sum_rows

HIDDEN, ERROR, STEP_ERROR = 0, 1, 2  # the rows of the desk's matrix


@register_jitable
def step(hidden, outputs, targets, signs, weights, group, rate, gradients, error):
    """One gradient step between hidden[0] and six targets; returns the loss before it.

    With s = hidden·y, sign t and weight w the loss is -w·log σ(t·s), and g = rate·w·t·σ(-t·s). A target y becomes
    y + g·hidden; hidden[0] moves by Σ g·y, and error[0] grows by as much.
    """
    at = group * GROUP
    scores = one_by_six(hidden, 0, outputs, targets, at)
    gradient, loss = pull(scores, load(signs, group, 0), rate)
    weight = load(weights, group, 0)
    store(gradients, 0, 0, gradient * weight)
    t0, t1, t2 = targets[at], targets[at + 1], targets[at + 2]
    t3, t4, t5 = targets[at + 3], targets[at + 4], targets[at + 5]
    g0, g1, g2 = gradients[0, 0], gradients[0, 1], gradients[0, 2]
    g3, g4, g5 = gradients[0, 3], gradients[0, 4], gradients[0, 5]
    for d in range(0, outputs.shape[1], LANES):
        x, e = load(hidden, 0, d), splat(0.0)
        # Each target is read when its turn comes, because two targets may be the same word.
        y = load(outputs, t0, d)
        e = e + g0 * y
        store(outputs, t0, d, y + g0 * x)
        y = load(outputs, t1, d)
        e = e + g1 * y
        store(outputs, t1, d, y + g1 * x)
        y = load(outputs, t2, d)
        e = e + g2 * y
        store(outputs, t2, d, y + g2 * x)
        y = load(outputs, t3, d)
        e = e + g3 * y
        store(outputs, t3, d, y + g3 * x)
        y = load(outputs, t4, d)
        e = e + g4 * y
        store(outputs, t4, d, y + g4 * x)
        y = load(outputs, t5, d)
        e = e + g5 * y
        store(outputs, t5, d, y + g5 * x)
        store(hidden, 0, d, x + e)
        store(error, 0, d, load(error, 0, d) + e)
    return np.float64(total(loss * weight))


@register_jitable
def put(targets, signs, weights, place, target, sign, weight):
    """Sets one target with its sign and weight."""
    targets[place] = target
    group, lane = place // GROUP, place % GROUP
    # The lanes are soon read all together, and would have to wait for a single one that was just written.
    if signs[group, lane] != sign:
        signs[group, lane] = sign
    if weights[group, lane] != weight:
        weights[group, lane] = weight


@register_jitable
def fill_up(targets, signs, weights, places):
    """Repeats the first target with weight 0 in the last group's left-over places; returns the number of groups."""
    while places % GROUP != 0:
        put(targets, signs, weights, places, targets[0], np.float32(1.0), np.float32(0.0))
        places += 1
    return places // GROUP


@register_jitable
def set_noise(drawn, first, negatives, target, targets, signs, weights):
    """A target and its negatives drawn[first …]; one that is the target itself takes no part."""
    put(targets, signs, weights, 0, target, np.float32(1.0), np.float32(1.0))
    for k in range(negatives):
        negative = drawn[first + k]
        weight = np.float32(0.0 if negative == target else 1.0)
        put(targets, signs, weights, 1 + k, negative, np.float32(-1.0), weight)
    return fill_up(targets, signs, weights, 1 + negatives)


@register_jitable
def set_path(starts, nodes, turns, word, at, targets, signs, weights):
    """The next six nodes of a word's path through the tree (see `kernels/hierarchical.py`), from place `at`."""
    for k in range(GROUP):
        inside = at + k < starts[word + 1]
        place = at + k if inside else at
        sign = np.float32(1.0) - np.float32(2.0) * np.float32(turns[place])
        put(targets, signs, weights, k, nodes[place], sign, np.float32(1.0 if inside else 0.0))


@register_jitable
def draw_ahead(count, noise, outputs, state, drawn):
    """Draws negatives and asks for their rows."""
    for k in range(count):
        state += STEP
        drawn[k] = draw(mix(state), noise)
        prefetch(outputs, drawn[k])
    return state


@register_jitable
def ask_for(words, at, rows, pointers, inputs):
    """Asks for the rows of a word that will soon be gathered."""
    if at < len(words):
        for k in range(pointers[words[at]], pointers[words[at] + 1]):
            prefetch(inputs, rows[k])


@register_jitable
def ask_for_target(words, at, outputs):
    """Asks for a word's row as a target."""
    if at < len(words):
        prefetch(outputs, words[at])


@register_jitable
def move(hidden, errors):
    """hidden[0] and the errors so far, errors[0], grow by the error of a step, errors[1], which becomes 0."""
    for d in range(0, hidden.shape[1], LANES):
        error = load(errors, 1, d)
        store(hidden, 0, d, load(hidden, 0, d) + error)
        store(errors, 0, d, load(errors, 0, d) + error)
        store(errors, 1, d, splat(0.0))


@register_jitable
def begin(word, rows, pointers, inputs, hidden):
    """hidden = the mean of a word's rows, with no errors yet."""
    own = rows[pointers[word] : pointers[word + 1]]
    sum_rows(inputs, own, len(own), np.float32(1.0 / len(own)), hidden)
    clear(hidden[ERROR:])


@register_jitable
def finish(word, rows, pointers, inputs, errors):
    """Adds errors[0] to each of a word's rows."""
    own = rows[pointers[word] : pointers[word + 1]]
    add_to_rows(inputs, own, len(own), errors)


@register_jitable
def predict_around(words, c, before, after, outputs, drawn, negatives, rate, desk):
    """Predicts the neighbours of a centre in turn, each with the next negatives of a set."""
    _, _, targets, signs, weights, gradients, hidden, _, _ = desk
    loss, first = 0.0, 0
    for i in range(c - before, c + after + 1):
        if i == c:
            continue
        groups = set_noise(drawn, first, negatives, words[i], targets, signs, weights)
        for group in range(groups):
            loss += step(hidden, outputs, targets, signs, weights, group, rate, gradients, hidden[ERROR:])
        first += negatives
    return loss


@register_jitable
def draw_part(part, parts, noise, outputs, state, drawn):
    """Draws one of so many parts of a set of negatives."""
    first, last = part * len(drawn) // parts, (part + 1) * len(drawn) // parts
    return draw_ahead(last - first, noise, outputs, state, drawn[first:last])


@njit(cache=True, nogil=True)
def skip_gram(
    words, before, after, rows, pointers, inputs, outputs, noise, negatives, share, rate, last_rate, state, desk
):
    """Predicts all neighbours of each centre, where `share` centres in a row take their negatives from one set.

    Pairs of one centre still have different negatives. The rate goes from `rate` to `last_rate`. Returns (loss, pairs),
    where the loss is summed over the pairs.
    """
    window, drawn, hidden = desk[0], desk[1], desk[6]
    loss, pairs, count = 0.0, 0, len(words)
    state = draw_part(0, 1, noise, outputs, state, drawn[0])
    for c in range(count):
        ask_for(words, c + 1, rows, pointers, inputs)
        ask_for_target(words, c + 1 + window, outputs)
        turn = c // share % 2
        state = draw_part(c % share, share, noise, outputs, state, drawn[1 - turn])
        now = np.float32(rate + (last_rate - rate) * c / count)
        begin(words[c], rows, pointers, inputs, hidden)
        loss += predict_around(words, c, before[c], after[c], outputs, drawn[turn], negatives, now, desk)
        finish(words[c], rows, pointers, inputs, hidden[ERROR:])
        pairs += before[c] + after[c]
    return loss, pairs


@njit(cache=True, nogil=True)
def skip_gram_by_pair(
    words, before, after, rows, pointers, inputs, outputs, noise, negatives, rate, last_rate, state, desk
):
    """As `skip_gram`, but every pair draws its own negatives, as in fastText: slower, since more rows are touched."""
    window, drawn, hidden = desk[0], desk[1], desk[6]
    loss, pairs, count = 0.0, 0, len(words)
    for c in range(-1, count):
        ask_for(words, c + 1, rows, pointers, inputs)
        ask_for_target(words, c + 1 + window, outputs)
        if c + 1 < count:
            needed = negatives * (before[c + 1] + after[c + 1])
            state = draw_ahead(needed, noise, outputs, state, drawn[(c + 1) % 2])
        if c < 0:
            continue
        now = np.float32(rate + (last_rate - rate) * c / count)
        begin(words[c], rows, pointers, inputs, hidden)
        loss += predict_around(words, c, before[c], after[c], outputs, drawn[c % 2], negatives, now, desk)
        finish(words[c], rows, pointers, inputs, hidden[ERROR:])
        pairs += before[c] + after[c]
    return loss, pairs


@njit(cache=True, nogil=True)
def skip_gram_by_path(
    words, before, after, rows, pointers, inputs, outputs, starts, nodes, turns, rate, last_rate, desk
):
    """As `skip_gram_by_pair`, with hierarchical softmax: a neighbour is a path through a tree."""
    _, _, targets, signs, weights, gradients, hidden, _, _ = desk
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
                set_path(starts, nodes, turns, words[i], at, targets, signs, weights)
                loss += step(hidden, outputs, targets, signs, weights, 0, now, gradients, error)
        pairs += before[c] + after[c]
        finish(words[c], rows, pointers, inputs, error)
    return loss, pairs


@njit(cache=True, nogil=True)
def skip_gram_softmax(words, before, after, rows, pointers, inputs, outputs, rate, last_rate, desk, chances):
    """As `skip_gram_by_pair`, with the full softmax of `kernels/full_softmax.py`."""
    _, _, _, _, _, _, hidden, _, _ = desk
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


@register_jitable
def come(words, at, rows, pointers, inputs, sums, waiting):
    """A word comes into reach: its rows are summed, and no errors wait for them."""
    if 0 <= at < len(words):
        slot = at % len(sums)
        own = rows[pointers[words[at]] : pointers[words[at] + 1]]
        sum_rows(inputs, own, len(own), np.float32(1.0), sums[slot:])
        clear(waiting[slot:])


@register_jitable
def go(words, at, rows, pointers, inputs, waiting):
    """A word falls out of reach: its rows take the errors that wait for them."""
    if 0 <= at < len(words):
        slot = at % len(waiting)
        finish(words[at], rows, pointers, inputs, waiting[slot:])


@register_jitable
def mean_around(words, c, before, after, pointers, sums, hidden):
    """hidden = the mean of all rows of the words around a centre."""
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


@register_jitable
def spread(words, c, before, after, pointers, sums, waiting, errors):
    """Each word around a centre takes the error: it waits for the rows, and their sum moves by it once for each."""
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
    """Predicts each centre from its neighbours, with negatives common to `share` centres in a row.

    Returns (loss, centres).
    """
    window, drawn, targets, signs, weights, gradients, hidden, sums, waiting = desk
    error = hidden[ERROR:]
    loss, centres, count = 0.0, 0, len(words)
    state = draw_ahead(negatives, noise, outputs, state, drawn[1])
    for at in range(window):
        come(words, at, rows, pointers, inputs, sums, waiting)
    for c in range(count + window):
        ask_for(words, c + window + 1, rows, pointers, inputs)
        ask_for_target(words, c + 1, outputs)
        come(words, c + window, rows, pointers, inputs, sums, waiting)
        if c < count and c % share == 0:
            drawn[0, :negatives] = drawn[1, :negatives]
            state = draw_ahead(negatives, noise, outputs, state, drawn[1])
        if c < count and before[c] + after[c] > 0:
            centres += 1
            now = np.float32(rate + (last_rate - rate) * c / count)
            mean_around(words, c, before[c], after[c], pointers, sums, hidden)
            groups = set_noise(drawn[0], 0, negatives, words[c], targets, signs, weights)
            for group in range(groups):
                loss += step(hidden, outputs, targets, signs, weights, group, now, gradients, error)
            spread(words, c, before[c], after[c], pointers, sums, waiting, error)
        go(words, c - window, rows, pointers, inputs, waiting)
    return loss, centres


@njit(cache=True, nogil=True)
def cbow_by_path(words, before, after, rows, pointers, inputs, outputs, starts, nodes, turns, rate, last_rate, desk):
    """As `cbow`, with hierarchical softmax."""
    window, _, targets, signs, weights, gradients, hidden, sums, waiting = desk
    error = hidden[ERROR:]
    loss, centres, count = 0.0, 0, len(words)
    for at in range(window):
        come(words, at, rows, pointers, inputs, sums, waiting)
    for c in range(count + window):
        ask_for(words, c + window + 1, rows, pointers, inputs)
        come(words, c + window, rows, pointers, inputs, sums, waiting)
        if c < count and before[c] + after[c] > 0:
            centres += 1
            now = np.float32(rate + (last_rate - rate) * c / count)
            mean_around(words, c, before[c], after[c], pointers, sums, hidden)
            for at in range(starts[words[c]], starts[words[c] + 1], GROUP):
                set_path(starts, nodes, turns, words[c], at, targets, signs, weights)
                loss += step(hidden, outputs, targets, signs, weights, 0, now, gradients, error)
            spread(words, c, before[c], after[c], pointers, sums, waiting, error)
        go(words, c - window, rows, pointers, inputs, waiting)
    return loss, centres


@njit(cache=True, nogil=True)
def cbow_softmax(words, before, after, rows, pointers, inputs, outputs, rate, last_rate, desk, chances):
    """As `cbow`, with the full softmax of `kernels/full_softmax.py`."""
    window, _, _, _, _, _, hidden, sums, waiting = desk
    loss, centres, count = 0.0, 0, len(words)
    for at in range(window):
        come(words, at, rows, pointers, inputs, sums, waiting)
    for c in range(count + window):
        come(words, c + window, rows, pointers, inputs, sums, waiting)
        if c < count and before[c] + after[c] > 0:
            centres += 1
            now = np.float32(rate + (last_rate - rate) * c / count)
            mean_around(words, c, before[c], after[c], pointers, sums, hidden)
            loss += full_softmax.step(hidden, 0, outputs, words[c], now, chances, hidden[ERROR:])
            spread(words, c, before[c], after[c], pointers, sums, waiting, hidden[ERROR:])
        go(words, c - window, rows, pointers, inputs, waiting)
    return loss, centres


def make_desk(window: int, negatives: int, dim: int) -> tuple[Any, ...]:
    """The scratch arrays of one thread, behind the window.

    Negatives drawn ahead; targets with signs and weights; gradients; hidden with its errors; and for CBOW the sums of
    the words in reach and the errors that wait for their rows.
    """
    groups = (2 * window + negatives + GROUP) // GROUP + 1
    return (
        window,
        np.zeros((2, 2 * window * negatives), np.uint32),
        np.zeros(groups * GROUP, np.uint32),
        np.zeros((groups, LANES), np.float32),
        np.zeros((groups, LANES), np.float32),
        np.zeros((1, LANES), np.float32),
        matrix(3, dim),
        matrix(2 * window + 1, dim),
        matrix(2 * window + 1, dim),
    )
