from __future__ import annotations

import numpy as np
import torch

from firth.probes.bag import BagReader
from firth.vectors.words import WordVectors

VECTORS = WordVectors(["tea", "rain", "cup", "the"], [[1, 0], [0, 2], [4, 4], [9, 9]])


def test_a_bag_is_the_mean_of_the_other_words() -> None:
    found = BagReader("x", VECTORS).read([["A", "cup", "of", "tea", "."], [], ["Rain", "and", "tea", "and", "tea"]])[0]
    assert found[1].tolist() == [1, 0]  # cup: tea alone
    assert found[3].tolist() == [4, 4]  # tea: cup alone; "A", "of" and "." do not count
    assert found[0].tolist() == [2.5, 2]  # A: the mean of cup and tea
    assert found[5].tolist() == [1, 0]
    assert found[7].tolist() == found[9].tolist() == [0, 2]  # tea: not the other tea


def test_stop_words_and_unknown_words_do_not_count() -> None:
    found = BagReader("x", VECTORS).read([["the", "tea", "xyz"]])[0]
    assert found.tolist() == [[1, 0], [0, 0], [1, 0]]


def test_a_bag_is_the_same_in_any_order_and_in_any_company() -> None:
    reader = BagReader("x", VECTORS)
    alone = reader.read([["rain", "tea", "cup"]])[0, 0]
    assert torch.equal(alone, reader.read([["tea"], ["cup", "tea", "rain"]])[0, 3])
    assert np.allclose(alone, [2.5, 2])


def test_no_sentences_have_no_bags() -> None:
    assert BagReader("x", VECTORS).read([]).shape == (1, 0, 2)
