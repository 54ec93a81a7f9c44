"""Runs a biLM over sentences: in batches of similar length, each distinct word encoded once, the order restored.

Embedding, tasks, probes and scores all take the layers of a biLM from here. A sentence has the same layers alone, in
any batch and in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from firth.errors import OptionError
from firth.neural.device import work_sizes
from firth.neural.inference.sentence_arrays import Numbers, word_rows
from firth.neural.inference.transfer import to_device
from firth.text.character_ids import BEGIN, END

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

Precision = Literal["float32", "bfloat16", "int8"]
Result = TypeVar("Result")


@dataclass(frozen=True)
class LayerBatch:
    """The layers of sentences that ran together, the longest first.

    `layers` is (layers + 1, tokens, 2 · dim), without those above the wanted depth. Each sentence has its tokens <S>,
    words, </S>; there is no padding.
    """

    places: list[int]  # of the sentences in the input
    lengths: Numbers  # words of each sentence
    layers: Tensor


def layers_of(
    bilm: BiLM,
    sentences: Sequence[Sequence[str]],
    select: Callable[[Tensor], Tensor],
    precision: Precision = "float32",
) -> Tensor:
    """What `select` keeps of the layers of all words: (kept, words, ...), the words in the order of the sentences.

    `select` gets the layers of one batch, (layers + 1, words, 2 · dim).

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> layers_of(BiLM(Architecture.named("tiny")), [["Rain"], ["A", "cup"]], lambda layers: layers[1:]).shape
    torch.Size([2, 3, 32])
    """
    device = next(bilm.parameters()).device
    ends = np.cumsum([len(words) for words in sentences], dtype=np.int64)
    none = select(torch.zeros(bilm.architecture.layers + 1, 0, 2 * bilm.architecture.dim, device=device))
    selected = none.new_empty(none.shape[0], int(ends[-1]) if len(ends) else 0, *none.shape[2:])
    with torch.no_grad():
        for batch in run_batches(bilm, sentences, precision=precision):
            words = batch.layers[:, to_device(word_rows(batch.lengths + 2, 1), device)]
            shifts = ends[batch.places] - np.cumsum(batch.lengths)
            targets = np.arange(int(batch.lengths.sum())) + np.repeat(shifts, batch.lengths)
            selected[:, to_device(targets, device)] = select(words)
    return selected


def run_batches(
    bilm: BiLM,
    sentences: Sequence[Sequence[str]],
    batch_tokens: int | None = None,
    precision: Precision = "float32",
    depth: int | None = None,
) -> Iterator[LayerBatch]:
    """The batches of sentences one after another, the longest sentences first; see `run` for `depth`."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    if batch_tokens is None:
        batch_tokens = work_sizes(next(bilm.parameters()).device).batch_tokens
    for places in batches(lengths + 2, batch_tokens):
        yield LayerBatch(places, lengths[places], run(bilm, [sentences[place] for place in places], precision, depth))


def map_batches(
    function: Callable[[list[list[str]]], Iterable[Result]],
    sentences: Sequence[list[str]],
    lengths: Sequence[int],
    batch_tokens: int,
) -> list[Result]:
    """One result for each sentence, in their order: `function` gets a batch and gives the results of its sentences."""
    results: dict[int, Result] = {}
    for places in batches(lengths, batch_tokens):
        results.update(zip(places, function([sentences[place] for place in places])))
    return [results[place] for place in range(len(sentences))]


def batches(lengths: Sequence[int] | Numbers, batch_tokens: int) -> Iterator[list[int]]:
    """The places of sentences in batches, the longest first. A batch has at most `batch_tokens`, padding included.

    A sentence that is longer than that is a batch by itself.

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


@torch.no_grad()
def run(
    bilm: BiLM, sentences: Sequence[Sequence[str]], precision: Precision = "float32", depth: int | None = None
) -> Tensor:
    """The layers of one batch, the longest sentence first: (layers + 1, tokens, 2 · dim), <S> and </S> included.

    With `depth`, only layer 0 and as many LSTM layers are computed.
    """
    vectors, tokens = encode_distinct(bilm, sentences)
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences)) + 2
    return bilm.weight_cache.layers(bilm, precision).run(vectors, lengths, tokens, depth)


def encode_tokens(bilm: BiLM, sentences: Sequence[Sequence[str]]) -> Tensor:
    """The vectors of the tokens of sentences, <S> and </S> included, one sentence after another, (tokens, dim)."""
    vectors, tokens = encode_distinct(bilm, sentences)
    return vectors[to_device(tokens, vectors.device)]


def encode_distinct(bilm: BiLM, sentences: Sequence[Sequence[str]]) -> tuple[Tensor, Numbers]:
    """The vectors of the distinct tokens of sentences, <S> and </S> included, and the row there of each token."""
    table, rows = bilm.token_vectors.find(bilm.weight_cache.encoder(bilm), [(BEGIN, END), *sentences])
    tokens = add_marks(rows[2:], np.fromiter(map(len, sentences), np.int64, len(sentences)), rows[0], rows[1])
    is_used = np.zeros(len(table), bool)
    is_used[tokens] = True
    return table[to_device(np.flatnonzero(is_used), table.device)], (np.cumsum(is_used) - 1)[tokens]


def add_marks(words: Numbers, lengths: Numbers, begin: int, end: int) -> Numbers:
    """The words of sentences, one sentence after another, with a begin mark before and an end mark after each.

    >>> add_marks(np.array([5, 6, 7]), np.array([2, 0, 1]), 1, 2).tolist()
    [1, 5, 6, 2, 1, 2, 1, 7, 2]
    """
    ends = np.cumsum(lengths + 2)
    tokens, is_word = np.empty(len(words) + 2 * len(lengths), np.int64), np.ones(len(words) + 2 * len(lengths), bool)
    for places, mark in ((ends - lengths - 2, begin), (ends - 1, end)):
        tokens[places], is_word[places] = mark, False
    tokens[is_word] = words
    return tokens
