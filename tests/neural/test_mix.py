"""The mix: by hand, as AllenNLP computes it, and as bilm-tf does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from firth.errors import OptionError
from firth.formats.registry import load
from firth.neural.mix import ScalarMix, normalize

SENTENCES = [["The", "first", "sentence", "."], ["The", "second"], ["Third"]]
LAYERS = torch.arange(24, dtype=torch.float32).reshape(3, 2, 4)


def read_expected(data: Path, name: str) -> np.ndarray:
    with np.load(data / "fixtures" / "elmo" / "derived" / "allennlp_2.10.1_expected.npz") as stored:
        return stored[name]


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("weights, gamma, name", [((0.1, 0.3, 0.5), 1.1, 0), ((0.2, 0.4, 0.6), 0.88, 1)])
def test_a_mix_is_that_of_allennlp(
    data: Path, normalized: bool, weights: tuple[float, ...], gamma: float, name: int
) -> None:
    bilm = load(data / "fixtures" / "elmo" / "allennlp")
    mix = ScalarMix(3, weights=weights, gamma=gamma, normalized=normalized)
    with torch.no_grad():
        layers, lengths, _ = bilm(SENTENCES)
        mask = torch.arange(layers.shape[2]) < lengths[:, None]
        found = mix(layers, mask).numpy()
    stored = read_expected(data, f"mix.ln{int(normalized)}.keep1.{name}")
    for row, length in enumerate(lengths.tolist()):
        assert np.abs(found[row, :length] - stored[row, :length]).max() < 2e-6
        inner = read_expected(data, f"mix.ln{int(normalized)}.keep0.{name}")[row, : length - 2]
        assert np.abs(found[row, 1 : length - 1] - inner).max() < 2e-6


def test_a_mix_of_one_layer_is_that_layer(data: Path) -> None:
    bilm = load(data / "fixtures" / "elmo" / "allennlp")
    stored = read_expected(data, "mix.only_layer1")
    for found, row in zip(bilm.embed(SENTENCES, layers=ScalarMix.of_layer(1, 3)), stored):
        assert np.abs(found - row[: len(found)]).max() < 2e-6
    assert torch.equal(ScalarMix.of_layer(2, 3)(LAYERS), LAYERS[2])


def test_bilm_tf_normalizes_without_the_marks_of_a_sentence(data: Path) -> None:
    bilm = load(data / "fixtures" / "elmo" / "bilm-tf" / "model")
    arrays = bilm.embed(SENTENCES, layers="all")
    words = np.concatenate(arrays, 1).astype(np.float64)  # all words of the batch, no <S> and </S>
    shares = np.exp([0.1, 0.3, 0.5]) / np.exp([0.1, 0.3, 0.5]).sum()
    flat = words.reshape(3, -1)
    scaled = (words - flat.mean(1)[:, None, None]) / np.sqrt(flat.var(1) + 1e-12)[:, None, None]
    by_hand = 1.1 * np.einsum("l,lnd->nd", shares, scaled)
    mix = ScalarMix(3, weights=(0.1, 0.3, 0.5), gamma=1.1, normalized=True)
    with torch.no_grad():
        found = mix(torch.from_numpy(words.astype(np.float32))).numpy()
    assert np.abs(found - by_hand).max() < 2e-6


def test_a_new_mix_is_the_mean_and_its_shares_sum_to_one() -> None:
    assert torch.allclose(ScalarMix(3)(LAYERS), LAYERS.mean(0))
    assert ScalarMix(3, weights=[5, -2, 0.5]).shares.sum().item() == pytest.approx(1)


def test_padding_has_no_part_in_the_normalization() -> None:
    layer, mask = LAYERS[0].clone(), torch.tensor([True, False])
    before = normalize(layer, mask)[0]
    layer[1] = 1e6
    assert torch.equal(normalize(layer, mask)[0], before)


def test_a_task_trains_the_mix_and_the_penalty_keeps_it_near_the_mean() -> None:
    mix = ScalarMix(3, weights=[1.0, 0.0, -2.0])
    assert mix.penalty(0.1).item() == pytest.approx(0.5)
    (mix(LAYERS).sum() + mix.penalty(0.1)).backward()
    assert mix.weights.grad is not None
    assert mix.weights.grad.abs().min() > 0
    assert mix.gamma.grad is not None
    assert not any(parameter.requires_grad for parameter in ScalarMix(3, trainable=False).parameters())
    assert not ScalarMix.of_layer(0, 3).weights.requires_grad


def test_dropout_is_for_training_only() -> None:
    mix = ScalarMix(3, dropout=0.5)
    ones = torch.ones(3, 50, 50)
    assert (mix(ones) == 0).any()
    assert torch.allclose(mix.eval()(ones), torch.ones(50, 50))


def test_an_impossible_mix_is_refused() -> None:
    with pytest.raises(OptionError, match="as many weights"):
        ScalarMix(3, weights=[1, 2])
    with pytest.raises(OptionError, match="0 to 2"):
        ScalarMix.of_layer(3, 3)
    with pytest.raises(OptionError, match="got 3"):
        ScalarMix(2)(LAYERS)


def test_a_notebook_shows_the_shares_of_the_layers() -> None:
    page = ScalarMix(3, weights=[0.0, 0.0, 0.0], gamma=0.5)._repr_html_()
    assert page.count("0.3333") == 3
    assert "γ = 0.5" in page
