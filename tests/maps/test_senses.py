"""Senses: occurrences are found, embedded as the library embeds them, clustered and named."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import firth
from firth.errors import OptionError, UnknownWord
from firth.maps.scatter import unpack
from firth.maps.senses import (
    LANGUAGES,
    SenseMap,
    cluster_senses,
    example_sentences,
    find_occurrences,
    find_states,
    name_senses,
    silhouette,
    weigh_context,
)
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.substitutes import shift_states


@pytest.fixture(scope="module")
def elmo():
    pytest.importorskip("torch")
    return firth.load("elmo-en")


@pytest.fixture(scope="module")
def rock(elmo):
    return SenseMap.of(elmo, [sentence for _, sentence in example_sentences()["rock"]], ["rock"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_example_has_its_word_once_and_every_word_several_senses(language: str) -> None:
    for word, rows in example_sentences(language).items():
        for sense, sentence in rows:
            assert len(find_occurrences([sentence.split()], word)) == 1, sentence
            assert sense
        counts = np.unique([sense for sense, _ in rows], return_counts=True)[1]
        assert len(counts) >= 2
        assert counts.min() >= 4
    assert len(example_sentences("en")) == 12


def test_a_language_without_examples_is_an_error() -> None:
    with pytest.raises(OptionError, match="no example sentences in 'de'"):
        example_sentences("de")


def test_occurrences_are_found_whatever_their_case() -> None:
    found = find_occurrences(["Play well!", ["they", "play", "a", "play"], "nothing"], "play")
    assert [(one.word, one.sentence, one.position) for one in found] == [("Play", 0, 0), ("play", 1, 1), ("play", 1, 3)]


@pytest.mark.parametrize("word", ["bank", "plant", "crane", "seal", "rock"])  # 58 % of plant's by the layers alone
def test_two_clusters_are_the_senses_that_were_written(elmo, word: str) -> None:
    table = example_sentences()[word]
    found = SenseMap.of(elmo, [sentence for _, sentence in table], [word], senses=2)
    gold = np.array([sense for sense, _ in table])
    assert len(set(found.names)) == 2
    kept = [np.unique(gold[found.labels == label], return_counts=True)[1].max() for label in range(2)]
    assert sum(kept) >= 0.9 * len(gold)


def test_senses_are_named_by_words_that_the_model_predicts_there(elmo, rock: SenseMap) -> None:
    assert rock.predicted
    for label, name in enumerate(rock.names):
        words = name.split(" · ")
        assert len(words) == 3
        assert "rock" not in words
        rows = np.flatnonzero(rock.labels == label)
        chances = {here: np.zeros(len(words)) for here in (True, False)}
        for row, one in enumerate(rock.occurrences):
            both = np.multiply(*elmo.distributions(one.words[: one.position], one.words[one.position + 1 :]))
            chances[row in rows] += (both / both.sum())[elmo.vocabulary.ids(words)]
        assert (chances[True] > chances[False]).all()


def test_states_beside_a_word_are_those_of_the_shifted_layer(elmo) -> None:
    [layers] = elmo.embed([["strong", "green", "tea"]], layers="all")
    shifted = shift_states(torch.from_numpy(layers), [3])[2].numpy()
    for position in range(3):
        assert find_states(layers[2], position).tolist() == shifted[position].tolist()


def test_without_a_softmax_words_of_the_sentences_name_the_senses() -> None:
    bilm = BiLM(Architecture.named("tiny"), seed=3)
    texts = ["the river bank is green", "a muddy river bank", "the bank lends money", "a rich bank has money", "Bank"]
    found = SenseMap.of(bilm, texts, ["bank"], senses=2)
    assert not found.predicted
    assert {one for name in found.names for one in name.split(" · ")} <= {one for text in texts for one in text.split()}


def test_vectors_are_those_of_embed(elmo, rock: SenseMap) -> None:
    one = rock.occurrences[4]
    [layers] = elmo.embed([list(one.words)], layers="all")
    np.testing.assert_allclose(rock.vectors[:, 4], layers[:, one.position], rtol=1e-4, atol=1e-5)
    weights = (0.2, 0.3, 0.5)
    expected = 2 * np.tensordot(weights, layers, 1)[one.position]
    np.testing.assert_allclose(rock.mixed(weights, 2.0)[4], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rock.mixed(weights, unit=True), axis=1), 1, rtol=1e-5)


def test_layer_0_is_one_point_and_has_axes_nevertheless(rock: SenseMap) -> None:
    mixed = rock.mixed((1, 0, 0), unit=True)
    np.testing.assert_allclose(mixed, np.broadcast_to(mixed[0], mixed.shape), atol=1e-5)
    assert np.isfinite(rock.axes((1, 0, 0))).all()


def test_the_plot_has_the_layers_of_every_occurrence_and_the_mean(rock: SenseMap) -> None:
    head, arrays = unpack(rock.scatter((0.0, 1.0, 0.0)).pack())
    assert head["size"] == len(rock) + 1
    assert head["contexts"][0][1] == "rock"
    assert head["fields"][0]["names"] == [*rock.names, "mean"]
    axes = rock.axes((0.0, 1.0, 0.0))
    np.testing.assert_allclose(arrays[1].reshape(-1, 2)[:-1], rock.vectors[1] @ axes, atol=1e-4)
    mean = rock.vectors[2].mean(axis=0) @ axes
    np.testing.assert_allclose(arrays[2].reshape(-1, 2)[-1], mean, atol=1e-4)
    assert {tag["text"] for tag in head["tags"]} == set(rock.names)


def test_the_plot_begins_with_the_contexts_where_the_senses_lie_apart(elmo, rock: SenseMap) -> None:
    head, arrays = unpack(rock.scatter().pack())
    assert head["startsSecond"]
    one = rock.occurrences[3]
    np.testing.assert_array_equal(rock.contexts[3], elmo.embed([list(one.words)], layers="context")[0][one.position])
    places = arrays[3].reshape(-1, 2)
    around = rock.contexts / np.linalg.norm(rock.contexts, axis=1, keepdims=True)
    np.testing.assert_allclose(places[-1], places[:-1].mean(axis=0), atol=1e-5)
    plane = np.linalg.svd(around - around.mean(axis=0), full_matrices=False)[0][:, :2]
    spread = places[:-1] - places[-1]
    np.testing.assert_allclose(plane @ (plane.T @ spread), spread, atol=1e-4)  # in the plane of the largest variance
    sides = [set(np.sign(spread[rock.labels == label, 0])) for label in (0, 1)]
    assert sides in ([{1.0}, {-1.0}], [{-1.0}, {1.0}])  # one sense on the left, the other on the right


def test_two_words_have_their_own_senses(elmo) -> None:
    table = example_sentences()
    both = SenseMap.of(elmo, [sentence for word in ("bat", "rock") for _, sentence in table[word]], ["bat", "rock"])
    assert {name.split(":")[0] for name in both.names} == {"bat", "rock"}
    for label, name in enumerate(both.names):
        assert {both.words[row] for row in np.flatnonzero(both.labels == label)} == {name.split(":")[0]}


def test_a_word_that_no_sentence_has_is_unknown_with_near_spellings(elmo) -> None:
    with pytest.raises(UnknownWord, match="Near spellings: 'river'"):
        SenseMap.of(elmo, ["the river bank"], ["rivers"])


def test_clusters_of_planted_directions_and_few_points() -> None:
    rng = np.random.default_rng(1)
    rows = np.repeat(np.eye(3), 12, axis=0) * 5 + 0.2 * rng.normal(size=(36, 3))
    labels = cluster_senses(rows)
    assert len(set(labels.tolist())) == 3
    assert cluster_senses(rows[:3]).tolist() == [0, 0, 0]
    assert cluster_senses(rows[:2], 4).max() <= 1


def test_the_silhouette_is_that_of_its_definition() -> None:
    rng = np.random.default_rng(2)
    unit = rng.normal(size=(9, 3))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])
    values = []
    for i in range(9):
        distances = 1 - unit @ unit[i]
        own = [distances[j] for j in range(9) if j != i and labels[j] == labels[i]]
        others = [distances[labels == label].mean() for label in set(labels.tolist()) - {labels[i]}]
        values.append((min(others) - np.mean(own)) / max(min(others), np.mean(own)))
    assert silhouette(unit, labels) == pytest.approx(np.mean(values))


def test_names_are_words_of_one_sense_and_no_function_words() -> None:
    found = find_occurrences(
        ["the river bank is green", "a muddy river bank", "the bank lends money", "a rich bank has money"], "bank"
    )
    assert name_senses(found, np.array([0, 0, 1, 1]), count=1) == ["river", "money"]
    assert set(weigh_context(found[0])) == {"river", "green"}
