"""The cache of a frozen biLM: each sentence once, and the same vectors at any size."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.neural.bilm import BiLM
from firth.tasks.frozen import FrozenLayers

SENTENCES = [("A", "cup", "of", "tea"), ("rain",), (), ("cup", "of", "rain")]


def test_each_sentence_is_read_once(bilm: BiLM) -> None:
    frozen = FrozenLayers(bilm)
    first = frozen.of(SENTENCES)
    assert frozen.words_read == 8
    again = frozen.of(SENTENCES[::-1])
    assert frozen.words_read == 8
    assert torch.equal(first, again.flip(0))


@pytest.mark.parametrize("rows", [0, 1, 5, 7, 100])
def test_the_size_of_the_table_changes_no_vector(rows: int, bilm: BiLM) -> None:
    expected = FrozenLayers(bilm).of(SENTENCES)
    frozen = FrozenLayers(bilm, room=rows * 2 * 3 * 32)
    frozen.read_ahead(SENTENCES)
    for _ in range(2):
        assert torch.equal(frozen.of(SENTENCES), expected)
    assert len(frozen.table) <= max(1, rows)
    assert (frozen.words_read == 8) == (rows >= 9)


def test_the_order_of_reading_changes_nothing(bilm: BiLM) -> None:
    rng = np.random.default_rng(1)
    words = ["w" * (1 + n % 7) + str(n) for n in range(40)]
    sentences = [tuple(rng.choice(words, rng.integers(0, 12)).tolist()) for _ in range(60)]
    one, other = FrozenLayers(bilm), FrozenLayers(bilm)
    one.read_ahead(sentences)
    for start in range(0, 60, 7):
        assert torch.equal(other.of(sentences[start : start + 7]), one.of(sentences[start : start + 7]))
