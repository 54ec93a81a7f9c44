"""Rows that arrive in blocks become one vocabulary and one matrix."""

from __future__ import annotations

import numpy as np

from firth.formats.reading import RowSelection
from firth.formats.vector_table import VectorTable, select
from firth.vectors.words import WordVectors


def build_table(words: list[str], part: RowSelection) -> VectorTable:
    """A table to which each word is added with its place in the list as its vector."""
    table, blob = VectorTable(1, part), np.frombuffer("".join(words).encode(), np.uint8)
    ends = np.cumsum([len(word) for word in words])
    starts = ends - [len(word) for word in words]
    table.add(blob, starts, ends, np.arange(len(words), dtype=np.float32)[:, None])
    return table


def test_a_table_keeps_the_words_that_are_wanted_within_the_limit() -> None:
    table = build_table(["tea", "rain", "sun", "sea"], RowSelection.of(3, ["sea", "sun", "tea"]))
    assert table.full
    made = table.finish("glove")
    assert made.vocabulary.words == ("tea", "sun")
    assert made.matrix.tolist() == [[0], [2]]


def test_an_empty_table_has_no_words() -> None:
    assert build_table(["tea"], RowSelection.of(None, ["rain"])).finish("glove").matrix.shape == (0, 1)


def test_the_first_row_of_a_repeated_word_stays_and_the_others_are_counted() -> None:
    made = build_table(["tea", "rain", "tea", "tea"], RowSelection()).finish("word2vec")
    assert made.vocabulary.words == ("tea", "rain")
    assert made.matrix.tolist() == [[0], [1]]
    assert made.metadata == {"format": "word2vec", "duplicates": 2}


def test_a_selection_of_open_vectors_is_a_view_where_it_is_a_prefix() -> None:
    whole = WordVectors(["tea", "rain", "sun"], np.eye(3, dtype=np.float32))
    first = select(whole, RowSelection(limit=2))
    assert first.vocabulary.words == ("tea", "rain")
    assert np.shares_memory(first.matrix, whole.matrix)
    assert select(whole, RowSelection.of(None, ["sun"])).matrix.tolist() == [[0, 0, 1]]
