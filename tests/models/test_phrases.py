"""Phrases by hand, as word2phrase has them, and over passes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.models.phrases import PhraseModel, Phrases
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

TEXT = ["the new york times", "new york wakes", "the times change", "old york sleeps"] * 4


def make_corpus(texts: list[str]) -> Corpus:
    return Corpus.of(texts, tokenizer=Tokenizer(mode="whitespace"))


def test_a_score_is_that_of_the_paper() -> None:
    model = Phrases(threshold=0, delta=2, passes=1).fit(make_corpus(TEXT))
    scores = {phrase.name: phrase for phrase in model.top(100)}
    # new 8 times, york 12 times, new york 8 times, 52 words
    assert scores["new_york"].count == 8
    assert scores["new_york"].score == pytest.approx((8 - 2) / (8 * 12) * 52)
    assert scores["york_wakes"].score == pytest.approx((4 - 2) / (12 * 4) * 52)
    assert "times_new" not in scores  # a sentence ends between them


def test_a_pair_needs_a_score_above_the_threshold() -> None:
    exact = (8 - 2) / (8 * 12) * 52
    assert "new_york" in {
        phrase.name for phrase in Phrases(threshold=exact * 0.999, delta=2).fit(make_corpus(TEXT)).top(99)
    }
    assert "new_york" not in {
        phrase.name for phrase in Phrases(threshold=exact, delta=2).fit(make_corpus(TEXT)).top(99)
    }


def test_a_second_pass_makes_longer_phrases() -> None:
    text = [f"a{i} new york times b{i}" for i in range(10)]
    text += [f"c{i} {word} d{i}" for i in range(5) for word in ("new", "york", "times")]
    once, twice = (Phrases(threshold=1.5, delta=2, passes=passes).fit(make_corpus(text)) for passes in (1, 2))
    assert once.apply(["new", "york", "times"]) == ["new_york", "times"]
    assert twice.apply(["new", "york", "times"]) == ["new_york_times"]
    assert len(once.joins) == 1
    assert len(twice.joins) == 2


def test_a_falling_threshold_finds_more_in_later_passes() -> None:
    text = ["new york times are good", "new york is far", "times are bad"] * 10
    flat = Phrases(threshold=3, delta=2, passes=2).fit(make_corpus(text))
    falling = Phrases(threshold=3, delta=2, passes=2, threshold_factor=0.1).fit(make_corpus(text))
    assert len(falling) > len(flat)


def join_by_hand(sentences: list[list[str]], threshold: float, delta: int, passes: int) -> list[list[str]]:
    """word2phrase, as straight as it can be written."""
    for _ in range(passes):
        words = Counter(word for sentence in sentences for word in sentence)
        pairs = Counter(pair for sentence in sentences for pair in pairwise(sentence))
        total = sum(words.values())
        joined = []
        for sentence in sentences:
            line, at = [], 0
            while at < len(sentence):
                pair = tuple(sentence[at : at + 2])
                score = 0.0
                if len(pair) == 2:
                    score = (pairs[pair] - delta) / (words[pair[0]] * words[pair[1]]) * total  # type: ignore[index]
                line.append("_".join(pair) if score > threshold else sentence[at])
                at += 2 if score > threshold else 1
            joined.append(line)
        sentences = joined
    return sentences


@pytest.mark.parametrize("threads", [1, 2])
def test_a_text_is_joined_as_the_plain_algorithm_does_it(tmp_path: Path, threads: int) -> None:
    rng = np.random.default_rng(3)
    sentences = []
    for length in rng.integers(0, 15, 2000).tolist():
        words = [f"w{word}" for word in (rng.zipf(1.3, length) % 40).tolist()]
        sentences.append(words + ["once", "upon", "a", "time"] * (length % 3) + words[::2])
    corpus, runtime = make_corpus([" ".join(sentence) for sentence in sentences]), Runtime(threads)
    model = Phrases(threshold=1.5, delta=3, passes=3).fit(corpus, runtime=runtime)
    wanted = join_by_hand(sentences, 1.5, 3, 3)
    assert [model.apply(sentence) for sentence in sentences] == wanted
    again = model.rewrite(corpus, tmp_path / "joined.txt.gz", runtime=runtime)
    assert list(again.sentences()) == [sentence for sentence in wanted if sentence]
    assert max(word.count("_") for sentence in wanted for word in sentence) > 2


def test_a_phrase_that_is_a_word_already_is_that_word() -> None:
    text = ["new york", "new_york is large", "he likes new_york"] * 6
    model = Phrases(threshold=0, delta=2, passes=1).fit(make_corpus(text))
    assert model.apply(["new", "york"]) == ["new_york"]
    assert model.vocabulary.words.count("new_york") == 1


def test_phrases_join_a_corpus_that_they_were_not_found_in(tmp_path: Path) -> None:
    model = Phrases(threshold=1, delta=2, passes=1).fit(make_corpus(TEXT))
    joined = model.rewrite(make_corpus(["we saw new york again", "", "york new"]), tmp_path / "joined.txt")
    assert (tmp_path / "joined.txt").read_text() == "we saw new_york again\nyork new\n"
    assert joined.vocabulary.find("new_york") >= 0


@pytest.mark.parametrize("connectors", [(), ("و",)])
def test_texts_are_joined_in_the_spelling_of_the_training_text(tmp_path: Path, connectors: tuple[str, ...]) -> None:
    persian = Tokenizer(language="persian")
    text = Corpus.of(["كتاب خوب را خواند", "كتاب خوب را دید", "او آمد"] * 5, tokenizer=persian)
    model = Phrases(threshold=1, delta=1, passes=1, connectors=connectors).fit(text)
    assert model.apply("كتاب خوب") == ["کتاب_خوب"]
    model.rewrite(["كتاب خوب بود"], tmp_path / "joined.txt")
    model.rewrite([["كتاب", "خوب"]], tmp_path / "tokens.txt")
    assert (tmp_path / "joined.txt").read_text() == "کتاب_خوب بود\n"
    assert (tmp_path / "tokens.txt").read_text() == "كتاب خوب\n", "lists of words stay as they are"


def test_phrases_come_back_from_their_folder(tmp_path: Path) -> None:
    model = Phrases(threshold=1, delta=2).fit(make_corpus(TEXT))
    save(model, tmp_path / "phrases")
    again = load(tmp_path / "phrases")
    assert isinstance(again, PhraseModel)
    assert again.top(99) == model.top(99)
    assert again.apply(TEXT[0].split()) == model.apply(TEXT[0].split())
    assert again.metadata["recipe"] == model.metadata["recipe"]
    none = Phrases().fit(make_corpus(TEXT))
    save(none, tmp_path / "none")
    assert len(load(tmp_path / "none")) == len(none) == 0
    assert load(tmp_path / "none").apply(["new", "york"]) == ["new", "york"]


def test_bad_options_and_empty_texts_are_errors() -> None:
    with pytest.raises(OptionError, match="must not contain whitespace"):
        Phrases(joiner=" ")
    with pytest.raises(OptionError, match="holds no words"):
        Phrases().fit(make_corpus([""]))
