"""Embedding: the stored numbers of other programs, and the same vectors in any batch."""

from __future__ import annotations

import functools
import json
import random
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.formats.registry import load
from firth.neural import device
from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.neural.mix import ScalarMix
from firth.progress import Progress

MODELS = {"allennlp": "sentences.json", "bilm-tf/model": "lm_embeddings_sentences.json"}
WORDS = ["tea", "rain", "the", "", "<S>", "x" * 60, "\ud800", "😀", "naïve", "日本語", "\x00\x07"]


@functools.cache
def make_tiny() -> BiLM:
    return BiLM(PRESETS["tiny"])


def read_sentences(data: Path, model: str) -> list[list[str]]:
    """The thirty sentences in the order of the stored numbers: ten batches of three."""
    rows = json.loads((data / "fixtures" / "elmo" / model / MODELS[model]).read_text())
    return [rows[row][batch].split() for batch in range(10) for row in range(3)]


def read_stored(data: Path, name: str) -> np.ndarray:
    with np.load(data / "fixtures" / "elmo" / "derived" / "allennlp_2.10.1_expected.npz") as arrays:
        return arrays[name][:, 1:-1]


@pytest.mark.parametrize("model", MODELS)
def test_batches_in_turn_give_the_numbers_of_the_originals(data: Path, model: str) -> None:
    bilm = load(data / "fixtures" / "elmo" / model)
    arrays, _ = bilm.embed(read_sentences(data, model), layers="top", stateful=True, batch_size=3)
    for row in range(3):
        with h5py.File(data / "fixtures" / "elmo" / model / f"lm_embeddings_{row}.hdf5") as file:
            for batch in range(10):
                expected = np.concatenate(list(file[str(batch)][()]), 1)
                assert np.abs(arrays[3 * batch + row] - expected).max() < 2e-6


def test_every_layer_is_that_of_allennlp_with_and_without_a_carried_state(data: Path) -> None:
    bilm, sentences = load(data / "fixtures" / "elmo" / "allennlp"), read_sentences(data, "allennlp")
    carried, _ = bilm.embed(sentences, layers="all", stateful=True, batch_size=3)
    fresh = bilm.embed(sentences, layers="all")
    for place in range(30):
        batch, row = divmod(place, 3)
        assert np.abs(carried[place] - read_stored(data, f"stateful.{batch}.{row}")).max() < 2e-6
        assert np.abs(fresh[place] - read_stored(data, f"reset.{batch}.{row}")).max() < 2e-6


def test_a_returned_state_continues_the_run(data: Path) -> None:
    bilm, sentences = load(data / "fixtures" / "elmo" / "bilm-tf" / "model"), read_sentences(data, "bilm-tf/model")
    whole, last = bilm.embed(sentences, stateful=True, batch_size=3)
    first, state = bilm.embed(sentences[:12], stateful=True, batch_size=3)
    rest, end = bilm.embed(sentences[12:], stateful=True, batch_size=3, state=state)
    for one, other in zip(whole, first + rest):
        assert np.array_equal(one, other)
    assert torch.equal(last.cell, end.cell)


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@settings(max_examples=25)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=8), st.integers(1, 60), st.randoms())
def test_a_sentence_has_the_same_vectors_in_any_batch(
    sentences: list[list[str]], budget: int, rng: random.Random
) -> None:
    order = rng.sample(range(len(sentences)), len(sentences))
    together = make_tiny().embed([sentences[place] for place in order], layers="all", batch_tokens=budget)
    with torch.no_grad():
        for place, found in zip(order, together):
            (alone,) = make_tiny().embed([sentences[place]], layers="all")
            reference = make_tiny()([sentences[place]])[0][:, 0, 1:-1].numpy()
            assert found.shape == (3, len(sentences[place]), 32)
            assert np.abs(found - alone).max(initial=0) <= 1e-6
            assert np.abs(found - reference).max(initial=0) <= 1e-6


@pytest.mark.parametrize("pooling", ["mean", "max", "first-last"])
def test_a_sentence_vector_never_sees_padding(pooling: str) -> None:
    sentences = [["tea"], ["rain"] * 30, ["the", "rain"], []]
    for layers, shape in (("all", (3, 32)), ("mix", (32,)), (1, (32,))):
        together = make_tiny().embed(sentences, layers=layers, pooling=pooling)
        for sentence, found in zip(sentences, together):
            (words,) = make_tiny().embed([sentence], layers=layers)
            if not sentence:
                expected = np.zeros(shape)
            elif pooling == "first-last":
                expected = np.concatenate([words[..., -1, :16], words[..., 0, 16:]], -1)
            else:
                expected = getattr(np, pooling)(words, axis=-2)
            assert found.shape == shape
            assert np.abs(found - expected).max() <= 1e-6


def test_layers_are_chosen_by_name_by_number_and_by_mix() -> None:
    (every,) = make_tiny().embed([["tea", "rain"]], layers="all")
    for layer in range(3):
        (found,) = make_tiny().embed([["tea", "rain"]], layers=layer)
        assert np.array_equal(found, every[layer])
    mix = ScalarMix(3, weights=[0.1, 0.2, 0.3], gamma=2.0, dropout=0.5)  # a mix in training still drops nothing here
    shares = np.exp([0.1, 0.2, 0.3]) / np.exp([0.1, 0.2, 0.3]).sum()
    expected = {"mix": every.mean(0), "top": every[2], 0: every[0], 1: every[1], 2: every[2]}
    for layers, array in [*expected.items(), (mix, 2 * np.einsum("l,lnd->nd", shares, every))]:
        (found,) = make_tiny().embed([["tea", "rain"]], layers=layers)
        assert found.dtype == np.float32
        assert np.allclose(found, array, atol=1e-6)


def test_text_is_cut_into_words_as_one_sentence() -> None:
    text, words = make_tiny().embed(["It's late. Go!", ["It", "'s", "late", ".", "Go", "!"]])
    assert np.array_equal(text, words)


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_odd_sentences_and_long_ones_work() -> None:
    empty, long_word, odd = make_tiny().embed([[], ["x" * 100_000], WORDS], layers="all")
    assert empty.shape == (3, 0, 32)
    assert np.allclose(long_word[0], make_tiny().embed([["x" * 48]], layers="all")[0][0], atol=1e-6)
    assert np.isfinite(odd).all()
    assert make_tiny().embed([]) == []
    (long,) = make_tiny().embed([["tea", "rain"] * 5000], layers="top")
    assert long.shape == (10_000, 32)
    (short,) = make_tiny().embed([["tea", "rain"] * 100], layers="top")
    assert np.abs(long[:50, :16] - short[:50, :16]).max() <= 1e-6


def test_arrays_do_not_hold_on_to_their_batch() -> None:
    for array in make_tiny().embed([["tea"], ["rain", "fell"]], layers="top"):
        assert array.base is None or array.base.nbytes == array.nbytes


@pytest.mark.parametrize("layers", ["mix", "all", "top", 1])
@pytest.mark.parametrize("pooling", [None, "mean"])
@pytest.mark.parametrize("ahead", [0, 2])
def test_blocks_have_the_arrays_of_their_sentences_however_many_are_begun_ahead(
    monkeypatch: pytest.MonkeyPatch, layers: object, pooling: object, ahead: int
) -> None:
    monkeypatch.setattr(device, "CPU", replace(device.CPU, batches_ahead=ahead))
    blocks = [[["tea", "and", "rain"], [], ["tea"]], [], [["rain"] * 7, ["fog"]], [["tea"]]]
    choices = {"layers": layers, "pooling": pooling, "batch_tokens": 9}
    found = list(make_tiny().embed_blocks(iter(blocks), **choices))
    assert [len(arrays) for arrays in found] == [3, 0, 2, 1]
    for block, arrays in zip(blocks, found):
        wanted = make_tiny().embed(block, layers=layers, pooling=pooling)
        assert [array.shape for array in arrays] == [array.shape for array in wanted]
        assert all(np.abs(a - b).max(initial=0) <= 1e-6 for a, b in zip(arrays, wanted))


@pytest.mark.parametrize("pooling", [None, "max"])
def test_float16_is_float32_rounded(pooling: object) -> None:
    sentences = [["tea", "and", "rain"], [], ["fog"]]
    for layers in ("all", "mix"):
        wide = make_tiny().embed(sentences, layers=layers, pooling=pooling)
        half = make_tiny().embed(sentences, layers=layers, pooling=pooling, dtype="float16")
        assert all(array.dtype == np.float16 for array in half)
        assert all(np.array_equal(a.astype(np.float16), b) for a, b in zip(wide, half))


@pytest.mark.parametrize("pooling", [None, "mean"])
def test_a_number_too_large_for_float16_is_an_error(pooling: object) -> None:
    mix = ScalarMix(3, gamma=1e9)
    with pytest.raises(OptionError, match="too large for float16"):
        make_tiny().embed([["tea"]], layers=mix, pooling=pooling, dtype="float16")


def test_results_of_inference_mode_can_be_used_in_training() -> None:
    bilm = BiLM(PRESETS["tiny"])
    with torch.inference_mode():
        bilm.embed([["tea"]])
    bilm.embed([["rain"]])
    _, state = bilm.embed([["tea", "and", "rain"]], stateful=True)
    layers, _, _ = bilm([["tea"]], state)
    layers.sum().backward()


def test_progress_counts_every_token_once() -> None:
    seen: list[Progress] = []
    make_tiny().embed([["tea"], ["rain", "fell"], []], batch_tokens=4, report=seen.append)
    assert (seen[-1].done, seen[-1].total) == (3, 3)


@pytest.mark.parametrize(
    "wrong, problem",
    [
        ({"layers": 3}, "from 0 to 2"),
        ({"layers": -1}, "from 0 to 2"),
        ({"layers": "bottom"}, "'mix', 'all', 'top'"),
        ({"layers": True}, "must be"),
        ({"layers": ScalarMix(2)}, "this biLM has 3"),
        ({"layers": ScalarMix(3, normalized=True)}, "Run the batch yourself"),
        ({"pooling": "sum"}, "'mean', 'max', 'first-last'"),
        ({"precision": "float8"}, "float32"),
        ({"dtype": "float64"}, "float16"),
        ({"batch_tokens": 0}, "at least 1"),
        ({"stateful": True, "batch_size": 0}, "at least 1"),
        ({"state": "old"}, "must be a BiLMState"),
    ],
)
def test_impossible_options_are_refused(wrong: dict[str, object], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        make_tiny().embed([["tea"]], **wrong)  # type: ignore[call-overload]
