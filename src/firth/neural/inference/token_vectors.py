"""A cache of the context-free vectors of words: an encoder computes each word once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Parameter

from firth.neural.device import work_sizes
from firth.neural.inference.transfer import to_device

WORD = 160  # bytes of a word beside its vector: its spelling and its row number
LONGEST = 256  # characters; longer words are rare and fill memory, so they are not cached


class WordEncoder(Protocol):
    """An encoder of words: a module, or its twin for inference."""

    def __call__(self, words: Sequence[str], /) -> Tensor: ...

    def parameters(self) -> Iterator[Parameter]: ...


class TokenRows(dict[str, int]):
    """The row number of each word. Looking up a new word gives it the next row and adds it to `new`.

    >>> rows = TokenRows()
    >>> [rows[word] for word in ("tea", "rain", "tea")], rows.new
    ([0, 1, 0], ['tea', 'rain'])
    """

    def __init__(self) -> None:
        self.new: list[str] = []
        self.count = 0

    def __missing__(self, word: str) -> int:
        row = self[word] = self.count
        self.count += 1
        self.new.append(word)
        return row


class ModelCache:
    """A cache that belongs to one model: a copy of the model starts with an empty one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __reduce__(self) -> tuple[type[ModelCache], tuple[()]]:
        return type(self), ()


class TokenVectors(ModelCache):
    """A table of the vectors of words.

    It is emptied when the weights of the encoder change, as they do in training, and when it is full.
    """

    def __init__(self) -> None:
        super().__init__()
        self.forget(())

    def forget(self, weights: tuple[Any, ...]) -> None:
        """Empties the table, for an encoder with these weights."""
        self.weights = weights
        self.rows = TokenRows()
        self.table: Tensor | None = None

    def of(self, encoder: WordEncoder, words: Sequence[str]) -> Tensor:
        """The vectors of words, (n, dim); words may repeat."""
        table, rows = self.find(encoder, [words])
        return table[to_device(rows, table.device)]

    def find(self, encoder: WordEncoder, lists: Sequence[Sequence[str]]) -> tuple[Tensor, NDArray[np.int64]]:
        """A table of vectors, and the row there of each word, one list after another."""
        with self.lock, torch.inference_mode(False), torch.no_grad():  # the table outlives the caller's mode
            weights = tuple((one.data_ptr(), one.device, version_of(one)) for one in encoder.parameters())
            if weights != self.weights:
                self.forget(weights)
            rows = self._look_up(lists)
            if self._is_too_large():
                self.forget(weights)
                rows = self._look_up(lists)
            self._encode(encoder)
            assert self.table is not None
            return self.table, rows

    def _look_up(self, lists: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        return np.fromiter(map(self.rows.__getitem__, chain.from_iterable(lists)), np.int64, count=sum(map(len, lists)))

    def _is_too_large(self) -> bool:
        if self.table is None or not self.rows.new:
            return False
        return self.rows.count * (self.table[0].nbytes + WORD) > work_sizes(self.table.device).cached_bytes

    def _encode(self, encoder: WordEncoder) -> None:
        """Encodes the new words, those of similar length together: the longest word of a group sets its cost."""
        new, self.rows.new = sorted(self.rows.new, key=len), []
        size = work_sizes(next(encoder.parameters()).device).encoded_words
        done = 0
        try:
            while done < len(new):
                group = new[done : done + size]
                vectors: Tensor = encoder(group)
                places = np.array([self.rows[word] for word in group])
                self._grow(vectors)[to_device(places, vectors.device)] = vectors
                done += len(group)
        finally:  # also when a word has no vector
            for word in chain(new[done:], [word for word in new[:done] if len(word) > LONGEST]):
                del self.rows[word]

    def _grow(self, vectors: Tensor) -> Tensor:
        """The table with a row for every word. It grows by doubling."""
        size = 0 if self.table is None else len(self.table)
        if self.rows.count > size:
            grown = vectors.new_empty(max(2 * size, self.rows.count), vectors.shape[1])
            if self.table is not None:
                grown[:size] = self.table
            self.table = grown
        assert self.table is not None
        return self.table


def version_of(tensor: Tensor) -> int:
    """How many times a tensor was changed in place, as torch counts it."""
    return 0 if tensor.is_inference() else tensor._version
