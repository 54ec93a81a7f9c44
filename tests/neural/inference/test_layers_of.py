"""Runs of a biLM over sentences: batches, and the order of the results."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.neural.inference.layers_of import (
    batches,
    encode_distinct,
    encode_tokens,
    layers_of,
    map_batches,
    run_batches,
)

SENTENCES = [["Rain"], [], ["A", "cup", "of", "tea"], ["the", "rain"]]


def test_the_layers_of_all_words_are_in_the_order_of_the_sentences() -> None:
    bilm = BiLM(PRESETS["tiny"])
    found = layers_of(bilm, SENTENCES, lambda layers: layers)
    expected = np.concatenate(bilm.embed(SENTENCES, layers="all"), 1)
    assert np.abs(found.numpy() - expected).max() < 1e-6
    assert layers_of(bilm, [], lambda layers: layers[:1]).shape == (1, 0, 32)


@given(st.lists(st.integers(1, 20), max_size=30), st.integers(1, 50))
def test_batches_have_every_sentence_once_and_no_more_than_their_tokens(lengths: list[int], batch_tokens: int) -> None:
    found = list(batches(lengths, batch_tokens))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= batch_tokens


def test_a_batch_has_the_longest_sentence_first() -> None:
    (batch,) = run_batches(BiLM(PRESETS["tiny"]), SENTENCES)
    assert (batch.places, batch.lengths.tolist()) == ([2, 3, 0, 1], [4, 2, 1, 0])
    assert batch.layers.shape == (3, 7 + 8, 32)


def test_results_of_batches_return_in_the_order_of_the_sentences() -> None:
    found = map_batches(lambda batch: [len(words) for words in batch], SENTENCES, [1, 1, 4, 2], 4)
    assert found == [1, 0, 4, 2]


def test_each_distinct_token_is_encoded_once_with_the_marks_of_its_sentence() -> None:
    bilm = BiLM(PRESETS["tiny"])
    sentences = [["tea", "or", "tea"], []]
    vectors, tokens = encode_distinct(bilm, sentences)
    assert (len(vectors), len(tokens)) == (4, 7)
    with torch.no_grad():
        expected = bilm.encoder(["<S>", "tea", "or", "tea", "</S>", "<S>", "</S>"])
    assert torch.allclose(encode_tokens(bilm, sentences), expected, atol=1e-6)
