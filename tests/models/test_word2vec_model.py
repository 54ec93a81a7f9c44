"""Output vectors: predictions and scores against gensim, and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.models.word2vec import Word2Vec
from firth.models.word2vec_model import Word2VecModel
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary

TEXT = [["hot", "tea", "with", "milk"], ["cold", "rain", "and", "wind"], ["hot", "milk"], ["rain", "and", "cold"]] * 20
OPTIONS = {"dim": 16, "min_count": 1, "subsample": 0, "keep_outputs": True}


def train(**options) -> Word2VecModel:
    model = Word2Vec(**OPTIONS, **options).fit(TEXT, runtime=Runtime(1))
    assert isinstance(model, Word2VecModel)
    return model


def as_gensim(model: Word2VecModel, **options):
    """gensim's model with the same rows, in the order of our words."""
    peer = pytest.importorskip("gensim.models.word2vec").Word2Vec(vector_size=16, min_count=1, **options)
    counts = dict(zip(model.vocabulary, model.vocabulary.counts.tolist()))
    peer.build_vocab_from_freq(counts)
    order = [model.vocabulary.id(word) for word in peer.wv.index_to_key]
    peer.wv.vectors[:] = model.matrix[order]
    return peer, order


def test_the_most_probable_words_are_gensims():
    model = train(architecture="cbow")
    peer, order = as_gensim(model, negative=5)
    peer.syn1neg[:] = model.outputs[order]
    found, expected = (one.predict_output_word(["hot", "with"], topn=3) for one in (model, peer))
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [p for _, p in found] == pytest.approx([p for _, p in expected], rel=1e-4)
    assert model.predict_output_word(["never"]) == []


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_the_scores_of_sentences_are_gensims(architecture):
    model = train(architecture=architecture, objective="hierarchical-softmax", window=2)
    peer, _ = as_gensim(model, hs=1, negative=0, window=2, sg=int(architecture == "skip-gram"))
    for word in peer.wv.index_to_key:  # node for node the same tree, whatever gensim's heap made of equal counts
        peer.wv.set_vecattr(word, "point", model.tree.nodes[path_of(model, word)].astype(np.uint32))
        peer.wv.set_vecattr(word, "code", model.tree.turns[path_of(model, word)].astype(np.uint8))
    peer.syn1[:] = model.nodes
    sentences = [["hot", "tea", "with", "milk"], ["tea", "rain"], ["wind", "unknown", "milk", "hot", "and"]]
    # gensim reads the logarithms from a table of 1,000 values over ±6, whose index it also rounds down.
    assert model.score(sentences) == pytest.approx(peer.score(sentences, total_sentences=3), rel=0.03)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_the_score_of_two_words_is_the_sum_of_their_log_probabilities(architecture):
    model = train(architecture=architecture, objective="hierarchical-softmax")
    sure = dict(model.predict_output_word(["tea"], topn=100)), dict(model.predict_output_word(["rain"], topn=100))
    expected = np.log(sure[0]["rain"]) + np.log(sure[1]["tea"])
    assert model.score([["tea", "rain"]]) == pytest.approx([expected])


def path_of(model: Word2VecModel, word: str) -> slice:
    id = model.vocabulary.id(word)
    return slice(int(model.tree.starts[id]), int(model.tree.starts[id + 1]))


def test_the_probabilities_of_the_tree_sum_to_one():
    model = train(objective="hierarchical-softmax")
    assert sum(p for _, p in model.predict_output_word(["hot"], topn=100)) == pytest.approx(1)


def test_a_saved_model_predicts_the_same(tmp_path: Path):
    model = train(objective="both")
    save(model, tmp_path / "model")
    opened = load(tmp_path / "model")
    assert opened.predict_output_word(["hot", "tea"]) == model.predict_output_word(["hot", "tea"])
    assert opened.score([["hot", "tea"]]) == pytest.approx(model.score([["hot", "tea"]]))
    save(model, tmp_path / "vectors.bin")
    assert np.array_equal(load(tmp_path / "vectors.bin")["tea"], model["tea"])


def test_scores_need_hierarchical_softmax():
    with pytest.raises(OptionError, match="no hierarchical softmax"):
        train().score([["hot", "tea"]])


@pytest.mark.parametrize("recipe", [None, {}, {"window": 0}, {"window": 5, "architecture": 3, "cbow_mean": True}])
def test_a_file_without_the_options_of_the_training_is_refused(recipe):
    parts = train().to_parts()
    metadata = {name: value for name, value in parts.metadata.items() if name != "recipe"}
    metadata |= {} if recipe is None else {"recipe": recipe}
    with pytest.raises(OptionError, match=r"metadata\.recipe"):
        Word2VecModel.from_parts(replace(parts, config={**parts.config, "metadata": metadata}))


def test_output_vectors_of_another_type_and_words_without_counts_are_refused():
    parts = train(objective="hierarchical-softmax").to_parts()
    nodes = parts.arrays["nodes"].astype(np.int32)
    with pytest.raises(OptionError, match="'nodes' must have floating-point numbers"):
        Word2VecModel.from_parts(replace(parts, arrays={**parts.arrays, "nodes": nodes}))
    words = Vocabulary(parts.vocabulary.words)
    model = Word2VecModel.from_parts(replace(parts, vocabularies={"vocab": words}))
    with pytest.raises(OptionError, match="the words have no counts"):
        model.score([["hot", "tea"]])
