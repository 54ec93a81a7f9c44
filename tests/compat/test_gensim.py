"""Ported gensim code gives gensim's results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.compat.gensim import KeyedVectors, with_p_value
from firth.errors import OptionError
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

WORDS = ["man", "king", "woman", "queen", "tea", "coffee", "rain", "sun", "Paris", "France"]
ROWS = np.random.default_rng(4).standard_normal((len(WORDS), 6)).astype(np.float32)
ROWS[3] = ROWS[1] - ROWS[0] + ROWS[2]


@pytest.fixture
def both() -> tuple[KeyedVectors, Any]:
    models = pytest.importorskip("gensim.models")
    ours, theirs = KeyedVectors(6), models.KeyedVectors(6)
    for vectors in (ours, theirs):
        vectors.add_vectors(WORDS, ROWS)
    return ours, theirs


def test_word_pairs_are_scored_as_gensim_scores_them(both: tuple[KeyedVectors, Any], tmp_path: Path) -> None:
    ours, theirs = both
    pairs = tmp_path / "pairs.tsv"
    lines = ["tea\tcoffee\t9", "rain\tsun\t6.5", "King\tqueen\t8", "man\train\t1", "woman\tparis\t2", "tea\tmilk\t7"]
    pairs.write_text("\n".join(lines) + "\n")
    for dummy in (False, True):
        expected = theirs.evaluate_word_pairs(str(pairs), dummy4unknown=dummy)
        pearson, spearman, unknown = ours.evaluate_word_pairs(pairs, dummy4unknown=dummy)
        assert pearson == pytest.approx(tuple(expected[0]), rel=1e-4)
        assert spearman == pytest.approx(tuple(expected[1]), rel=1e-4)
        assert dummy or unknown == pytest.approx(expected[2])


def test_analogies_are_answered_as_gensim_answers_them(both: tuple[KeyedVectors, Any], tmp_path: Path) -> None:
    ours, theirs = both
    questions = tmp_path / "questions.txt"
    lines = [": family", "man king woman queen", "king man queen woman", ": drinks", "tea rain coffee sun"]
    questions.write_text("\n".join([*lines, "tea rain milk sun", "man queen woman king"]) + "\n")
    for dummy in (False, True):
        accuracy, sections = ours.evaluate_word_analogies(questions, dummy4unknown=dummy)
        expected, theirs_sections = theirs.evaluate_word_analogies(str(questions), dummy4unknown=dummy)
        assert accuracy == pytest.approx(expected)
        assert sections == theirs_sections


@pytest.mark.filterwarnings("ignore:Adding single vectors:UserWarning")  # of gensim
def test_vectors_are_added_and_replaced_in_place(both: tuple[KeyedVectors, Any]) -> None:
    for vectors in both:
        vectors.add_vectors(["tea", "milk"], [ROWS[0], ROWS[1]])  # a known word keeps its vector
        vectors.add_vector("bread", ROWS[2])
        vectors["rain"] = ROWS[3] - ROWS[0]
        vectors[["sun", "moon"]] = ROWS[4:6]
    ours, theirs = both
    assert list(ours.index_to_key) == theirs.index_to_key
    np.testing.assert_array_equal(ours.vectors, theirs.vectors)
    assert ours["tea"].tolist() == ROWS[4].tolist()
    assert (len(ours), ours.vector_size, "moon" in ours) == (13, 6, True)
    words = [word for word, _ in ours.most_similar("moon", topn=2)]  # the next ones, "king" and "milk", are equal
    assert words == [word for word, _ in theirs.most_similar("moon", topn=2)]


def test_counts_files_and_errors(tmp_path: Path) -> None:
    vectors = KeyedVectors(WordVectors(Vocabulary(["the", "tea"], [9, 2]), [[1, 0], [0, 1]]))
    assert vectors.get_vecattr("tea", "count") == 2
    vectors.save(tmp_path / "vectors.txt")
    assert KeyedVectors.load_word2vec_format(tmp_path / "vectors.txt")["tea"].tolist() == [0, 1]
    with pytest.raises(OptionError, match="only 'count' is stored"):
        vectors.get_vecattr("tea", "sample_int")
    with pytest.raises(OptionError, match="2 words need as many vectors, but there are 1"):
        vectors.add_vectors(["a", "b"], [[1, 0]])
    with pytest.raises(OptionError, match="the shape"):
        vectors.add_vector("a", [1, 2, 3])


def test_p_values_at_the_edges() -> None:
    assert with_p_value(1.0, 10) == (1.0, 0.0)
    assert with_p_value(0.5, 2) == (0.5, 1.0)
    assert np.isnan(with_p_value(None, 0)).all()


def test_word2vec_files_are_read_and_written_under_gensims_names(tmp_path: Path) -> None:
    vectors = KeyedVectors(2)
    vectors.add_vectors(["tea", "coffee"], [[1, 0.5], [0.25, 2]])
    for binary in (True, False):
        vectors.save_word2vec_format(tmp_path / "vectors", binary=binary)
        read = KeyedVectors.load_word2vec_format(tmp_path / "vectors", binary=binary)
        assert np.array_equal(read.vectors, vectors.vectors)
    assert len(KeyedVectors.load_word2vec_format(tmp_path / "vectors", limit=1)) == 1


def test_the_nearest_of_some_words_is_found() -> None:
    vectors = KeyedVectors(WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]]))
    assert vectors.most_similar_to_given("tea", ["rain", "coffee"]) == "coffee"
