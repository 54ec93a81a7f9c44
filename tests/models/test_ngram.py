"""N-gram models: the recipe, what a model answers, and its agreement with KenLM."""

from __future__ import annotations

import lzma
import math

import numpy as np
import pytest

from firth.errors import FirthError, OptionError
from firth.formats import arpa
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

WHITESPACE = Tokenizer(mode="whitespace", normalizer=None)
TEA = "he drinks strong tea\nshe drinks strong coffee\nhe has a powerful computer\nshe has a strong tea"


def corpus_of(text: str) -> Corpus:
    return Corpus.of([text], tokenizer=WHITESPACE)


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return Ngram(order=3).fit(corpus_of(TEA))


@pytest.fixture(scope="module")
def text() -> str:
    rng = np.random.default_rng(7)
    lines = [" ".join(f"w{i}" for i in rng.zipf(1.4, rng.integers(1, 20)) % 300) for _ in range(3000)]
    return "\n".join(lines)


def same(one: NgramModel, other: NgramModel) -> bool:
    arrays = zip(one.to_parts().arrays.values(), other.to_parts().arrays.values())
    return one.vocabulary == other.vocabulary and all(np.array_equal(a, b) for a, b in arrays)


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
    trained, corpus = Ngram(order=2).fit(corpus_of(text)), corpus_of("w1 w2 zebra\n" + text)
    monkeypatch.setattr("firth.models.ngram_model.BATCH", 1000)
    whole = trained.perplexity(corpus.sentences())
    assert trained.perplexity(corpus, runtime=Runtime(1)) == trained.perplexity(corpus, runtime=Runtime(3))
    assert trained.perplexity(corpus.tokens()).value == pytest.approx(whole.value)
    assert whole.unknown == 1


def test_the_same_text_gives_the_same_bits_in_any_number_of_threads_and_chunks(text, monkeypatch):
    corpus = corpus_of(text)
    one = Ngram(order=4, min_count=2, prune=(0, 0, 1)).fit(corpus, runtime=Runtime(1))
    monkeypatch.setattr("firth.models.ngram_counts.CHUNK", 501)
    assert same(one, Ngram(order=4, min_count=2, prune=(0, 0, 1)).fit(corpus, runtime=Runtime(3)))


def test_rare_words_become_unknown_and_unknown_has_a_probability_of_its_own():
    model = Ngram(order=2, min_count=2).fit(corpus_of("a b\na c\na d"))
    assert model.vocabulary.words == ("<unk>", "<s>", "</s>", "a")
    assert model.probability("zebra", ["a"]) > 0.5


def test_unknown_written_in_the_text_is_unknown_and_sentence_markers_are_not_words():
    model = Ngram(order=2).fit(corpus_of("<s> a <unk> </s>\n<s> a b </s>"))
    assert same(model, Ngram(order=2).fit(corpus_of("a <UNK>\na b")))
    assert model.vocabulary.words == ("<unk>", "<s>", "</s>", "a", "b")


def test_an_order_that_no_sentence_reaches_is_left_out():
    model = Ngram(order=9).fit(corpus_of("a b\nc"))
    assert model.order == 4
    assert same(model, Ngram(order=4).fit(corpus_of("a b\nc")))


def test_pruning_drops_n_grams_that_were_seen_at_most_so_often():
    model = Ngram(order=3, prune=(0, 1)).fit(corpus_of("a b c\na b d"))
    assert model.counts == {1: 7, 2: 2, 3: 1}  # "<s> a", "a b" and "<s> a b" were seen twice
    assert Ngram(order=3, prune=(0, 5)).fit(corpus_of("a b c\na b d")).order == 1


@pytest.mark.parametrize(
    "options",
    [
        {"order": 0},
        {"prune": ()},
        {"prune": (1,)},
        {"prune": (0, 2, 1)},
        {"order": 2, "prune": (0, 0, 1)},
        {"discount_fallback": (0.5, 1.0)},
        {"discount_fallback": (1.5, 1.0, 1.0)},
    ],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(OptionError, match="Ngram: "):
        Ngram(**options)


def test_a_corpus_without_sentences_is_an_error():
    with pytest.raises(OptionError, match="no sentence"):
        Ngram().fit(corpus_of("\n"))


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
    assert same(model, again)
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


def test_progress_is_reported_to_the_end(text):
    seen = []
    Ngram(order=2).fit(corpus_of(text), report=seen.append)
    assert {"counting 2-grams", "smoothing"} <= {one.step for one in seen}
    assert [one.share for one in seen if one.step == "counting 2-grams"][-1] == 1


def test_kenlm_gives_the_same_scores_from_our_file(text, tmp_path):
    kenlm = pytest.importorskip("kenlm")
    for recipe in (Ngram(order=2, min_count=2), Ngram(order=5), Ngram(order=4, prune=(0, 0, 1, 2))):
        ours = recipe.fit(corpus_of(text))
        arpa.write(ours, tmp_path / "ours.arpa")
        theirs = kenlm.Model(str(tmp_path / "ours.arpa"))
        for line in ["w1 w2 w3", "w5 zebra w1 w1", "", *text.split("\n")[:50]]:
            score = ours.score(line.split())
            assert score.log_prob / math.log(10) == pytest.approx(theirs.score(line), rel=1e-5)
            assert 1 / score.per_word == pytest.approx(theirs.perplexity(line), rel=1e-4)
            lengths = [length for _, length, _ in theirs.full_scores(line)]
            assert lengths == ours.match_lengths(line.split())


def test_held_out_perplexity_of_real_text_is_kenlms(data, tmp_path):
    kenlm = pytest.importorskip("kenlm")
    with lzma.open(data / "data/corpora/en-01.txt.xz", "rt", encoding="utf-8") as file:
        lines = [next(file) for _ in range(4000)]
    ours = Ngram(order=3).fit(corpus_of("".join(lines[:3500])))
    arpa.write(ours, tmp_path / "ours.arpa")
    theirs = kenlm.Model(str(tmp_path / "ours.arpa"))
    held = [line.split() for line in lines[3500:]]
    total = sum(theirs.score(" ".join(words)) for words in held)
    found = ours.perplexity(held)
    assert found.value == pytest.approx(10 ** (-total / sum(len(words) + 1 for words in held)), rel=1e-5)
    assert ours.metadata["fallback_discounts"] == []
