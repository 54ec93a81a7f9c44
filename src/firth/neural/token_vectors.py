"""The vectors of words before they meet their neighbours: each is computed once and kept, as long as there is room."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import Parameter

ROOM = 128 << 20  # bytes of vectors that are kept
GROUP = 512  # words that are encoded together
LONGEST = 256  # longer words are rare and fill memory, so they are not kept


class Encoder(Protocol):
    """What turns words into vectors: a module, or what the fast path made of it."""

    def __call__(self, words: Sequence[str], /) -> Tensor: ...

    def parameters(self) -> Iterator[Parameter]: ...


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
        self.rows: dict[str, int] = {}
        self.used = 0
        self.table: Tensor | None = None

    def of(self, encoder: Encoder, words: Sequence[str]) -> Tensor:
        """The vectors of words, (n, dim); a word may stand there many times."""
        with self.lock, torch.inference_mode(False), torch.no_grad():  # the table outlives the caller's mode
            numbers = tuple((one.data_ptr(), one.device, version_of(one)) for one in encoder.parameters())
            if numbers != self.numbers:
                self.forget(numbers)
            missing = list(dict.fromkeys(word for word in words if word not in self.rows))
            if self.table is not None and (self.used + len(missing)) * self.table[0].nbytes > ROOM:
                self.forget(numbers)
                missing = list(dict.fromkeys(words))
            self._encode(encoder, missing)
            assert self.table is not None
            vectors = self.table[torch.tensor([self.rows[word] for word in words]).to(self.table.device)]
            for word in missing:
                if len(word) > LONGEST:
                    del self.rows[word]
            return vectors

    def _encode(self, encoder: Encoder, words: list[str]) -> None:
        """Words of like length together, since an encoder works as long as the longest of them."""
        words.sort(key=len)
        for start in range(0, len(words), GROUP):
            group = words[start : start + GROUP]
            vectors: Tensor = encoder(group)
            self._make_room(vectors, len(group)).copy_(vectors)
            self.rows.update(zip(group, range(self.used, self.used + len(group))))
            self.used += len(group)

    def _make_room(self, vectors: Tensor, count: int) -> Tensor:
        """The next `count` rows of the table, which grows by doubling."""
        size = 0 if self.table is None else len(self.table)
        if self.used + count > size:
            grown = vectors.new_empty(max(2 * size, self.used + count), vectors.shape[1])
            if self.table is not None:
                grown[: self.used] = self.table[: self.used]
            self.table = grown
        assert self.table is not None
        return self.table[self.used : self.used + count]


def version_of(tensor: Tensor) -> int:
    """How often a tensor was changed in place, as far as torch counts it."""
    return 0 if tensor.is_inference() else tensor._version
