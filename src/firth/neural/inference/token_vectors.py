"""The vectors of words before they meet their neighbors: each is computed once and kept, as long as there is room."""

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

from firth.neural.inference.transfer import to_device

ROOM, GPU_ROOM = 128 << 20, 1 << 30  # bytes of words and vectors that are kept
WORD = 160  # bytes of a word beside its vector: its spelling, and its place among the words
GROUP, GPU_GROUP = 512, 2048  # words that are encoded together
LONGEST = 256  # longer words are rare and fill memory, so they are not kept


class WordEncoder(Protocol):
    """What turns words into vectors: a module, or what the fast path made of it."""

    def __call__(self, words: Sequence[str], /) -> Tensor: ...

    def parameters(self) -> Iterator[Parameter]: ...


class TokenRows(dict[str, int]):
    """Every word that is asked for has a number; `new` are the words that were asked for the first time.

    >>> numbers = TokenRows()
    >>> [numbers[word] for word in ("tea", "rain", "tea")], numbers.new
    ([0, 1, 0], ['tea', 'rain'])
    """

    def __init__(self) -> None:
        self.new: list[str] = []
        self.given = 0

    def __missing__(self, word: str) -> int:
        number = self[word] = self.given
        self.given += 1
        self.new.append(word)
        return number


class TokenVectors:
    """A table of the words that an encoder has met.

    When the encoder's numbers change, as they do in training, or the room is used up, it begins anew.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.forget(())

    def __deepcopy__(self, memo: Any) -> TokenVectors:
        return TokenVectors()  # a copy of a model fills its own

    def __reduce__(self) -> tuple[type[TokenVectors], tuple[()]]:
        return TokenVectors, ()

    def forget(self, numbers: tuple[Any, ...]) -> None:
        """Begins anew, for an encoder with these numbers."""
        self.numbers = numbers
        self.rows = TokenRows()
        self.table: Tensor | None = None

    def of(self, encoder: WordEncoder, words: Sequence[str]) -> Tensor:
        """The vectors of words, (n, dim); a word may stand there many times."""
        table, rows = self.find(encoder, [words])
        return table[to_device(rows, table.device)]

    def find(self, encoder: WordEncoder, lists: Sequence[Sequence[str]]) -> tuple[Tensor, NDArray[np.int64]]:
        """A table of vectors, and which of its rows each word has, the lists one behind the other."""
        with self.lock, torch.inference_mode(False), torch.no_grad():  # the table outlives the caller's mode
            numbers = tuple((one.data_ptr(), one.device, version_of(one)) for one in encoder.parameters())
            if numbers != self.numbers:
                self.forget(numbers)
            rows = self._look_up(lists)
            if self._is_too_large():
                self.forget(numbers)
                rows = self._look_up(lists)
            self._encode(encoder)
            assert self.table is not None
            return self.table, rows

    def _look_up(self, lists: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        return np.fromiter(map(self.rows.__getitem__, chain.from_iterable(lists)), np.int64, count=sum(map(len, lists)))

    def _is_too_large(self) -> bool:
        if self.table is None or not self.rows.new:
            return False
        room = GPU_ROOM if self.table.is_cuda else ROOM
        return self.rows.given * (self.table[0].nbytes + WORD) > room

    def _encode(self, encoder: WordEncoder) -> None:
        """Words of like length together, since an encoder works as long as the longest of them."""
        new, self.rows.new = sorted(self.rows.new, key=len), []
        done = 0
        try:
            while done < len(new):
                size = GPU_GROUP if self.table is not None and self.table.is_cuda else GROUP
                group = new[done : done + size]
                vectors: Tensor = encoder(group)
                places = np.array([self.rows[word] for word in group])
                self._roomy(vectors)[to_device(places, vectors.device)] = vectors
                done += len(group)
        finally:  # also when a word has no vector
            for word in chain(new[done:], [word for word in new[:done] if len(word) > LONGEST]):
                del self.rows[word]

    def _roomy(self, vectors: Tensor) -> Tensor:
        """The table, with a row for every number that was given; it grows by doubling."""
        size = 0 if self.table is None else len(self.table)
        if self.rows.given > size:
            grown = vectors.new_empty(max(2 * size, self.rows.given), vectors.shape[1])
            if self.table is not None:
                grown[:size] = self.table
            self.table = grown
        assert self.table is not None
        return self.table


def version_of(tensor: Tensor) -> int:
    """How often a tensor was changed in place, as far as torch counts it."""
    return 0 if tensor.is_inference() else tensor._version
