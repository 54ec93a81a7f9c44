"""Language modeling with a biLM: probabilities sum to one, and scores are their products."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firth.errors import OptionError, UnknownWord
from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.neural.language import draw
from firth.text.vocabulary import Vocabulary

WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain", "and", "the"])
BILM = BiLM(PRESETS["tiny"], vocabulary=WORDS)
SENTENCE = ["rain", "and", "milk"]


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_probabilities_sum_to_one_in_any_context() -> None:
    for left, right in (((), ()), (["tea"], ["and", "rain"]), ("never seen", "before")):
        for probabilities in BILM.distributions(left, right):
            assert probabilities.sum() == pytest.approx(1)
            assert probabilities.min() > 0


def test_a_score_is_the_product_of_its_words_probabilities_in_each_direction() -> None:
    framed = ["<S>", "rain", "and", "<UNK>", "</S>"]  # milk is not predicted, but it is read as itself
    forward = backward = 0.0
    for place in range(4):
        forward += math.log(BILM.distributions(SENTENCE[:place], ())[0][WORDS.id(framed[place + 1])])
        backward += math.log(BILM.distributions((), SENTENCE[place:])[1][WORDS.id(framed[place])])
    found, other = BILM.score([SENTENCE, []])
    assert found.forward == pytest.approx(forward, abs=1e-5)
    assert found.backward == pytest.approx(backward, abs=1e-5)
    assert found.log_prob == pytest.approx(forward + backward, abs=1e-5)
    assert found.per_word == pytest.approx(math.exp((forward + backward) / 8))
    assert (found.words, found.unknown, other.words) == (tuple(SENTENCE), 1, ())
    assert found.as_dict()["forward"] == found.forward


def test_a_score_does_not_depend_on_the_other_sentences() -> None:
    sentences = [SENTENCE, ["tea"], ["the"] * 40, []]
    for sentence, together in zip(sentences, BILM.score(sentences)):
        (alone,) = BILM.score([sentence])
        assert together.log_prob == pytest.approx(alone.log_prob, abs=1e-4)


def test_a_gap_is_judged_from_both_sides() -> None:
    found = BILM.predict(["rain"], ["tea"], topn=3)
    forward, backward = BILM.distributions(["rain"], ["tea"])
    assert len(found.forward) == len(found.both) == 3
    assert found.forward[0][1] == max(np.delete(forward, WORDS.id("<UNK>")))
    assert dict(found.backward)[found.backward[0][0]] == max(np.delete(backward, WORDS.id("<UNK>")))
    both = forward * backward / (forward * backward).sum()
    assert found.both[0][1] == pytest.approx(max(np.delete(both, WORDS.id("<UNK>"))))
    assert "<UNK>" not in dict(BILM.predict(topn=99).forward)


def test_the_same_seed_generates_the_same_text() -> None:
    one = BILM.generate(["rain"], length=30, seed=3)
    assert one == BILM.generate(["rain"], length=30, seed=3)
    assert any(one != BILM.generate(["rain"], length=30, seed=seed) for seed in range(4, 9))
    assert not {"<UNK>", "<S>", "</S>"} & set(one)
    assert BILM.generate(length=0) == []


def test_top_k_of_one_generates_the_most_probable_word() -> None:
    words = BILM.generate("rain", length=5, top_k=1)
    for place, word in enumerate(words):
        probabilities = BILM.distributions(["rain", *words[:place]], ())[0]
        probabilities[[WORDS.id("<S>"), WORDS.id("<UNK>")]] = 0
        assert word == WORDS[int(probabilities.argmax())]


def test_a_draw_follows_its_probabilities_and_cuts() -> None:
    probabilities, rng = np.array([0.5, 0.2, 0.3]), np.random.default_rng(1)
    counts = np.bincount([draw(probabilities, 1.0, None, None, rng) for _ in range(20_000)])
    assert np.abs(counts / 20_000 - probabilities).max() < 0.015
    assert {draw(probabilities, 1.0, 2, None, rng) for _ in range(200)} == {0, 2}
    assert {draw(probabilities, 1.0, None, 0.7, rng) for _ in range(200)} == {0, 2}
    assert {draw(probabilities, 0.01, None, None, rng) for _ in range(200)} == {0}
    level = np.bincount([draw(probabilities, 1000.0, None, None, rng) for _ in range(3000)])
    assert level.min() > 800


@pytest.mark.parametrize("wrong", [{"temperature": 0}, {"top_k": 0}, {"top_p": 0}, {"top_p": 1.5}, {"length": -1}])
def test_impossible_options_of_a_draw_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        BILM.generate(**wrong)  # type: ignore[arg-type]


def test_a_model_without_a_softmax_cannot_predict() -> None:
    silent = BiLM(PRESETS["tiny"])
    for ask in (lambda: silent.score([SENTENCE]), lambda: silent.predict(), lambda: silent.generate()):
        with pytest.raises(OptionError, match="no softmax"):
            ask()


def test_unknown_words_are_an_error_without_unk() -> None:
    bilm = BiLM(PRESETS["tiny"], vocabulary=Vocabulary(["<S>", "</S>", "tea"]))
    with pytest.raises(UnknownWord, match="'rain'"):
        bilm.score([["rain"]])


def test_log_probabilities_of_words_sum_to_the_score() -> None:
    forward, backward = BILM.log_probs(SENTENCE)
    (found,) = BILM.score([SENTENCE])
    assert (forward.sum(), backward.sum()) == (found.forward, found.backward)
    assert math.exp(forward[0]) == pytest.approx(BILM.distributions()[0][WORDS.id("rain")], abs=1e-6)
