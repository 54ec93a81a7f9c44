"""The character CNN for inference on a CPU against its reference."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from firth.neural.inference.cnn_cpu import CnnCpu, PackedLinear, interleave
from firth.neural.initialization import draw
from firth.neural.layers import CharacterCnn, Highway
from firth.runtime import Runtime


def make_cnn(**sizes) -> CharacterCnn:
    cnn = CharacterCnn(10, **({"character_dim": 4, "filters": ((1, 4), (2, 8), (3, 17)), "highways": 1} | sizes))
    draw(cnn, 7)
    rng = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for conv in cnn.filters:
            conv.bias.normal_(0, 0.2, generator=rng)
    return cnn


def test_words_of_every_length_have_the_vectors_of_the_reference():
    """Short words have windows of padding alone, words that are cut off have none."""
    cnn = make_cnn(filters=((1, 16), (4, 20), (7, 33)))
    words = ["x" * n for n in range(60)] + ["<S>", "</S>", "čaj", "漢字" * 9, "🙂"]
    with torch.inference_mode():
        expected = cnn(words)
    assert (CnnCpu(cnn)(words) - expected).abs().max() < 1e-6
    assert CnnCpu(cnn)([]).shape == (0, 10)


def test_a_word_has_the_same_bits_alone_and_among_others():
    encoder = CnnCpu(make_cnn(), Runtime(2))
    words = ["tea", "rain", "cup", "of", "The", "a", "the"]
    together = encoder(words)
    assert all(torch.equal(encoder([word])[0], vector) for word, vector in zip(words, together))


@pytest.mark.parametrize("sizes", [{"activation": "tanh"}, {"highways": 0}, {"filters": ((2, 10),)}], ids=str)
def test_other_architectures_have_the_vectors_of_the_reference(sizes):
    cnn = make_cnn(**sizes)
    with torch.inference_mode():
        expected = cnn(["tea", "rain", "", "<S>"])
    assert (CnnCpu(cnn)(["tea", "rain", "", "<S>"]) - expected).abs().max() < 1e-6


def test_a_packed_linear_layer_multiplies_and_adds_its_bias():
    rng = np.random.default_rng(1)
    weight, bias = rng.standard_normal((37, 16)).astype(np.float32), rng.standard_normal(37).astype(np.float32)
    x = rng.standard_normal((5, 16)).astype(np.float32)
    assert np.abs(PackedLinear(weight, bias)(x)[:, :37] - (x @ weight.T + bias)).max() < 1e-5


def test_transform_and_gate_alternate_in_groups_of_sixteen_rows():
    highway = Highway(20)
    nn.init.constant_(highway.transform.bias, 1.0)
    nn.init.constant_(highway.gate.bias, 2.0)
    weight, bias = interleave(highway)
    assert weight.shape == (64, 20)
    assert bias.tolist() == [1.0] * 16 + [2.0] * 16 + [1.0] * 4 + [0.0] * 12 + [2.0] * 4 + [0.0] * 12
