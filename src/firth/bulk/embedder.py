"""One way to ask any model for vectors of sentences: word vectors look words up, contextual models read on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from firth.errors import OptionError
from firth.vectors.rows import Floats
from firth.vectors.words import WordVectors

Layers = Literal["mix", "all", "top"] | int
Pooling = Literal["mean", "max", "first-last"]
Sentences = Sequence[Sequence[str]]


class Contextual(Protocol):
    """A model whose vectors depend on the sentence, one a layer: (length, dim) arrays, or (layers, length, dim)."""

    def embed(self, sentences: Sentences, *, layers: Layers, pooling: Pooling | None) -> list[Floats]: ...


@dataclass(frozen=True)
class Embed:
    """A function from sentences to arrays, one a sentence; `many` is the same for one block after another.

    `many` takes the type of the numbers too, and may begin a block before the last one is given, as a GPU needs it.
    """

    one: Callable[[Sentences], list[Floats]]
    many: Callable[[Iterable[Sentences], str], Iterator[list[Floats]]] | None = None
    on_gpu: bool = False

    def __call__(self, sentences: Sentences) -> list[Floats]:
        return self.one(sentences)

    def blocks(self, blocks: Iterable[Sentences], dtype: str) -> Iterator[list[Floats]]:
        """The arrays of each block; their numbers may be of this type already, or float32."""
        return map(self.one, blocks) if self.many is None else self.many(blocks, dtype)


def embedder(model: Any, layers: Layers = "mix", pooling: Pooling | None = None, **settings: Any) -> Embed:
    """The function from sentences to arrays, one a sentence, that a model and these choices make.

    Word vectors have a single layer, so that every choice of one layer is the same to them. Further settings go to a
    contextual model as they are.

    >>> vectors = WordVectors(["tea", "rain"], [[1, 0], [0, 3]])
    >>> [array.tolist() for array in embedder(vectors, "all")([["rain", "tea"]])]
    [[[[0.0, 3.0], [1.0, 0.0]]]]
    >>> [array.tolist() for array in embedder(vectors, pooling="max")([["rain", "tea"], []])]
    [[1.0, 3.0], [0.0, 0.0]]
    """
    if isinstance(model, WordVectors):
        if isinstance(layers, int) and layers != 0:
            raise OptionError(f"layers is {layers}, but word vectors have one layer only, layer 0")
        if pooling == "first-last":
            raise OptionError("first-last is for models that read in two directions. Use mean or max for word vectors")
        given = sorted(name for name, value in settings.items() if value is not None)
        if given:
            raise OptionError(f"{given[0]} is for contextual models, but this one is {type(model).__name__}")
        return Embed(lambda sentences: [_shape_output(array, layers, pooling) for array in model.embed(sentences)])
    if not hasattr(model, "embed"):
        raise OptionError(f"a {type(model).__name__} has no vectors for sentences. Use word vectors or an ELMo model")
    wanted: dict[str, Any] = {"layers": layers, "pooling": pooling}
    wanted |= {name: value for name, value in settings.items() if value is not None}

    def one(sentences: Sentences) -> list[Floats]:
        arrays: list[Floats] = model.embed(sentences, **wanted)
        return arrays

    if not hasattr(model, "embed_blocks"):
        return Embed(one)
    on_gpu = next(model.parameters()).is_cuda
    return Embed(one, lambda blocks, dtype: model.embed_blocks(blocks, dtype=dtype, **wanted), on_gpu)


def _shape_output(array: Floats, layers: Layers, pooling: Pooling | None) -> Floats:
    pooled = array if pooling is None else pool(array, pooling)
    return pooled[None] if layers == "all" else pooled


def pool(array: Floats, pooling: Pooling) -> Floats:
    """One row for a (length, dim) sentence; zeros for an empty one.

    >>> pool(np.array([[1, 4], [3, 0]], np.float32), "mean")
    array([2., 2.], dtype=float32)
    """
    if not len(array):
        return np.zeros(array.shape[1], np.float32)
    return np.asarray(array.max(axis=0) if pooling == "max" else array.mean(axis=0), np.float32)


def as_layers(text: str) -> Layers:
    """The layers that a flag names.

    >>> as_layers("mix"), as_layers("2")
    ('mix', 2)
    >>> as_layers("best")
    Traceback (most recent call last):
    firth.errors.OptionError: layers is 'best', but must be mix, all, top or the number of a layer
    """
    words: dict[str, Layers] = {"mix": "mix", "all": "all", "top": "top"}
    if text in words:
        return words[text]
    if not text.isdecimal():
        raise OptionError(f"layers is {text!r}, but must be mix, all, top or the number of a layer")
    return int(text)
