"""Counts as a scikit-learn transformer, for pipelines and grid searches; it also works without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, make_dataclass, replace
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from firth.arguments import checked
from firth.errors import OptionError
from firth.models import weighting
from firth.models.analyzer import Analyzer
from firth.models.count_matrix import BY_DOCUMENT, CountMatrix, Documents, count_words, tokenize_documents
from firth.models.counts import Counts, is_counted
from firth.models.token_lists import TokenLists
from firth.options import document_options, option
from firth.runtime import Runtime
from firth.text.corpus import check_words
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

RecipeType = TypeVar("RecipeType")


class PlainEstimator:
    """The base class without scikit-learn: parameters by name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        """Sets options by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                problem = f"unknown option {name!r}. The options are {', '.join(known)}"
                raise OptionError(f"{type(self).__name__}: {problem}")
            setattr(self, name, value)
        return self


def not_fitted(estimator: object) -> Exception:
    """The error of an estimator that is not fitted: an OptionError and, with scikit-learn, its NotFittedError too."""
    message = f"this {type(estimator).__name__} is not fitted. Call fit first"
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return OptionError(message)
    return type("NotFitted", (OptionError, NotFittedError), {})(message)  # type: ignore[no-any-return]


def base_classes(kind: Literal["transformer", "classifier"] = "transformer") -> tuple[type, ...]:
    """The base classes of scikit-learn if it is installed; no other module of firth imports it."""
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    except ImportError:
        return (PlainEstimator,)
    return (TransformerMixin if kind == "transformer" else ClassifierMixin, BaseEstimator)


def read_column(X: Any) -> Iterable[Any]:
    """The texts that an estimator was given; of a table with one column, its cells.

    A table would otherwise be read by its column names, or each of its cells as a list with one token.

    >>> read_column(np.array([["hot tea"], ["rain"]], dtype=object))
    ['hot tea', 'rain']
    """
    if isinstance(X, (str, bytes)):
        raise OptionError("documents must be a list of texts. For one text write [text]")
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) == 2:
        if shape[1] != 1:
            raise OptionError(f"expected one column of texts, but the table has {shape[1]}. Select one of them")
        return list(np.asarray(X)[:, 0])
    texts: Iterable[Any] = X
    return texts


def tag_text(tags: Any) -> Any:
    """The tags of an estimator, changed to those of one that takes texts instead of numbers."""
    tags.input_tags.string = True
    tags.input_tags.two_d_array = False
    return tags


def read_labels(y: Any, count: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct labels in order, and the number of the label of each of `count` texts.

    >>> classes, numbers = read_labels(["tea", "rain", "tea"], 3)
    >>> classes.tolist(), numbers.tolist()
    (['rain', 'tea'], [1, 0, 1])
    """
    if y is None:
        raise OptionError("a classifier requires y to be passed, but the target y is None")
    try:
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import column_or_1d
    except ImportError:
        labels = np.asarray(y)
    else:
        try:
            labels = column_or_1d(y, warn=True)
            check_classification_targets(labels)
        except (TypeError, ValueError) as error:
            raise OptionError(f"y are no labels of classes: {error}") from error
    if labels.shape != (count,):
        raise OptionError(f"{count} texts need as many labels, but y has the shape {labels.shape}")
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError as error:  # labels of kinds that have no order
        raise OptionError(f"y are no labels of one kind: {error}") from error
    if len(classes) < 2:
        found = f"all are of one class, {classes.tolist()[0]!r}" if len(classes) else "there are no texts"
        raise OptionError(f"a classifier needs texts of at least two classes, but {found}")
    return classes, numbers.astype(np.int64)


def option_base(
    recipes: Sequence[type],
    more: Sequence[tuple[str, str, Any]] = (),
    *,
    kind: Literal["transformer", "classifier"] = "transformer",
    defaults: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
) -> Any:
    """The base of an estimator whose parameters are the options of recipes, and more.

    scikit-learn reads the parameters from __init__, which must only store them, as the __init__ of a dataclass does.
    """
    new = defaults or {}
    options = [
        (one.name, one.type, field(default=new.get(one.name, one.default), metadata=one.metadata))
        for recipe in recipes
        for one in fields(recipe)
        if one.name not in without
    ]
    named: Any = [*options, *more]
    return make_dataclass("_Options", named, bases=base_classes(kind), eq=False, repr=False, kw_only=True)


def recipe_of(estimator: Any, recipe: type[RecipeType], **more: Any) -> RecipeType:
    """The recipe with those options that an estimator has; a value that is not possible is an OptionError here."""
    names = [one.name for one in fields(recipe) if hasattr(estimator, one.name)]  # type: ignore[arg-type]
    return recipe(**{name: getattr(estimator, name) for name in names}, **more)


THREADS = ("threads", "int | None", option(None, "Number of threads; all cores by default."))
TOKENIZER = ("tokenizer", "Tokenizer | None", option(None, "Tokenizer of the texts; the default one by default."))
_Options: Any = option_base([Counts, Analyzer], [TOKENIZER, THREADS], defaults={"kind": "tf-idf"})


@checked
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
    >>> counts.vocabulary_, [words.tolist() for words in counts.inverse_transform(counts.transform(["tea"]))]
    ({'rain': 0, 'and': 1, 'tea': 2}, [['tea']])

    The options of scikit-learn's vectorizers for features (`analyzer`, `ngram_range`, `binary`, `min_df`, `max_df`)
    have the same meaning here; stop words and punctuation are dropped before n-grams are formed.
    """

    def fit(self, X: Documents, y: object = None) -> Self:
        """Fits the vocabulary and the weights to documents."""
        X = read_column(X)
        recipe, analyzer, tokenizer = recipe_of(self, Counts), self._analyzer(), self.tokenizer or Tokenizer()
        if analyzer.is_plain:
            lists = TokenLists.of(_split_sentences(X, tokenizer), tokenizer)
        else:
            documents = self._features(X, recipe, analyzer)
            is_frequent = analyzer.is_frequent(documents)
            kept = [[[feature for feature in features if is_frequent(feature)]] for features in documents]
            lists = TokenLists.of(kept, tokenizer)
            recipe = replace(recipe, stop_words=(), punctuation=True)
        self.counts_ = recipe.fit(lists, runtime=Runtime.from_env(self.threads))
        self.n_features_in_ = 1
        return self

    def _analyzer(self) -> Analyzer:
        return recipe_of(self, Analyzer)

    def _features(self, X: Documents, recipe: Counts, analyzer: Analyzer) -> list[list[str]]:
        """The features of each document, without stop words and punctuation."""
        tokenizer = self.tokenizer or Tokenizer()
        if analyzer.binary and recipe.matrix_kind not in BY_DOCUMENT:
            raise OptionError(f"binary is for document-term and tf-idf, but the kind is {self.kind}")
        if analyzer.analyzer != "word":
            return [analyzer.features(document, tokenizer) for document in X]
        stop = recipe.stop_list()
        punctuation = recipe.matrix_kind not in BY_DOCUMENT if recipe.punctuation is None else recipe.punctuation
        documents = tokenize_documents(X, tokenizer)
        kept = ([word for word in words if is_counted(word, stop, punctuation)] for words in documents)
        return [analyzer.features(words) for words in kept]

    def fit_transform(self, X: Documents, y: object = None, **ignored: object) -> Any:
        """Fits to documents and returns their features."""
        texts = list(read_column(X))
        return self.fit(texts, y).transform(texts)

    def transform(self, X: Documents) -> csr_matrix | NDArray[np.float32]:
        """A row of features for each document; dense for svd, else sparse."""
        counts = self._require_fit()
        X = read_column(X)
        tokenizer, analyzer = self.tokenizer or Tokenizer(), self._analyzer()
        if not analyzer.is_plain:
            X = self._features(X, recipe_of(self, Counts), analyzer)
        if isinstance(counts, CountMatrix) and counts.by_document:
            return counts.transform(X, tokenizer=tokenizer)
        words: Vocabulary = counts.vocabulary
        shares = weighting.term_frequency(count_words(tokenize_documents(X, tokenizer), words), "relative")
        if isinstance(counts, WordVectors):
            return np.asarray(shares @ counts.matrix, np.float32)
        return csr_matrix(shares @ counts.matrix)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the features: words or, for svd, svd0, svd1 and so on."""
        counts = self._require_fit()
        if isinstance(counts, WordVectors):
            return np.array([f"svd{i}" for i in range(counts.dim)], dtype=object)
        return counts.get_feature_names_out()

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word, or its row for kinds whose rows are words."""
        return {word: place for place, word in enumerate(self._require_fit().vocabulary)}

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The inverse document frequency of each word, by column."""
        counts = self._require_fit()
        if not isinstance(counts, CountMatrix) or counts.idf is None:
            raise OptionError(f"only tf-idf has an inverse document frequency, but the kind is {self.kind}")
        return counts.idf

    def inverse_transform(self, X: csr_matrix | NDArray[Any]) -> list[NDArray[np.object_]]:
        """The words of each row of features that are not zero, in the order of the columns."""
        counts = self._require_fit()
        if not isinstance(counts, CountMatrix) or not counts.by_document:
            raise OptionError(f"only rows of document-term and tf-idf are words, but the kind is {self.kind}")
        rows = csr_matrix(X)
        if rows.shape[1] != len(counts.columns):
            raise OptionError(f"the rows have {rows.shape[1]} columns, but there are {len(counts.columns)} words")
        names = counts.get_feature_names_out()
        return [names[np.sort(row.indices[row.data != 0])] for row in rows]

    def _require_fit(self) -> CountMatrix | WordVectors:
        if not hasattr(self, "counts_"):
            raise not_fitted(self)
        counts: CountMatrix | WordVectors = self.counts_
        return counts

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "counts_")

    def __sklearn_tags__(self) -> Any:
        return tag_text(super().__sklearn_tags__())


CountsTransformer.__doc__ = document_options(CountsTransformer)


def _split_sentences(documents: Documents, tokenizer: Tokenizer) -> Iterable[Sequence[Sequence[str]]]:
    """Documents as lists of sentences; a list of words is one sentence."""
    for place, one in enumerate(documents):
        if isinstance(one, str):
            yield [[token.text for token in sentence] for sentence in tokenizer.sentences(one)]
        else:
            yield [check_words(one, "document", place)]
