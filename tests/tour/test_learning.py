"""Steps of the tour on trained models."""

from __future__ import annotations

from pathlib import Path

from firth.tour.learning import OWN_SENTENCES, convert_formats, embed_unseen_word, score_sentences
from firth.tour.materials import Materials


def test_every_format_keeps_the_vectors(tmp_path: Path) -> None:
    formats = convert_formats(Materials((), tmp_path)).values["formats"]
    assert [one["format"] for one in formats] == ["word2vec", "word2vec-binary", "glove", "native"]
    assert all(one["kept"] and one["bytes"] for one in formats)


def test_an_unseen_word_has_neighbors(tmp_path: Path) -> None:
    materials = Materials((), tmp_path)
    values = embed_unseen_word(materials).values
    assert values["word"] not in materials.corpus.vocabulary
    assert len(values["neighbors"]) == 5


def test_strong_tea_is_more_likely_than_powerful_tea(tmp_path: Path) -> None:
    scores = score_sentences(Materials((), tmp_path)).values["scores"]
    assert set(scores) == set(OWN_SENTENCES)
    assert scores["strong tea"] > scores["powerful tea"]
