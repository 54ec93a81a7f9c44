"""N-gram models: the recipe, what a model answers, and its agreement with KenLM."""

from __future__ import annotations

import lzma
import math

import numpy as np
import pytest

from firth.errors import OptionError
from firth.formats import arpa
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

WHITESPACE = Tokenizer(mode="whitespace", normalizer=None)


def make_corpus(text: str) -> Corpus:
    return Corpus.of([text], tokenizer=WHITESPACE)


def are_equal(one: NgramModel, other: NgramModel) -> bool:
    arrays = zip(one.to_parts().arrays.values(), other.to_parts().arrays.values())
    return one.vocabulary == other.vocabulary and all(np.array_equal(a, b) for a, b in arrays)


def test_the_same_text_gives_the_same_bits_in_any_number_of_threads_and_chunks(text, monkeypatch):
    corpus = make_corpus(text)
    one = Ngram(order=4, min_count=2, prune=(0, 0, 1)).fit(corpus, runtime=Runtime(1))
    monkeypatch.setattr("firth.models.ngram_counts.CHUNK", 501)
    assert are_equal(one, Ngram(order=4, min_count=2, prune=(0, 0, 1)).fit(corpus, runtime=Runtime(3)))


def test_rare_words_become_unknown_and_unknown_has_a_probability_of_its_own():
    model = Ngram(order=2, min_count=2).fit(make_corpus("a b\na c\na d"))
    assert model.vocabulary.words == ("<unk>", "<s>", "</s>", "a")
    assert model.probability("zebra", ["a"]) > 0.5


def test_unknown_written_in_the_text_is_unknown_and_sentence_markers_are_not_words():
    model = Ngram(order=2).fit(make_corpus("<s> a <unk> </s>\n<s> a b </s>"))
    assert are_equal(model, Ngram(order=2).fit(make_corpus("a <UNK>\na b")))
    assert model.vocabulary.words == ("<unk>", "<s>", "</s>", "a", "b")


def test_an_order_that_no_sentence_reaches_is_left_out():
    model = Ngram(order=9).fit(make_corpus("a b\nc"))
    assert model.order == 4
    assert are_equal(model, Ngram(order=4).fit(make_corpus("a b\nc")))


def test_pruning_drops_n_grams_that_were_seen_at_most_so_often():
    model = Ngram(order=3, prune=(0, 1)).fit(make_corpus("a b c\na b d"))
    assert model.counts == {1: 7, 2: 2, 3: 1}  # "<s> a", "a b" and "<s> a b" were seen twice
    assert Ngram(order=3, prune=(0, 5)).fit(make_corpus("a b c\na b d")).order == 1


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
        Ngram().fit(make_corpus("\n"))


def test_progress_is_reported_to_the_end(text):
    seen = []
    Ngram(order=2).fit(make_corpus(text), report=seen.append)
    assert {"counting 2-grams", "smoothing"} <= {one.step for one in seen}
    assert [one.share for one in seen if one.step == "counting 2-grams"][-1] == 1


def test_kenlm_gives_the_same_scores_from_our_file(text, tmp_path):
    kenlm = pytest.importorskip("kenlm")
    for recipe in (Ngram(order=2, min_count=2), Ngram(order=5), Ngram(order=4, prune=(0, 0, 1, 2))):
        ours = recipe.fit(make_corpus(text))
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
    ours = Ngram(order=3).fit(make_corpus("".join(lines[:3500])))
    arpa.write(ours, tmp_path / "ours.arpa")
    theirs = kenlm.Model(str(tmp_path / "ours.arpa"))
    held = [line.split() for line in lines[3500:]]
    total = sum(theirs.score(" ".join(words)) for words in held)
    found = ours.perplexity(held)
    assert found.value == pytest.approx(10 ** (-total / sum(len(words) + 1 for words in held)), rel=1e-5)
    assert ours.metadata["fallback_discounts"] == []
