"""CountsTransformer beside scikit-learn's CountVectorizer and TfidfVectorizer: the same features and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import firth
from firth.text.tokenize import Tokenizer

text = pytest.importorskip("sklearn.feature_extraction.text")

TEXTS = ["the hot tea and the milk", "a cup of hot coffee", "the rain and the wind  and rain", "tea", ""]
NEW = ["hot rain unseen", "the tea the tea"]
# Options of scikit-learn that have no counterpart, with the reason.
UNSUPPORTED = {
    "token_pattern": "words are those of a Tokenizer",
    "preprocessor": "pass normalized texts, or a Tokenizer with a normalizer",
    "strip_accents": "a Normalizer composes letters and never drops their marks",
    "lowercase": "Tokenizer(normalizer=Normalizer(fold_case=True))",
    "decode_error": "files are read by Corpus, with errors=",
    "encoding": "files are read by Corpus, as UTF-8",
    "input": "files are read by Corpus",
    "vocabulary": "words are chosen from the documents",
    "dtype": "values are float64",
    "use_idf": "kind='document-term'",
    "max_features": "max_words, which counts occurrences in the same way",
    "norm": "normalize='l2'; l1 is tf='relative' for counts",
    "smooth_idf": "smooth='add-one' is True, smooth='plus-one' is False",
    "sublinear_tf": "tf='log'",
}
CASES: list[dict[str, Any]] = [
    {},
    {"binary": True},
    {"min_df": 2},
    {"max_df": 0.4},
    {"min_df": 0.3, "max_df": 3},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "binary": True},
    {"stop_words": ["the", "and"]},
    {"stop_words": ["the", "and"], "ngram_range": (1, 2)},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
    {"analyzer": "char_wb", "ngram_range": (3, 3), "binary": True, "min_df": 2},
]


def by_name(matrix: csr_matrix, names: Any) -> tuple[list[str], Any]:
    order = np.argsort(names)
    return [str(names[i]) for i in order], matrix.toarray()[:, order]


def compare(ours: Any, theirs: Any) -> None:
    mine, yours = ours.fit_transform(TEXTS), theirs.fit_transform(TEXTS)
    for first, second in ((mine, yours), (ours.transform(NEW), theirs.transform(NEW))):
        our_names, our_values = by_name(first, ours.get_feature_names_out())
        their_names, their_values = by_name(second, theirs.get_feature_names_out())
        assert our_names == their_names
        assert np.allclose(our_values, their_values)
    assert set(ours.vocabulary_) == set(theirs.vocabulary_)
    words = [
        [sorted(map(str, row)) for row in one.inverse_transform(matrix)]
        for one, matrix in ((ours, mine), (theirs, yours))
    ]
    assert words[0] == words[1]


@pytest.mark.filterwarnings("ignore:The parameter 'token_pattern' will not be used:UserWarning")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_counts_are_those_of_scikit_learn(case: dict[str, Any]) -> None:
    ours = firth.CountsTransformer(kind="document-term", tokenizer=Tokenizer(mode="whitespace"), **case)
    compare(ours, text.CountVectorizer(token_pattern=r"(?u)\S+", lowercase=False, **case))


@pytest.mark.filterwarnings("ignore:The parameter 'token_pattern' will not be used:UserWarning")
@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("sublinear", [True, False])
@pytest.mark.parametrize("norm", ["l2", None])
@pytest.mark.parametrize(
    "case", [{}, {"ngram_range": (1, 2), "min_df": 2}, {"analyzer": "char", "ngram_range": (2, 2)}], ids=str
)
def test_tf_idf_is_that_of_scikit_learn(case: dict[str, Any], norm: str | None, sublinear: bool, smooth: bool) -> None:
    ours = firth.CountsTransformer(
        tokenizer=Tokenizer(mode="whitespace"),
        smooth="add-one" if smooth else "plus-one",
        tf="log" if sublinear else "raw",
        normalize="l2" if norm else "none",
        **case,
    )
    options = {"smooth_idf": smooth, "sublinear_tf": sublinear, "norm": norm, **case}
    theirs = text.TfidfVectorizer(token_pattern=r"(?u)\S+", lowercase=False, **options)
    compare(ours, theirs)
    order = np.argsort(ours.get_feature_names_out())
    assert np.allclose(ours.idf_[order], theirs.idf_[np.argsort(theirs.get_feature_names_out())])


def test_every_option_of_scikit_learn_is_supported_or_explained() -> None:
    theirs = {*text.TfidfVectorizer().get_params()}
    ours = {*firth.CountsTransformer().get_params()}
    assert theirs - ours == set(UNSUPPORTED)


def test_an_unfitted_transformer_raises_their_error() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        firth.CountsTransformer().transform(TEXTS)
