"""Words to vectors: every kind by itself, several side by side, and the table that spares the biLM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from firth.errors import OptionError
from firth.formats.registry import save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.tasks.frozen import FrozenLayers
from firth.tasks.inputs import Embedding, Inputs, Sizes, build_inputs
from firth.tasks.sources import Sources, is_bilm
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

SENTENCES = [("A", "cup", "of", "tea"), ("rain",), (), ("cup", "of", "rain")]
VECTORS = WordVectors(["a", "cup", "tea", "Tea"], np.arange(12).reshape(4, 3) + 1)


@pytest.fixture(scope="module")
def bilm() -> BiLM:
    return BiLM(Architecture.named("tiny"), seed=3)


@pytest.fixture
def sources(bilm: BiLM) -> Sources:
    return Sources((VECTORS,), bilm)


def test_static_vectors_are_tried_in_small_letters_and_else_zero() -> None:
    text = Inputs(Embedding(static="v"), Sources((VECTORS,)))([("A", "Tea", "milk")])
    assert text.vectors[0].tolist() == [[1, 2, 3], [10, 11, 12], [0, 0, 0]]


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
    with pytest.raises(OptionError, match="words become nothing"):
        Inputs(Embedding())
    with pytest.raises(OptionError, match="words become nothing"):
        Inputs(Embedding(elmo="b", at="output"), Sources(bilm=bilm))


def test_names_are_told_apart_by_what_they_hold(tmp_path: Path, bilm: BiLM) -> None:
    save(VECTORS, tmp_path / "vectors")
    save(VECTORS, tmp_path / "more.txt")
    save(bilm, tmp_path / "bilm")
    assert is_bilm(str(tmp_path / "bilm"))
    embedding = Embedding.of(f"{tmp_path}/vectors+{tmp_path}/bilm+{tmp_path}/more.txt", at="both")
    assert embedding.elmo == str(tmp_path / "bilm")
    assert embedding.static == f"{tmp_path}/vectors+{tmp_path}/more.txt"
    assert Inputs(embedding).sizes == Sizes(3 + 3 + 32, 32)
    with pytest.raises(OptionError, match="two biLMs"):
        Embedding.of(f"{tmp_path}/bilm+{tmp_path}/bilm")
    with pytest.raises(OptionError, match="no such file"):
        Embedding.of("no-such-vectors")


def test_each_sentence_is_read_once(bilm: BiLM) -> None:
    frozen = FrozenLayers(bilm)
    first = frozen.of(SENTENCES)
    assert frozen.words_read == 8
    again = frozen.of(SENTENCES[::-1])
    assert frozen.words_read == 8
    assert torch.equal(first, again.flip(0))


@pytest.mark.parametrize("rows", [0, 1, 5, 7, 100])
def test_the_room_changes_nothing_but_what_is_read_again(rows: int, bilm: BiLM) -> None:
    expected = FrozenLayers(bilm).of(SENTENCES)
    frozen = FrozenLayers(bilm, room=rows * 2 * 3 * 32)
    frozen.read_ahead(SENTENCES)
    for _ in range(2):
        assert torch.equal(frozen.of(SENTENCES), expected)
    assert len(frozen.table) <= max(1, rows)
    assert (frozen.words_read == 8) == (rows >= 9)


def test_the_order_of_reading_changes_nothing(bilm: BiLM) -> None:
    rng = np.random.default_rng(1)
    words = ["w" * (1 + n % 7) + str(n) for n in range(40)]
    sentences = [tuple(rng.choice(words, rng.integers(0, 12)).tolist()) for _ in range(60)]
    one, other = FrozenLayers(bilm), FrozenLayers(bilm)
    one.read_ahead(sentences)
    for start in range(0, 60, 7):
        assert torch.equal(other.of(sentences[start : start + 7]), one.of(sentences[start : start + 7]))


def test_fingerprints_tell_models_apart(bilm: BiLM) -> None:
    changed = np.arange(12).reshape(4, 3) + 1.0
    changed[2, 1] += 1e-3
    prints = [
        Sources((VECTORS,)).fingerprints(),
        Sources((WordVectors(["a", "cup", "tea", "Tea"], changed),)).fingerprints(),
        Sources((WordVectors(["a", "cap", "tea", "Tea"], VECTORS.matrix),)).fingerprints(),
        Sources(bilm=bilm).fingerprints(),
        Sources(bilm=BiLM(Architecture.named("tiny"), seed=4)).fingerprints(),
    ]
    assert len({str(one) for one in prints}) == len(prints)


def test_short_vectors_are_stretched_by_one_factor_if_that_is_asked_for(tmp_path):
    short = WordVectors(["tea", "rain"], np.array([[0.03, 0.04], [0.0, 0.05]], np.float32))
    save(short, tmp_path / "short")
    plain, longer = (
        Inputs(Embedding(static=str(tmp_path / "short"), stretched=stretched))([["tea", "rain", "milk"]]).vectors[0]
        for stretched in (False, True)
    )
    assert torch.allclose(longer, plain * (2**0.5 / 0.05))
    assert torch.allclose(longer[:2].square().mean(), torch.ones(()))
    assert not longer[2].any()
