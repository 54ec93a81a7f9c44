"""Negatives are drawn one turn ahead, and a center that is drawn as its own negative has the sign 0."""

from __future__ import annotations

import numpy as np

from firth.kernels import negative_sampling as kernel
from firth.kernels.random import STEP, alias_table, draw, mix
from firth.kernels.simd_float import matrix


def set_once(drawn: list[int], centers: tuple[int, int], present: tuple[bool, bool], scratch):
    """Targets and signs of one step."""
    targets, signs, masked = scratch
    kernel.set_negatives(centers, present, 3, np.array([drawn], np.uint32), 0, 0, targets, signs, masked)
    return targets.tolist(), signs.tolist()


def test_every_prediction_has_the_negatives_of_its_turn():
    noise, outputs = alias_table(np.arange(9, 0, -1.0)), matrix(9, 4)
    with np.errstate(over="ignore"):
        stream = [int(draw(mix(np.uint64(5) + np.uint64(k + 1) * STEP), noise)) for k in range(12)]
        states, drawn, cursor, found = np.array([5], np.uint64), np.zeros((2, 3), np.uint32), np.zeros(2, np.int64), []
        for index in range(6):
            turn = kernel.draw_ahead(index, noise, 3, 2, states, outputs, drawn, cursor)
            found.append(drawn[turn].tolist())
    assert found == [stream[:3]] * 2 + [stream[3:6]] * 2 + [stream[6:9]] * 2


def test_signs_change_only_where_a_center_is_its_own_negative():
    scratch = np.zeros(6, np.uint32), matrix(2, 16), np.ones(1, np.bool_)
    usual = [1, -1, -1, -1, 0, 0, 0, 0]
    assert set_once([4, 5, 6], (7, 7), (True, True), scratch) == ([7, 4, 5, 6, 7, 7], [usual * 2, usual + [0] * 8])
    masked = [1, -1, 0, -1, 0, 0, 0, 0]
    assert set_once([4, 7, 6], (7, 7), (True, True), scratch) == ([7, 4, 7, 6, 7, 7], [masked * 2, masked + [0] * 8])
    assert set_once([4, 5, 6], (7, 7), (True, True), scratch)[1] == [usual * 2, usual + [0] * 8]


def test_two_centers_are_masked_apart_and_one_without_a_context_takes_no_part():
    scratch = np.zeros(6, np.uint32), matrix(2, 16), np.ones(1, np.bool_)
    signs = set_once([4, 8, 6], (7, 8), (True, True), scratch)[1]
    assert signs[0] == [1, -1, -1, -1, 0, 0, 0, 0, 1, -1, 0, -1, 0, 0, 0, 0]
    signs = set_once([4, 5, 6], (7, 8), (True, False), scratch)[1]
    assert signs[0] == [1, -1, -1, -1, 0, 0, 0, 0] + [0] * 8
