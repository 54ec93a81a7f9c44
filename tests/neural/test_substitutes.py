"""The words that a biLM predicts at a place."""

from __future__ import annotations

import torch

from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.substitutes import Substitutes, shift_states
from firth.text.vocabulary import Vocabulary


def test_states_at_the_ends_of_sentences_are_zero() -> None:
    shifted = shift_states(torch.ones(2, 3, 4), [3])
    assert shifted[0].tolist() == [[0, 0, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]]


def test_substitutes_are_the_words_that_fit_on_both_sides() -> None:
    weight = torch.tensor([[8.0, 0.0], [0.0, 8.0], [-8.0, -8.0]])
    fits = Substitutes(("a", "b", "c"), weight, torch.zeros(3), torch.eye(3))
    found = fits(torch.tensor([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]))
    assert found.argmax(1).tolist()[:2] == [0, 1]
    assert torch.allclose(found[2], torch.full((3,), 1 / 3))


def test_a_bilm_without_a_full_softmax_has_no_substitutes() -> None:
    assert Substitutes.of(BiLM(Architecture.named("tiny"))) is None


def test_substitutes_are_content_words_of_the_softmax_with_their_probabilities() -> None:
    words = [*(f"w{number}" for number in range(152)), "?"]
    bilm = BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(words, range(153, 0, -1)))
    found = Substitutes.of(bilm)
    assert found is not None
    assert found.words == ("w150", "w151")  # 150 words are frequent, and "?" has no letter
    states = torch.randn(3, 32, generator=torch.Generator().manual_seed(1))
    likely = found.probabilities(states)
    assert torch.allclose(likely.sum(1), torch.ones(3))
    assert torch.allclose(found(states), likely @ found.vectors)
    weight, bias = bilm.softmax.weight[[150, 151]], bilm.softmax.bias[[150, 151]]
    both = (states[:, :16] + states[:, 16:]) @ weight.T + 2 * bias - torch.log(torch.tensor([4.0, 3.0]))
    assert torch.allclose(likely, (both / 2).softmax(1), atol=1e-6)
