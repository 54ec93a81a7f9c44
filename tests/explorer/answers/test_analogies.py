"""The packed plots of analogies."""

from __future__ import annotations

import pytest

from firth.errors import OptionError, UnknownWord
from firth.explorer.answers.analogies import SHOWN, guess_language, pack_analogy, pack_relation
from firth.explorer.models import Models
from firth.maps.scatter import unpack

MODELS = Models()


def test_the_parallelogram_names_its_words_and_answers() -> None:
    head, _ = unpack(pack_analogy(MODELS, {"model": "word2vec-en", "a": "man", "b": "king", "c": "woman"}))
    answers = MODELS.load("word2vec-en").analogy("man", "king", "woman", topn=SHOWN)
    assert head["names"][:-1] == ["man", "king", "woman", *(word for word, _ in answers)]
    assert head["names"][-1] == "king − man + woman"
    with pytest.raises(UnknownWord):
        pack_analogy(MODELS, {"model": "word2vec-en", "a": "man", "b": "king", "c": "nowheres"})


def test_a_relation_is_drawn_with_arrows() -> None:
    head, _ = unpack(pack_relation(MODELS, {"model": "fasttext-fa", "relation": "gender", "first": "نخست"}))
    assert head["fields"][0]["names"][0] == "نخست"
    assert 2 * len(head["arrows"]) == head["size"]
    with pytest.raises(OptionError, match="no relation"):
        pack_relation(MODELS, {"model": "fasttext-fa", "relation": "tense"})
    assert guess_language("word2vec-en") == "en"
