"""The softmax of a language model: losses and gradients against their formulas, and the laws of sampling."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from firth.neural import device
from firth.neural.adaptive_softmax import AdaptiveSoftmax
from firth.neural.softmax import FullSoftmax, SampledSoftmax, draw_words, expected_counts

DIM, WORDS, PLACES = 5, 23, 40


def draw_inputs(words: int = WORDS, places: int = PLACES) -> tuple[nn.Linear, Tensor, Tensor]:
    torch.manual_seed(1)
    linear = nn.Linear(DIM, words).double()
    hidden = torch.randn(places, DIM, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, words, (places,))
    targets[::7] = -1
    return linear, hidden, targets


@pytest.fixture(autouse=True)
def limit_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "CPU", replace(device.CPU, logits=64))  # a few places at a time


def compute_cross_entropy(linear: nn.Linear, hidden: Tensor, targets: Tensor) -> Tensor:
    there = targets >= 0
    return nn.functional.cross_entropy(linear(hidden[there]), targets[there])


def densify(tensors: list[Tensor]) -> list[Tensor]:
    return [one.to_dense() if one.is_sparse else one for one in tensors]


def test_the_full_softmax_has_the_loss_and_the_gradients_of_its_formula() -> None:
    linear, hidden, targets = draw_inputs()
    inside = [hidden, linear.weight, linear.bias]
    expected, found = compute_cross_entropy(linear, hidden, targets), FullSoftmax(linear).loss(hidden, targets)
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    for one, other in zip(torch.autograd.grad(expected * 3, inside), torch.autograd.grad(found * 3, inside)):
        assert torch.allclose(one, other, atol=1e-12)


def test_the_full_softmax_never_holds_a_table_of_text_and_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    largest = 0
    true_exp = Tensor.exp_

    def record_size(self: Tensor) -> Tensor:
        nonlocal largest
        largest = max(largest, self.numel())
        return true_exp(self)

    monkeypatch.setattr(Tensor, "exp_", record_size)
    linear, hidden, targets = draw_inputs(words=30, places=500)
    FullSoftmax(linear).loss(hidden, targets).backward()
    assert 0 < largest <= 64


def compute_sampled_loss(linear: nn.Linear, hidden: Tensor, targets: Tensor, drawn: np.ndarray, tries: int) -> Tensor:
    """As the original: every logit less the logarithm of its expected count, and a drawn target counted once."""
    words = len(linear.weight)
    chance = np.log((np.arange(words) + 2) / (np.arange(words) + 1)) / math.log(words + 1)
    counts = torch.tensor(1 - (1 - chance) ** tries).log()
    losses = []
    for h, target in zip(hidden, targets.tolist()):
        if target < 0:
            continue
        logits = linear(h) - counts
        others = [word for word in drawn.tolist() if word != target]
        losses.append(torch.logsumexp(torch.stack([logits[target], *logits[others]]), 0) - logits[target])
    return torch.stack(losses).mean()


def test_the_sampled_softmax_has_the_loss_and_the_gradients_of_its_formula() -> None:
    linear, hidden, targets = draw_inputs()
    softmax = SampledSoftmax(linear, negatives=6, seed=3)
    drawn, tries = draw_words(WORDS, 6, (3, 17))
    expected = compute_sampled_loss(linear, hidden, targets, drawn, tries)
    found = softmax.loss(hidden, targets, step=17)
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    inside = [hidden, linear.weight, linear.bias]
    plainly = torch.autograd.grad(expected * 3, inside)
    for one, other in zip(plainly, densify(list(torch.autograd.grad(found * 3, inside)))):
        assert torch.allclose(one, other, atol=1e-6)


def test_the_gradient_of_the_sampled_softmax_has_rows_for_its_words_alone() -> None:
    linear, hidden, _ = draw_inputs(words=1000)
    targets = torch.arange(PLACES) % 10
    SampledSoftmax(linear, negatives=20).loss(hidden, targets).backward()
    assert linear.weight.grad is not None
    assert linear.weight.grad.is_sparse
    rows = set(linear.weight.grad.coalesce().indices()[0].tolist())
    assert rows == set(range(10)) | set(draw_words(1000, 20, (1, 0))[0].tolist())


def test_words_are_drawn_once_each_and_as_often_as_expected() -> None:
    words, wanted, draws = 50, 12, 4000
    seen = np.zeros(words)
    total = np.zeros(words)
    for step in range(draws):
        drawn, tries = draw_words(words, wanted, (1, step))
        assert len(set(drawn.tolist())) == len(drawn) == wanted
        seen[drawn] += 1
        total += expected_counts(torch.arange(words), tries, words).numpy()
    assert np.abs(seen - total).max() < 5 * math.sqrt(draws / 4)


def test_the_sampled_softmax_nears_the_full_one_when_nearly_all_words_are_drawn() -> None:
    linear, hidden, targets = draw_inputs()
    every = SampledSoftmax(linear, negatives=WORDS - 1)
    losses = [every.loss(hidden, targets, step).item() for step in range(20)]
    assert np.mean(losses) == pytest.approx(compute_cross_entropy(linear, hidden, targets).item(), rel=0.03)


def test_the_more_is_drawn_the_nearer_its_gradient_is_to_the_full_one() -> None:
    linear, hidden, targets = draw_inputs(words=200, places=300)
    full = torch.autograd.grad(FullSoftmax(linear).loss(hidden, targets), hidden)[0]

    def distance(negatives: int) -> float:
        softmax = SampledSoftmax(linear, negatives)
        mean = torch.stack([torch.autograd.grad(softmax.loss(hidden, targets, k), hidden)[0] for k in range(25)]).mean(
            0
        )
        return float((mean - full).norm() / full.norm())

    assert distance(100) < 0.5 * distance(8)


@pytest.mark.parametrize("kind", ["full", "sampled", "adaptive"])
def test_probabilities_are_exact_and_sum_to_one(kind: str) -> None:
    linear, hidden, targets = draw_inputs()
    softmax = {
        "full": FullSoftmax(linear),
        "sampled": SampledSoftmax(linear, 3),
        "adaptive": AdaptiveSoftmax(DIM, WORDS, (6,)).double(),
    }[kind]
    with torch.no_grad():
        every = torch.stack([softmax.log_prob(hidden, torch.full((PLACES,), word)) for word in range(WORDS)])
        assert torch.allclose(every.double().exp().sum(0), torch.ones(PLACES, dtype=torch.float64), atol=1e-5)
        found = softmax.log_prob(hidden, targets)
        assert found[::7].tolist() == [0] * len(found[::7])
        assert torch.allclose(found[1:7], every[targets[1:7], range(1, 7)], atol=1e-6)


def test_without_a_target_loss_and_gradient_are_zero() -> None:
    linear, hidden, _ = draw_inputs()
    for softmax in (FullSoftmax(linear), SampledSoftmax(linear, 3), AdaptiveSoftmax(DIM, WORDS, (6,)).double()):
        loss = softmax.loss(hidden, torch.full((PLACES,), -1))
        assert loss.item() == 0
        assert torch.autograd.grad(loss, hidden)[0].abs().max() == 0


def test_half_precision_gives_the_same_loss_nearly() -> None:
    linear, hidden, targets = draw_inputs()
    linear = linear.float()
    for softmax in (FullSoftmax(linear), SampledSoftmax(linear, 6)):
        exact = softmax.loss(hidden.detach().float(), targets)
        narrow = hidden.detach().bfloat16().requires_grad_()
        rough = softmax.loss(narrow, targets)
        assert rough.dtype == torch.float32
        assert rough.item() == pytest.approx(exact.item(), rel=0.02)
        rough.backward()
        assert narrow.grad is not None
        assert narrow.grad.dtype == torch.bfloat16
        assert linear.weight.grad is not None
        assert linear.weight.grad.dtype == torch.float32
        linear.weight.grad = linear.bias.grad = None
