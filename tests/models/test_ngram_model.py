"""What an n-gram model answers: probabilities, scores, perplexity, predictions, samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firth.errors import FirthError, OptionError
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

WHITESPACE = Tokenizer(mode="whitespace", normalizer=None)
TEA = "he drinks strong tea\nshe drinks strong coffee\nhe has a powerful computer\nshe has a strong tea"


def make_corpus(text: str) -> Corpus:
    return Corpus.of([text], tokenizer=WHITESPACE)


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return Ngram(order=3).fit(make_corpus(TEA))


def test_strong_tea_beats_powerful_tea(model):
    assert model.score(["strong", "tea"]).per_word > model.score(["powerful", "tea"]).per_word
    assert model.probability("tea", ["strong"]) > 5 * model.probability("tea", ["powerful"])


def test_log_probs_are_the_probabilities_of_each_word_after_the_ones_before_and_of_the_end(model):
    words = ["he", "drinks", "zebra", "tea"]
    context = ["<s>", *words]
    expected = [model.probability(word, context[: i + 1]) for i, word in enumerate([*words, "</s>"])]
    assert np.exp(model.log_probs(words)) == pytest.approx(expected, rel=1e-6)
    score = model.score(words)
    assert score.log_prob == pytest.approx(sum(map(math.log, expected)))
    assert score.unknown == 1
    assert score.per_word == pytest.approx(math.prod(expected) ** (1 / 5))
    assert len(model.log_probs([])) == 1


def test_match_lengths_say_how_long_the_n_gram_was(model):
    assert model.match_lengths(["he", "drinks", "tea"]) == [2, 3, 1, 2]


def test_markers_in_a_sentence_are_unknown_words(model):
    assert model.log_probs(["<s>", "he"]) == pytest.approx(model.log_probs(["zebra", "he"]))


def test_perplexity_counts_unknown_words_and_leaves_them_out(model):
    sentences = [["he", "drinks", "tea"], ["zebra"], []]
    found = model.perplexity(sentences)
    values = [model.log_probs(words) for words in sentences]
    total = sum(value.sum() for value in values)
    assert (found.words, found.unknown, found.sentences) == (7, 1, 3)
    assert found.value == pytest.approx(math.exp(-total / 7))
    assert found.without_unknown == pytest.approx(math.exp(-(total - values[1][0]) / 6))
    assert float(found) == found.value
    with pytest.raises(OptionError, match="no sentence"):
        model.perplexity([])


def test_perplexity_of_a_corpus_is_that_of_its_sentences_in_any_number_of_threads(model, text, monkeypatch):
    trained, corpus = Ngram(order=2).fit(make_corpus(text)), make_corpus("w1 w2 zebra\n" + text)
    monkeypatch.setattr("firth.models.ngram_model.BATCH", 1000)
    whole = trained.perplexity(corpus.sentences())
    assert trained.perplexity(corpus, runtime=Runtime(1)) == trained.perplexity(corpus, runtime=Runtime(3))
    assert trained.perplexity(corpus.tokens()).value == pytest.approx(whole.value)
    assert whole.unknown == 1


def test_predictions_are_the_likeliest_words_of_the_distribution(model):
    predicted = model.predict(["drinks", "strong"], 2)
    assert {word for word, _ in predicted} == {"tea", "coffee"}
    assert predicted[0][1] == pytest.approx(model.probability(predicted[0][0], ["drinks", "strong"]), rel=1e-6)
    everything = model.predict((), 1000)
    assert len(everything) == len(model.vocabulary) - 2  # neither <s> nor <unk>


def test_samples_repeat_with_their_seed_and_follow_the_distribution(model):
    assert model.sample(seed=4) == model.sample(seed=4)
    assert len({tuple(model.sample(seed=i)) for i in range(20)}) > 5
    first = [model.sample(length=1, seed=i) for i in range(400)]
    share = first.count(["he"]) / 400
    assert share == pytest.approx(model.probability("he", ["<s>"]), abs=0.1)
    assert model.sample(["she", "drinks"], length=1, top_k=1) == model.sample(
        ["she", "drinks"], length=1, temperature=1e-3
    )
    assert not any("<unk>" in model.sample(seed=i, temperature=5) for i in range(50))
    with pytest.raises(OptionError, match="temperature"):
        model.sample(temperature=0)


def test_a_model_survives_being_taken_apart(model):
    again = NgramModel.from_parts(model.to_parts())
    assert again.vocabulary == model.vocabulary
    for name, array in model.to_parts().arrays.items():
        np.testing.assert_array_equal(again.to_parts().arrays[name], array)
    assert again.metadata == model.metadata
    assert repr(again) == "NgramModel(order 3: 13 words, 16 2-grams, 17 3-grams)"
    assert "order 3" in str(again.__rich__().title)


def test_arrays_that_do_not_fit_together_are_refused(model):
    starts = model.starts.copy()
    starts[3] = 10_000
    with pytest.raises(FirthError, match="do not fit together"):
        NgramModel(model.vocabulary, model.levels, starts, model.words, model.log10, model.backoffs)
    with pytest.raises(FirthError, match="do not fit together"):
        NgramModel(model.vocabulary, model.levels, model.starts, model.words[:-1], model.log10, model.backoffs)
