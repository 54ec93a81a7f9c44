"""Maps between the spaces of two models: rotations, two halves of one text, English and Persian."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.models.vector_map import VectorMap, align
from firth.vectors.words import WordVectors

ROOT = Path(__file__).resolve().parents[2]
PAIRS = ROOT / "src/firth/evaluate/sets/translation-en-fa.txt"


def make_models(noise: float = 0.05) -> tuple[WordVectors, WordVectors]:
    """A model of 300 words, and the same turned, with noise and with other names."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 20))
    turn = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    words = [f"w{number}" for number in range(300)]
    other = rows @ turn + noise * rng.normal(size=rows.shape)
    return WordVectors(words, rows), WordVectors([word.upper() for word in words], other)


def test_a_turned_model_is_turned_back() -> None:
    source, target = make_models()
    pairs = [(word, word.upper()) for word in source.vocabulary]
    score = align(source, target, pairs[:40]).evaluate(source, target, pairs[40:])
    assert (score.at_1, score.used, score.total) == (1.0, 260, 260)


def test_refinement_finds_what_a_small_dictionary_does_not() -> None:
    source, target = make_models(0.3)
    pairs = [(word, word.upper()) for word in source.vocabulary]
    scores = [
        align(source, target, pairs[:15], refine=refine).evaluate(source, target, pairs[15:]) for refine in (0, 5)
    ]
    assert scores[0].at_1 < 0.9
    assert scores[1].at_1 > scores[0].at_1 + 0.05


def test_mapped_vectors_are_near_those_of_the_target() -> None:
    source, target = make_models()
    mapped = align(source, target, {word: word.upper() for word in source.vocabulary}).apply(source)
    assert target.most_similar(mapped["w7"], topn=1)[0][0] == "W7"


def test_identical_strings_are_the_default_dictionary() -> None:
    source, target = make_models()
    same = WordVectors([word.lower() for word in target.vocabulary], target.matrix)
    assert align(source, same, refine=0).metadata["pairs"] == 300
    with pytest.raises(OptionError, match=r"0 pairs of words are in both vocabularies.*Pass a dictionary"):
        align(source, target)


def test_two_halves_of_one_text_are_brought_together() -> None:
    topics = [[f"t{topic}w{word}" for word in range(6)] for topic in range(12)]
    rng = np.random.default_rng(1)
    text = [" ".join(rng.choice(topics[at % 12], 8)) + f" x{at % 12} x{(at + 1) % 12}" for at in range(1200)]
    first, second = (firth.Counts(kind="svd", dim=12, min_count=2).fit(text[half * 600 :][:600]) for half in (0, 1))
    words = [word for word in first.vocabulary if word.startswith("x")]
    dictionary = [(word, word) for topic in topics for word in topic[:3]]
    assert isinstance(first, WordVectors)
    assert isinstance(second, WordVectors)
    score = align(first, second, dictionary).evaluate(first, second, [(word, word) for word in words])
    assert score.used == 12
    assert score.at_1 >= 0.9


def test_english_and_persian_are_aligned_by_a_dictionary_of_250_pairs() -> None:
    pairs = [tuple(line.split("\t")) for line in PAIRS.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert len(pairs) >= 300
    english = firth.load("word2vec-en", limit=6000)
    persian = firth.load("fasttext-fa", limit=6000)
    train = [pair for number, pair in enumerate(pairs) if number % 3]
    test = pairs[::3]
    score = align(english, persian, train, refine=0).evaluate(english, persian, test)
    assert score.used >= 100
    assert score.at_1 > 0.2
    assert score.at_5 > 0.4


def test_a_map_is_saved_and_opened(tmp_path: Path) -> None:
    source, target = make_models()
    found = align(source, target, {"w1": "W1", "w2": "W2", "w3": "W3"}, refine=0)
    firth.save(found, tmp_path / "map")
    loaded = firth.load(tmp_path / "map")
    assert isinstance(loaded, VectorMap)
    assert np.array_equal(loaded.rotation, found.rotation)
    assert loaded.metadata["pairs"] == 3


def test_dimensions_and_pairs_are_checked() -> None:
    source, target = make_models()
    found = align(source, target, {"w1": "W1", "w2": "W2"}, refine=0)
    with pytest.raises(OptionError, match="the source has vectors of 3 numbers, but this map is for 20"):
        found.apply(WordVectors(["tea"], np.ones((1, 3))))
    with pytest.raises(OptionError, match="must be two words"):
        align(source, target, [("w1", "W1", "x")])  # type: ignore[list-item]


def test_translations_are_compared_as_the_target_spells_its_words() -> None:
    persian = firth.Tokenizer(language="persian")
    rows = np.random.default_rng(1).normal(size=(30, 5)).astype(np.float32)
    source = WordVectors([f"w{i}" for i in range(29)] + ["book"], rows)
    target = WordVectors([f"v{i}" for i in range(29)] + ["کتاب"], rows).with_tokenizer(persian)
    found = align(source, target, [(f"w{i}", f"v{i}") for i in range(29)], refine=0)
    score = found.evaluate(source, target, {"book": "كتاب"})
    assert (score.at_1, score.used) == (1.0, 1)
