"""Sentence boundaries of documents without sentences."""

from __future__ import annotations

from firth.tasks.coref.sentence_ends import find_sentence_ends


def test_a_sentence_without_a_stop_is_cut_at_last() -> None:
    assert find_sentence_ends(["word"] * 250, []) == [100, 200, 250]
    assert find_sentence_ends(["word"] * 250, [[(90, 130)]]) == [130, 230, 250]


def test_a_stop_within_a_mention_ends_no_sentence() -> None:
    words = ["Mr", ".", "T", "left", ".", "He", "ran"]
    assert find_sentence_ends(words, []) == [2, 5, 7]
    assert find_sentence_ends(words, [[(0, 3)]]) == [5, 7]
