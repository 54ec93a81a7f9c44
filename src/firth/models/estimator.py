"""Counts as a scikit-learn transformer, for pipelines and grid searches; it also works without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, fields, make_dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from firth.errors import OptionError
from firth.models import weighting
from firth.models.count_matrix import CountMatrix, Documents, count_words, tokenize_documents
from firth.models.counts import Counts
from firth.models.token_lists import TokenLists
from firth.runtime import Runtime
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors


class PlainEstimator:
    """The base class without scikit-learn: parameters by name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {name: getattr(self, name) for name in PARAMETERS}

    def set_params(self, **params: Any) -> Self:
        """Sets options by name."""
        for name, value in params.items():
            if name not in PARAMETERS:
                raise OptionError(
                    f"CountsTransformer: unknown option {name!r}. The options are {', '.join(PARAMETERS)}"
                )
            setattr(self, name, value)
        return self


def _base_classes() -> tuple[type, ...]:
    """The base classes of scikit-learn if it is installed; no other module of firth imports it."""
    try:
        from sklearn.base import BaseEstimator, TransformerMixin
    except ImportError:
        return (PlainEstimator,)
    return (TransformerMixin, BaseEstimator)


OPTIONS = [(one.name, one.type, field(default=one.default)) for one in fields(Counts)]
OPTIONS += [("tokenizer", "Tokenizer | None", field(default=None)), ("threads", "int | None", field(default=None))]
OPTIONS = [(name, kind, field(default="tf-idf") if name == "kind" else value) for name, kind, value in OPTIONS]
PARAMETERS = [name for name, _, _ in OPTIONS]

# The options are the fields of Counts. scikit-learn reads them from __init__, which must only store them, as the
# __init__ of a dataclass does.
_Options: Any = make_dataclass("_Options", OPTIONS, bases=_base_classes(), eq=False, repr=False, kw_only=True)


class CountsTransformer(_Options):  # type: ignore[misc]
    """Turns documents into features by the options of `Counts`; the default `kind` is `tf-idf`.

    Documents are texts, or lists of words. `document-term` and `tf-idf` give a sparse row of word weights; `one-hot`,
    `co-occurrence`, `pmi`, `ppmi` and `svd` give the mean of the rows of a document's words.

    >>> counts = CountsTransformer(kind="document-term")
    >>> counts.fit_transform(["tea and rain", "rain"]).toarray()
    array([[1., 1., 1.],
           [1., 0., 0.]])
    >>> counts.get_feature_names_out()
    array(['rain', 'and', 'tea'], dtype=object)
    """

    def fit(self, documents: Documents, y: object = None) -> Self:
        """Fits the vocabulary and the weights to documents."""
        recipe = Counts(**{one.name: getattr(self, one.name) for one in fields(Counts)})
        tokenizer = self.tokenizer or Tokenizer()
        lists = TokenLists.of(_split_sentences(documents, tokenizer), tokenizer)
        self.counts_ = recipe.fit(lists, runtime=Runtime.from_env(self.threads))
        self.n_features_in_ = 1
        return self

    def fit_transform(self, documents: Documents, y: object = None, **ignored: object) -> Any:
        """Fits to documents and returns their features."""
        texts = list(documents)
        return self.fit(texts, y).transform(texts)

    def transform(self, documents: Documents) -> csr_matrix | NDArray[np.float32]:
        """A row of features for each document; dense for svd, else sparse."""
        counts = self._require_fit()
        tokenizer = self.tokenizer or Tokenizer()
        if isinstance(counts, CountMatrix) and counts.by_document:
            return counts.transform(documents, tokenizer=tokenizer)
        words: Vocabulary = counts.vocabulary
        shares = weighting.term_frequency(count_words(tokenize_documents(documents, tokenizer), words), "relative")
        if isinstance(counts, WordVectors):
            return np.asarray(shares @ counts.matrix, np.float32)
        return csr_matrix(shares @ counts.matrix)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the features: words or, for svd, svd0, svd1 and so on."""
        counts = self._require_fit()
        if isinstance(counts, WordVectors):
            return np.array([f"svd{i}" for i in range(counts.dim)], dtype=object)
        return counts.get_feature_names_out()

    def _require_fit(self) -> CountMatrix | WordVectors:
        if not hasattr(self, "counts_"):
            raise OptionError("this CountsTransformer is not fitted. Call fit first")
        counts: CountMatrix | WordVectors = self.counts_
        return counts

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "counts_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _split_sentences(documents: Documents, tokenizer: Tokenizer) -> Iterable[Sequence[Sequence[str]]]:
    """Documents as lists of sentences; a list of words is one sentence."""
    if isinstance(documents, str):
        raise OptionError("documents must be a list of texts. For one text write [text]")
    for one in documents:
        if isinstance(one, str):
            yield [[token.text for token in sentence] for sentence in tokenizer.sentences(one)]
        else:
            yield [list(one)]
