"""The LSTM layers for inference on a CPU against the reference, in any batch, order and number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.neural.bilm import Architecture, BiLM
from firth.neural.inference import lstm_cpu
from firth.neural.inference.lstm_cpu import LayersCpu
from firth.neural.layers import CharacterCnn
from firth.runtime import Runtime

TINY = {"character_dim": 4, "filters": ((1, 4), (2, 8), (3, 17)), "highways": 1, "cell": 24, "dim": 10}
SENTENCES = [["A", "cup", "of", "tea"], ["Rain"], [], ["the", "tea", "of", "the", "rain", "the", "rain"], ["A", "cup"]]


def make_bilm(**changes) -> BiLM:
    """A small biLM with weights as large as those of a trained one."""
    bilm = BiLM(Architecture(**(TINY | changes)))
    rng = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for layer in (*bilm.forward_layers, *bilm.backward_layers):
            layer.input *= 3
            layer.bias += torch.randn(layer.bias.shape, generator=rng) / 2
            if layer.norm is not None:
                layer.norm.weight.uniform_(0.5, 1.5, generator=rng)
                layer.norm.bias.normal_(0, 0.1, generator=rng)
        if isinstance(bilm.encoder, CharacterCnn):
            for conv in bilm.encoder.filters:
                conv.bias.normal_(0, 0.2, generator=rng)
    return bilm


def run_reference(bilm: BiLM, sentences) -> list[np.ndarray]:
    """All layers of each sentence, without <S> and </S>, by the reference."""
    with torch.inference_mode():
        layers, lengths, _ = bilm(sentences)
    return [layers[:, row, 1 : length - 1].numpy() for row, length in enumerate(lengths.tolist())]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"skip": False},
        {"normalized": True},
        {"cell": 16, "dim": 16},
        {"layers": 3, "cell": 40, "dim": 70},
        {"layers": 1, "cell_clip": 0.0, "projection_clip": 0.0},
        {"cell_clip": 0.3, "projection_clip": 0.2},
        {"activation": "tanh", "highways": 0},
        {"filters": ((1, 3), (2, 7)), "highways": 2, "dim": 10},
        {"encoder": "character-rnn", "character_cell": 5},
    ],
    ids=str,
)
def test_every_architecture_has_the_numbers_of_the_reference(changes):
    bilm = make_bilm(**changes)
    for found, expected in zip(bilm.embed(SENTENCES, layers="all"), run_reference(bilm, SENTENCES)):
        assert found.shape == expected.shape
        assert np.abs(found - expected).max(initial=0) < 1e-6


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_a_sentence_has_the_same_bits_alone_and_in_any_batch_or_order(precision):
    bilm = make_bilm()
    together = bilm.embed(SENTENCES, layers="all", precision=precision)
    for words, found in zip(SENTENCES, together):
        assert np.array_equal(found, bilm.embed([words], layers="all", precision=precision)[0])
    backwards = bilm.embed(SENTENCES[::-1], layers="all", precision=precision, batch_tokens=5)
    assert all(np.array_equal(one, other) for one, other in zip(together, backwards[::-1]))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 5), st.integers(1, 8))
def test_groups_threads_and_tables_change_nothing(lengths, threads, together):
    bilm, count = make_bilm(), sum(lengths)
    rng = np.random.default_rng(3)
    vectors, words = torch.from_numpy(rng.standard_normal((5, 10)).astype(np.float32)), rng.integers(0, 5, count)
    expected = LayersCpu(bilm, runtime=Runtime(1)).run(vectors, lengths, words)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(lstm_cpu, "TOGETHER", together)
        changed.setattr(lstm_cpu, "TABLE", 0)
        changed.setattr(lstm_cpu, "AHEAD", together)
        found = LayersCpu(bilm, runtime=Runtime(threads)).run(vectors[words], lengths)
    assert found.shape == (3, count, 20)
    assert torch.equal(found, expected)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_first_layers_alone_have_the_bits_of_all_layers(depth, monkeypatch):
    bilm, lengths, ran = make_bilm(), [4, 3], []
    vectors = torch.from_numpy(np.random.default_rng(3).standard_normal((7, 10)).astype(np.float32))
    expected = LayersCpu(bilm).run(vectors, lengths)
    run_lstm = lstm_cpu.LstmCpu.run
    monkeypatch.setattr(lstm_cpu.LstmCpu, "run", lambda *given: ran.append(1) or run_lstm(*given))
    assert torch.equal(LayersCpu(bilm).run(vectors, lengths, depth=depth), expected[: depth + 1])
    assert len(ran) == 2 * depth  # the layers above cost nothing


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_lower_precisions_keep_the_direction_of_vectors_and_the_words_vectors_exactly(precision):
    bilm = make_bilm(cell=128, dim=32)
    exact = np.concatenate(bilm.embed(SENTENCES, layers="all"), axis=1)
    rounded = np.concatenate(bilm.embed(SENTENCES, layers="all", precision=precision), axis=1)
    assert np.array_equal(rounded[0], exact[0])
    assert not np.array_equal(rounded[1], exact[1])
    cosines = (rounded * exact).sum(-1) / np.linalg.norm(rounded, axis=-1) / np.linalg.norm(exact, axis=-1)
    assert cosines.min() > 0.999


def test_a_sentence_of_ten_thousand_words_runs_in_bounded_memory(monkeypatch):
    bilm = make_bilm()
    monkeypatch.setattr(lstm_cpu, "TABLE", 1 << 16)
    long = [f"w{k % 3000}" for k in range(10_000)]
    found = bilm.embed([long], layers="all")[0]
    assert found.shape == (3, 10_000, 20)
    assert np.isfinite(found).all()
    near = run_reference(bilm, [long[:50]])[0]
    assert np.abs(found[:2, :50, :10] - near[:2, :, :10]).max() < 1e-6  # forward states do not depend on later words
