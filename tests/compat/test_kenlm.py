"""Ported KenLM code."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from firth.compat.kenlm import KenlmModel, Model
from firth.errors import OptionError
from firth.formats.registry import save
from firth.models.ngram import Ngram
from firth.vectors.words import WordVectors

NGRAMS = Ngram(order=3).fit(["he drinks strong tea", "she drinks strong coffee", "he has a strong computer"])
MODEL = Model(NGRAMS)


def test_scores_are_the_log10_probabilities_of_the_words() -> None:
    scores = list(MODEL.full_scores("he drinks wine"))
    words = ["<s>", "he", "drinks", "wine", "</s>"]
    expected = [math.log10(NGRAMS.probability(word, words[: place + 1])) for place, word in enumerate(words[1:])]
    assert [value for value, _, _ in scores] == pytest.approx(expected, rel=1e-5)
    assert [length for _, length, _ in scores] == NGRAMS.match_lengths(words[1:-1])
    assert [unknown for _, _, unknown in scores] == [False, False, True, False]
    assert MODEL.score("he drinks wine") == pytest.approx(NGRAMS.score(words[1:-1]).log_prob / math.log(10))
    assert MODEL.perplexity("he drinks tea") == pytest.approx(NGRAMS.perplexity([["he", "drinks", "tea"]]).value)


def test_a_part_of_a_sentence_has_no_beginning_and_no_end() -> None:
    without = list(MODEL.full_scores("strong tea", bos=False, eos=False))
    expected = [
        math.log10(NGRAMS.probability(word, context)) for word, context in (("strong", []), ("tea", ["strong"]))
    ]
    assert [value for value, _, _ in without] == pytest.approx(expected, rel=1e-5)
    assert len(list(MODEL.full_scores("strong tea", bos=False))) == 3
    assert MODEL.score("", bos=False, eos=False) == 0


def test_a_model_is_opened_by_name(tmp_path: Path) -> None:
    save(NGRAMS, tmp_path / "model.arpa")
    model = KenlmModel(tmp_path / "model.arpa")
    assert (model.order, "tea" in model, "wine" in model) == (3, True, False)
    assert model.score("strong tea") == pytest.approx(MODEL.score("strong tea"), abs=1e-4)
    save(WordVectors(["tea", "rain"], np.eye(2, dtype=np.float32)), tmp_path / "vectors.txt")
    with pytest.raises(OptionError, match="holds no n-gram model but a WordVectors"):
        KenlmModel(tmp_path / "vectors.txt")
