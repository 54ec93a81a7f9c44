"""Co-occurrence counts against a slow count, and the independence from threads, chunks and memory."""

from __future__ import annotations

import lzma
import os
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.models.cooccurrence import ContextWindow, count_pairs, distance_weights, parse_size
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.token_lists import TokenLists
from firth.runtime import Runtime


def fit_matrix(recipe: Counts, corpus) -> CountMatrix:
    made = recipe.fit(corpus, runtime=Runtime(2))
    assert isinstance(made, CountMatrix)
    return made


def count_near_words(sentences, window: int, weigh=lambda distance: 1.0) -> Counter[tuple[str, str]]:
    """GloVe's counting, the slow way: both sides, inside a sentence."""
    found: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for j in range(max(0, i - window), i):
                found[word, sentence[j]] += weigh(i - j)
                found[sentence[j], word] += weigh(i - j)
    return found


sentences = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=6)


@settings(deadline=None)
@given(sentences, st.integers(1, 6))
def test_co_occurrence_is_what_the_slow_way_counts(text, window):
    lists = TokenLists.of([text])
    if not len(lists.vocabulary):
        return
    counts = fit_matrix(Counts(window=window, weighting="harmonic"), lists)
    expected = count_near_words(text, window, lambda distance: 1 / distance)
    for row in counts.rows:
        for column in counts.columns:
            assert counts.value(row, column) == pytest.approx(expected[row, column], rel=1e-15)


@settings(deadline=None)
@given(sentences)
def test_left_is_right_turned_around_and_both_is_their_sum(text):
    lists = TokenLists.of([text])
    if not len(lists.vocabulary):
        return
    left, right, both = (fit_matrix(Counts(direction=way), lists).matrix for way in ("left", "right", "both"))
    assert (left != right.T).nnz == 0
    assert (both != left + right).nnz == 0


def make_long_text() -> TokenLists:
    rng = np.random.default_rng(7)
    ids = np.minimum(rng.zipf(1.3, 30_000), 400)
    cuts = np.sort(rng.integers(0, len(ids), 900))  # some sentences are empty, one is long
    cuts = cuts[(cuts < 10_000) | (cuts > 18_000)]
    return TokenLists.of([[part.astype(str).tolist() for part in np.split(ids, cuts)]])


@pytest.mark.parametrize("gaps", ["close", "keep"])
def test_threads_chunks_and_spilling_do_not_change_a_bit(gaps, tmp_path):
    lists = make_long_text()
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
    Counts(memory_limit="40 KB", spill_folder=str(tmp_path)).fit(make_long_text(), runtime=Runtime(1))
    assert len(opened) > 10


def test_a_dropped_word_closes_up_or_keeps_its_place():
    text = TokenLists.of([[["ice", "rare", "solid", "ice", "solid"]]])
    closed = fit_matrix(Counts(window=1, min_count=2), text)
    kept = fit_matrix(Counts(window=1, min_count=2, gaps="keep"), text)
    assert closed.value("ice", "solid") == 3
    assert kept.value("ice", "solid") == 2


def test_one_over_distance_is_exact_up_to_a_window_of_22_and_close_beyond():
    for window in (1, 2, 10, 22):
        weights, one = distance_weights(window, harmonic=True)
        assert all(weights[d] * d == one for d in range(1, window + 1))
    weights, one = distance_weights(100, harmonic=True)
    np.testing.assert_allclose(weights[1:] / one, 1 / np.arange(1, 101), rtol=1e-7)


def test_a_size_is_a_number_with_or_without_a_unit():
    assert [parse_size(size) for size in ("1.5 MB", "7", " 2GB ", 12)] == [1_500_000, 7, 2 * 10**9, 12]


def test_a_file_of_real_text_counts_as_the_slow_way_does(data):
    with lzma.open(data / "data/corpora/en-01.txt.xz", "rt", encoding="utf-8") as file:
        text = [line.split() for line in islice(file, 300)]
    lists = TokenLists.of([text])
    kept = np.arange(len(lists.vocabulary), dtype=np.int32)
    counts = count_pairs(
        lists, kept, len(kept), ContextWindow(10, 10, harmonic=True), memory_limit=10**5, runtime=Runtime(2)
    )
    expected = count_near_words(text, 10, lambda distance: 1 / distance)
    assert counts.nnz == len(expected)
    rows, columns = counts.nonzero()
    found = {(lists.vocabulary.words[r], lists.vocabulary.words[c]): v for r, c, v in zip(rows, columns, counts.data)}
    assert found == pytest.approx(expected, rel=1e-13)
