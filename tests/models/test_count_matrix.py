"""A matrix with named rows and columns: lookups, ratios, new documents, files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from firth.errors import OptionError, UnknownWord
from firth.models.count_matrix import CountMatrix, Ratio
from firth.models.counts import Counts
from firth.models.token_lists import TokenLists
from firth.runtime import Runtime
from firth.text.corpus import Corpus

LAZY = ["He is a lazy boy. She is also lazy.", "Neeraj is a lazy person."]


def fit_matrix(recipe: Counts, corpus) -> CountMatrix:
    made = recipe.fit(corpus, runtime=Runtime(2))
    assert isinstance(made, CountMatrix)
    return made


def count_ice_and_steam() -> CountMatrix:
    text = ["ice solid", "ice solid", "ice water", "steam gas", "steam water", "ice steam", "fashion week"]
    return fit_matrix(Counts(window=1), TokenLists.of([[line.split() for line in text]]))


def test_probabilities_of_a_word_sum_to_one():
    counts = count_ice_and_steam()
    assert counts.probabilities("ice").sum() == pytest.approx(1)
    assert counts.probabilities("ice", ["solid", "water"]).tolist() == [0.5, 0.25]
    assert counts.probabilities("ice", "gas").tolist() == [0.0]


def test_an_undefined_ratio_has_a_note_with_the_reason():
    found = count_ice_and_steam().ratio("ice", "steam", ["water", "solid", "gas", "fashion", "vapour"])
    assert found.lines == (
        Ratio("water", 0.25, 1 / 3, 0.75),
        Ratio("solid", 0.5, 0.0, None, "never near steam"),
        Ratio("gas", 0.0, 1 / 3, 0.0, "never near ice"),
        Ratio("fashion", 0.0, 0.0, None, "never near ice or steam"),
        Ratio("vapour", None, None, None, "not in the vocabulary"),
    )
    with pytest.raises(UnknownWord, match="stream"):
        count_ice_and_steam().ratio("ice", "stream", ["water"])


def test_a_word_without_contexts_has_no_probabilities():
    lonely = fit_matrix(Counts(), TokenLists.of([[["alone"], ["two", "words"]]]))
    with pytest.raises(OptionError, match="nothing was counted near 'alone'"):
        lonely.probabilities("alone")


def test_top_lists_the_largest_first_and_never_an_empty_cell():
    assert count_ice_and_steam().top("ice", 5) == [("solid", 2.0), ("steam", 1.0), ("water", 1.0)]


def test_a_matrix_is_shown_by_its_corner():
    from rich.console import Console

    counts = count_ice_and_steam()
    console = Console(width=100)
    with console.capture() as capture:
        console.print(counts, counts.ratio("ice", "steam", ["solid"]))
    shown = capture.get()
    assert "CountMatrix(co-occurrence, 7 × 7, 12 cells used)" in shown
    assert "P(k|ice)" in shown
    assert "never near steam" in shown


@pytest.mark.parametrize("kind", ["co-occurrence", "document-term", "tf-idf", "ppmi", "one-hot"])
def test_a_matrix_survives_being_taken_apart(kind):
    counts = fit_matrix(Counts(kind=kind, normalize="l2"), Corpus.of(LAZY))
    again = CountMatrix.from_parts(counts.to_parts())
    assert (again.matrix != counts.matrix).nnz == 0
    assert again.rows == counts.rows
    assert again.columns == counts.columns
    assert again.metadata == counts.metadata
    if again.by_document:
        assert (again.transform(LAZY) != counts.transform(LAZY)).nnz == 0


@pytest.mark.parametrize("options", [{}, {"tf": "relative"}, {"tf": "log", "smooth": "add-one", "normalize": "l2"}])
def test_the_corpus_itself_is_transformed_to_its_own_matrix(options):
    weights = fit_matrix(Counts(kind="tf-idf", **options), Corpus.of(LAZY))
    np.testing.assert_allclose(weights.transform(LAZY).toarray(), weights.matrix.toarray(), rtol=1e-15)
    assert weights.transform([["lazy", "unheard"]]).shape == (1, len(weights.columns))


def test_vectors_are_the_rows_of_words():
    counts = fit_matrix(Counts(kind="document-term"), Corpus.of(LAZY))
    assert counts.vectors()["lazy"].tolist() == [2.0, 1.0]
    assert count_ice_and_steam().vectors()["ice"].tolist() == count_ice_and_steam()["ice"].tolist()


@pytest.mark.parametrize("kind", ["float16", "int8", "uint16"])
def test_numbers_that_a_sparse_matrix_cannot_have_are_refused(kind):
    parts = count_ice_and_steam().to_parts()
    arrays = {**parts.arrays, "data": parts.arrays["data"].astype(kind)}
    with pytest.raises(OptionError, match=f"the array 'data' has the type {kind}"):
        CountMatrix.from_parts(replace(parts, arrays=arrays))
