"""gensim's Doc2Vec over our recipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.compat.gensim import Doc2Vec, KeyedVectors, TaggedDocument
from firth.compat.gensim_doc2vec import to_text
from firth.errors import OptionError

TOPICS = [["tea", "cup", "milk", "sugar"], ["rain", "cloud", "wind", "storm"]]
TEXT = [list(np.random.default_rng(i).choice(TOPICS[i % 2], 6)) for i in range(200)]
SMALL = {"vector_size": 16, "min_count": 1, "sample": 0, "workers": 1, "alpha": 0.1}


def test_a_ported_doc2vec_learns_topics_and_keeps_numbers_as_tags(tmp_path: Path):
    documents = [TaggedDocument(words, [i]) for i, words in enumerate(TEXT)]
    model = Doc2Vec(documents, dm=0, epochs=10, **SMALL)
    assert [tag % 2 for tag, _ in model.dv.most_similar(4, topn=3)] == [0, 0, 0]
    assert model.dv.doesnt_match([0, 2, 1]) == 1
    assert model.dv.similarity(0, np.int64(2)) > model.dv.similarity(0, 1)
    assert model.dv.distance(0, 1) == pytest.approx(1 - model.dv.similarity(0, 1))
    near = model.dv.most_similar(0, topn=5, clip_start=50, clip_end=60)
    assert all(50 <= tag < 60 for tag, _ in near)
    assert list(model.dv)[:3] == [0, 1, 2]
    assert (3 in model.dv, 300 in model.dv, model.dv.get_index(3), model.dv.key_to_index) == (True, False, 3, {})
    same, other = (model.similarity_unseen_docs(["tea", "cup"], words) for words in (["milk", "tea"], ["wind", "rain"]))
    assert same > other
    model.save(tmp_path / "model")
    again = Doc2Vec.load(tmp_path / "model")
    assert np.array_equal(again.infer_vector(["tea", "cup"]), model.infer_vector(["tea", "cup"]))
    assert again.dv.most_similar(4)[0][0] == model.dv.most_similar(4)[0][0]
    with pytest.raises(TypeError, match="must be a list of words"):
        model.infer_vector("tea")
    with pytest.raises(KeyError):
        _ = model["no such word"]


def test_documents_are_trained_further_and_others_stay():
    documents = [TaggedDocument(words, [f"d{i}"]) for i, words in enumerate(TEXT)]
    model = Doc2Vec(documents, epochs=5, **SMALL)
    before = {tag: model.dv[tag] for tag in ("d0", "d9")}
    model.train(documents[:3], epochs=1, start_alpha=1e-7)
    assert len(model.dv) == 200
    assert np.array_equal(model.dv["d9"], before["d9"])
    assert np.allclose(model.dv["d0"], before["d0"], atol=1e-4)
    assert np.array_equal(model.dv[0], model.dv["d0"])  # without numbered tags a number is an index


def test_tags_of_both_kinds_do_not_share_vectors():
    documents = [TaggedDocument(words, [i, words[0]]) for i, words in enumerate(TEXT[:9])]
    model = Doc2Vec(vector_size=8, min_count=1)
    model.build_vocab(documents)
    assert len(model.dv.vectors) == 9 + len(model.dv.key_to_index)
    assert model[TEXT[0][0]].shape == model[3].shape == (8,)
    assert to_text(3, True) == "3"
    with pytest.raises(OptionError, match="looks like a number"):
        to_text("3", True)


def test_words_and_documents_are_saved_in_word2vecs_format(tmp_path: Path):
    model = Doc2Vec([TaggedDocument(words, [i]) for i, words in enumerate(TEXT[:5])], epochs=1, **SMALL)
    model.save_word2vec_format(tmp_path / "both.txt", doctag_vec=True)
    found = KeyedVectors.load_word2vec_format(tmp_path / "both.txt")
    assert len(found) == len(model.wv) + 5
    assert np.allclose(found["*dt_3"], model.dv[3], atol=1e-6)
    with pytest.raises(OptionError, match="neither words nor documents"):
        model.save_word2vec_format(tmp_path / "none.txt", word_vec=False)


def test_two_objectives_together_are_an_error():
    with pytest.raises(OptionError, match="cannot have hs and negative together"):
        Doc2Vec(hs=1)
