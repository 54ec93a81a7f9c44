"""Models that a command needs: loaded, checked for their kind, and moved to a device."""

from typing import Any, TypeVar

from firth.errors import OptionError
from firth.formats.native import BILM
from firth.formats.registry import load
from firth.vectors.neighbors import Neighbors
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

Kind = TypeVar("Kind")


def load_as(path: str, kind: type[Kind], need: str, model: Any = None) -> Kind:
    """The model in a file, or the one that is loaded already. A model of another kind is an error.

    >>> load_as("svd-en", SubwordVectors, "a fastText model")
    Traceback (most recent call last):
    firth.errors.OptionError: svd-en: contains a WordVectors, but this command needs a fastText model
    """
    model = load(path) if model is None else model
    if not isinstance(model, kind):
        raise OptionError(f"{path}: contains a {type(model).__name__}, but this command needs {need}")
    return model


def load_vectors(path: str) -> WordVectors:
    """The word vectors in a file."""
    return load_as(path, WordVectors, "word vectors")


def load_neighbors(path: str) -> Neighbors:
    """The vectors in a file, of words or of documents."""
    return load_as(path, Neighbors, "vectors of words or documents")  # type: ignore[type-abstract]


def load_subwords(path: str) -> SubwordVectors:
    """The fastText model in a file."""
    return load_as(path, SubwordVectors, "a fastText model. Train one: firth train fasttext CORPUS --out model.bin")


def is_bilm(model: object) -> bool:
    """Whether a model is a biLM. It is checked without importing torch."""
    return getattr(model, "kind", None) == BILM


def move_to(model: Any, device: str | None) -> Any:
    """The model on a device; None leaves it where it is."""
    if device is None:
        return model
    if not hasattr(model, "to"):
        raise OptionError(f"--device is for contextual models, but this one is a {type(model).__name__}")
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:  # torch has no more specific error
        raise OptionError(f"--device {device}: {str(error).splitlines()[0]}") from error
