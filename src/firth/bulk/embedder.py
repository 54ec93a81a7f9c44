"""One interface to embed sentences with static word vectors or contextual models."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from firth.errors import OptionError
from firth.neural.inference.sentence_arrays import Pooling, pool
from firth.vectors.rows import Floats
from firth.vectors.words import WordVectors

Layers = Literal["mix", "all", "top", "context"] | int
BLOCK_BYTES = 64 << 20  # bounds memory, and the work lost by a kill
BATCH = 64  # sentences of a batch of stateful embedding
Sentences = Sequence[Sequence[str]]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Embed:
    """A function from sentences to arrays, one per sentence; `many` does the same for a stream of blocks.

    `many` also takes the output dtype, and may start a block before it returns the previous one, to keep a GPU busy.
    `block_bytes` is the size of a block in float32.
    """

    one: Callable[[Sentences], list[Floats]]
    many: Callable[[Iterable[Sentences], str], Iterator[list[Floats]]] | None = None
    block_bytes: int = BLOCK_BYTES

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
        if layers == "context":
            raise OptionError("layers is 'context', but word vectors know no context. Use a biLM, such as elmo-en")
        if pooling == "first-last":
            raise OptionError("first-last is for bidirectional models. Use mean or max for word vectors")
        unsupported = sorted(name for name, value in settings.items() if value is not None)
        if unsupported:
            raise OptionError(f"{unsupported[0]} is for contextual models, but this one is {type(model).__name__}")
        axes = (None, ...) if layers == "all" else ...
        return Embed(lambda sentences: [pool(array, pooling)[axes] for array in model.embed(sentences)])
    if not hasattr(model, "embed"):
        raise OptionError(f"a {type(model).__name__} has no vectors for sentences. Use word vectors or an ELMo model")
    options: dict[str, Any] = {"layers": layers, "pooling": pooling}
    options |= {name: value for name, value in settings.items() if value is not None}
    stateful, batch_size = options.pop("stateful", False), options.pop("batch_size", None)
    if batch_size is not None and not stateful:
        raise OptionError("batch_size is for stateful embedding, where the batches matter. Use stateful too")
    if stateful and "precision" in options:
        raise OptionError("stateful embedding runs in float32. Leave precision out")

    def one(sentences: Sentences) -> list[Floats]:
        arrays: list[Floats] = model.embed(sentences, **options)
        return arrays

    if not hasattr(model, "embed_blocks"):
        return Embed(one)
    from firth.neural.device import work_sizes

    size = work_sizes(next(model.parameters()).device).block_bytes
    if stateful:
        return Embed(one, lambda blocks, dtype: embed_in_turn(model, blocks, batch_size or BATCH, options), size)
    return Embed(one, lambda blocks, dtype: model.embed_blocks(blocks, dtype=dtype, **options), size)


def embed_in_turn(
    model: Any, blocks: Iterable[Sentences], batch_size: int, options: dict[str, Any]
) -> Iterator[list[Floats]]:
    """The arrays of each block, with the LSTM state carried over from batch to batch, as the original programs did.

    Batches of `batch_size` sentences do not depend on where blocks begin and end. The last one may be smaller.
    """
    sizes, sentences, arrays = deque[int](), list[Sequence[str]](), list[Floats]()
    state = None
    for block, is_last in mark_last(blocks):
        sizes.append(len(block))
        sentences += block
        whole = len(sentences) if is_last else len(sentences) // batch_size * batch_size
        if whole:
            found, state = model.embed(sentences[:whole], stateful=True, batch_size=batch_size, state=state, **options)
            arrays += found
            sentences = sentences[whole:]
        while sizes and len(arrays) >= sizes[0]:
            size = sizes.popleft()
            yield arrays[:size]
            arrays = arrays[size:]


def mark_last(items: Iterable[Item]) -> Iterator[tuple[Item, bool]]:
    """Each item, and whether it is the last.

    >>> list(mark_last("ab"))
    [('a', False), ('b', True)]
    """
    waiting: list[Item] = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    for item in waiting:
        yield item, True


def as_layers(text: str) -> Layers:
    """Parses the option `layers`.

    >>> as_layers("mix"), as_layers("2")
    ('mix', 2)
    >>> as_layers("best")
    Traceback (most recent call last):
    firth.errors.OptionError: layers is 'best', but must be mix, all, top, context or the number of a layer
    """
    words: dict[str, Layers] = {"mix": "mix", "all": "all", "top": "top", "context": "context"}
    if text in words:
        return words[text]
    if not text.isdecimal() or len(text) > 9:
        raise OptionError(f"layers is {text!r:.60}, but must be mix, all, top, context or the number of a layer")
    return int(text)
