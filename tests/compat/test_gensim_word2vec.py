"""gensim's Word2Vec over our recipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.compat.gensim import KeyedVectors, Word2Vec
from firth.errors import OptionError

TOPICS = [["tea", "cup", "milk", "sugar"], ["rain", "cloud", "wind", "storm"]]
TEXT = [list(np.random.default_rng(i).choice(TOPICS[i % 2], 6)) for i in range(200)]
SMALL = {"vector_size": 16, "min_count": 1, "sample": 0, "workers": 1, "alpha": 0.1}


@pytest.mark.parametrize("options", [{"sg": 1}, {"sg": 0}, {"hs": 1, "negative": 0}, {"hs": 1}])
def test_a_ported_word2vec_learns_topics(options):
    model = Word2Vec(TEXT, epochs=10, **SMALL, **options)
    assert isinstance(model.wv, KeyedVectors)
    assert {word for word, _ in model.wv.most_similar("tea", topn=3)} == {"cup", "milk", "sugar"}
    assert model.wv.get_vecattr("tea", "count") == sum(sentence.count("tea") for sentence in TEXT)
    assert model.predict_output_word(["cup", "milk"], topn=3)[0][0] in TOPICS[0]
    assert model.predict_output_word([model.wv.get_index("cup"), "milk"]) == model.predict_output_word(["cup", "milk"])
    assert model.get_latest_training_loss() > 0
    if options.get("hs"):
        assert np.diff(model.score([["tea", "cup"], ["tea", "rain"]])) < 0
        assert model.syn1.shape == (8, 16)
    if options.get("negative", 5):
        assert abs(model.syn1neg).max() > 0.1
    else:
        with pytest.raises(AttributeError, match="the model has no outputs"):
            _ = model.syn1neg


def test_training_goes_on_with_the_output_vectors_and_calls_back(tmp_path: Path):
    class Count:
        calls = ""

        def on_epoch_begin(self, model) -> None:
            self.calls += "b"

        def on_epoch_end(self, model) -> None:
            self.calls += "e"
            assert model.wv["tea"].shape == (16,)

    calls = Count()
    model = Word2Vec(**SMALL)
    model.build_vocab(TEXT)
    assert not model.syn1neg.any()
    model.train(TEXT, total_examples=model.corpus_count, epochs=3, callbacks=[calls])
    assert calls.calls == "bebebe"
    before, outputs, loss = model.wv["tea"], model.syn1neg.copy(), model.get_latest_training_loss() / 3
    model.train(TEXT, total_examples=model.corpus_count, epochs=1, start_alpha=1e-6)
    assert np.allclose(before, model.wv["tea"], atol=1e-3)
    assert np.allclose(outputs, model.syn1neg, atol=1e-3)
    assert model.get_latest_training_loss() < loss  # it does not begin from zero outputs again
    model.save(tmp_path / "model")
    again = Word2Vec.load(tmp_path / "model", mmap="r")
    assert np.array_equal(again.wv["tea"], model.wv["tea"])
    assert (again.min_count, again.corpus_count, again.alpha, again.sg) == (1, 200, 0.1, 0)


def test_new_words_join_a_trained_model():
    model = Word2Vec(TEXT, epochs=3, **SMALL)
    tea, outputs = model.wv["tea"], model.syn1neg[model.wv.get_index("tea")].copy()
    model.build_vocab([["biscuit", "jam", "tea"]] * 9, update=True)
    assert np.array_equal(model.wv["tea"], tea)
    assert np.array_equal(model.syn1neg[model.wv.get_index("tea")], outputs)
    assert not model.syn1neg[model.wv.get_index("jam")].any()
    before = model.wv["jam"]
    model.train([["biscuit", "jam", "tea"]] * 9, epochs=1)
    assert not np.array_equal(model.wv["jam"], before)
    assert len(model.wv) == 10


def test_a_word_with_factor_zero_keeps_its_vector():
    model = Word2Vec(**SMALL)
    model.build_vocab(TEXT)
    first, second = model.wv[0], model.wv[1]
    model.wv.vectors_lockf = np.ones(len(model.wv), np.float32)
    model.wv.vectors_lockf[0] = 0
    model.train(TEXT, epochs=2)
    assert np.array_equal(model.wv[0], first)
    assert not np.array_equal(model.wv[1], second)
    model.wv.vectors_lockf[0] = 0.5
    with pytest.raises(OptionError, match="other than 0, which locks"):
        model.train(TEXT, epochs=1)


def test_vectors_that_were_changed_are_trained_further():
    model = Word2Vec(**SMALL)
    model.build_vocab(TEXT)
    model.wv["tea"] = np.full(16, 9.0)
    model.train(TEXT, epochs=1)
    assert model.wv["tea"].mean() > 5


def test_another_file_and_a_model_without_vocabulary_are_errors(tmp_path: Path):
    Word2Vec(TEXT, epochs=1, **SMALL).wv.save(tmp_path / "vectors.kv")
    assert len(KeyedVectors.load(tmp_path / "vectors.kv")) == 8
    KeyedVectors.load(tmp_path / "vectors.kv").save_word2vec_format(tmp_path / "v.txt")
    with pytest.raises(OptionError, match="not a word2vec model"):
        Word2Vec.load(tmp_path / "v.txt")
    with pytest.raises(OptionError, match="nothing to save"):
        Word2Vec().save(tmp_path / "m")
    with pytest.raises(RuntimeError, match="build vocabulary"):
        Word2Vec().train(TEXT)
    with pytest.raises(RuntimeError, match="no output vectors"):
        Word2Vec().predict_output_word(["tea"])
