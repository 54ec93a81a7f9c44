"""Texts as vectors, as transformers of scikit-learn; they also work without scikit-learn.

`Embedder` takes any model. `WordVectorTransformer` and `ElmoTransformer` are for one family each and have its options.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.models.estimator import base_classes, not_fitted, read_column, tag_text
from firth.options import Recipe
from firth.pooling import SIF, IdfWeights, principal_component
from firth.text.model_tokenizer import TextLike
from firth.vectors.words import WordVectors

_Transformer: Any = type("_Transformer", base_classes(), {})


# scikit-learn reads the parameters from __init__, which must only store them, as the __init__ of a dataclass does. It
# is made after `checked` has looked at the class.
@dataclass(eq=False, repr=False)
@checked
class Embedder(_Transformer):  # type: ignore[misc]
    """Turns texts into vectors by the `encode` of a model, for pipelines and grid searches.

    >>> texts = ["hot tea and milk", "cold rain and wind"]
    >>> embedder = Embedder("svd-en", pooling="sif", normalize=True)
    >>> embedder.fit_transform(texts).shape, embedder.get_feature_names_out()[:2].tolist()
    ((2, 100), ['embedding0', 'embedding1'])

    A recipe in place of a model is trained on the texts that `fit` is given:

    >>> from firth.models.word2vec import Word2Vec
    >>> Embedder(Word2Vec(dim=10, min_count=1)).fit_transform(texts).shape
    (2, 10)

    Parameters
    ----------
    model : str, Path, model or recipe, default 'word2vec-en'
        The name of a pretrained model, the path of a model, a model that has `encode`, or a recipe of one.
    pooling : {'mean', 'max', 'sif'}, default 'mean'
        How the vectors of the words of a text are pooled; see `WordVectors.encode`.
    normalize : bool, default False
        Scale each vector to length 1.
    a : float, default 0.001
        Constant of the weights a / (a + p(word)) of SIF.
    remove_component : bool, default False
        Subtract the projection on the first principal component of the vectors of the texts that `fit` is given. SIF in
        its paper includes this step.
    """

    model: Any = "word2vec-en"
    pooling: str = "mean"
    normalize: bool = False
    a: float = SIF
    remove_component: bool = False

    def fit(self, X: Iterable[TextLike], y: object = None) -> Self:
        """Opens the model, or trains it, and finds what the options need to know of these texts."""
        texts = list(read_column(X))
        model = self._open(texts)
        self._check_model(model)
        self.model_, self.component_ = model, None
        self._learn(texts)
        if self.remove_component:
            self.component_ = principal_component(self._encode(texts, None))
        self.n_features_in_ = 1
        return self

    def _open(self, texts: list[TextLike]) -> Any:
        model = self.model
        if isinstance(model, Recipe) and hasattr(model, "fit"):
            return model.fit(texts)
        if isinstance(model, (str, PathLike)):
            from firth import load  # formats import models, not the other way around

            return load(model)
        return model

    def _check_model(self, model: Any) -> None:
        if not hasattr(model, "encode"):
            raise OptionError(f"a {type(model).__name__} has no vectors of texts. Use word vectors, a biLM or doc2vec")

    def _learn(self, texts: list[TextLike]) -> None:
        """What a subclass learns from the texts."""

    def _settings(self) -> dict[str, Any]:
        """The options of `encode` beside `normalize`; the vector of a document of doc2vec is inferred, not pooled."""
        return {} if hasattr(self.model_, "infer") else {"pooling": self.pooling, "a": self.a}

    def _encode(self, texts: Iterable[TextLike], component: NDArray[Any] | None) -> NDArray[np.float32]:
        settings = self._settings()
        if component is not None:
            settings["component"] = component
        is_final = not self.remove_component or component is not None
        vectors: NDArray[np.float32] = self.model_.encode(texts, normalize=self.normalize and is_final, **settings)
        return vectors

    def fit_transform(self, X: Iterable[TextLike], y: object = None, **ignored: object) -> Any:
        """Fits to texts and returns their vectors."""
        texts = list(read_column(X))
        return self.fit(texts, y).transform(texts)

    def transform(self, X: Iterable[TextLike]) -> NDArray[np.float32]:
        """The vectors of texts, (texts, dim); a text without a known word has a row of zeros."""
        self._require_fit()
        return self._encode(read_column(X), self.component_)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """embedding0, embedding1 and so on."""
        self._require_fit()
        width = self._encode([""], None).shape[1]
        return np.array([f"embedding{number}" for number in range(width)], dtype=object)

    def _require_fit(self) -> None:
        if not hasattr(self, "model_"):
            raise not_fitted(self)

    def __sklearn_clone__(self) -> Self:
        """A clone shares the model, which is never changed."""
        return type(self)(**{one.name: getattr(self, one.name) for one in fields(self)})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = tag_text(super().__sklearn_tags__())
        tags.requires_fit = True
        tags.transformer_tags.preserves_dtype = []  # vectors are float32
        return tags


@dataclass(eq=False, repr=False)
@checked
class WordVectorTransformer(Embedder):
    """Turns texts into means of word vectors: plain, weighted by SIF, or weighted by TF-IDF.

    >>> texts = ["the hot tea", "the cold rain", "the wind"]
    >>> transformer = WordVectorTransformer("svd-en", pooling="tf-idf").fit(texts)
    >>> transformer.transform(texts).shape, transformer.idf_.find(["the", "tea"]).round(3).tolist()
    ((3, 100), [1.0, 1.693])

    Parameters
    ----------
    model : str, Path, WordVectors or recipe, default 'word2vec-en'
        The name of pretrained vectors, the path of a file in any format, word vectors, or a recipe (`Word2Vec`,
        `Glove`, `FastText`, `Counts(kind="svd")`) that is trained on the texts that `fit` is given.
    pooling : {'mean', 'max', 'sif', 'tf-idf'}, default 'mean'
        The mean, the maximum, the mean with the weights a / (a + p(word)), where p is the share of the word in the
        training text of the vectors, or the mean with the weights log((1 + N) / (1 + df)) + 1, where df is the number
        of the N texts of `fit` that have the word.
    normalize : bool, default False
        Scale each vector to length 1.
    a : float, default 0.001
        Constant of the weights of SIF.
    remove_component : bool, default False
        Subtract the projection on the first principal component of the vectors of the texts that `fit` is given. SIF in
        its paper includes this step.
    """

    def _check_model(self, model: Any) -> None:
        if not isinstance(model, WordVectors):
            problem = f"a {type(model).__name__} is not a table of word vectors"
            raise OptionError(f"{problem}. Use ElmoTransformer for a biLM, and Embedder for other models")

    def _learn(self, texts: list[TextLike]) -> None:
        if self.pooling == "tf-idf":
            self.idf_ = IdfWeights.of(map(self.model_.tokenizer.words, texts))

    def _settings(self) -> dict[str, Any]:
        if self.pooling == "tf-idf":
            return {"pooling": "mean", "weights": self.idf_}
        return super()._settings()


@dataclass(eq=False, repr=False)
@checked
class ElmoTransformer(Embedder):
    """Turns texts into pooled vectors of a biLM: a word has another vector in another sentence.

    >>> from firth.neural.architecture import Architecture
    >>> from firth.neural.bilm import BiLM
    >>> transformer = ElmoTransformer(BiLM(Architecture.named("tiny")), layers="top")
    >>> transformer.fit_transform(["hot tea", "cold rain"]).shape
    (2, 32)

    A text is read as one sentence. Nothing is learned from the texts, except the component that is removed. A biLM on a
    GPU stays there: `ElmoTransformer(firth.load("elmo-en").to("cuda"))`.

    Parameters
    ----------
    model : str, Path, BiLM or recipe, default 'elmo-en'
        The name of a pretrained biLM, its path, a biLM, or an `Elmo` recipe that is trained on the texts of `fit`.
    pooling : {'mean', 'max', 'sif'}, default 'mean'
        How the vectors of the words of a text are pooled.
    normalize : bool, default False
        Scale each vector to length 1.
    a : float, default 0.001
        Constant of the weights a / (a + p(word)) of SIF.
    remove_component : bool, default False
        Subtract the projection on the first principal component of the vectors of the texts that `fit` is given.
    layers : {'mix', 'top', 'context'}, int or ScalarMix, default 'mix'
        The mean of all layers, the top layer, the context of a word without the word itself, one layer by its number,
        or a mix with weights of your own.
    batch_tokens : int, default None
        Words of a batch; chosen by the device where it is None.
    precision : str, default 'float32'
        Precision of the computation; see `BiLM.embed`.
    """

    model: Any = "elmo-en"
    layers: Any = "mix"
    batch_tokens: Any = None
    precision: str = "float32"

    def _check_model(self, model: Any) -> None:
        if type(model).__name__ != "BiLM":  # torch is not imported for its name
            raise OptionError(f"a {type(model).__name__} is not a biLM. Use WordVectorTransformer for word vectors")

    def _settings(self) -> dict[str, Any]:
        own = {"layers": self.layers, "batch_tokens": self.batch_tokens, "precision": self.precision}
        return super()._settings() | own
