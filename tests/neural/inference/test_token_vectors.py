"""The cache of word vectors: each word is encoded once, within a bound of memory, until the weights change."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from firth.errors import UnknownWord
from firth.neural import device
from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.neural.inference.token_vectors import TokenVectors, version_of
from firth.neural.layers import WordEmbedding
from firth.text.vocabulary import Vocabulary


class LengthEncoder:
    """Encodes a word as its length, and records the words of each call."""

    def __init__(self) -> None:
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.calls: list[list[str]] = []

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        return iter([self.weight])

    def __call__(self, words: Sequence[str], /) -> Tensor:
        self.calls.append(list(words))
        return torch.tensor([[float(len(word))] for word in words]) * self.weight


def test_each_word_is_encoded_once_and_short_words_come_first() -> None:
    encoder, cache = LengthEncoder(), TokenVectors()
    assert cache.of(encoder, ["rain", "a", "rain"])[:, 0].tolist() == [4, 1, 4]
    assert cache.of(encoder, ["tea", "a"])[:, 0].tolist() == [3, 1]
    assert encoder.calls == [["a", "rain"], ["tea"]]


def test_a_word_that_cannot_be_encoded_is_not_cached() -> None:
    encoder = WordEmbedding(4, Vocabulary(["tea", "rain"]), None)
    torch.nn.init.ones_(encoder.table)
    cache = TokenVectors()
    for _ in range(2):
        with pytest.raises(UnknownWord):
            cache.of(encoder, ["tea", "fog"])
    assert cache.of(encoder, ["tea", "rain", "tea"]).shape == (3, 4)
    assert set(cache.rows) == {"tea", "rain"}


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_the_cache_stays_within_its_bounds_and_has_the_vectors_of_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = BiLM(PRESETS["tiny"])
    monkeypatch.setattr(device, "CPU", replace(device.CPU, cached_bytes=64 * 16 * 4))  # 64 words
    for start in range(0, 300, 10):
        words = [f"word{number}" for number in range(start, start + 10)]
        (found,) = bilm.embed([words], layers=0)
        with torch.no_grad():
            assert np.allclose(found[:, :16], bilm.encoder(words).numpy(), atol=1e-6)
        assert len(bilm.token_vectors.rows) <= 64
    bilm.embed([["y" * 1000]])
    assert max(map(len, bilm.token_vectors.rows)) < 1000


def test_a_change_of_weights_empties_the_cache() -> None:
    bilm = BiLM(PRESETS["tiny"])
    before = bilm.embed([["tea"]], layers=0)[0]
    copied = copy.deepcopy(bilm)
    with torch.no_grad():
        for parameter in bilm.encoder.parameters():
            parameter.mul_(1.5)
    assert not np.allclose(bilm.embed([["tea"]], layers=0)[0], before)
    assert np.array_equal(copied.embed([["tea"]], layers=0)[0], before)


def test_a_change_in_place_raises_the_version_of_a_tensor() -> None:
    tensor = torch.zeros(2)
    before = version_of(tensor)
    tensor += 1
    assert version_of(tensor) > before
    with torch.inference_mode():
        assert version_of(torch.zeros(2)) == 0
