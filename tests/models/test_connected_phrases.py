"""Phrases with connector words, compared with gensim on a text."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.models.connected_phrases import ConnectedPhrases, join_words
from firth.models.phrases import Phrases

CONNECTORS = ("of", "the", "and")


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    """Random words, connectors among them, with some pairs far more often than by chance."""
    rng = np.random.default_rng(3)
    words = [*CONNECTORS, "bank", "america", "new", "york", "sea", "salt", "wind", "tea", "milk"]
    phrases = ["bank of america", "new york", "salt and the sea"]
    found = []
    for _ in range(300):
        parts = [*rng.choice(words, rng.integers(2, 7)), str(rng.choice(phrases))]
        found.append(" ".join(rng.permutation(parts)).split())
    return found


def npmi(left: int, right: int, pair: int, total: int) -> float:
    return math.log(pair / total / (left / total * right / total)) / -math.log(pair / total)


@pytest.mark.parametrize("connectors", [(), CONNECTORS])
def test_phrases_by_npmi_are_gensims(sentences, connectors):
    peer = pytest.importorskip("gensim.models.phrases")
    theirs = peer.Phrases(sentences, min_count=5, threshold=0.2, scoring="npmi", connector_words=frozenset(connectors))
    ours = Phrases(scoring="npmi", delta=5, threshold=0.2, passes=1, connectors=connectors).fit(sentences)
    scores = {phrase.name: phrase.score for phrase in ours.top(1000)}
    assert scores == pytest.approx(theirs.export_phrases())
    assert any("_of_" in name for name in scores) == bool(connectors)
    assert [ours.apply(sentence) for sentence in sentences] == [theirs[sentence] for sentence in sentences]


@pytest.mark.parametrize("connectors", [(), CONNECTORS])
def test_an_own_scorer_gives_what_the_same_formula_gives(sentences, connectors):
    own = Phrases(threshold=0.2, passes=1, connectors=connectors).fit(sentences, scorer=npmi)
    known = Phrases(scoring="npmi", delta=1, threshold=0.2, passes=1, connectors=connectors).fit(sentences)
    assert {one.name: one.score for one in own.top(999)} == pytest.approx(
        {one.name: one.score for one in known.top(999)}
    )


def test_the_score_of_the_paper_counts_the_outer_words(sentences):
    model = Phrases(threshold=0.5, delta=2, passes=1, connectors=CONNECTORS).fit(sentences)
    [found] = [one for one in model.top(999) if one.name == "bank_of_america"]
    words = [word for sentence in sentences for word in sentence]
    expected = (found.count - 2) / (words.count("bank") * words.count("america")) * len(words)
    assert found.score == pytest.approx(expected)


def test_joining_goes_from_left_to_right_and_a_word_takes_part_once():
    table = {("a", "of", "b"): (1, 1.0), ("b", "c"): (1, 1.0)}
    assert join_words(["a", "of", "b", "c"], frozenset({"of"}), table, "_") == ["a_of_b", "c"]
    assert join_words(["of", "a", "b", "c", "of"], frozenset({"of"}), table, "_") == ["of", "a", "b_c", "of"]


def test_a_saved_model_joins_the_same(sentences, tmp_path: Path):
    model = Phrases(threshold=0.5, delta=2, connectors=CONNECTORS).fit(sentences)
    save(model, tmp_path / "phrases")
    opened = load(tmp_path / "phrases")
    assert isinstance(opened, ConnectedPhrases)
    assert opened.top(99) == model.top(99)
    joined = opened.rewrite(sentences, tmp_path / "joined.txt")
    assert list(joined.sentences()) == [model.apply(sentence) for sentence in sentences]
    assert len(opened) == len(model) > 0


@pytest.mark.parametrize("change", [{"connectors": [7]}, {"connectors": "of"}, {"phrases": [[[["new", 7], 3, 1.0]]]}])
def test_words_of_a_file_that_are_no_words_are_refused(tmp_path: Path, change: dict[str, object]):
    parts = ConnectedPhrases([{("new", "york"): (3, 1.0)}], ["of"], "_", {}).to_parts()
    save(ConnectedPhrases.from_parts(parts), tmp_path / "model")
    with pytest.raises(OptionError, match="is not a list of words"):
        ConnectedPhrases.from_parts(replace(parts, config={**parts.config, **change}))
