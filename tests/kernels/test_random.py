"""Random numbers by key, and draws from a distribution."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from firth.kernels import random as kernel


@njit
def outputs(state, count):
    found = np.empty(count, np.uint64)
    for i in range(count):
        state += kernel.STEP
        found[i] = kernel.mix(state)
    return found


@njit
def draws(state, count, table):
    found = np.empty(count, np.uint32)
    for i in range(count):
        state += kernel.STEP
        found[i] = kernel.draw(kernel.mix(state), table)
    return found


def test_the_generator_is_splitmix64():
    known = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert outputs(np.uint64(0), 3).tolist() == known


def test_the_python_of_mix_is_its_own_reference():
    with np.errstate(over="ignore"):
        assert int(kernel.mix(np.uint64(0) + kernel.STEP)) == 0xE220A8397B1DCDAF


def test_every_part_of_a_key_changes_the_stream():
    keys = {kernel.key(s, e, b) for s in range(3) for e in range(4) for b in range(50)}
    assert len(keys) == 600
    assert kernel.key(1, 2, 3) == kernel.key(1, 2, 3)


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40))
def test_an_alias_table_holds_exactly_the_distribution(weights):
    table = kernel.alias_table(np.array(weights))
    own = (table[:, 0].astype(float) + 1) / 2**32
    chances = own.copy()
    np.add.at(chances, table[:, 1], 1 - own)
    np.testing.assert_allclose(chances / len(weights), np.array(weights) / sum(weights), atol=1e-7)


def test_draws_follow_the_weights():
    table = kernel.alias_table(np.array([1.0, 2.0, 5.0]))
    found = np.bincount(draws(np.uint64(9), 80_000, table), minlength=3) / 80_000
    np.testing.assert_allclose(found, [1 / 8, 2 / 8, 5 / 8], atol=0.01)


def test_first_rows_are_uniform_and_a_row_does_not_depend_on_how_many_there_are():
    many, few = np.zeros((400, 16), np.float32), np.zeros((3, 16), np.float32)
    kernel.fill_uniform(many, 10, 0, 0.5, np.uint64(5))
    kernel.fill_uniform(few, 10, 2, 0.5, np.uint64(5))
    assert np.array_equal(many[2:5], few)
    assert not many[:, 10:].any()
    assert -0.5 <= many.min() < -0.49
    assert 0.49 < many.max() <= 0.5
    assert abs(many[:, :10].mean()) < 0.02
