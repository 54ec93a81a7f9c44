"""Texts as vectors of any model, as a scikit-learn transformer; it also works without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, make_dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.models.estimator import base_classes, not_fitted
from firth.pooling import SIF, principal_component
from firth.text.model_tokenizer import TextLike

PARAMETERS: list[tuple[str, Any, Any]] = [
    ("model", Any, field(default="word2vec-en")),
    ("pooling", str, field(default="mean")),
    ("normalize", bool, field(default=False)),
    ("a", float, field(default=SIF)),
    ("remove_component", bool, field(default=False)),
]

# scikit-learn reads the parameters from __init__, which must only store them, as the __init__ of a dataclass does.
_Parameters: Any = make_dataclass("_Parameters", PARAMETERS, bases=base_classes(), eq=False, repr=False)


@checked
class Embedder(_Parameters):  # type: ignore[misc]
    """Turns texts into vectors by the `encode` of a model, for pipelines and grid searches.

    >>> texts = ["hot tea and milk", "cold rain and wind"]
    >>> embedder = Embedder("svd-en", pooling="sif", normalize=True)
    >>> embedder.fit_transform(texts).shape, embedder.get_feature_names_out()[:2].tolist()
    ((2, 100), ['embedding0', 'embedding1'])

    Parameters
    ----------
    model : str, Path or model, default 'word2vec-en'
        The name of a pretrained model, the path of a model, or a model that has `encode`.
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

    def fit(self, X: Iterable[TextLike], y: object = None) -> Self:
        """Opens the model and, with `remove_component`, finds the component of the vectors of these texts."""
        if isinstance(X, str):
            raise OptionError("texts must be a list. For one text write [text]")
        self.model_ = self._open()
        self.component_ = None
        if self.remove_component:
            self.component_ = principal_component(self._encode(X, None))
        self.n_features_in_ = 1
        return self

    def _open(self) -> Any:
        model = self.model
        if isinstance(model, (str, PathLike)):
            from firth import load  # formats import models, not the other way around

            model = load(model)
        if not hasattr(model, "encode"):
            raise OptionError(f"a {type(model).__name__} has no vectors of texts. Use word vectors, a biLM or doc2vec")
        return model

    def _encode(self, texts: Iterable[TextLike], component: NDArray[Any] | None) -> NDArray[np.float32]:
        options: dict[str, Any] = {"normalize": self.normalize and not (self.remove_component and component is None)}
        if not hasattr(self.model_, "infer"):  # the vector of a document is inferred, not pooled
            options |= {"pooling": self.pooling, "a": self.a, "component": component}
        vectors: NDArray[np.float32] = self.model_.encode(texts, **options)
        return vectors

    def fit_transform(self, X: Iterable[TextLike], y: object = None, **ignored: object) -> Any:
        """Fits to texts and returns their vectors."""
        if isinstance(X, str):
            raise OptionError("texts must be a list. For one text write [text]")
        texts = list(X)
        return self.fit(texts, y).transform(texts)

    def transform(self, X: Iterable[TextLike]) -> NDArray[np.float32]:
        """The vectors of texts, (texts, dim); a text without a known word has a row of zeros."""
        if not hasattr(self, "model_"):
            raise not_fitted(self)
        if isinstance(X, str):
            raise OptionError("texts must be a list. For one text write [text]")
        return self._encode(X, self.component_)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """embedding0, embedding1 and so on."""
        if not hasattr(self, "model_"):
            raise not_fitted(self)
        width = self._encode([""], None).shape[1]
        return np.array([f"embedding{number}" for number in range(width)], dtype=object)

    def __sklearn_clone__(self) -> Embedder:
        """A clone shares the model, which is never changed."""
        return Embedder(**{name: getattr(self, name) for name, _, _ in PARAMETERS})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags
