from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.server import work
from firth.server.served import OpenModel


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize("name", ["word2vec-en", "fasttext-fa"])
def test_texts_are_split_once_and_give_the_vectors_of_encode(name: str) -> None:
    model = firth.load(name)
    texts = ["Hot tea, please!", "كتاب‌های خوب و ۱۴۰۲", "", "MP3"]
    asked = work.encode(OpenModel(model, 0.0), texts, "mean", False, None)
    assert np.array_equal(asked.run(model, asked.items), model.encode(texts))
    pairs = work.embed(OpenModel(model, 0.0), texts, None)
    results = [vectors for _, vectors in pairs.run(model, pairs.items)]
    assert all(np.array_equal(one, two) for one, two in zip(results, model.embed(texts), strict=True))
    assert asked.costs == [len(model.tokenizer.words(text)) for text in texts]


def test_layers_are_for_bilms(model_paths: dict[str, Path]) -> None:
    opened = OpenModel(firth.load(model_paths["vectors"]), 0.0)
    with pytest.raises(OptionError, match="layers and mix are for biLMs"):
        work.encode(opened, ["tea"], "mean", False, "top")
    with pytest.raises(OptionError, match="layers and mix are for biLMs"):
        work.embed(opened, ["tea"], ((1.0,), 1.0))


def test_scores_of_unknown_words_have_a_warning_beside_the_answer() -> None:
    model = firth.Ngram(order=2).fit([["strong", "tea"]])
    asked = work.score(OpenModel(model, 0.0), ["این فیلم بد بود", "strong tea"])
    assert asked.warning is not None
    assert "67 % of the words (4 of 6) are unknown" in asked.warning
    assert work.score(OpenModel(model, 0.0), ["strong tea"]).warning is None
