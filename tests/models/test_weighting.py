"""Weights from counts, by hand and by law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from firth.models import weighting

COUNTS = csr_matrix([[4.0, 1.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 3.0]])
tables = arrays(np.float64, (5, 4), elements=st.integers(0, 9).map(float)).filter(lambda table: table.any())


def test_tf_idf_by_hand():
    found = weighting.tf_idf(COUNTS, log="base10").toarray()
    assert found[0, 0] == pytest.approx(4 * math.log10(3 / 2))
    assert found[2, 2] == pytest.approx(3 * math.log10(3 / 1))
    assert found[:, 1].tolist() == [0, 0, 0]


def test_logarithmic_tf_starts_at_one():
    found = weighting.term_frequency(COUNTS, "log").toarray()
    assert found[0].tolist() == [1 + math.log(4), 1.0, 0.0]


def test_relative_tf_sums_to_one_in_every_document():
    np.testing.assert_allclose(weighting.term_frequency(COUNTS, "relative").toarray().sum(axis=1), 1)


def test_smoothing_keeps_words_of_every_document():
    assert weighting.inverse_document_frequency(COUNTS, smooth="plus-one")[1] == 1.0
    assert weighting.inverse_document_frequency(COUNTS, smooth="add-one")[0] == pytest.approx(math.log(4 / 3) + 1)


def test_a_word_of_no_document_has_no_weight():
    assert weighting.inverse_document_frequency(csr_matrix([[1.0, 0.0], [0.0, 0.0]])).tolist() == [math.log(2), 0.0]


@settings(deadline=None)
@given(tables, st.sampled_from([0.5, 0.75, 1.0]), st.sampled_from([1.0, 5.0]))
def test_pmi_is_its_formula_cell_by_cell(table, smoothing, shift):
    found = weighting.pmi(csr_matrix(table), shift=shift, context_smoothing=smoothing)
    chances = np.where(table.any(axis=0), table.sum(axis=0) ** smoothing, 0.0)
    chances = chances / chances.sum()
    for (w, c), count in np.ndenumerate(table):
        expected = math.log(count / table[w].sum() / chances[c]) - math.log(shift) if count else 0.0
        assert found[w, c] == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(tables)
def test_positive_pmi_is_pmi_cut_off_at_zero_and_stores_no_zero(table):
    signed = weighting.pmi(csr_matrix(table)).toarray()
    positive = weighting.pmi(csr_matrix(table), positive=True)
    np.testing.assert_array_equal(positive.toarray(), np.maximum(signed, 0))
    assert (positive.data > 0).all()


def test_independent_words_have_no_mutual_information():
    table = np.outer([1.0, 2.0, 3.0], [4.0, 5.0])
    np.testing.assert_allclose(weighting.pmi(csr_matrix(table)).toarray(), 0, atol=1e-15)


def test_base_ten_only_changes_the_unit():
    natural, decimal = weighting.pmi(COUNTS).toarray(), weighting.pmi(COUNTS, log="base10").toarray()
    np.testing.assert_allclose(natural, decimal * math.log(10))


def test_blocks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(2)
    counts = csr_matrix(rng.integers(0, 4, (50, 40)).astype(float))
    whole = weighting.pmi(counts)
    monkeypatch.setattr(weighting, "BLOCK", 37)
    assert len(weighting.row_blocks(counts.indptr)) > 10
    assert (weighting.pmi(counts) != whole).nnz == 0


def test_weighing_leaves_the_counts_alone():
    before = COUNTS.toarray()
    for weigh in (weighting.tf_idf, weighting.pmi, weighting.normalize_rows):
        weigh(COUNTS)
    weighting.pmi(COUNTS, positive=True)
    np.testing.assert_array_equal(COUNTS.toarray(), before)
