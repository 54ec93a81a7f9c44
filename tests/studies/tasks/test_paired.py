"""Paired tests."""

import numpy as np
import pytest

from firth.studies.tasks.paired import paired_t_test, randomization_test


def test_a_t_test_needs_two_pairs_that_differ_differently():
    assert paired_t_test([70.0], [75.0]) is None
    assert paired_t_test([70.0, 71.0], [75.0, 76.0]) is None


def test_a_t_test_over_two_seeds_by_hand():
    # differences 1 and 3: mean 2, standard error 1, t = 2 with one degree of freedom: p = 1 - 2/π·atan(2)
    assert paired_t_test([0.0, 0.0], [1.0, 3.0]) == pytest.approx(1 - 2 / np.pi * np.arctan(2))


def test_random_signs_find_no_difference_where_there_is_none():
    rng = np.random.default_rng(0)
    same = rng.random((3, 200))
    assert randomization_test(same, same[:, ::-1]) > 0.05
    assert randomization_test(same, same) == 1.0


def test_random_signs_find_a_small_difference_in_many_items():
    rng = np.random.default_rng(0)
    before = rng.integers(0, 2, (2, 1000)).astype(float)
    assert randomization_test(before, before + 0.2 * rng.random((2, 1000))) < 0.001


def test_three_items_that_all_improve_are_one_sign_pattern_in_four():
    assert randomization_test([[0, 0, 0]], [[1, 1, 1]]) == pytest.approx(0.25, abs=0.02)
