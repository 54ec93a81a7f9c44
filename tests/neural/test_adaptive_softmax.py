"""The adaptive softmax: its loss against its formula, and its probabilities by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from firth.neural import device
from firth.neural.adaptive_softmax import AdaptiveSoftmax, default_cutoffs

DIM, WORDS, PLACES = 5, 23, 40


@pytest.fixture(autouse=True)
def limit_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "CPU", replace(device.CPU, logits=64))  # a few rows at a time


def draw_hidden() -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    hidden = torch.randn(PLACES, DIM, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, WORDS, (PLACES,))
    targets[::7] = -1
    return hidden, targets


def test_the_adaptive_softmax_has_the_loss_and_the_gradients_of_its_formula() -> None:
    hidden, targets = draw_hidden()
    softmax = AdaptiveSoftmax(DIM, WORDS, cutoffs=(6, 14)).double()
    inside = [hidden, *softmax.parameters()]
    there = targets >= 0
    expected = -softmax(hidden)[there, targets[there]].mean()
    found = softmax.loss(hidden, targets)
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    for one, other in zip(torch.autograd.grad(expected * 3, inside), torch.autograd.grad(found * 3, inside)):
        assert torch.allclose(one, other, atol=1e-7)


def test_a_rare_word_has_the_probability_of_its_cluster_times_its_own_within_the_cluster() -> None:
    softmax = AdaptiveSoftmax(DIM, WORDS, cutoffs=(6, 14)).double()
    hidden, _ = draw_hidden()
    with torch.no_grad():
        head = softmax.head(hidden).softmax(-1)
        tail = softmax.tails[1](softmax.narrow[1](hidden)).softmax(-1)
        found = softmax.log_prob(hidden, torch.full((PLACES,), 20)).exp()
    assert torch.allclose(found.double(), head[:, 6 + 1] * tail[:, 20 - 14], atol=1e-6)


def test_frequent_words_have_their_own_column_of_the_head_and_rare_ones_that_of_their_cluster() -> None:
    softmax = AdaptiveSoftmax(DIM, WORDS, cutoffs=(6, 14))
    assert softmax.in_head(torch.tensor([0, 5, 6, 13, 14, 22, -1])).tolist() == [0, 5, 6, 6, 7, 7, -1]


@pytest.mark.parametrize("words", [2, 3, 99, 100, 1000])
def test_default_cutoffs_leave_no_cluster_empty(words: int) -> None:
    edges = (0, *default_cutoffs(words), words)
    assert list(edges) == sorted(set(edges))
