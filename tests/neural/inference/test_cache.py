"""Packed weights are cached until the weights change."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import torch

from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM

SENTENCES = [["A", "cup", "of", "tea"], ["Rain"], [], ["the", "tea", "of", "the", "rain", "the", "rain"], ["A", "cup"]]


def run_reference(bilm: BiLM, sentences):
    """All layers of each sentence, without <S> and </S>, by the reference."""
    with torch.inference_mode():
        layers, lengths, _ = bilm(sentences)
    return [layers[:, row, 1 : length - 1].numpy() for row, length in enumerate(lengths.tolist())]


def test_weights_that_change_are_packed_anew():
    bilm = BiLM(PRESETS["tiny"])
    before = bilm.embed(SENTENCES)
    with torch.no_grad():
        bilm.backward_layers[1].recurrent *= 0.5
        bilm.encoder.highways[0].gate.bias += 1
    changed = bilm.embed(SENTENCES, layers="all")
    assert not np.allclose(before[0], changed[0].mean(0))
    for found, expected in zip(changed, run_reference(bilm, SENTENCES)):
        assert np.abs(found - expected).max(initial=0) < 1e-6


def test_a_copy_of_a_model_packs_its_own_weights():
    bilm = BiLM(PRESETS["tiny"])
    before = bilm.embed(SENTENCES)
    other = copy.deepcopy(bilm)
    with torch.no_grad():
        other.forward_layers[0].projection *= 0.5
    assert not np.allclose(other.embed(SENTENCES)[0], before[0])
    assert np.array_equal(bilm.embed(SENTENCES)[0], before[0])


def test_weights_are_packed_once_for_each_precision():
    bilm = BiLM(PRESETS["tiny"])
    packed = bilm.weight_cache.layers(bilm, "float32")
    assert bilm.weight_cache.layers(bilm, "float32") is packed
    assert bilm.weight_cache.encoder(bilm) is bilm.weight_cache.encoder(bilm)
    assert bilm.weight_cache.layers(bilm, "int8") is not packed


def test_packed_weights_are_not_part_of_a_pickled_model():
    bilm = BiLM(PRESETS["tiny"])
    bilm.embed(SENTENCES)
    assert pickle.loads(pickle.dumps(bilm.weight_cache)).entries == {}  # noqa: S301
