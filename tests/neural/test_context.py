"""The context of a word as a vector: what it sees, what it does not see, and how well it tells senses apart."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import firth
from firth.bulk.index import index_file
from firth.errors import OptionError
from firth.neural import context
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.context import ContextVectors, average_contexts
from firth.probes.bag import BagReader
from firth.probes.readers import load_vectors
from firth.probes.separation import (
    list_spans,
    read_sense_table,
    separate_layers,
    separate_words,
    summarize_separations,
)
from firth.text.vocabulary import Vocabulary

WORDS = Vocabulary(["<S>", "</S>", "<UNK>", *(f"w{number}" for number in range(400))], range(403, 0, -1))


@pytest.fixture(scope="module")
def tiny() -> BiLM:
    return BiLM(Architecture.named("tiny"), vocabulary=WORDS, seed=3)


@pytest.fixture(scope="module")
def elmo() -> BiLM:
    return firth.load("elmo-en")


def make_sentences(rng: random.Random) -> list[list[str]]:
    return [[rng.choice(WORDS.words) for _ in range(rng.randrange(12))] for _ in range(30)]


@pytest.mark.parametrize("budget", [1, 40, 4000])
def test_a_sentence_has_the_same_bits_in_any_batch(tiny: BiLM, budget: int) -> None:
    sentences = make_sentences(random.Random(budget))
    together = tiny.embed(sentences, layers="context", batch_tokens=budget)
    [blocks] = tiny.embed_blocks([sentences], layers="context", batch_tokens=budget)
    for sentence, found, shared in zip(sentences, together, blocks):
        (alone,) = tiny.embed([sentence], layers="context")
        assert found.shape == (len(sentence), 32)
        assert np.array_equal(found, alone)
        assert np.array_equal(shared, alone)


def test_the_shipped_model_has_the_same_bits_in_any_batch(elmo: BiLM) -> None:
    sentences = [
        ["Rain"],
        ["They", "tied", "the", "boat", "to", "the", "bank", "."],
        ["Ducks", "slept", "on", "the", "muddy", "bank", "."],
    ]
    together = elmo.embed(sentences * 3, layers="context")
    for place, sentence in enumerate(sentences * 3):
        assert np.array_equal(together[place], elmo.embed([sentence], layers="context")[0])


def test_the_word_itself_does_not_count(elmo: BiLM) -> None:
    one, other, changed = elmo.embed(
        [
            "The bank of the river was muddy .",
            "The shore of the river was muddy .",
            "The bank of the church was rich .",
        ],
        layers="context",
    )
    assert np.array_equal(one[1], other[1])
    assert not np.allclose(one[1], changed[1], atol=0.1)


def test_both_halves_have_their_length_and_no_words_around_are_zeros(tiny: BiLM) -> None:
    (found,) = tiny.embed([["w300", "w310", "unknown"]], layers="context")
    assert np.allclose(np.linalg.norm(found[:, :16], axis=1), 1, atol=1e-6)
    assert np.allclose(np.linalg.norm(found[:, 16:], axis=1), context.AROUND, atol=1e-6)
    (alone,) = tiny.embed([["w300"]], layers="context")
    assert not alone[0, 16:].any()
    vectors = ContextVectors.of(tiny).vectors
    of = dict(zip(WORDS.words, vectors.numpy()))
    expected = of["w310"] / np.linalg.norm(of["w310"]) * context.AROUND
    assert np.allclose(found[0, 16:], expected, atol=1e-5)
    mean = of["w300"] * 2**-0.5 + of["w310"]
    assert np.allclose(found[2, 16:], mean / np.linalg.norm(mean) * context.AROUND, atol=1e-5)


def test_the_first_half_is_made_of_the_states_beside_the_word(tiny: BiLM) -> None:
    words = ["w200", "w201", "w202"]
    with torch.no_grad():
        top = tiny([words])[0][-1, 0]
    states = torch.cat([top[:3, :16], top[2:, 16:]], 1)  # <S> and </S> are the states at the ends
    expected = torch.nn.functional.normalize(ContextVectors.of(tiny).substitutes(states), dim=1)
    (found,) = tiny.embed([words], layers="context")
    assert np.allclose(found[:, :16], expected.numpy(), atol=1e-4)


def test_long_sentences_are_averaged_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, used = torch.randn(9, 4, generator=torch.Generator().manual_seed(1)), torch.arange(9) % 3 > 0
    sentences = [list("abcab"), [], list("dead")]
    whole = average_contexts(vectors, sentences, used)
    monkeypatch.setattr(context, "ROWS", 2)
    assert torch.allclose(average_contexts(vectors, sentences, used), whole, atol=1e-6)


def test_senses_are_told_apart_better_than_by_layers_and_by_the_bag_of_context(elmo: BiLM) -> None:
    table = read_sense_table()
    spans = list_spans(table)
    nearest = {}
    for layers in ("top", "context"):
        arrays = elmo.embed([span.words for span in spans], layers=layers)
        rows = np.stack([array[span.start] for array, span in zip(arrays, spans)])
        nearest[layers] = summarize_separations(separate_words(rows, table))["nearest"]
    [bag] = separate_layers(BagReader("word2vec-en", load_vectors("word2vec-en")), table).values()
    assert nearest["context"] > 0.93 > summarize_separations(bag)["nearest"] > nearest["top"]


def test_neighbors_in_an_index_of_contexts_have_the_same_sense(elmo: BiLM, tmp_path) -> None:
    text = tmp_path / "bank.txt"
    lines = ["The bank raised its interest rates .", "Ducks slept on the muddy bank .", "She owes the bank money ."]
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    index = index_file(elmo, text, tmp_path / "index", layers="context", words=["bank"])
    (query,) = elmo.embed([["They", "tied", "the", "boat", "to", "the", "bank", "."]], layers="context")
    assert index.nearest(query[6], 1)[0].sentence == 1


def test_pooling_float16_and_stateful_embedding_have_contexts_too(tiny: BiLM) -> None:
    sentences = [["w300", "w310", "w320"], [], ["w5"]]
    words = tiny.embed(sentences, layers="context")
    pooled = tiny.embed(sentences, layers="context", pooling="mean")
    assert np.allclose(pooled[0], words[0].mean(0), atol=1e-6)
    assert not pooled[1].any()
    halves = tiny.embed(sentences, layers="context", dtype="float16")
    assert all(np.array_equal(a.astype(np.float16), b) for a, b in zip(words, halves))
    carried, _ = tiny.embed(sentences, layers="context", stateful=True)
    assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(words, carried))


def test_changed_weights_of_the_softmax_change_the_contexts() -> None:
    bilm = BiLM(Architecture.named("tiny"), vocabulary=WORDS, seed=3)
    before = bilm.embed([["w300", "w310"]], layers="context")[0]
    with torch.no_grad():
        bilm.softmax.weight.mul_(torch.linspace(1, 2, len(WORDS))[:, None])
        bilm.softmax.weight[::2].neg_()
    assert not np.allclose(bilm.embed([["w300", "w310"]], layers="context")[0], before, atol=1e-3)


def test_words_without_counts_have_contexts() -> None:
    bilm = BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(WORDS.words), seed=3)
    assert np.isfinite(bilm.embed([["w300", "w310"]], layers="context")[0]).all()


@pytest.mark.parametrize("words", [None, Vocabulary(["<S>", "</S>", "<UNK>", "tea"])])
def test_a_bilm_without_enough_words_to_predict_has_no_contexts(words: Vocabulary | None) -> None:
    with pytest.raises(OptionError, match="needs a full softmax"):
        BiLM(Architecture.named("tiny"), vocabulary=words).embed([["tea"]], layers="context")


def test_first_and_last_states_are_not_pooled(tiny: BiLM) -> None:
    with pytest.raises(OptionError, match="Use mean or max for 'context'"):
        tiny.embed([["w1"]], layers="context", pooling="first-last")


def test_word_vectors_have_no_context() -> None:
    from firth.bulk.embedder import embedder

    with pytest.raises(OptionError, match="word vectors know no context"):
        embedder(firth.WordVectors(["tea"], [[1.0]]), "context")
