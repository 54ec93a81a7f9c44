"""Negative sampling: a prediction is a logistic step towards the center and away from words drawn from the noise.

`sampling` is (noise, negatives, share, state): an alias table, the number of negatives of a prediction, the number of
predictions in a row that share them (0: none do), and the state of the random numbers in an array of one element.
Negatives are drawn one turn before their use, into one of two rows of `drawn`, so that their output rows are there
when they are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.kernels.logistic import GROUP, HALF
from firth.kernels.random import STEP, draw, mix
from firth.kernels.simd_float import LANES, inlined, matrix, prefetch


def make_target_scratch(targets: int, drawn: int) -> tuple[NDArray[Any], ...]:
    """Targets, at most `drawn` negatives of two turns, the cursor of `draw_ahead`, signs, and whether some are special.

    The number of targets is rounded up to whole groups.
    """
    groups = (targets + GROUP - 1) // GROUP
    return (
        np.zeros(groups * GROUP, np.uint32),
        np.zeros((2, drawn), np.uint32),
        np.zeros(2, np.int64),
        matrix(2 * groups, LANES),
        np.ones(1, np.bool_),
    )


@inlined
def draw_negatives(noise, states, outputs, drawn, turn, first, last):
    """Draws the negatives drawn[turn, first … last - 1] and prefetches their rows."""
    state = states[0]
    for k in range(first, last):
        state += STEP
        negative = draw(mix(state), noise)
        drawn[turn, k] = negative
        prefetch(outputs, negative)
    states[0] = state


@inlined
def draw_ahead(index, noise, negatives, share, states, outputs, drawn, cursor):
    """The row of `drawn` with the negatives of prediction `index`; draws the next row when a new one begins.

    `cursor` holds that row and the number of predictions that still use it; to divide by `share` is slow.
    """
    if index == 0:
        draw_negatives(noise, states, outputs, drawn, 0, 0, negatives)
        cursor[0], cursor[1] = 1, 0
    if cursor[1] == 0:
        draw_negatives(noise, states, outputs, drawn, cursor[0], 0, negatives)
        cursor[0], cursor[1] = 1 - cursor[0], share
    cursor[1] -= 1
    return cursor[0]


@inlined
def draw_for_center(words, center, index, outputs, sampling, drawn, cursor):
    """As `draw_ahead`, and prefetches the row of the next center; 0 without sampling."""
    turn = 0
    if sampling is not None:
        noise, negatives, share, states = sampling
        turn = draw_ahead(index, noise, negatives, max(1, share), states, outputs, drawn, cursor)
        prefetch_target(words, center + 1, outputs)
    return turn


@inlined
def prefetch_target(words, at, outputs):
    """Prefetches the output row of words[at], if there is such a word."""
    if at < len(words):
        prefetch(outputs, words[at])


@inlined
def set_negatives(centers, present, negatives, drawn, turn, first, targets, signs, masked):
    """Sets the targets of a step: a center, its negatives drawn[turn, first …], and the center again as filling.

    `centers` are one center, twice, or the two of `step_two`; `present` is whether each of them takes part. Signs are
    written only where they change, when a center is drawn as its own negative and the next time after that: to load
    lanes right after single ones were stored is slow.
    """
    special = not (present[0] and present[1])
    for k in range(len(targets)):
        target = drawn[turn, first + k - 1] if 0 < k <= negatives else centers[0]
        targets[k] = target
        if 0 < k <= negatives and (target == centers[0] or target == centers[1]):
            special = True
    if special or masked[0]:
        set_signs(centers, present, negatives, targets, signs)
        masked[0] = special


@inlined
def set_signs(centers, present, negatives, targets, signs):
    """Sets the signs of all targets: 1 for the center, -1 for a negative, 0 for a center drawn as its own negative."""
    for k in range(len(targets)):
        row, lane = 2 * (k // GROUP), k % GROUP
        sign = np.float32(1.0 if k == 0 else -1.0 if k <= negatives else 0.0)
        left = np.float32(0.0) if (k > 0 and targets[k] == centers[0]) or not present[0] else sign
        right = np.float32(0.0) if (k > 0 and targets[k] == centers[1]) or not present[1] else sign
        signs[row, lane] = signs[row + 1, lane] = left
        signs[row, HALF + lane] = right
