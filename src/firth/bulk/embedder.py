"""One interface to embed sentences with static word vectors or contextual models."""

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
    """A contextual model: returns (length, dim) arrays, or (layers, length, dim) for all layers."""

    def embed(self, sentences: Sentences, *, layers: Layers, pooling: Pooling | None) -> list[Floats]: ...


@dataclass(frozen=True)
class Embed:
    """A function from sentences to arrays, one per sentence; `many` does the same for a stream of blocks.

    `many` also takes the output dtype, and may start a block before it returns the previous one, to keep a GPU busy.
    """

    one: Callable[[Sentences], list[Floats]]
    many: Callable[[Iterable[Sentences], str], Iterator[list[Floats]]] | None = None
    on_gpu: bool = False

    def __call__(self, sentences: Sentences) -> list[Floats]:
        return self.one(sentences)

    def blocks(self, blocks: Iterable[Sentences], dtype: str) -> Iterator[list[Floats]]:
        """The arrays of each block, in this dtype or in float32."""
        return map(self.one, blocks) if self.many is None else self.many(blocks, dtype)


def embedder(model: Any, layers: Layers = "mix", pooling: Pooling | None = None, **settings: Any) -> Embed:
    """The function from sentences to arrays, one per sentence, for a model and these options.

    Word vectors have a single layer, which mix, top and 0 all select. Other settings are passed to a contextual model.

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
            raise OptionError("first-last is for bidirectional models. Use mean or max for word vectors")
        unsupported = sorted(name for name, value in settings.items() if value is not None)
        if unsupported:
            raise OptionError(f"{unsupported[0]} is for contextual models, but this one is {type(model).__name__}")
        return Embed(lambda sentences: [_shape_output(array, layers, pooling) for array in model.embed(sentences)])
    if not hasattr(model, "embed"):
        raise OptionError(f"a {type(model).__name__} has no vectors for sentences. Use word vectors or an ELMo model")
    options: dict[str, Any] = {"layers": layers, "pooling": pooling}
    options |= {name: value for name, value in settings.items() if value is not None}

    def one(sentences: Sentences) -> list[Floats]:
        arrays: list[Floats] = model.embed(sentences, **options)
        return arrays

    if not hasattr(model, "embed_blocks"):
        return Embed(one)
    on_gpu = next(model.parameters()).is_cuda
    return Embed(one, lambda blocks, dtype: model.embed_blocks(blocks, dtype=dtype, **options), on_gpu)


def _shape_output(array: Floats, layers: Layers, pooling: Pooling | None) -> Floats:
    pooled = array if pooling is None else pool(array, pooling)
    return pooled[None] if layers == "all" else pooled


def pool(array: Floats, pooling: Pooling) -> Floats:
    """The pooled vector of a (length, dim) sentence; zeros for an empty sentence.

    >>> pool(np.array([[1, 4], [3, 0]], np.float32), "mean")
    array([2., 2.], dtype=float32)
    """
    if not len(array):
        return np.zeros(array.shape[1], np.float32)
    return np.asarray(array.max(axis=0) if pooling == "max" else array.mean(axis=0), np.float32)


def as_layers(text: str) -> Layers:
    """Parses the option `layers`.

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
