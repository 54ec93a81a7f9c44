"""One way to ask any model for vectors of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firth.bulk.embedder import Sentences, as_layers, embedder
from firth.errors import OptionError
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.device import CPU, GPU
from firth.vectors.words import WordVectors

VECTORS = WordVectors(["tea", "rain"], [[1, 0], [0, 3]])
BLOCKS = [[["tea"], ["rain", "tea"]], [[]], [["rain"]]]


class Told:
    """A stand-in for a contextual model that remembers how it was asked: a word's vector is its length."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def embed(self, sentences: Sentences, **wanted: Any) -> list[np.ndarray]:
        self.asked.append(wanted)
        return [np.array([[len(word)] for word in words], np.float32).reshape(-1, 1) for words in sentences]


class Ahead(Told):
    """One that takes a block more than it has given, as a GPU does."""

    def embed_blocks(self, blocks: Iterable[Sentences], *, dtype: str, **wanted: Any) -> Iterator[list[np.ndarray]]:
        waiting = None
        for block in blocks:
            if waiting is not None:
                yield waiting
            waiting = [array.astype(dtype) for array in self.embed(block, **wanted)]
        if waiting is not None:
            yield waiting

    def parameters(self) -> Iterator[Any]:
        yield SimpleNamespace(device=torch.device("cuda"))


@pytest.mark.parametrize("layers", ["mix", "top", 0])
def test_word_vectors_have_one_layer_by_whatever_name(layers: Any) -> None:
    arrays = embedder(VECTORS, layers)([["rain", "snow"], []])
    assert [array.tolist() for array in arrays] == [[[0, 3], [0, 0]], []]
    assert arrays[1].shape == (0, 2)
    assert [array.shape for array in embedder(VECTORS, "all")([["rain", "snow"], []])] == [(1, 2, 2), (1, 0, 2)]
    assert [array.shape for array in embedder(VECTORS, "all", "mean")([["rain", "snow"], []])] == [(1, 2), (1, 2)]


def test_a_setting_for_contextual_models_is_refused_by_name() -> None:
    with pytest.raises(OptionError, match="batch_tokens is for contextual models, but this one is WordVectors"):
        embedder(VECTORS, batch_tokens=100, memory=None)
    embedder(VECTORS, memory=None)  # what is not given is not refused


def test_a_contextual_model_is_told_what_was_chosen_and_nothing_else() -> None:
    model = Told()
    assert embedder(model, 1, "max", batch_tokens=100, memory=None)([["tea"]])[0].tolist() == [[3]]
    assert model.asked == [{"layers": 1, "pooling": "max", "batch_tokens": 100}]


def test_a_model_that_works_ahead_gives_the_blocks_that_one_gives_that_does_not() -> None:
    plain, ahead = embedder(Told()), embedder(Ahead())
    assert (plain.block_bytes, ahead.block_bytes) == (CPU.block_bytes, GPU.block_bytes)
    one, other = ([[a.tolist() for a in block] for block in e.blocks(BLOCKS, "float16")] for e in (plain, ahead))
    assert one == other == [[[[3]], [[4], [3]]], [[]], [[[4]]]]
    assert next(ahead.blocks(BLOCKS, "float16"))[0].dtype == np.float16
    assert ahead([["tea"]])[0].dtype == np.float32


@pytest.mark.parametrize("make, most", [(Told, 1), (Ahead, 2)])
def test_blocks_are_taken_as_they_are_needed(make: type[Told], most: int) -> None:
    taken = 0

    def blocks() -> Iterator[Sentences]:
        nonlocal taken
        for block in BLOCKS:
            taken += 1
            yield block

    next(iter(embedder(make()).blocks(blocks(), "float32")))
    assert taken == most


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@given(st.lists(st.sampled_from(["tea", "rain", "snow"]), max_size=5))
def test_pooled_rows_are_the_mean_or_the_greatest_and_zeros_for_nothing(words: list[str]) -> None:
    rows = [{"tea": (1, 0), "rain": (0, 3)}.get(word, (0, 0)) for word in words]
    columns = list(zip(*rows)) or [(0,)] * 2
    greatest, mean = (embedder(VECTORS, pooling=pooling)([words])[0].tolist() for pooling in ("max", "mean"))
    assert greatest == [max(column) for column in columns]
    assert mean == pytest.approx([sum(column) / len(column) for column in columns], abs=1e-5)


@pytest.mark.parametrize("text", ["-1", "1.5", "", "²", "Top"])
def test_layers_are_words_or_whole_numbers(text: str) -> None:
    with pytest.raises(
        OptionError, match=f"layers is {text!r}, but must be mix, all, top, context or the number of a layer"
    ):
        as_layers(text)
    assert [as_layers(str(number)) for number in (0, 12)] == [0, 12]


def test_stateful_blocks_are_those_of_one_call_wherever_blocks_begin() -> None:
    bilm = BiLM(Architecture.named("tiny"))
    sentences = [["tea", "rain"][: number % 3] * (1 + number % 2) for number in range(11)]
    expected, _ = bilm.embed(sentences, stateful=True, batch_size=4, layers="all")
    alone = bilm.embed(sentences, layers="all")
    assert np.abs(expected[5] - alone[5]).max() > 1e-4
    for cuts in ([], [1], [4, 8], [3, 3, 10]):
        edges = [0, *cuts, len(sentences)]
        blocks = [sentences[start:end] for start, end in pairwise(edges)]
        given = list(embedder(bilm, "all", stateful=True, batch_size=4).blocks(iter(blocks), "float32"))
        assert [len(arrays) for arrays in given] == [len(block) for block in blocks]
        for array, wanted in zip([array for arrays in given for array in arrays], expected, strict=True):
            assert np.array_equal(array, wanted)
    assert list(embedder(bilm, stateful=True).blocks(iter([]), "float32")) == []


def test_settings_of_stateful_embedding_are_checked() -> None:
    bilm = BiLM(Architecture.named("tiny"))
    with pytest.raises(OptionError, match="batch_size is for stateful embedding"):
        embedder(bilm, batch_size=4)
    with pytest.raises(OptionError, match="runs in float32"):
        embedder(bilm, stateful=True, precision="int8")
    with pytest.raises(OptionError, match="stateful is for contextual models"):
        embedder(VECTORS, stateful=True)
