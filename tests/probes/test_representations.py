from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.substitutes import Whitening
from firth.probes.bag import BagReader
from firth.probes.readers import BilmReader, unit
from firth.probes.representations import RepresentationReader
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

SENTENCES = [["A", "cup", "of", "tea", "."], ["Rain"], [], ["We", "had", "tea"]]


def test_each_representation_has_a_row_and_the_layers_come_first() -> None:
    bilm = BiLM(Architecture.named("tiny"), seed=3)
    reader = RepresentationReader(bilm, SENTENCES)
    found, layers = reader.read(SENTENCES), BilmReader(bilm).read(SENTENCES)
    assert found.shape == (len(reader.names), 9, 64)
    assert torch.equal(found[:4, :, :32], layers)
    assert not found[:4, :, 32:].any()
    assert reader.read([]).shape == (len(reader.names), 0, 64)


def test_neighbor_states_do_not_see_the_word_itself() -> None:
    reader = RepresentationReader(BiLM(Architecture.named("tiny"), seed=3), SENTENCES)
    row, bag = reader.names.index("biLM neighbor states 2"), reader.names.index("biLM layer 2, whitened")
    one, other = reader.read([["a", "green", "tea"]]), reader.read([["a", "black", "tea"]])
    assert torch.allclose(one[row, 1], other[row, 1], atol=1e-6)
    assert not torch.allclose(one[bag, 1], other[bag, 1], atol=1e-3)


def test_the_best_combination_is_two_vectors_of_length_one() -> None:
    reader = RepresentationReader(BiLM(Architecture.named("tiny"), seed=3), SENTENCES)
    rows = dict(zip(reader.names, reader.read([["green", "tea", "cup"]])))
    joined, states, bag = (rows[f"biLM {name}"] for name in ("neighbor states 2 and bag", "neighbor states 2", "bag 2"))
    assert torch.allclose(joined[:, :32], unit(states[:, :32]), atol=1e-6)
    assert torch.allclose(joined[:, 32:64], unit(bag[:, :32]), atol=1e-6)


def test_whitened_dimensions_are_not_correlated() -> None:
    generator = torch.Generator().manual_seed(1)
    sample = torch.randn(500, 3, generator=generator) @ torch.tensor(
        [[1.0, 0.5, 0.0], [0.0, 1.0, 0.5], [0.2, 0.0, 1.0]]
    )
    white = Whitening.fit(sample)(sample + 0.0)
    assert torch.allclose(torch.cov(white.T, correction=0), torch.eye(3), atol=0.02)


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_a_bilm_with_a_softmax_has_substitutes_of_its_content_words() -> None:
    words = [f"w{number}" for number in range(160)]
    bilm = BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(words, range(160, 0, -1)))
    reader = RepresentationReader(bilm, SENTENCES)
    assert reader.substitutes is not None
    assert len(reader.substitutes.weight) == 10  # 150 of 160 words are frequent
    assert reader.names[-4:-2] == ("biLM substitutes", "biLM substitutes and bag")
    found = reader.read(SENTENCES)
    assert found.shape == (16, 9, 80)
    contexts = np.concatenate(bilm.embed(SENTENCES, layers="context"))
    assert np.array_equal(found[reader.names.index("biLM context"), :, :32].numpy(), contexts)


def test_a_bag_of_context_has_a_row_beside_the_neighbor_states() -> None:
    bilm = BiLM(Architecture.named("tiny"), seed=3)
    bag = BagReader("x", WordVectors(["cup", "tea"], [[2.0, 0.0], [0.0, 3.0]]), frequent=0)
    reader = RepresentationReader(bilm, SENTENCES, [bag])
    assert reader.names[-1] == "biLM neighbor states 2 + x, bag of context"
    rows = dict(zip(reader.names, reader.read(SENTENCES)))
    states, joined = rows["biLM neighbor states 2"][:, :32], rows[reader.names[-1]]
    assert torch.allclose(joined[:, :32], unit(states), atol=1e-6)
    assert joined[1, 32:34].tolist() == [0, 1]  # of "cup": the other words are A, of, tea
    assert reader.read([]).shape == (13, 0, 64)


def test_the_precision_is_that_of_the_bilm() -> None:
    bilm = BiLM(Architecture.named("tiny"), seed=3)
    full, half = (BilmReader(bilm, name).read(SENTENCES) for name in ("float32", "bfloat16"))
    assert not torch.equal(full, half)
    assert torch.allclose(full, half, atol=0.02)
