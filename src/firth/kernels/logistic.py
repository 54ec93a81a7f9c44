"""Logistic gradient steps between input rows and six output rows, the targets.

For a score s = x·y and a sign t (+1 for a target to predict, -1 for a negative) the loss is -log σ(t·s). Its gradient
by s is -t·σ(-t·s), so a step adds g·y to x and g·x to y, with g = rate · t · σ(-t·s). A target of sign 0 takes no part:
it fills a group that has fewer than six targets.

Scores, gradients and updates are small matrix products whose tiles stay in registers. Group k of the targets has two
rows of signs: signs[2k] in the lanes 0 … 5 and 8 … 13, for two input rows at once, and signs[2k + 1] in the lanes
0 … 5, for one.
"""

from __future__ import annotations

import numpy as np

from firth.kernels.simd_float import (
    LANES,
    choose,
    exp_negative,
    inlined,
    load,
    log_of_one_plus,
    maximum,
    splat,
    store,
    total,
    totals,
)

GROUP = 6  # targets of one step
HALF = 8  # lanes of one row's gradients: six, and two that stay 0


@inlined
def six(targets, group):
    """The targets of a group."""
    at = group * GROUP
    return targets[at], targets[at + 1], targets[at + 2], targets[at + 3], targets[at + 4], targets[at + 5]


@inlined
def six_of(gradients, row):
    """The gradients of a row for six targets."""
    g = gradients
    return g[row, 0], g[row, 1], g[row, 2], g[row, 3], g[row, 4], g[row, 5]


@inlined
def score_two(inputs, a, b, outputs, targets, other):
    """The scores of two input rows and six targets, in the lanes 0 … 5 and 8 … 13.

    `other` is the first target of the second row; the other five are common to both.
    """
    t0, t1, t2, t3, t4, t5 = targets
    a0 = a1 = a2 = a3 = a4 = a5 = b0 = b1 = b2 = b3 = b4 = b5 = splat(0.0)
    for d in range(0, inputs.shape[1], LANES):
        x, z = load(inputs, a, d), load(inputs, b, d)
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
    return totals(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5)


@inlined
def score_one(inputs, a, outputs, targets):
    """The scores of one input row and six targets, in the lanes 0 … 5."""
    t0, t1, t2, t3, t4, t5 = targets
    zero = splat(0.0)
    a0 = a1 = a2 = a3 = a4 = a5 = zero
    for d in range(0, inputs.shape[1], LANES):
        x = load(inputs, a, d)
        a0, a1, a2 = a0 + x * load(outputs, t0, d), a1 + x * load(outputs, t1, d), a2 + x * load(outputs, t2, d)
        a3, a4, a5 = a3 + x * load(outputs, t3, d), a4 + x * load(outputs, t4, d), a5 + x * load(outputs, t5, d)
    return totals(a0, a1, a2, a3, a4, a5, zero, zero, zero, zero, zero, zero)


@inlined
def differentiate(scores, signs, rate):
    """The gradients rate · t · σ(-t·s) and the losses -log σ(t·s) of sixteen scores s with the signs t."""
    z = scores * signs
    size = maximum(z, splat(0.0) - z)
    u = exp_negative(size)
    sigmoid = choose(z, u, splat(1.0)) / (u + np.float32(1.0))
    loss = np.float32(0.5) * (size - z) + log_of_one_plus(u)
    return sigmoid * signs * rate, loss * signs * signs


@inlined
def update(inputs, rows, count, outputs, targets, gradients, locks):
    """Adds Σ g·y to each input row and Σ g·x to each target, with g = gradients[row, target].

    With `locks`, an input row whose lock is not 0 stays as it is.
    """
    t0, t1, t2, t3, t4, t5 = targets
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
            if locks is not None and locks[rows[i]] != 0:
                continue
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
def step_rows(inputs, rows, count, outputs, targets, signs, group, rate, gradients, locks):
    """One gradient step between `count` input rows and a group of targets; returns the loss before it."""
    six_targets = six(targets, group)
    loss = splat(0.0)
    for i in range(0, count - 1, 2):
        scores = score_two(inputs, rows[i], rows[i + 1], outputs, six_targets, six_targets[0])
        gradient, losses = differentiate(scores, load(signs, 2 * group, 0), rate)
        store(gradients, i, 0, gradient)
        loss = loss + losses
    if count % 2 == 1:
        scores = score_one(inputs, rows[count - 1], outputs, six_targets)
        gradient, losses = differentiate(scores, load(signs, 2 * group + 1, 0), rate)
        store(gradients, count - 1, 0, gradient)
        loss = loss + losses
    update(inputs, rows, count, outputs, six_targets, gradients, locks)
    return np.float64(total(loss))


@inlined
def differentiate_one(hidden, row, outputs, targets, signs, group, rate, gradients):
    """The gradients of one input row and a group of targets, as six numbers, and the loss."""
    scores = score_one(hidden, row, outputs, six(targets, group))
    gradient, losses = differentiate(scores, load(signs, 2 * group + 1, 0), rate)
    store(gradients, 0, 0, gradient)
    return six_of(gradients, 0), np.float64(total(losses))


@inlined
def step_one(inputs, row, outputs, targets, signs, group, rate, gradients, errors, place):
    """One gradient step between an input row and a group of targets; returns the loss before it.

    errors[place] grows by Σ g·y. The input row itself stays, unless `errors` is `inputs` and `place` its own.
    """
    six_gradients, loss = differentiate_one(inputs, row, outputs, targets, signs, group, rate, gradients)
    six_targets = six(targets, group)
    for d in range(0, inputs.shape[1], LANES):
        x, error = load(inputs, row, d), load(errors, place, d)
        store(errors, place, d, add_targets(outputs, six_targets, d, six_gradients, x, error))
    return loss


@inlined
def step_two(hidden, outputs, targets, other, signs, group, rate, gradients):
    """One gradient step of hidden[0] and hidden[1], each against six targets; returns the loss before it.

    Their targets are common, but the first target of hidden[1] is `other`. hidden[2] and hidden[3] grow by Σ g·y.
    """
    six_targets = six(targets, group)
    scores = score_two(hidden, 0, 1, outputs, six_targets, other)
    gradient, losses = differentiate(scores, load(signs, 2 * group, 0), rate)
    store(gradients, 0, 0, gradient)
    t0, t1, t2, t3, t4, t5 = six_targets
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
def add_targets(outputs, targets, d, gradients, x, error):
    """Adds g·x to the rows of six targets in turn; returns error + Σ g·y, with each row y as it was."""
    error = add_target(outputs, targets[0], d, gradients[0], x, error)
    error = add_target(outputs, targets[1], d, gradients[1], x, error)
    error = add_target(outputs, targets[2], d, gradients[2], x, error)
    error = add_target(outputs, targets[3], d, gradients[3], x, error)
    error = add_target(outputs, targets[4], d, gradients[4], x, error)
    return add_target(outputs, targets[5], d, gradients[5], x, error)


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
