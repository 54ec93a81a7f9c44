from __future__ import annotations

import math

import pytest
import torch

from firth.probes.bag import BagReader
from firth.vectors.words import WordVectors

VECTORS = WordVectors(["the", "tea", "rain", "cup"], [[9, 9], [1, 0], [0, 2], [4, 4]])


def read(*sentences: str) -> torch.Tensor:
    return BagReader("x", VECTORS, frequent=1).read([sentence.split() for sentence in sentences])[0]


def test_a_bag_is_the_mean_of_the_other_words_by_their_distance() -> None:
    cup, tea, rain = read("cup tea rain").tolist()
    near, far = 1, 1 / math.sqrt(2)
    assert cup == pytest.approx([near / (near + far), 2 * far / (near + far)])
    assert tea == [2, 3]
    assert rain == pytest.approx([(near + 4 * far) / (near + far), 4 * far / (near + far)])


def test_a_word_is_not_in_its_own_bag_at_any_of_its_places() -> None:
    assert read("Tea , cup , tea")[0].tolist() == read("Tea , cup , tea")[4].tolist() == [4, 4]


def test_frequent_words_punctuation_and_unknown_words_do_not_count() -> None:
    assert read("The tea xyz .").tolist() == [[1, 0], [0, 0], [1, 0], [1, 0]]


def test_a_bag_is_the_same_in_any_company() -> None:
    assert torch.equal(read("rain tea cup"), read("tea", "rain tea cup", "cup")[1:4])


def test_no_sentences_have_no_bags() -> None:
    assert BagReader("x", VECTORS).read([]).shape == (1, 0, 2)
