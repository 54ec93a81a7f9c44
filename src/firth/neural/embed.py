"""Sentences to vectors in bulk: each distinct word is encoded once, sentences of like length run together.

What comes out does not depend on what else was asked for: a sentence has the same vectors alone, in any batch and in
any order. `embed_in_turn` is the exception, and is asked for by name: it reads batches as the original programs did,
each row going on from what it remembers of the batch before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from firth.errors import OptionError
from firth.neural.fast_gpu import arriving
from firth.neural.mix import ScalarMix
from firth.neural.state import State
from firth.progress import Progress, Report, silent
from firth.text.character_ids import BEGIN, END
from firth.text.tokenize import Tokenizer

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

Floats = NDArray[np.float32]
Layers = Literal["mix", "all", "top"] | int | ScalarMix
Pooling = Literal["mean", "max", "first-last"]
Precision = Literal["float32", "bfloat16", "int8"]
Sentences = Iterable[str | Sequence[str]]
BATCH_TOKENS, GPU_BATCH_TOKENS = 4096, 32_768  # a GPU needs more to be busy


def embed(
    bilm: BiLM,
    sentences: Sentences,
    *,
    layers: Layers = "mix",
    pooling: Pooling | None = None,
    batch_tokens: int | None = None,
    precision: Precision = "float32",
    report: Report = silent,
) -> list[Floats]:
    """An array for each sentence; see `BiLM.embed`."""
    check_choices(bilm, layers, pooling, precision)
    if batch_tokens is None:
        batch_tokens = GPU_BATCH_TOKENS if next(bilm.parameters()).is_cuda else BATCH_TOKENS
    lists = word_lists(sentences)
    arrays: list[Floats | None] = [None] * len(lists)
    total, done = sum(map(len, lists)), 0
    ahead = in_flight(bilm, lists, layers, batch_tokens, precision)
    for places, arrive in ahead:
        lengths = [len(lists[place]) + 2 for place in places]
        for place, array in zip(places, sentence_arrays(arrive(), lengths)):
            arrays[place] = pool(array, pooling)
        done += sum(lengths) - 2 * len(lengths)
        report(Progress("embedding", done, total, "tokens"))
    return cast(list[Floats], arrays)


def in_flight(
    bilm: BiLM, lists: list[list[str]], layers: Layers, batch_tokens: int, precision: Precision
) -> Iterator[tuple[list[int], Callable[[], Floats]]]:
    """The places of a batch's sentences, and a function that gives its chosen layers when they have arrived.

    The next batch is begun before the last one is given, so that a GPU computes while its results are put in order.
    """
    waiting: tuple[list[int], Callable[[], Floats]] | None = None
    for places in batches([len(words) + 2 for words in lists], batch_tokens):
        with torch.no_grad():
            vectors, words = distinct_vectors(bilm, [lists[place] for place in places])
            lengths = [len(lists[place]) + 2 for place in places]
            chosen = choose(contextual_layers(bilm, vectors, lengths, precision, words), layers)
            begun = places, arriving(chosen) if chosen.is_cuda else chosen.numpy
        if waiting is not None:
            yield waiting
        waiting = begun
    if waiting is not None:
        yield waiting


def embed_in_turn(
    bilm: BiLM,
    sentences: Sentences,
    *,
    state: State | None = None,
    batch_size: int = 64,
    layers: Layers = "mix",
    pooling: Pooling | None = None,
) -> tuple[list[Floats], State]:
    """Arrays of sentences read in batches, in their order, row r of a batch going on from row r of the one before.

    The state that is left comes with them, to go on from there.
    """
    check_choices(bilm, layers, pooling, "float32")
    if batch_size < 1:
        raise OptionError(f"batch_size is {batch_size}, but must be at least 1")
    lists = word_lists(sentences)
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
    bilm: BiLM, vectors: Tensor, lengths: Sequence[int], precision: Precision, words: Sequence[int] | None = None
) -> Tensor:
    """All layers of sentences, (layers + 1, tokens, 2 · dim), from their words' vectors, (tokens, dim).

    Sentences lie one behind the other without padding, the longest first, each with its <S> and </S>. With `words` the
    vectors are those of distinct words, and `words` says which of them stands where. This is the one place that decides
    how the LSTMs are run.
    """
    if vectors.device.type == "cpu":
        return torch.from_numpy(bilm.packed.layers(bilm, precision).run(vectors.numpy(), lengths, words))
    return bilm.packed.gpu_layers(bilm, precision).run(vectors, lengths, words)


def padded_rows(vectors: Tensor, lengths: Sequence[int]) -> Tensor:
    """Sentences that lie one behind the other, (tokens, dim), as rows with zeros behind them, (rows, time, dim)."""
    ends = np.cumsum(lengths).tolist()
    return pad_sequence([vectors[end - length : end] for end, length in zip(ends, lengths)], batch_first=True)


def token_vectors(bilm: BiLM, lists: Iterable[Sequence[str]]) -> Tensor:
    """The vectors of the words of sentences, <S> and </S> around each, one behind the other, (tokens, dim)."""
    vectors, words = distinct_vectors(bilm, lists)
    return vectors[torch.tensor(words, device=vectors.device)]


def distinct_vectors(bilm: BiLM, lists: Iterable[Sequence[str]]) -> tuple[Tensor, list[int]]:
    """The vectors of the distinct words of sentences, <S> and </S> around each, and which of them stands where."""
    numbers: dict[str, int] = {}
    tokens = [numbers.setdefault(word, len(numbers)) for words in lists for word in (BEGIN, *words, END)]
    return bilm.known_words.of(bilm.packed.encoder(bilm), list(numbers)), tokens


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """The places of sentences in batches, the longest first; a batch is no larger than the budget, padding counted.

    A sentence that is longer than the budget is a batch of its own.

    >>> list(batches([3, 9, 4, 3], 9))
    [[1], [2, 0], [3]]
    """
    if batch_tokens < 1:
        raise OptionError(f"batch_tokens is {batch_tokens}, but must be at least 1")
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        count = max(1, batch_tokens // lengths[order[start]])
        yield order[start : start + count]
        start += count


def word_lists(sentences: Sentences) -> list[list[str]]:
    """Sentences as lists of words; one that is a string is cut into words, as one sentence.

    >>> word_lists(["It's late.", ["As", "it", "is."]])
    [['It', "'s", 'late', '.'], ['As', 'it', 'is.']]
    >>> word_lists("It's late.")
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
    words = list(sentence) if isinstance(sentence, Iterable) and not isinstance(sentence, bytes) else None
    if words is None or not all(isinstance(word, str) for word in words):
        raise OptionError(f"sentence {place} is {sentence!r:.80}, but must be text or a list of words")
    return words


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


def sentence_arrays(chosen: Floats, lengths: Sequence[int]) -> Iterator[Floats]:
    """The words of each sentence, without <S> and </S>, from sentences that lie one behind the other."""
    end = 0
    for length in lengths:
        end += length
        yield chosen[..., end - length + 1 : end - 1, :].copy()  # a view would keep the whole batch in memory


def pool(array: Floats, pooling: Pooling | None) -> Floats:
    """One vector of a sentence's words, (..., length, 2 · dim) to (..., 2 · dim); zeros where it has no words.

    "first-last" is what each direction says when it has read the whole sentence: forwards at the last word, backwards
    at the first.

    >>> pool(np.array([[1, 2], [3, 4]], np.float32), "first-last")
    array([3., 2.], dtype=float32)
    """
    if pooling is None:
        return array
    if array.shape[-2] == 0:
        return np.zeros((*array.shape[:-2], array.shape[-1]), np.float32)
    if pooling == "mean":
        return cast(Floats, array.mean(-2))
    if pooling == "max":
        return cast(Floats, array.max(-2))
    half = array.shape[-1] // 2
    return np.concatenate([array[..., -1, :half], array[..., 0, half:]], -1)
