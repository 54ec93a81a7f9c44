"""The ladder: worked examples to the digit, and the laws of counting."""

from __future__ import annotations

import lzma
import math
import os
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import OptionError, UnknownWord
from firth.models.cooccurrence import Near, count_pairs, size_in_bytes, units
from firth.models.count_matrix import CountMatrix, Ratio
from firth.models.counts import Counts
from firth.models.token_lists import TokenLists
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors

LAZY = ["He is a lazy boy. She is also lazy.", "Neeraj is a lazy person."]
DEEP = [[["I", "like", "deep", "learning", "."], ["I", "like", "NLP", "."], ["I", "enjoy", "flying", "."]]]


def matrix(recipe: Counts, corpus) -> CountMatrix:
    made = recipe.fit(corpus, runtime=Runtime(2))
    assert isinstance(made, CountMatrix)
    return made


def near_words(sentences, window: int, weigh=lambda distance: 1.0) -> Counter[tuple[str, str]]:
    """GloVe's counting, the slow way: both sides, inside a sentence."""
    found: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for j in range(max(0, i - window), i):
                found[word, sentence[j]] += weigh(i - j)
                found[sentence[j], word] += weigh(i - j)
    return found


def test_the_lazy_boy_as_a_document_term_matrix():
    counts = matrix(Counts(kind="document-term", stop_words=("also", "is", "a")), Corpus.of(LAZY))
    assert {word: counts[word].tolist() for word in counts.vocabulary} == {
        "He": [1, 0],
        "She": [1, 0],
        "lazy": [2, 1],
        "boy": [1, 0],
        "Neeraj": [0, 1],
        "person": [0, 1],
    }


def test_messi_weighs_0_1505_and_a_word_of_both_documents_nothing():
    documents = [
        [["This", "is", "about", "about", "Messi", "Messi", "Messi", "Messi"]],
        [["This", "is", "TF-IDF", "about"]],
    ]
    weights = matrix(Counts(kind="tf-idf", tf="relative", log="base10"), TokenLists.of(documents))
    assert round(weights.value("0", "Messi"), 4) == 0.1505
    assert weights["This"].tolist() == [0.0, 0.0]
    assert weights.value("0", "Messi") == 4 / 8 * math.log10(2 / 1)


def test_i_like_deep_learning_at_window_one():
    counts = matrix(Counts(window=1), TokenLists.of(DEEP))
    assert counts.value("I", "like") == 2
    assert counts.value("I", "enjoy") == counts.value("like", "deep") == counts.value("learning", ".") == 1
    assert (counts.matrix != counts.matrix.T).nnz == 0
    assert counts.matrix.sum() == 2 * (4 + 3 + 3)


def test_a_penny_saved_with_its_right_neighbor_only():
    folded = Tokenizer(normalizer=Normalizer(fold_case=True))
    text = "Penny wise and pound foolish. A penny saved is a penny earned."
    counts = matrix(Counts(window=1, direction="right"), Corpus.of([text], tokenizer=folded))
    assert counts.value("a", "penny") == 2
    assert [counts.value("penny", word) for word in ("wise", "saved", "earned", "a")] == [1, 1, 1, 0]


def test_one_hot_is_the_identity():
    counts = matrix(Counts(kind="one-hot"), TokenLists.of(DEEP))
    np.testing.assert_array_equal(counts.matrix.toarray(), np.eye(8))


sentences = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=6)


@settings(deadline=None)
@given(sentences, st.integers(1, 6))
def test_co_occurrence_is_what_the_slow_way_counts(text, window):
    lists = TokenLists.of([text])
    if not len(lists.vocabulary):
        return
    counts = matrix(Counts(window=window, weighting="harmonic"), lists)
    expected = near_words(text, window, lambda distance: 1 / distance)
    for row in counts.rows:
        for column in counts.columns:
            assert counts.value(row, column) == pytest.approx(expected[row, column], rel=1e-15)


@settings(deadline=None)
@given(sentences)
def test_left_is_right_turned_around_and_both_is_their_sum(text):
    lists = TokenLists.of([text])
    if not len(lists.vocabulary):
        return
    left, right, both = (matrix(Counts(direction=way), lists).matrix for way in ("left", "right", "both"))
    assert (left != right.T).nnz == 0
    assert (both != left + right).nnz == 0


def long_text() -> TokenLists:
    rng = np.random.default_rng(7)
    ids = np.minimum(rng.zipf(1.3, 30_000), 400)
    cuts = np.sort(rng.integers(0, len(ids), 900))  # some sentences are empty, one is long
    cuts = cuts[(cuts < 10_000) | (cuts > 18_000)]
    return TokenLists.of([[part.astype(str).tolist() for part in np.split(ids, cuts)]])


@pytest.mark.parametrize("gaps", ["close", "keep"])
def test_threads_pieces_and_spilling_do_not_change_a_bit(gaps, tmp_path):
    lists = long_text()
    recipe = Counts(window=7, weighting="harmonic", min_count=3, gaps=gaps, spill_folder=str(tmp_path))
    plain = recipe.fit(lists, runtime=Runtime(1)).matrix
    for threads in (1, 2, 5):
        for limit in (1, "40 KB", "1 MB"):
            again = Counts(**{**recipe.as_dict(), "memory_limit": limit}).fit(lists, runtime=Runtime(threads)).matrix
            for name in ("indptr", "indices", "data"):
                np.testing.assert_array_equal(getattr(again, name), getattr(plain, name), strict=True)
    assert os.listdir(tmp_path) == []


def test_little_memory_sends_runs_to_disk(tmp_path, monkeypatch):
    opened = []
    from firth.models import spill

    new_file = spill.RunStore._new_file
    monkeypatch.setattr(spill.RunStore, "_new_file", lambda shelf: opened.append(1) or new_file(shelf))
    Counts(memory_limit="40 KB", spill_folder=str(tmp_path)).fit(long_text(), runtime=Runtime(1))
    assert len(opened) > 10


def test_a_dropped_word_closes_up_or_keeps_its_place():
    text = TokenLists.of([[["ice", "rare", "solid", "ice", "solid"]]])
    closed = matrix(Counts(window=1, min_count=2), text)
    kept = matrix(Counts(window=1, min_count=2, gaps="keep"), text)
    assert closed.value("ice", "solid") == 3
    assert kept.value("ice", "solid") == 2


def test_one_over_distance_is_exact_up_to_a_window_of_22_and_close_beyond():
    for window in (1, 2, 10, 22):
        weights, one = units(window, harmonic=True)
        assert all(weights[d] * d == one for d in range(1, window + 1))
    weights, one = units(100, harmonic=True)
    np.testing.assert_allclose(weights[1:] / one, 1 / np.arange(1, 101), rtol=1e-7)


def test_stop_words_in_small_letters_match_capitals_and_others_only_themselves():
    text = TokenLists.of([[["The", "the", "US", "us", "ice"]]])
    assert set(matrix(Counts(stop_words=("the", "US")), text).vocabulary) == {"us", "ice"}
    assert set(matrix(Counts(stop_words="english", kind="document-term"), text).vocabulary) == {"ice"}


def test_max_words_keeps_the_most_frequent_after_stop_words_are_gone():
    text = TokenLists.of([[["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"]]])
    assert matrix(Counts(max_words=2, stop_words=("a",)), text).vocabulary.words == ("b", "c")


def test_punctuation_is_dropped_by_documents_and_kept_by_windows_unless_said():
    text = TokenLists.of([[["ice", ",", "-", "2"]]])
    assert set(matrix(Counts(kind="document-term"), text).vocabulary) == {"ice", "2"}
    assert set(matrix(Counts(kind="document-term", punctuation=True), text).vocabulary) == {"ice", ",", "-", "2"}
    assert set(matrix(Counts(punctuation=False), text).vocabulary) == {"ice", "2"}


def test_an_impossible_option_is_refused_with_its_name():
    for options, name in (
        ({"stop_words": "klingon"}, "stop_words"),
        ({"memory_limit": "much"}, "memory_limit"),
        ({"memory_limit": 0}, "memory_limit"),
        ({"shift": 0.0}, "shift"),
        ({"kind": "two-hot"}, "kind"),
    ):
        with pytest.raises(OptionError, match=name):
            Counts(**options)
    with pytest.raises(OptionError, match="min_count"):
        Counts(min_count=9).fit(TokenLists.of(DEEP))
    with pytest.raises(OptionError, match="dim is 100"):
        Counts(kind="svd").fit(TokenLists.of(DEEP))


def test_sizes_are_said_as_people_say_them():
    assert [size_in_bytes(size) for size in ("1.5 MB", "7", " 2GB ", 12)] == [1_500_000, 7, 2 * 10**9, 12]


def ice_and_steam() -> CountMatrix:
    text = ["ice solid", "ice solid", "ice water", "steam gas", "steam water", "ice steam", "fashion week"]
    return matrix(Counts(window=1), TokenLists.of([[line.split() for line in text]]))


def test_probabilities_of_a_word_sum_to_one():
    counts = ice_and_steam()
    assert counts.probabilities("ice").sum() == pytest.approx(1)
    assert counts.probabilities("ice", ["solid", "water"]).tolist() == [0.5, 0.25]
    assert counts.probabilities("ice", "gas").tolist() == [0.0]


def test_ratios_say_what_they_cannot_say():
    found = ice_and_steam().ratio("ice", "steam", ["water", "solid", "gas", "fashion", "vapour"])
    assert found.lines == (
        Ratio("water", 0.25, 1 / 3, 0.75),
        Ratio("solid", 0.5, 0.0, None, "never near steam"),
        Ratio("gas", 0.0, 1 / 3, 0.0, "never near ice"),
        Ratio("fashion", 0.0, 0.0, None, "never near ice or steam"),
        Ratio("vapour", None, None, None, "not in the vocabulary"),
    )
    with pytest.raises(UnknownWord, match="stream"):
        ice_and_steam().ratio("ice", "stream", ["water"])


def test_a_word_without_company_has_no_probabilities():
    lonely = matrix(Counts(), TokenLists.of([[["alone"], ["two", "words"]]]))
    with pytest.raises(OptionError, match="nothing was counted near 'alone'"):
        lonely.probabilities("alone")


def test_top_lists_the_largest_first_and_never_an_empty_cell():
    assert ice_and_steam().top("ice", 5) == [("solid", 2.0), ("steam", 1.0), ("water", 1.0)]


def test_a_matrix_is_shown_by_its_corner():
    from rich.console import Console

    counts = ice_and_steam()
    console = Console(width=100)
    with console.capture() as capture:
        console.print(counts, counts.ratio("ice", "steam", ["solid"]))
    shown = capture.get()
    assert "CountMatrix(co-occurrence, 7 × 7, 12 cells used)" in shown
    assert "P(k|ice)" in shown
    assert "never near steam" in shown


@pytest.mark.parametrize("kind", ["co-occurrence", "document-term", "tf-idf", "ppmi", "one-hot"])
def test_a_matrix_survives_being_taken_apart(kind):
    counts = matrix(Counts(kind=kind, normalize="l2"), Corpus.of(LAZY))
    again = CountMatrix.from_parts(counts.to_parts())
    assert (again.matrix != counts.matrix).nnz == 0
    assert again.rows == counts.rows
    assert again.columns == counts.columns
    assert again.metadata == counts.metadata
    if again.by_document:
        assert (again.transform(LAZY) != counts.transform(LAZY)).nnz == 0


@pytest.mark.parametrize("options", [{}, {"tf": "relative"}, {"tf": "log", "smooth": "add-one", "normalize": "l2"}])
def test_the_corpus_itself_is_transformed_to_its_own_matrix(options):
    weights = matrix(Counts(kind="tf-idf", **options), Corpus.of(LAZY))
    np.testing.assert_allclose(weights.transform(LAZY).toarray(), weights.matrix.toarray(), rtol=1e-15)
    assert weights.transform([["lazy", "unheard"]]).shape == (1, len(weights.columns))


def test_vectors_are_the_rows_of_words():
    counts = matrix(Counts(kind="document-term"), Corpus.of(LAZY))
    assert counts.vectors()["lazy"].tolist() == [2.0, 1.0]
    assert ice_and_steam().vectors()["ice"].tolist() == ice_and_steam()["ice"].tolist()


def test_svd_vectors_put_words_of_like_company_together():
    text = [f"{drink} is {taste}".split() for drink in ("tea", "coffee") for taste in ("hot", "good", "black")]
    text += [f"{animal} will {act}".split() for animal in ("dog", "cat") for act in ("run", "eat", "sleep")]
    vectors = Counts(kind="svd", dim=4, window=2).fit(TokenLists.of([text]))
    assert isinstance(vectors, WordVectors)
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    tea, coffee, dog = (unit[vectors.vocabulary.id(word)] for word in ("tea", "coffee", "dog"))
    assert tea @ coffee > 0.99
    assert tea @ dog < 0.5


def test_latent_semantic_analysis_is_the_svd_of_tf_idf():
    options = {"tf": "relative", "smooth": "plus-one"}
    weights = matrix(Counts(kind="tf-idf", **options), Corpus.of([*LAZY, "A lazy dog sleeps."]))
    vectors = Counts(kind="svd", svd_of="tf-idf", dim=2, eigenvalue_power=1, **options).fit(
        Corpus.of([*LAZY, "A lazy dog sleeps."])
    )
    left, values, _ = np.linalg.svd(weights.matrix.T.toarray())
    expected = np.abs(left[:, :2] * values[:2])
    np.testing.assert_allclose(np.abs(vectors.matrix), expected, atol=1e-6)


def test_a_file_of_real_text_counts_as_the_slow_way_does(data):
    with lzma.open(data / "data/corpora/en-01.txt.xz", "rt", encoding="utf-8") as file:
        text = [line.split() for line in islice(file, 300)]
    lists = TokenLists.of([text])
    kept = np.arange(len(lists.vocabulary), dtype=np.int32)
    counts = count_pairs(lists, kept, len(kept), Near(10, 10, harmonic=True), memory_limit=10**5, runtime=Runtime(2))
    expected = near_words(text, 10, lambda distance: 1 / distance)
    assert counts.nnz == len(expected)
    rows, columns = counts.nonzero()
    found = {(lists.vocabulary.words[r], lists.vocabulary.words[c]): v for r, c, v in zip(rows, columns, counts.data)}
    assert found == pytest.approx(expected, rel=1e-13)


def test_stop_words_may_be_named_with_commas() -> None:
    assert Counts(stop_words="a,is").stop_list() == {"a", "is"}
