from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.errors import OptionError
from firth.formats.registry import load
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.probes.readers import BilmReader, StaticReader, WordSpan, open_bilm, open_readers, read_spans, span_means
from firth.runtime import Runtime
from firth.vectors.words import WordVectors

SENTENCES = [["A", "cup", "of", "tea", "."], ["Rain"], [], ["We", "had", "tea"]]


def test_a_biLM_is_read_as_it_embeds_in_the_order_of_the_sentences() -> None:
    bilm = BiLM(Architecture.named("tiny"), seed=3)
    expected = np.concatenate(bilm.embed(SENTENCES, layers="all"), axis=1)
    found = BilmReader(bilm).read(SENTENCES).numpy()
    assert np.allclose(found[:3], expected, atol=1e-6)
    assert np.allclose(found[3], expected.mean(0), atol=1e-6)


def test_words_at_their_places_are_the_same_in_any_company() -> None:
    reader = BilmReader(BiLM(Architecture.named("tiny")))
    places = [
        WordSpan(tuple(SENTENCES[0]), 1, 2),
        WordSpan(tuple(SENTENCES[0]), 2, 4),
        WordSpan(tuple(SENTENCES[3]), 2, 3),
    ]
    together = read_spans(reader, places)
    for place, one in zip(places, together.unbind(1)):
        alone = reader.read([place.words])[:, place.start : place.stop].mean(1)
        assert torch.allclose(one, alone, atol=1e-6)


def test_a_run_of_words_is_their_mean_also_where_runs_overlap() -> None:
    vectors = torch.arange(12.0).reshape(2, 3, 2)
    found = span_means(vectors, [0, 0, 1], [3, 1, 3])
    expected = torch.stack([vectors[:, 0:3].mean(1), vectors[:, 0], vectors[:, 1:3].mean(1)], dim=1)
    assert torch.allclose(found, expected)


def test_static_vectors_are_the_same_in_every_sentence() -> None:
    reader = StaticReader("tea", WordVectors(["tea", "rain"], [[1, 2], [3, 4]]))
    assert reader.read([["Rain", "tea"], ["tea", "milk"]]).tolist() == [[[3, 4], [1, 2], [1, 2], [0, 0]]]
    assert reader.read([]).shape == (1, 0, 2)


def test_a_model_of_the_wrong_kind_is_named() -> None:
    with pytest.raises(OptionError, match="Name a biLM"):
        open_bilm("glove-en", Runtime(1))


def test_several_static_models_are_opened_one_after_the_other() -> None:
    names = [reader.names for _, reader in open_readers(Runtime(1), elmo="none", static="glove-en+word2vec-en")]
    models = "glove-en", "word2vec-en"
    assert names == [(name,) for model in models for name in (model, f"{model}, bag of context")]


def test_the_words_of_a_shipped_model_are_found_in_small_letters() -> None:
    vectors = load("glove-en")
    [(_, reader), _] = open_readers(Runtime(1), static="glove-en")
    assert np.allclose(reader.read([["TEAPOT"]])[0, 0].numpy(), vectors["teapot"])
