"""Words to vectors: every kind by itself, and several side by side."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.errors import OptionError
from firth.neural.bilm import BiLM
from firth.tasks.inputs import Embedding, Inputs, Sizes, build_inputs
from firth.tasks.sources import Sources
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

SENTENCES = [("A", "cup", "of", "tea"), ("rain",), (), ("cup", "of", "rain")]
VECTORS = WordVectors(["a", "cup", "tea", "Tea"], np.arange(12).reshape(4, 3) + 1)


@pytest.fixture
def sources(bilm: BiLM) -> Sources:
    return Sources((VECTORS,), bilm)


def test_all_kinds_stand_side_by_side(sources: Sources) -> None:
    embedding = Embedding(static="v", elmo="b", at="both", characters=7, words=5)
    inputs = Inputs(embedding, sources, Vocabulary(["cup", "of"]))
    text = inputs(SENTENCES)
    assert inputs.sizes == Sizes(input=3 + 5 + 7 + 32, extra=32)
    assert text.vectors.shape == (4, 4, 47)
    assert text.extra is not None
    assert text.extra.shape == (4, 4, 32)
    assert text.with_extra(torch.zeros(4, 4, 9)).shape == (4, 4, 41)
    assert text.lengths.tolist() == [4, 1, 0, 3]
    assert text.mask.sum(1).tolist() == [4, 1, 0, 3]


@pytest.mark.parametrize(
    "embedding",
    [
        Embedding(static="v", characters=4, words=3, tuned=True),
        Embedding(elmo="b", at="both"),
        Embedding(elmo="b", static="v", at="output", layers="top"),
        Embedding(elmo="b", fine_tune=True, layers=1),
    ],
    ids=["static", "both", "output", "fine-tuned"],
)
def test_a_sentence_has_the_same_vectors_in_any_company(embedding: Embedding, sources: Sources) -> None:
    used = sources if embedding.elmo else Sources((VECTORS,))
    inputs = Inputs(embedding, used, Vocabulary(["cup", "of", "tea"])).eval()
    together = inputs(SENTENCES)
    for row, words in enumerate(SENTENCES):
        alone = inputs([words])
        torch.testing.assert_close(together.vectors[row, : len(words)], alone.vectors[0, : len(words)])
        assert not together.vectors[row, len(words) :].any()
        if together.extra is not None and alone.extra is not None:
            torch.testing.assert_close(together.extra[row, : len(words)], alone.extra[0, : len(words)])
            assert not together.extra[row, len(words) :].any()


def test_a_mix_that_has_not_learnt_is_the_mean_of_the_layers(bilm: BiLM) -> None:
    text = Inputs(Embedding(elmo="b"), Sources(bilm=bilm)).eval()([SENTENCES[0]])
    expected = bilm.embed([SENTENCES[0]])[0]
    np.testing.assert_allclose(text.vectors[0].detach().numpy(), expected, atol=2e-3)  # the table has float16


def test_one_layer_can_be_asked_for(bilm: BiLM) -> None:
    every = bilm.embed([SENTENCES[0]], layers="all")[0]
    for layers, number in (("top", 2), (0, 0), (1, 1)):
        inputs = Inputs(Embedding(elmo="b", layers=layers), Sources(bilm=bilm)).eval()
        found = inputs([SENTENCES[0]]).vectors[0].detach().numpy()
        np.testing.assert_allclose(found, every[number], atol=2e-3)
    with pytest.raises(OptionError, match="layers 0 to 2"):
        Inputs(Embedding(elmo="b", layers=3), Sources(bilm=bilm))


def test_a_frozen_biLM_and_one_that_learns_say_the_same(bilm: BiLM) -> None:
    frozen, learning = (
        Inputs(Embedding(elmo="b", at="both", fine_tune=tune), Sources(bilm=bilm)).eval() for tune in (False, True)
    )
    one, other = frozen(SENTENCES), learning(SENTENCES)
    torch.testing.assert_close(one.vectors, other.vectors, atol=2e-3, rtol=0)
    assert not any(parameter.requires_grad for parameter in bilm.parameters())
    other.vectors.sum().backward()
    assert learning.bilm is not None
    assert all(parameter.grad is not None for parameter in learning.bilm.forward_layers.parameters())
    assert set(frozen.state()) == {f"mixes.{at}.{what}" for at in ("input", "output") for what in ("weights", "gamma")}
    assert any(name.startswith("bilm.encoder") for name in learning.state())


def test_the_penalty_is_that_of_all_mixes(bilm: BiLM) -> None:
    inputs = Inputs(Embedding(elmo="b", at="both", mix_decay=0.5), Sources(bilm=bilm))
    with torch.no_grad():
        for mix in inputs.mixes.values():
            mix.weights.copy_(torch.tensor([1.0, 2.0, 0.0]))
    assert inputs.penalty.item() == pytest.approx(2 * 0.5 * 5)
    assert inputs.shares["input"] == pytest.approx([0.2447, 0.6652, 0.0900], abs=1e-4)


def test_dropout_is_for_training_alone(bilm: BiLM) -> None:
    inputs = Inputs(Embedding(elmo="b", dropout=0.5), Sources(bilm=bilm))
    torch.manual_seed(1)
    dropped = (inputs.train()([SENTENCES[0]]).vectors == 0).float().mean()
    assert 0.3 < dropped < 0.7
    assert (inputs.eval()([SENTENCES[0]]).vectors == 0).float().mean() < 0.1


def test_tuned_vectors_begin_as_they_were_and_only_words_of_the_training_text_learn() -> None:
    inputs = build_inputs(Embedding(static="v", tuned=True), Sources((VECTORS,)), [("cup", "milk"), ("cup",)])
    before = inputs([("cup", "tea", "milk")]).vectors
    assert before[0].tolist() == [[4, 5, 6], [7, 8, 9], [0, 0, 0]]
    before.sum().backward()
    optimizer = torch.optim.SGD([one for one in inputs.parameters() if one.requires_grad], lr=1.0)
    optimizer.step()
    assert inputs([("cup", "tea", "milk")]).vectors[0].tolist() == [[3, 4, 5], [7, 8, 9], [-1, -1, -1]]


def test_words_learnt_from_nothing_share_a_vector_when_they_are_rare() -> None:
    inputs = build_inputs(Embedding(words=6), Sources(), [("to", "be", "or"), ("not", "to", "be")])
    assert set(inputs.vocabulary.words) == {"to", "be"}
    to, be, rare, new = inputs([("to", "be", "or", "never-seen")]).vectors[0]
    assert not torch.equal(to, be)
    assert torch.equal(rare, new)


def test_an_embedding_of_nothing_is_refused(bilm: BiLM) -> None:
    with pytest.raises(OptionError, match="the network's input has no vectors"):
        Inputs(Embedding())
    with pytest.raises(OptionError, match="the network's input has no vectors"):
        Inputs(Embedding(elmo="b", at="output"), Sources(bilm=bilm))
