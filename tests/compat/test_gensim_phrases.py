"""gensim's Phrases: the same scores, and sentences with the same phrases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.compat.gensim import FrozenPhrases, Phrases
from firth.errors import OptionError

TOPICS = [["tea", "cup", "milk", "sugar"], ["rain", "cloud", "wind", "storm"]]
TEXT = [[str(word) for word in np.random.default_rng(i).choice(TOPICS[i % 2], 6)] for i in range(200)]


@pytest.mark.parametrize("scoring", ["default", "npmi"])
@pytest.mark.parametrize("connectors", [frozenset(), frozenset({"cup", "wind"})])
@pytest.mark.parametrize("delimiter", ["_", " "])
def test_ported_phrases_are_gensims(scoring, connectors, delimiter):
    peer = pytest.importorskip("gensim.models.phrases")
    threshold = 0.02 if scoring == "default" else 0.15
    options = {"min_count": 2, "threshold": threshold, "scoring": scoring, "connector_words": connectors}
    ours, theirs = (kind(TEXT, delimiter=delimiter, **options) for kind in (Phrases, peer.Phrases))
    assert len(theirs.export_phrases()) > 3
    assert ours.vocab == dict(theirs.vocab)
    assert ours.export_phrases() == pytest.approx(theirs.export_phrases())
    assert ours.find_phrases(TEXT) == pytest.approx(theirs.find_phrases(TEXT))
    assert list(ours[TEXT]) == list(theirs[TEXT])
    twice, again = (
        Phrases(ours[TEXT], delimiter=delimiter, **options),
        peer.Phrases(theirs[TEXT], delimiter=delimiter, **options),
    )
    assert twice.export_phrases() == pytest.approx(again.export_phrases())


def test_more_sentences_and_a_small_table_count_as_in_gensim():
    peer = pytest.importorskip("gensim.models.phrases")
    for most in (5, 20, 1000):
        ours, theirs = (kind(TEXT[:50], max_vocab_size=most) for kind in (Phrases, peer.Phrases))
        for model in (ours, theirs):
            model.add_vocab(TEXT[50:])
        assert ours.vocab == dict(theirs.vocab)
        assert ours.corpus_word_count == theirs.corpus_word_count


def test_ported_phrases_are_saved_frozen_and_found_in_other_sentences(tmp_path: Path):
    model = Phrases(TEXT, min_count=2, threshold=0.02, connector_words={"cup"})
    model.save(tmp_path / "phrases")
    for again in (Phrases.load(tmp_path / "phrases"), FrozenPhrases(model), model.freeze()):
        assert again.find_phrases(TEXT[:9]) == model.find_phrases(TEXT[:9]) != {}
        assert (again.min_count, again.threshold, again.delimiter) == (2, 0.02, "_")
        assert again.connector_words == {"cup"}
        assert list(again[iter(TEXT)]) == list(model[TEXT])
    assert model[[]] == []
    for wrong in ({"min_count": 0}, {"threshold": 0}, {"threshold": 2, "scoring": "npmi"}, {"scoring": "best"}):
        with pytest.raises(OptionError, match="must be"):
            Phrases(TEXT, **wrong)
    with pytest.raises(OptionError, match="must be a list of words"):
        Phrases(["hot tea"])
