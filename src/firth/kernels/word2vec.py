"""Skip-gram and CBOW with negative sampling.

For a score s = x·y and a sign t (+1 for the word that is there, -1 for one drawn from the noise) the loss is
-log σ(t·s). Its gradient by s is -t·σ(-t·s), so a step adds g·y to x and g·x to y, with g = rate · t · σ(-t·s).

A step takes input rows against six output rows at once: the center and five negatives. Scores, gradients and both
updates are small matrix products; they run in tiles that stay in registers. A target with the sign 0 takes no part;
places that are left over in a group of six repeat the first target with that sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from firth.kernels.random import STEP, below, draw, happens, mix
from firth.kernels.simd_float import (
    LANES,
    choose,
    exp_negative,
    inlined,
    load,
    log_of_one_plus,
    matrix,
    maximum,
    prefetch,
    splat,
    store,
    total,
    totals,
)

GROUP = 6  # targets of one step
AHEAD = 2  # sets of negatives that are known: those of now, and those whose rows are on their way
HALF = 8  # lanes of one row's gradients: six, and two that stay 0


@njit(cache=True, nogil=True)
def draw_windows(ids, ends, keep, window, dynamic, state, words, before, after):
    """Chooses the words that are trained and the reach of their windows; returns how many words there are.

    `ids` is a block of text whose sentences end at `ends`. An id that has no place in `keep` is unknown and left out,
    and so is a word that subsampling drops (it stays with probability keep / 2³²); only then windows are laid. Around
    words[i] lie before[i] words to the left and after[i] to the right.
    """
    count, at = 0, 0
    for s in range(len(ends)):
        first = count
        while at < ends[s]:
            id = ids[at]
            at += 1
            if id < len(keep):
                state += STEP
                if happens(mix(state), keep[id]):
                    words[count] = id
                    count += 1
        for i in range(first, count):
            reach = window
            if dynamic:
                state += STEP
                reach = 1 + below(mix(state), window)
            before[i] = min(reach, i - first)
            after[i] = min(reach, count - 1 - i)
    return count


@inlined
def two_by_six(inputs, a, b, outputs, targets, at):
    """The scores of two input rows and six targets, in the lanes 0 … 5 and 8 … 13."""
    t0, t1, t2 = targets[at], targets[at + 1], targets[at + 2]
    t3, t4, t5 = targets[at + 3], targets[at + 4], targets[at + 5]
    a0 = a1 = a2 = a3 = a4 = a5 = b0 = b1 = b2 = b3 = b4 = b5 = splat(0.0)
    for d in range(0, inputs.shape[1], LANES):
        x, z = load(inputs, a, d), load(inputs, b, d)
        y = load(outputs, t0, d)
        a0, b0 = a0 + x * y, b0 + z * y
        y = load(outputs, t1, d)
        a1, b1 = a1 + x * y, b1 + z * y
        y = load(outputs, t2, d)
        a2, b2 = a2 + x * y, b2 + z * y
        y = load(outputs, t3, d)
        a3, b3 = a3 + x * y, b3 + z * y
        y = load(outputs, t4, d)
        a4, b4 = a4 + x * y, b4 + z * y
        y = load(outputs, t5, d)
        a5, b5 = a5 + x * y, b5 + z * y
    return totals(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5)


@inlined
def one_by_six(inputs, a, outputs, targets, at):
    """The scores of one input row and six targets, in the lanes 0 … 5."""
    t0, t1, t2 = targets[at], targets[at + 1], targets[at + 2]
    t3, t4, t5 = targets[at + 3], targets[at + 4], targets[at + 5]
    zero = splat(0.0)
    a0 = a1 = a2 = a3 = a4 = a5 = zero
    for d in range(0, inputs.shape[1], LANES):
        x = load(inputs, a, d)
        a0, a1, a2 = a0 + x * load(outputs, t0, d), a1 + x * load(outputs, t1, d), a2 + x * load(outputs, t2, d)
        a3, a4, a5 = a3 + x * load(outputs, t3, d), a4 + x * load(outputs, t4, d), a5 + x * load(outputs, t5, d)
    return totals(a0, a1, a2, a3, a4, a5, zero, zero, zero, zero, zero, zero)


@inlined
def pull(scores, sign, rate):
    """The gradients rate · t · σ(-t·s) and the losses -log σ(t·s) of sixteen scores s with the signs t."""
    z = scores * sign
    size = maximum(z, splat(0.0) - z)
    u = exp_negative(size)
    share = choose(z, u, splat(1.0)) / (u + np.float32(1.0))
    loss = np.float32(0.5) * (size - z) + log_of_one_plus(u)
    return share * sign * rate, loss * sign * sign


@inlined
def update(inputs, rows, count, outputs, targets, at, gradients):
    """Adds Σ g·y to each input row and Σ g·x to each target, with g = gradients[row, target]."""
    t0, t1, t2 = targets[at], targets[at + 1], targets[at + 2]
    t3, t4, t5 = targets[at + 3], targets[at + 4], targets[at + 5]
    for d in range(0, inputs.shape[1], LANES):
        y0, y1, y2 = load(outputs, t0, d), load(outputs, t1, d), load(outputs, t2, d)
        y3, y4, y5 = load(outputs, t3, d), load(outputs, t4, d), load(outputs, t5, d)
        s0 = s1 = s2 = s3 = s4 = s5 = splat(0.0)
        for i in range(count):
            g0, g1, g2 = gradients[i, 0], gradients[i, 1], gradients[i, 2]
            g3, g4, g5 = gradients[i, 3], gradients[i, 4], gradients[i, 5]
            x = load(inputs, rows[i], d)
            s0, s1, s2 = s0 + g0 * x, s1 + g1 * x, s2 + g2 * x
            s3, s4, s5 = s3 + g3 * x, s4 + g4 * x, s5 + g5 * x
            x = x + (g0 * y0 + g1 * y1 + g2 * y2) + (g3 * y3 + g4 * y4 + g5 * y5)
            store(inputs, rows[i], d, x)
        # Each target is read again, because two targets may be the same word.
        store(outputs, t0, d, load(outputs, t0, d) + s0)
        store(outputs, t1, d, load(outputs, t1, d) + s1)
        store(outputs, t2, d, load(outputs, t2, d) + s2)
        store(outputs, t3, d, load(outputs, t3, d) + s3)
        store(outputs, t4, d, load(outputs, t4, d) + s4)
        store(outputs, t5, d, load(outputs, t5, d) + s5)


@inlined
def step(inputs, rows, count, outputs, targets, at, signs, rate, gradients):
    """One gradient step between `count` input rows and six targets; returns the loss before it.

    signs[0] are the lanes for two input rows, signs[1] those for one.
    """
    loss = splat(0.0)
    for i in range(0, count - 1, 2):
        scores = two_by_six(inputs, rows[i], rows[i + 1], outputs, targets, at)
        gradient, losses = pull(scores, load(signs, 0, 0), rate)
        store(gradients, i, 0, gradient)
        loss = loss + losses
    if count % 2 == 1:
        scores = one_by_six(inputs, rows[count - 1], outputs, targets, at)
        gradient, losses = pull(scores, load(signs, 1, 0), rate)
        store(gradients, count - 1, 0, gradient)
        loss = loss + losses
    update(inputs, rows, count, outputs, targets, at, gradients)
    return np.float64(total(loss))


@inlined
def step_of_one(inputs, row, outputs, targets, at, signs, rate, gradients, errors, place):
    """One gradient step between an input row and six targets; errors[place] grows by Σ g·y. Returns the loss before it.

    The input row itself stays, unless `errors` is `inputs` and `place` its own.
    """
    scores = one_by_six(inputs, row, outputs, targets, at)
    gradient, losses = pull(scores, load(signs, 1, 0), rate)
    store(gradients, 0, 0, gradient)
    t0, t1, t2 = targets[at], targets[at + 1], targets[at + 2]
    t3, t4, t5 = targets[at + 3], targets[at + 4], targets[at + 5]
    g0, g1, g2 = gradients[0, 0], gradients[0, 1], gradients[0, 2]
    g3, g4, g5 = gradients[0, 3], gradients[0, 4], gradients[0, 5]
    for d in range(0, inputs.shape[1], LANES):
        x, error = load(inputs, row, d), load(errors, place, d)
        error = add_target(outputs, t0, d, g0, x, error)
        error = add_target(outputs, t1, d, g1, x, error)
        error = add_target(outputs, t2, d, g2, x, error)
        error = add_target(outputs, t3, d, g3, x, error)
        error = add_target(outputs, t4, d, g4, x, error)
        error = add_target(outputs, t5, d, g5, x, error)
        store(errors, place, d, error)
    return np.float64(total(losses))


@inlined
def step_of_two(hidden, outputs, targets, other, at, signs, rate, gradients):
    """One gradient step of hidden[0] and hidden[1], each against six targets; returns the loss before it.

    They have the same targets, but in the first place hidden[1] has `other`. hidden[2] and hidden[3] grow by Σ g·y.
    """
    t0, t1, t2 = targets[at], targets[at + 1], targets[at + 2]
    t3, t4, t5 = targets[at + 3], targets[at + 4], targets[at + 5]
    a0 = a1 = a2 = a3 = a4 = a5 = b0 = b1 = b2 = b3 = b4 = b5 = splat(0.0)
    for d in range(0, hidden.shape[1], LANES):
        x, z = load(hidden, 0, d), load(hidden, 1, d)
        a0, b0 = a0 + x * load(outputs, t0, d), b0 + z * load(outputs, other, d)
        y = load(outputs, t1, d)
        a1, b1 = a1 + x * y, b1 + z * y
        y = load(outputs, t2, d)
        a2, b2 = a2 + x * y, b2 + z * y
        y = load(outputs, t3, d)
        a3, b3 = a3 + x * y, b3 + z * y
        y = load(outputs, t4, d)
        a4, b4 = a4 + x * y, b4 + z * y
        y = load(outputs, t5, d)
        a5, b5 = a5 + x * y, b5 + z * y
    scores = totals(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5)
    gradient, losses = pull(scores, load(signs, 0, 0), rate)
    store(gradients, 0, 0, gradient)
    g0, g1, g2, g3, g4, g5 = six_of(gradients, 0)
    h0, h1, h2, h3, h4, h5 = six_of(gradients, 1)
    for d in range(0, hidden.shape[1], LANES):
        x, z = load(hidden, 0, d), load(hidden, 1, d)
        left, right = load(hidden, 2, d), load(hidden, 3, d)
        left = add_target(outputs, t0, d, g0, x, left)
        right = add_target(outputs, other, d, h0, z, right)
        left, right = add_common_target(outputs, t1, d, g1, h1, x, z, left, right)
        left, right = add_common_target(outputs, t2, d, g2, h2, x, z, left, right)
        left, right = add_common_target(outputs, t3, d, g3, h3, x, z, left, right)
        left, right = add_common_target(outputs, t4, d, g4, h4, x, z, left, right)
        left, right = add_common_target(outputs, t5, d, g5, h5, x, z, left, right)
        store(hidden, 2, d, left)
        store(hidden, 3, d, right)
    return np.float64(total(losses))


@inlined
def six_of(gradients, row):
    """The gradients of six targets."""
    return (
        gradients[row, 0],
        gradients[row, 1],
        gradients[row, 2],
        gradients[row, 3],
        gradients[row, 4],
        gradients[row, 5],
    )


@inlined
def add_target(outputs, target, d, g, x, error):
    """Adds g·x to a target's row; returns error + g·y, with the row y as it was."""
    y = load(outputs, target, d)
    store(outputs, target, d, y + g * x)
    return error + g * y


@inlined
def add_common_target(outputs, target, d, g, h, x, z, left, right):
    """Adds g·x + h·z to a target's row; returns left + g·y and right + h·y, with the row y as it was."""
    y = load(outputs, target, d)
    store(outputs, target, d, y + g * x + h * z)
    return left + g * y, right + h * y


@inlined
def set_signs(targets, at, negatives, signs):
    """The signs of six targets: + for the center, - for a negative, 0 for the center drawn as one, or for no target."""
    for k in range(GROUP):
        sign = np.float32(-1.0)
        if at + k == 0:
            sign = np.float32(1.0)
        elif at + k > negatives or targets[at + k] == targets[0]:
            sign = np.float32(0.0)
        if signs[1, k] != sign:  # seldom; to store numbers and load them as one vector right away is slow
            signs[0, k] = signs[0, HALF + k] = signs[1, k] = sign


@inlined
def set_signs_of_two(targets, at, other, negatives, first, second, signs):
    """As `set_signs`, for the two of `step_of_two`; one of them that has no words around it takes no part."""
    for k in range(GROUP):
        sign = np.float32(1.0 if at + k == 0 else -1.0 if at + k <= negatives else 0.0)
        is_other = at + k > 0 and targets[at + k] == other
        is_own = at + k > 0 and targets[at + k] == targets[0]
        left = np.float32(0.0) if is_own or first == 0 else sign
        right = np.float32(0.0) if is_other or second == 0 else sign
        if signs[0, k] != left:
            signs[0, k] = left
        if signs[0, HALF + k] != right:
            signs[0, HALF + k] = right


@inlined
def gather(words, center, before, after, rows):
    """The words around a center; returns how many."""
    count = 0
    for i in range(center - before, center):
        rows[count] = words[i]
        count += 1
    for i in range(center + 1, center + after + 1):
        rows[count] = words[i]
        count += 1
    return count


@inlined
def draw_negatives(negatives, noise, outputs, state, drawn, place):
    """Draws drawn[place, 1 … negatives] and asks for their rows."""
    for k in range(1, negatives + 1):
        state += STEP
        word = draw(mix(state), noise)
        drawn[place, k] = word
        prefetch(outputs, word)
    return state


@inlined
def ask_for_rows(words, center, window, inputs, outputs):
    """Asks for the rows that the next center will need and this one does not have."""
    if center + 1 < len(words):
        prefetch(outputs, words[center + 1])
    if center + window + 1 < len(words):
        prefetch(inputs, words[center + window + 1])


@inlined
def set_targets(center, negatives, drawn, place, targets):
    """The center, the negatives drawn[place], and the center again in the places that are left over."""
    for k in range(len(targets)):
        targets[k] = drawn[place, k] if 0 < k <= negatives else center


@njit(cache=True, nogil=True)
def skip_gram(words, before, after, window, inputs, outputs, noise, negatives, share, rate, last_rate, state, desk):
    """Trains the center of each window against all words around it, with common negatives.

    `share` windows in a row have the same negatives. The rate goes from `rate` to `last_rate`. Returns (loss, pairs),
    where the loss is summed over the pairs.
    """
    rows, targets, drawn, signs, gradients, _ = desk
    loss, pairs = 0.0, 0
    count = len(words)
    place = 0
    state = draw_negatives(negatives, noise, outputs, state, drawn, 1)
    for c in range(count):
        if c % share == 0:
            state = draw_negatives(negatives, noise, outputs, state, drawn, place)
            place = 1 - place
        ask_for_rows(words, c, window, inputs, outputs)
        set_targets(words[c], negatives, drawn, place, targets)
        around = gather(words, c, before[c], after[c], rows)
        pairs += around
        now = np.float32(rate + (last_rate - rate) * c / count)
        for at in range(0, len(targets), GROUP):
            set_signs(targets, at, negatives, signs)
            loss += step(inputs, rows, around, outputs, targets, at, signs, now, gradients)
    return loss, pairs


@njit(cache=True, nogil=True)
def skip_gram_by_pair(words, before, after, window, inputs, outputs, noise, negatives, rate, last_rate, state, desk):
    """As `skip_gram`, but every pair has negatives of its own, as in word2vec.c; many more rows are touched."""
    rows, targets, drawn, signs, gradients, hidden = desk
    errors = hidden[1:]
    loss, pairs = 0.0, 0
    count = len(words)
    for ahead in range(1, AHEAD):
        state = draw_negatives(negatives, noise, outputs, state, drawn, ahead)
    for c in range(count):
        ask_for_rows(words, c, window, inputs, outputs)
        around = gather(words, c, before[c], after[c], rows)
        now = np.float32(rate + (last_rate - rate) * c / count)
        for i in range(around):
            set_targets(words[c], negatives, drawn, (pairs + 1) % AHEAD, targets)
            state = draw_negatives(negatives, noise, outputs, state, drawn, pairs % AHEAD)
            pairs += 1
            if len(targets) == GROUP:
                set_signs(targets, 0, negatives, signs)
                loss += step_of_one(inputs, rows[i], outputs, targets, 0, signs, now, gradients, inputs, rows[i])
                continue
            clear(errors)
            for at in range(0, len(targets), GROUP):
                set_signs(targets, at, negatives, signs)
                loss += step_of_one(inputs, rows[i], outputs, targets, at, signs, now, gradients, errors, 0)
            add_to_rows(inputs, rows[i : i + 1], 1, errors)
    return loss, pairs


@njit(cache=True, nogil=True)
def cbow(words, before, after, window, mean, inputs, outputs, noise, negatives, share, rate, last_rate, state, desk):
    """Trains the center of each window against the mean (or the sum) of the words around it.

    As in word2vec.c the error goes to every row around whole, also after a mean. Returns (loss, centers).
    """
    rows, targets, drawn, signs, gradients, hidden = desk
    errors = hidden[1:]
    loss, centers = 0.0, 0
    count = len(words)
    place = 0
    state = draw_negatives(negatives, noise, outputs, state, drawn, 1)
    for c in range(count):
        if c % share == 0:
            state = draw_negatives(negatives, noise, outputs, state, drawn, place)
            place = 1 - place
        ask_for_rows(words, c, window, inputs, outputs)
        around = gather(words, c, before[c], after[c], rows)
        if around == 0:
            continue
        centers += 1
        set_targets(words[c], negatives, drawn, place, targets)
        sum_rows(inputs, rows, around, np.float32(1.0 / around if mean else 1.0), hidden)
        clear(errors)
        now = np.float32(rate + (last_rate - rate) * c / count)
        for at in range(0, len(targets), GROUP):
            set_signs(targets, at, negatives, signs)
            loss += step_of_one(hidden, 0, outputs, targets, at, signs, now, gradients, errors, 0)
        add_to_rows(inputs, rows, around, errors)
    return loss, centers


@njit(cache=True, nogil=True)
def cbow_two_centers(
    words, before, after, window, mean, inputs, outputs, noise, negatives, share, rate, last_rate, state, desk
):
    """As `cbow`, but two centers in a row take their step at once, against the same negatives, as do `share` // 2 twos.

    The rows of the negatives are touched once for both, and neither has to wait for the numbers of the other.
    """
    rows, targets, drawn, signs, gradients, hidden = desk
    loss, centers = 0.0, 0
    count = len(words)
    place = 0
    state = draw_negatives(negatives, noise, outputs, state, drawn, 1)
    for c in range(0, count, 2):
        if c // 2 % (share // 2) == 0:
            state = draw_negatives(negatives, noise, outputs, state, drawn, place)
            place = 1 - place
        ask_for_rows(words, c, window, inputs, outputs)
        ask_for_rows(words, c + 1, window, inputs, outputs)
        set_targets(words[c], negatives, drawn, place, targets)
        other = words[c]
        first, second = gather(words, c, before[c], after[c], rows), 0
        sum_rows(inputs, rows, first, np.float32(1.0 / max(1, first) if mean else 1.0), hidden)
        if c + 1 < count:
            other = words[c + 1]
            second = gather(words, c + 1, before[c + 1], after[c + 1], rows[first:])
        sum_rows(inputs, rows[first:], second, np.float32(1.0 / max(1, second) if mean else 1.0), hidden[1:])
        clear(hidden[2:])
        clear(hidden[3:])
        now = np.float32(rate + (last_rate - rate) * c / count)
        for at in range(0, len(targets), GROUP):
            set_signs_of_two(targets, at, other, negatives, first, second, signs)
            loss += step_of_two(hidden, outputs, targets, other if at == 0 else targets[at], at, signs, now, gradients)
        add_to_rows(inputs, rows, first, hidden[2:])
        add_to_rows(inputs, rows[first:], second, hidden[3:])
        centers += (first > 0) + (second > 0)
    return loss, centers


@inlined
def sum_rows(inputs, rows, count, scale, hidden):
    """hidden[0] = scale · the sum of the rows."""
    for d in range(0, inputs.shape[1], LANES):
        x = splat(0.0)
        for i in range(count):
            x = x + load(inputs, rows[i], d)
        store(hidden, 0, d, x * scale)


@inlined
def add_to_rows(inputs, rows, count, errors):
    """Adds errors[0] to each of the rows."""
    for d in range(0, inputs.shape[1], LANES):
        error = load(errors, 0, d)
        for i in range(count):
            store(inputs, rows[i], d, load(inputs, rows[i], d) + error)


@inlined
def clear(errors):
    """errors[0] = 0."""
    for d in range(0, errors.shape[1], LANES):
        store(errors, 0, d, splat(0.0))


def make_scratch(window: int, negatives: int, dim: int) -> tuple[NDArray[Any], ...]:
    """The scratch arrays of one thread: rows, targets, negatives drawn ahead, signs, gradients, hidden and error."""
    places = (negatives // GROUP + 1) * GROUP
    return (
        np.zeros(4 * window + 2, np.uint32),
        np.zeros(places, np.uint32),
        np.zeros((AHEAD, places), np.uint32),
        np.zeros((2, LANES), np.float32),
        np.zeros((2 * window + 3, HALF), np.float32),
        matrix(4, dim),
    )
