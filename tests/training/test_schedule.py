"""Blocks of text: every word once, sentence ends in place, a falling learning rate, another order in every epoch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.training.schedule import BlockSchedule


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 50))
def test_blocks_hold_every_word_once_and_every_sentence_end(lengths, size):
    sentences = np.cumsum([0, *lengths]).astype(np.uint64)
    plan = BlockSchedule(np.arange(sum(lengths), dtype=np.uint32), sentences, 1, 1.0, size)
    blocks = list(plan.blocks())
    assert list(itertools.chain.from_iterable(block.ids.tolist() for block in blocks)) == list(range(sum(lengths)))
    assert all(0 < len(block.ids) <= size and block.ends[-1] == len(block.ids) for block in blocks)
    ends = {int(block.ids[end - 1]) + 1 for block in blocks for end in block.ends if end > 0}
    assert ends >= {int(end) for end in sentences} - {0}
    assert len(ends) <= len(set(sentences.tolist()) - {0}) + len(blocks)


def test_the_rate_falls_linearly_over_all_epochs_to_its_floor():
    sentences = np.append(np.arange(0, 1000, 13), 1000).astype(np.uint64)
    plan = BlockSchedule(np.arange(1000, dtype=np.uint32), sentences, 2, 0.5, 70)
    blocks = list(plan.blocks())
    assert blocks[0].rate == 0.5
    assert all(left.last_rate == right.rate for left, right in itertools.pairwise(blocks))
    assert plan.rate_at(1000) == pytest.approx(0.25)
    assert blocks[-1].last_rate == pytest.approx(0.5e-4)


def test_with_a_seed_every_epoch_has_all_blocks_in_another_order():
    sentences = np.arange(0, 1001, 10, dtype=np.uint64)
    plan = BlockSchedule(np.arange(1000, dtype=np.uint32), sentences, 3, 1.0, 40, seed=5)
    orders = [[block.number for block in plan.blocks() if block.epoch == epoch] for epoch in range(3)]
    assert all(sorted(order) == list(range(25)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    again = BlockSchedule(np.arange(1000, dtype=np.uint32), sentences, 3, 1.0, 40, seed=5)
    assert [order.tolist() for order in again.orders] == orders
    other = BlockSchedule(np.arange(1000, dtype=np.uint32), sentences, 3, 1.0, 40, seed=6)
    assert [order.tolist() for order in other.orders] != orders


def test_the_rate_falls_with_the_words_that_were_read_whatever_their_order():
    sentences = np.array([0, 3, 10, 11, 19, 20], np.uint64)
    plan = BlockSchedule(np.arange(20, dtype=np.uint32), sentences, 2, 1.0, 8, seed=1)
    done = 0
    for step, block in enumerate(plan.blocks()):
        assert plan.words_before(step) == done
        assert block.rate == pytest.approx(1 - done / 40)
        done += len(block.ids)
        assert block.last_rate == pytest.approx(max(1 - done / 40, 1e-4))
    assert done == plan.words == plan.words_before(plan.steps)
