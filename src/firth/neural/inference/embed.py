"""Embeds sentences: an array of vectors for each. `embed` and `embed_blocks` are also methods of `BiLM`.

The arrays of a sentence do not depend on the other sentences. `embed_in_turn` is the exception: it runs batches in
their order, as the original programs did, and each row starts from the state that the batch before left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args, overload

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from firth.errors import OptionError
from firth.neural.device import work_sizes
from firth.neural.inference.layers_of import (
    LayerBatch,
    Precision,
    encode_tokens,
    run_batches,
)
from firth.neural.inference.sentence_arrays import (
    TOO_LARGE,
    Floats,
    Numbers,
    Pooling,
    copy_arrays,
    pool,
    pool_arrays,
    split_arrays,
    word_rows,
)
from firth.neural.inference.transfer import Arrive, PinnedTransfer, to_device
from firth.neural.mix import ScalarMix
from firth.neural.state import BiLMState
from firth.progress import Progress, Report, silent
from firth.text.coverage import Coverage, report_coverage
from firth.text.model_tokenizer import Sentences

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

Layers = Literal["mix", "all", "top", "context"] | int | ScalarMix
Dtype = Literal["float32", "float16"]


@dataclass(frozen=True)
class EmbeddingOptions:
    """How sentences are embedded; see `embed`."""

    layers: Layers = "mix"
    pooling: Pooling | None = None
    batch_tokens: int | None = None
    precision: Precision = "float32"
    dtype: Dtype = "float32"


@dataclass(frozen=True)
class EmbeddingBatch:
    """A batch of a block of sentences that has been started: the places of its sentences and their lengths in words.

    `arrive` waits for the vectors, (rows, 2 · dim): of each sentence its words, layer by layer. `arrays` are those of
    the whole block, complete when its last batch is.
    """

    arrays: list[Floats]
    places: list[int]
    lengths: Numbers
    arrive: Arrive
    is_last: bool


@overload
def embed(
    bilm: BiLM,
    sentences: Sentences,
    *,
    layers: Layers = ...,
    pooling: Pooling | None = ...,
    batch_tokens: int | None = ...,
    precision: Precision = ...,
    dtype: Dtype = ...,
    report: Report = ...,
    stateful: Literal[False] = ...,
) -> list[Floats]: ...
@overload
def embed(
    bilm: BiLM,
    sentences: Sentences,
    *,
    layers: Layers = ...,
    pooling: Pooling | None = ...,
    stateful: Literal[True],
    state: BiLMState | None = ...,
    batch_size: int = ...,
) -> tuple[list[Floats], BiLMState]: ...
def embed(
    bilm: BiLM,
    sentences: Sentences,
    *,
    layers: Layers = "mix",
    pooling: Pooling | None = None,
    batch_tokens: int | None = None,
    precision: Precision = "float32",
    dtype: Dtype = "float32",
    report: Report = silent,
    stateful: bool = False,
    state: BiLMState | None = None,
    batch_size: int = 64,
) -> list[Floats] | tuple[list[Floats], BiLMState]:
    """An array for each sentence: (length, 2 · dim), or (layers + 1, length, 2 · dim) for all layers.

    A sentence is a list of words, or text, which is tokenized. `layers` is "mix" (the mean of all layers), "all",
    "top", the number of a layer, a `ScalarMix`, or "context", the context of each word without the word itself
    (`neural/context.py`), which tells senses apart better than a layer does. With `pooling` a sentence is one vector:
    the mean or the maximum of its words, or "first-last", the final hidden states of both directions. `dtype` is the
    type of the arrays.

    The vectors of a sentence do not depend on the other sentences. With `stateful` they do, as in the original
    programs: batches of `batch_size` sentences run in order, each row starts from `state` or from the batch before,
    and the final state is returned with the arrays.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> bilm = BiLM(Architecture.named("tiny"))
    >>> [array.shape for array in bilm.embed(["A cup of tea.", ["Rain"], []])]
    [(5, 32), (1, 32), (0, 32)]
    >>> bilm.embed([["Rain"]], layers="all", pooling="mean")[0].shape
    (3, 32)
    """
    if stateful:
        return embed_in_turn(bilm, sentences, state, batch_size, layers, pooling)
    if state is not None:
        raise OptionError("state is given, but stateful is False. Use stateful=True to start from a state")
    options = EmbeddingOptions(layers, pooling, batch_tokens, precision, dtype)
    check(bilm, options)
    lists = list(bilm.tokenizer.sentences(sentences))
    report_coverage(bilm.measure(lists))
    total, done, arrays = sum(map(len, lists)), 0, []
    for batch in start_batches(bilm, [lists], options):
        arrays = batch.arrays
        finish(bilm, batch, options, shared=False)
        done += int(batch.lengths.sum())
        report(Progress("embedding", done, total, "tokens"))
    return arrays


def embed_blocks(
    bilm: BiLM,
    blocks: Iterable[Sentences],
    *,
    layers: Layers = "mix",
    pooling: Pooling | None = None,
    batch_tokens: int | None = None,
    precision: Precision = "float32",
    dtype: Dtype = "float32",
) -> Iterator[list[Floats]]:
    """As `embed`, for blocks of sentences one after another, so that they need not fit in memory together.

    The arrays of a batch share memory: copy what you keep. On a GPU the next block starts before a block is given.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> bilm = BiLM(Architecture.named("tiny"))
    >>> [len(arrays) for arrays in bilm.embed_blocks([[["Rain"], ["Tea"]], [["Fog"]]])]
    [2, 1]
    """
    options = EmbeddingOptions(layers, pooling, batch_tokens, precision, dtype)
    check(bilm, options)
    tokenizer = bilm.tokenizer

    coverage = Coverage()

    def tokenize_block(block: Sentences) -> list[list[str]]:
        nonlocal coverage
        lists = list(tokenizer.sentences(block))
        coverage += bilm.measure(lists)
        return lists

    for batch in start_batches(bilm, map(tokenize_block, blocks), options):
        finish(bilm, batch, options, shared=True)
        if batch.is_last:
            yield batch.arrays
    report_coverage(coverage)


def start_batches(bilm: BiLM, blocks: Iterable[list[list[str]]], options: EmbeddingOptions) -> Iterator[EmbeddingBatch]:
    """The batches of all blocks, the longest sentences of a block first. An empty block is an empty batch.

    On a GPU the next batches, of this block or the next, are started before a batch is given, so that the GPU computes
    while the CPU puts results in order.
    """
    device = next(bilm.parameters()).device
    ahead = work_sizes(device).batches_ahead
    transfer, started = PinnedTransfer(device), deque[EmbeddingBatch]()
    depth = options.layers if isinstance(options.layers, int) else None  # the layers above are not needed
    for lists in blocks:
        arrays, done = [np.empty(0, np.float32)] * len(lists), 0
        if not lists:
            none = np.empty((0, 2 * bilm.architecture.dim), np.float32)
            started.append(EmbeddingBatch(arrays, [], np.zeros(0, np.int64), lambda none=none: none, True))  # type: ignore[misc]
        for batch in run_batches(bilm, lists, options.batch_tokens, options.precision, depth):
            done += len(batch.places)
            arrive = start_transfer(bilm, batch, [lists[place] for place in batch.places], options, transfer)
            started.append(EmbeddingBatch(arrays, batch.places, batch.lengths, arrive, done == len(lists)))
            del batch  # frees its layers before the next batch runs
            if len(started) > ahead:
                yield started.popleft()
    yield from started


@torch.no_grad()
def start_transfer(
    bilm: BiLM, batch: LayerBatch, sentences: Sequence[list[str]], options: EmbeddingOptions, transfer: PinnedTransfer
) -> Arrive:
    """Sends the chosen vectors of the words of a batch to the CPU. The result waits for them, sentence by sentence."""
    if options.layers == "context":
        tops = torch.split(batch.layers[-1], (batch.lengths + 2).tolist())
        rows = torch.cat(list(map(bilm.weight_cache.contexts(bilm), sentences, tops)))
    else:
        chosen = choose(batch.layers, options.layers)
        rows = chosen.reshape(-1, chosen.shape[-1])
        rows = rows[to_device(word_rows(batch.lengths + 2, len(rows) // batch.layers.shape[1]), rows.device)]
    if options.dtype == "float32" or options.pooling is not None:
        return transfer.fetch(rows)
    halves = rows.half()
    result, too_large = transfer.fetch(halves), transfer.fetch(halves.isinf().any())

    def arrive() -> Floats:
        if too_large():
            raise OptionError(TOO_LARGE)
        return result()

    return arrive


def finish(bilm: BiLM, batch: EmbeddingBatch, options: EmbeddingOptions, *, shared: bool) -> None:
    """Splits the vectors of a batch into the arrays of its sentences: copies, or views where memory may be shared."""
    rows, lengths = batch.arrive(), batch.lengths
    layers = bilm.architecture.layers + 1 if options.layers == "all" else None
    if options.pooling is not None:
        arrays = pool_arrays(rows, lengths, layers, options.pooling, options.dtype)
    elif shared:
        arrays = split_arrays(rows, lengths, layers)
    else:
        arrays = copy_arrays(rows, lengths, layers, work_sizes(next(bilm.parameters()).device).copied_bytes)
    for place, array in zip(batch.places, arrays):
        batch.arrays[place] = array


def embed_in_turn(
    bilm: BiLM, sentences: Sentences, state: BiLMState | None, batch_size: int, layers: Layers, pooling: Pooling | None
) -> tuple[list[Floats], BiLMState]:
    """The arrays of sentences that run in batches, in their order, and the final state.

    Row r of a batch starts from the state of row r of the batch before.
    """
    check(bilm, EmbeddingOptions(layers, pooling))
    if batch_size < 1:
        raise OptionError(f"batch_size is {batch_size}, but must be at least 1")
    lists = list(bilm.tokenizer.sentences(sentences))
    report_coverage(bilm.measure(lists))
    arrays: list[Floats] = []
    with torch.no_grad():
        state = bilm.blank(0) if state is None else state
        for start in range(0, len(lists), batch_size):
            batch = lists[start : start + batch_size]
            lengths = [len(words) + 2 for words in batch]
            padded = pad_rows(encode_tokens(bilm, batch), lengths)
            all_layers, state = bilm.contextualize(padded, torch.tensor(lengths, device=padded.device), state)
            if layers == "context":
                tops = [all_layers[-1, row, :length] for row, length in enumerate(lengths)]
                contexts = map(bilm.weight_cache.contexts(bilm), batch, tops)
                arrays += [pool(array.cpu().numpy(), pooling) for array in contexts]
                continue
            chosen = choose(all_layers, layers).cpu().numpy()
            for row, length in enumerate(lengths):
                arrays.append(pool(chosen[..., row, 1 : length - 1, :].copy(), pooling))
    return arrays, state


def pad_rows(vectors: Tensor, lengths: Sequence[int]) -> Tensor:
    """The tokens of sentences one after another, (tokens, dim), as rows padded with zeros, (rows, time, dim)."""
    return pad_sequence(list(torch.split(vectors, list(lengths))), batch_first=True)


def check(bilm: BiLM, options: EmbeddingOptions) -> None:
    """Refuses options that are not possible, before any work is done."""
    layers, top = options.layers, bilm.architecture.layers
    if isinstance(layers, ScalarMix):
        if layers.normalized:
            raise OptionError(
                "a mix with normalization depends on all sentences of a batch, so no sentence has vectors of its own. "
                "Run the batch yourself: layers, lengths, _ = bilm(sentences), then mix(layers, mask)"
            )
        if len(layers.weights) != top + 1:
            raise OptionError(f"the mix is for {len(layers.weights)} layers, but this biLM has {top + 1}")
    elif layers == "context":
        bilm.weight_cache.contexts(bilm)  # refuses a biLM without a full softmax
        if options.pooling == "first-last":
            raise OptionError("first-last is for layers of two directions. Use mean or max for 'context'")
    elif layers not in ("mix", "all", "top", *range(top + 1)) or isinstance(layers, bool):
        names = "'mix', 'all', 'top', 'context'"
        raise OptionError(f"layers is {layers!r}, but must be {names}, a number from 0 to {top}, or a mix")
    if options.pooling not in (None, *get_args(Pooling)):
        raise OptionError(f"pooling is {options.pooling!r}, but must be none or one of {', '.join(get_args(Pooling))}")
    for name, choices in (("precision", get_args(Precision)), ("dtype", get_args(Dtype))):
        if getattr(options, name) not in choices:
            raise OptionError(f"{name} is {getattr(options, name)!r}, but must be one of {', '.join(choices)}")


def choose(all_layers: Tensor, layers: Layers) -> Tensor:
    """The chosen layers of (layers + 1, ..., 2 · dim): all of them, one, or a mix."""
    if isinstance(layers, ScalarMix):
        return layers.mixed(all_layers)
    if layers == "all":
        return all_layers
    if layers == "mix":
        return all_layers.mean(0)
    return all_layers[layers if isinstance(layers, int) else -1]
