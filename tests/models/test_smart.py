"""SMART codes by hand, against gensim, and through files and pipelines."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import firth
from firth.errors import FirthError, OptionError
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.estimator import CountsTransformer
from firth.models.smart import SmartCode
from firth.models.token_lists import TokenLists
from firth.models.weighting import inverse_document_frequency, term_frequency

COMMON = ["the cat saw the dog", "the dog the dog the dog", "the bird sang and the cat ran", "the end"]  # "the" in all
RARE = ["cat saw dog dog", "bird bird bird sang sang loud", "a tall tree", "end", "tree and rain rain rain"]
NEW = ["the cat the tree the bird rain unseen rain cat"]
CODES = ["".join(letters) for letters in itertools.product("nbladL", "nftp", "ncub")]


def fitted(texts, code, **options):
    return Counts(kind="tf-idf", smart=code, **options).fit(TokenLists.of([[text.split()] for text in texts]))


def by_word(matrix, words):
    return [{words[i]: value for i, value in zip(row.indices, row.data)} for row in csr_matrix(matrix)]


@pytest.mark.parametrize("code", CODES)
def test_a_code_gives_the_weights_of_gensim(code):
    gensim_models, corpora = pytest.importorskip("gensim.models"), pytest.importorskip("gensim.corpora")
    texts = RARE if code[2] == "u" else COMMON  # gensim's u leaves words of idf 0 out of the length
    lists = [text.split() for text in texts]
    names = corpora.Dictionary(lists)
    with np.errstate(divide="ignore"):  # gensim takes the logarithm of 0 for p
        peer = gensim_models.TfidfModel(dictionary=names, smartirs=code)
    ours = fitted(texts, code, log="base2")
    new = [text.split() for text in NEW]
    found = by_word(ours.matrix, ours.columns) + by_word(ours.transform(new), ours.columns)
    assert len(found) == len(texts) + 1
    for document, weights in zip(lists + new, found):
        bag = names.doc2bow(document)
        expected = {names[id]: value for id, value in peer[bag]}
        assert weights == pytest.approx(expected, rel=1e-9)


def test_there_are_ninety_six_codes_and_aliases_of_the_letter_n():
    assert len({SmartCode.parse(code) for code in CODES}) == 96
    assert SmartCode.parse("txx") == SmartCode.parse("nnn")


def test_term_frequencies_by_hand():
    counts = csr_matrix([[4.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    log = math.log10
    expected = {
        "binary": [1, 1, 0],
        "augmented": [1, 0.75, 0],
        "double-log": [1 + log(1 + log(4)), 1 + log(1 + log(2)), 0],
        "log-average": [(1 + log(4)) / (1 + log(3)), (1 + log(2)) / (1 + log(3)), 0],
    }
    for tf, row in expected.items():
        np.testing.assert_allclose(term_frequency(counts, tf, "base10").toarray(), [row, [0, 0, 0]])


def test_document_frequencies_by_hand():
    counts = csr_matrix([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    expected = {
        "constant": [1, 1, 1],
        "zero-corrected": [math.log(4 / 3), math.log(4), 0],
        "probabilistic": [0, math.log(2), 0],
    }
    for idf, row in expected.items():
        np.testing.assert_allclose(inverse_document_frequency(counts, smooth=idf), row)


def test_the_length_for_u_counts_words_of_idf_0():
    weights = fitted(["tea tea", "tea rain"], "nfu", slope=0.5)
    assert weights["rain"].tolist() == pytest.approx([0, math.log(2) / (0.5 * 1.5 + 0.5 * 2)])


def test_slope_1_divides_by_the_length_alone_and_slope_0_by_the_pivot():
    assert fitted(["tea", "tea rain"], "bnb", slope=1.0)["tea"].tolist() == pytest.approx([1 / 4, 1 / 9])
    assert fitted(["tea", "tea rain"], "bnb", slope=0.0)["tea"].tolist() == pytest.approx([2 / 13, 2 / 13])


@pytest.mark.parametrize("code", ["ltc", "anb", "Lpu", "dtb"])
def test_the_fitted_documents_transform_to_their_rows_after_saving(code, tmp_path):
    counts = fitted(COMMON, code, log="base10", slope=0.3)
    firth.save(counts, tmp_path / "counts")
    restored = firth.load(tmp_path / "counts")
    np.testing.assert_allclose(restored.transform([text.split() for text in COMMON]).toarray(), counts.matrix.toarray())
    assert restored.transform([]).shape == (0, len(counts.columns))
    assert restored.transform([["unseen"]]).nnz == 0


@pytest.mark.parametrize(
    ("recipe", "pivot"),
    [
        ({"smart": "zzz"}, 1.0),
        ({"smart": 3}, 1.0),
        ({"slope": "steep"}, 1.0),
        ({"slope": 2.0}, 1.0),
        ({}, None),
        ({}, -1.0),
        ({}, 1e300),
        ({"smart": "ltc"}, 1.0),
    ],
)
def test_a_file_with_a_wrong_code_slope_or_pivot_is_an_error(recipe, pivot):
    counts = fitted(COMMON, "Lnu")
    counts.metadata["recipe"].update(recipe)
    counts.metadata["pivot"] = pivot
    with pytest.raises(OptionError, match=r"smart|slope|pivot"):
        CountMatrix.from_parts(counts.to_parts())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smart": "lt"}, "three letters"),
        ({"smart": ""}, "three letters"),
        ({"smart": "lnc.ltc"}, "Fit one matrix with 'lnc' and one with 'ltc'"),
        ({"smart": "mtc"}, "term frequency 'm' must be one of n, t, b, l, a, d, L"),
        ({"smart": "lwc"}, "document frequency 'w' must be one of n, x, f, t, p"),
        ({"smart": "ltm"}, "normalization 'm' must be one of n, x, c, u, b"),
        ({"smart": 3}, "smart is 3"),
        ({"smart": "ltc", "kind": "ppmi"}, "kind is 'ppmi'. Use kind='tf-idf'"),
        ({"smart": "ltc", "kind": "svd"}, "svd_of is 'ppmi'. Use svd_of='tf-idf'"),
        ({"smart": "ltc", "tf": "log"}, "smart replaces tf"),
        ({"smart": "ltc", "smooth": "add-one"}, "smart replaces smooth"),
        ({"smart": "ltc", "normalize": "l2"}, "smart replaces normalize"),
        ({"smart": "ltu", "slope": 1.5}, "slope is 1.5"),
    ],
)
def test_what_is_not_defined_is_an_error_that_says_why(options, message):
    with pytest.raises(FirthError) as caught:
        Counts(**{"kind": "tf-idf", **options})
    assert str(caught.value).startswith("Counts: ")
    assert message in str(caught.value)


def test_svd_decomposes_the_documents_weighted_by_the_code():
    lists = TokenLists.of([[text.split()] for text in RARE])
    options = {"kind": "svd", "svd_of": "tf-idf", "dim": 2, "eigenvalue_power": 1.0}
    values = Counts(smart="ltc", **options).fit(lists).metadata["singular_values"]
    expected = np.linalg.svd(fitted(RARE, "ltc").matrix.toarray(), compute_uv=False)[:2]
    assert values == pytest.approx(expected)


def test_the_transformer_passes_the_code_on_also_for_ngrams():
    words = CountsTransformer(smart="Ltu", slope=0.1).fit(COMMON)
    np.testing.assert_allclose(words.transform(COMMON).toarray(), words.counts_.matrix.toarray())
    pairs = CountsTransformer(smart="bnc", ngram_range=(2, 2)).fit_transform(["a b c", "b c d"])
    np.testing.assert_allclose(pairs.data, 2**-0.5)
