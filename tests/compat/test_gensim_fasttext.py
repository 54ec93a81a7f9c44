"""gensim's FastText over our recipe, and files of fastText."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.compat.gensim import (
    FastText,
    FastTextKeyedVectors,
    load_facebook_model,
    load_facebook_vectors,
    save_facebook_model,
)
from firth.errors import OptionError

TOPICS = [["teacup", "cup", "milk", "sugar"], ["rain", "cloud", "wind", "storm"]]
TEXT = [list(np.random.default_rng(i).choice(TOPICS[i % 2], 6)) for i in range(200)]
SMALL = {"vector_size": 8, "min_count": 1, "sample": 0, "workers": 1, "bucket": 100}


@pytest.fixture(scope="module")
def model() -> FastText:
    return FastText(TEXT, epochs=2, **SMALL)


def test_unseen_words_have_vectors_and_counts_are_those_of_the_text(model: FastText) -> None:
    assert "teacups" in model.wv
    assert not model.wv.has_index_for("teacups")
    assert model.wv["teacups"].shape == (8,)
    assert not model.wv[""].any()
    assert model.wv.get_vecattr("rain", "count") == sum(sentence.count("rain") for sentence in TEXT)
    assert (model.wv.bucket, model.wv.min_n, model.wv.max_n) == (100, 3, 6)
    assert model.wv.vectors_ngrams.shape == (100, 8)
    assert model.wv.vectors_vocab.shape == model.wv.vectors.shape == model.syn1neg.shape == (8, 8)
    with pytest.raises(AttributeError, match="no such output vectors"):
        _ = model.syn1


def test_a_model_goes_to_fasttext_and_back_and_learns_more(model: FastText, tmp_path: Path) -> None:
    save_facebook_model(model, tmp_path / "model.bin")
    again = load_facebook_model(tmp_path / "model.bin")
    assert np.array_equal(again.wv["milks"], model.wv["milks"])
    assert (again.window, again.epochs, again.negative, again.sg, again.hs) == (5, 2, 5, 0, 0)
    assert isinstance(load_facebook_vectors(tmp_path / "model.bin"), FastTextKeyedVectors)
    again.min_count = 1
    again.build_vocab([["biscuit", "milk", "jam"]] * 3, update=True)
    before = again.wv["milk"]
    again.train([["biscuit", "milk", "jam"]] * 3, epochs=1)
    assert len(again.wv) == 10
    assert not np.array_equal(again.wv["milk"], before)
    again.save(tmp_path / "own")
    assert FastText.load(tmp_path / "own").min_count == 1


def test_what_fasttext_does_not_have_is_an_error(model: FastText) -> None:
    for options in ({"hs": 1}, {"cbow_mean": 0}, {"word_ngrams": 2}):
        with pytest.raises(OptionError, match="have"):
            FastText(**options)
    assert "tea" not in FastText(TEXT, epochs=1, **{**SMALL, "bucket": 0}).wv
