"""Sentences to vectors in bulk: each distinct word is encoded once, sentences of like length run together.

What comes out does not depend on what else was asked for: a sentence has the same vectors alone, in any batch and in
any order. `embed_in_turn` is the exception, and is asked for by name: it reads batches as the original programs did,
each row going on from what it remembers of the batch before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from firth.errors import OptionError
from firth.neural.inference.sentence_arrays import (
    TOO_LARGE,
    Floats,
    Numbers,
    Pooling,
    copied,
    copied_in_pieces,
    divided,
    pool,
    pooled,
    rows_of_words,
)
from firth.neural.inference.transfer import Arrive, PinnedTransfer, to_device
from firth.neural.mix import ScalarMix
from firth.neural.state import BiLMState
from firth.progress import Progress, Report, silent
from firth.text.character_ids import BEGIN, END
from firth.text.tokenize import Tokenizer

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

Layers = Literal["mix", "all", "top"] | int | ScalarMix
Precision = Literal["float32", "bfloat16", "int8"]
Dtype = Literal["float32", "float16"]
Sentences = Iterable[str | Sequence[str]]
BATCH_TOKENS, GPU_BATCH_TOKENS = 4096, 32_768  # a GPU needs more to be busy
AHEAD, GPU_AHEAD = 0, 2  # batches that are begun before the one that is given


@dataclass(frozen=True)
class EmbeddingOptions:
    """What is asked for of each sentence, and how it is computed; see `BiLM.embed`."""

    layers: Layers = "mix"
    pooling: Pooling | None = None
    batch_tokens: int | None = None
    precision: Precision = "float32"
    dtype: Dtype = "float32"


@dataclass(frozen=True)
class EmbeddingBatch:
    """Sentences on their way through the LSTMs: where they stand in their block, and how many words they have.

    `arrive` waits for their vectors, (rows, 2 · dim): of each sentence its words, layer by layer. `arrays` are those of
    the whole block; all are there when its last batch is.
    """

    arrays: list[Floats]
    places: list[int]
    lengths: Numbers
    arrive: Arrive
    is_last: bool


def embed(bilm: BiLM, sentences: Sentences, choice: EmbeddingOptions, report: Report = silent) -> list[Floats]:
    """An array for each sentence; see `BiLM.embed`."""
    check(bilm, choice)
    lists = to_word_lists(sentences)
    total, done, arrays = sum(map(len, lists)), 0, []
    for batch in in_flight(bilm, [lists], choice):
        arrays = batch.arrays
        put_in_place(bilm, batch, choice, shared=False)
        done += int(batch.lengths.sum())
        report(Progress("embedding", done, total, "tokens"))
    return arrays


def embed_blocks(bilm: BiLM, blocks: Iterable[Sentences], choice: EmbeddingOptions) -> Iterator[list[Floats]]:
    """The arrays of each block of sentences; see `BiLM.embed_blocks`."""
    check(bilm, choice)
    for batch in in_flight(bilm, map(to_word_lists, blocks), choice):
        put_in_place(bilm, batch, choice, shared=True)
        if batch.is_last:
            yield batch.arrays


def in_flight(bilm: BiLM, blocks: Iterable[list[list[str]]], choice: EmbeddingOptions) -> Iterator[EmbeddingBatch]:
    """The batches of all blocks, the longest sentences of a block first; an empty block is an empty batch.

    On a GPU the next batches are begun before the last one is given, be they of the same block or not, so that the GPU
    computes while its results are put in order.
    """
    device = next(bilm.parameters()).device
    ahead = GPU_AHEAD if device.type == "cuda" else AHEAD
    courier, begun = PinnedTransfer(device), deque[EmbeddingBatch]()
    for lists in blocks:
        arrays = [np.empty(0, np.float32)] * len(lists)
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        parts = list(batches(lengths + 2, budget(device, choice))) or [[]]
        for number, places in enumerate(parts, start=1):
            arrive = begin(bilm, [lists[place] for place in places], choice, courier)
            begun.append(EmbeddingBatch(arrays, places, lengths[places], arrive, number == len(parts)))
            if len(begun) > ahead:
                yield begun.popleft()
    yield from begun


def budget(device: torch.device, choice: EmbeddingOptions) -> int:
    """The tokens of a batch."""
    if choice.batch_tokens is not None:
        return choice.batch_tokens
    return GPU_BATCH_TOKENS if device.type == "cuda" else BATCH_TOKENS


@torch.no_grad()
def begin(bilm: BiLM, lists: list[list[str]], choice: EmbeddingOptions, courier: PinnedTransfer) -> Arrive:
    """Sends sentences, the longest first, through the LSTMs. What comes back waits for their rows."""
    if not lists:
        return lambda: np.empty((0, 2 * bilm.architecture.dim), np.float32)
    vectors, words = distinct_vectors(bilm, lists)
    lengths = np.fromiter(map(len, lists), np.int64, len(lists)) + 2
    chosen = choose(contextual_layers(bilm, vectors, lengths, choice.precision, words), choice.layers)
    rows = chosen.reshape(-1, chosen.shape[-1])
    rows = rows[to_device(rows_of_words(lengths, len(rows) // len(words)), rows.device)]
    if choice.dtype == "float32" or choice.pooling is not None:
        return courier.fetch(rows)
    halves = rows.half()
    come, too_large = courier.fetch(halves), courier.fetch(halves.isinf().any())

    def arrive() -> Floats:
        if too_large():
            raise OptionError(TOO_LARGE)
        return come()

    return arrive


def put_in_place(bilm: BiLM, batch: EmbeddingBatch, choice: EmbeddingOptions, *, shared: bool) -> None:
    """Cuts what has arrived into the arrays of sentences: copies, or views where the memory may be shared."""
    rows, lengths = batch.arrive(), batch.lengths
    layers = bilm.architecture.layers + 1 if choice.layers == "all" else None
    if choice.pooling is not None:
        found = pooled(rows, lengths, layers, choice.pooling, choice.dtype)
    elif shared:
        found = divided(rows, lengths, layers)
    elif next(bilm.parameters()).is_cuda:
        found = copied_in_pieces(rows, lengths, layers)
    else:
        found = copied(rows, lengths, layers)
    for place, array in zip(batch.places, found):
        batch.arrays[place] = array


def embed_in_turn(
    bilm: BiLM,
    sentences: Sentences,
    *,
    state: BiLMState | None = None,
    batch_size: int = 64,
    layers: Layers = "mix",
    pooling: Pooling | None = None,
) -> tuple[list[Floats], BiLMState]:
    """Arrays of sentences read in batches, in their order, row r of a batch going on from row r of the one before.

    The state that is left comes with them, to go on from there.
    """
    check_choices(bilm, layers, pooling, "float32")
    if batch_size < 1:
        raise OptionError(f"batch_size is {batch_size}, but must be at least 1")
    lists = to_word_lists(sentences)
    arrays: list[Floats] = []
    with torch.no_grad():
        state = bilm.blank(0) if state is None else state
        for start in range(0, len(lists), batch_size):
            batch = lists[start : start + batch_size]
            lengths = [len(words) + 2 for words in batch]
            padded = padded_rows(token_vectors(bilm, batch), lengths)
            found, state = bilm.contextualize(padded, torch.tensor(lengths, device=padded.device), state)
            chosen = choose(found, layers).cpu().numpy()
            for row, length in enumerate(lengths):
                arrays.append(pool(chosen[..., row, 1 : length - 1, :].copy(), pooling))
    return arrays, state


def contextual_layers(
    bilm: BiLM,
    vectors: Tensor,
    lengths: Sequence[int] | Numbers,
    precision: Precision,
    words: Numbers | None = None,
) -> Tensor:
    """All layers of sentences, (layers + 1, tokens, 2 · dim), from their words' vectors, (tokens, dim).

    Sentences lie one behind the other without padding, the longest first, each with its <S> and </S>. With `words` the
    vectors are those of distinct words, and `words` says which of them stands where. This is the one place that decides
    how the LSTMs are run.
    """
    if vectors.device.type == "cpu":
        return torch.from_numpy(bilm.weight_cache.layers(bilm, precision).run(vectors.numpy(), lengths, words))
    return bilm.weight_cache.gpu_layers(bilm, precision).run(vectors, lengths, words)


def padded_rows(vectors: Tensor, lengths: Sequence[int]) -> Tensor:
    """Sentences that lie one behind the other, (tokens, dim), as rows with zeros behind them, (rows, time, dim)."""
    ends = np.cumsum(lengths).tolist()
    return pad_sequence([vectors[end - length : end] for end, length in zip(ends, lengths)], batch_first=True)


def token_vectors(bilm: BiLM, lists: Sequence[Sequence[str]]) -> Tensor:
    """The vectors of the words of sentences, <S> and </S> around each, one behind the other, (tokens, dim)."""
    vectors, words = distinct_vectors(bilm, lists)
    return vectors[to_device(words, vectors.device)]


def distinct_vectors(bilm: BiLM, lists: Sequence[Sequence[str]]) -> tuple[Tensor, Numbers]:
    """The vectors of the distinct words of sentences, <S> and </S> around each, and which of them stands where."""
    table, rows = bilm.token_vectors.find(bilm.weight_cache.encoder(bilm), [(BEGIN, END), *lists])
    tokens = framed(rows[2:], np.fromiter(map(len, lists), np.int64, len(lists)), rows[0], rows[1])
    there = np.zeros(len(table), bool)
    there[tokens] = True
    distinct = np.flatnonzero(there)
    return table[to_device(distinct, table.device)], (np.cumsum(there) - 1)[tokens]


def framed(words: Numbers, lengths: Numbers, begin: int, end: int) -> Numbers:
    """Sentences that lie one behind the other, each between a begin and an end.

    >>> framed(np.array([5, 6, 7]), np.array([2, 0, 1]), 1, 2).tolist()
    [1, 5, 6, 2, 1, 2, 1, 7, 2]
    """
    ends = np.cumsum(lengths + 2)
    tokens, inside = np.empty(len(words) + 2 * len(lengths), np.int64), np.ones(len(words) + 2 * len(lengths), bool)
    for places, mark in ((ends - lengths - 2, begin), (ends - 1, end)):
        tokens[places], inside[places] = mark, False
    tokens[inside] = words
    return tokens


def batches(lengths: Sequence[int] | Numbers, batch_tokens: int) -> Iterator[list[int]]:
    """The places of sentences in batches, the longest first; a batch is no larger than the budget, padding counted.

    A sentence that is longer than the budget is a batch of its own.

    >>> list(batches([3, 9, 4, 3], 9))
    [[1], [2, 0], [3]]
    """
    if batch_tokens < 1:
        raise OptionError(f"batch_tokens is {batch_tokens}, but must be at least 1")
    order = np.argsort(-np.asarray(lengths, np.int64), kind="stable").tolist()
    start = 0
    while start < len(order):
        count = max(1, batch_tokens // int(lengths[order[start]]))
        yield order[start : start + count]
        start += count


def to_word_lists(sentences: Sentences) -> list[list[str]]:
    """Sentences as lists of words; one that is a string is cut into words, as one sentence.

    >>> to_word_lists(["It's late.", ["As", "it", "is."]])
    [['It', "'s", 'late', '.'], ['As', 'it', 'is.']]
    >>> to_word_lists("It's late.")
    Traceback (most recent call last):
    firth.errors.OptionError: the sentences are one string, but must be a list. For one sentence write [text]
    """
    if isinstance(sentences, (str, bytes)):
        raise OptionError("the sentences are one string, but must be a list. For one sentence write [text]")
    tokenizer = Tokenizer()
    lists = []
    for place, sentence in enumerate(sentences):
        words = tokenizer.words(sentence) if isinstance(sentence, str) else _listed(sentence, place)
        lists.append(words)
    return lists


def _listed(sentence: object, place: int) -> list[str]:
    try:
        if isinstance(sentence, Iterable) and not isinstance(sentence, bytes):
            words = list(sentence)
            "".join(words)  # the quickest way to see that all of them are strings
            return words
    except TypeError:
        pass
    raise OptionError(f"sentence {place} is {sentence!r:.80}, but must be text or a list of words")


def check(bilm: BiLM, choice: EmbeddingOptions) -> None:
    """Refuses what cannot be chosen, before any work is done."""
    check_choices(bilm, choice.layers, choice.pooling, choice.precision)
    if choice.dtype not in get_args(Dtype):
        raise OptionError(f"dtype is {choice.dtype!r}, but must be one of {', '.join(get_args(Dtype))}")


def check_choices(bilm: BiLM, layers: Layers, pooling: Pooling | None, precision: Precision) -> None:
    """Refuses what cannot be chosen, before any work is done."""
    top = bilm.architecture.layers
    if isinstance(layers, ScalarMix):
        if layers.normalized:
            raise OptionError(
                "a mix with normalization depends on all sentences of a batch, so it gives none vectors of its own. "
                "Run the batch yourself: layers, lengths, _ = bilm(sentences), then mix(layers, mask)"
            )
        if len(layers.weights) != top + 1:
            raise OptionError(f"the mix is one of {len(layers.weights)} layers, but this biLM has {top + 1}")
    elif layers not in ("mix", "all", "top", *range(top + 1)) or isinstance(layers, bool):
        raise OptionError(f"layers is {layers!r}, but must be 'mix', 'all', 'top', a number from 0 to {top}, or a mix")
    if pooling is not None and pooling not in get_args(Pooling):
        raise OptionError(f"pooling is {pooling!r}, but must be none or one of {', '.join(get_args(Pooling))}")
    if precision not in get_args(Precision):
        raise OptionError(f"precision is {precision!r}, but must be one of {', '.join(get_args(Precision))}")


def choose(found: Tensor, layers: Layers) -> Tensor:
    """The layers that are asked for, of (layers + 1, ..., 2 · dim): all of them, one, or a mix."""
    if isinstance(layers, ScalarMix):
        return layers.mixed(found)
    if layers == "all":
        return found
    if layers == "mix":
        return found.mean(0)
    return found[-1 if layers == "top" else layers]
