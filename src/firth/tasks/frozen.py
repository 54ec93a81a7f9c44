"""A cache of the layers of a frozen biLM, which runs once over each distinct sentence.

The layers are in one table in float16, a row for each word. A batch is then one lookup, and epochs after the first do
not run the biLM. Sentences that do not fit are computed when they are needed and rounded in the same way, so the size
of the table changes the time of a training and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from firth.neural.bilm import BiLM
from firth.neural.inference.layers_of import layers_of
from firth.neural.inference.transfer import to_device
from firth.progress import Progress, Report, silent

Words = tuple[str, ...]
AHEAD = 1 << 16  # words that the biLM runs over between two reports
ROOM = 1 << 30


class FrozenLayers:
    """All layers of a biLM, or one layer, for batches of sentences. `room` is the size of the table in bytes.

    >>> from firth.neural.architecture import Architecture
    >>> frozen = FrozenLayers(BiLM(Architecture.named("tiny")))
    >>> frozen.of([("A", "cup", "of", "tea"), ("Rain",)]).shape  # (batch, time, layers, dim)
    torch.Size([2, 4, 3, 32])
    >>> frozen.of([("Rain",), ("Rain",)]).shape, frozen.words_read  # nothing was computed again
    (torch.Size([2, 1, 3, 32]), 5)
    """

    def __init__(self, bilm: BiLM, layer: int | None = None, room: int = ROOM) -> None:
        self.bilm, self.layer, self.room = bilm, layer, room
        self.layers = 1 if layer is not None else bilm.architecture.layers + 1
        self.dim = 2 * bilm.architecture.dim
        self.seconds, self.words_read = 0.0, 0  # spent in the biLM
        self.forget()

    def forget(self) -> None:
        """Empties the table. Row 0 is padding."""
        self.starts: dict[Words, int] = {(): 0}
        self.table = torch.zeros(1, self.layers, self.dim, dtype=torch.float16, device=self.device)
        self.used = 1

    @property
    def device(self) -> torch.device:
        """The device of the biLM and of the table."""
        return next(self.bilm.parameters()).device

    @property
    def most(self) -> int:
        """The number of rows that `room` allows."""
        return max(1, self.room // (2 * self.layers * self.dim))

    def _follow_device(self) -> None:
        """Empties the table if the biLM was moved to another device."""
        if self.table.device != self.device:
            self.forget()

    def of(self, sentences: Sequence[Words]) -> Tensor:
        """The layers of sentences, (batch, time, layers, dim) in float32, zeros beyond a sentence's length."""
        self._follow_device()
        overflow = self.add([words for words in dict.fromkeys(sentences) if words not in self.starts])
        rows = np.zeros((len(sentences), max(1, max(map(len, sentences), default=0))), np.int64)
        for row, words in zip(rows, sentences):
            if words in self.starts:
                row[: len(words)] = np.arange(self.starts[words], self.starts[words] + len(words))
        layers = self.table[to_device(rows, self.device)].float()
        for place, words in enumerate(sentences):
            if words in overflow:
                layers[place, : len(words)] = overflow[words].float()
        return layers

    def read_ahead(self, sentences: Iterable[Words], report: Report = silent) -> None:
        """Fills the table with sentences that will be needed, until it is full."""
        self._follow_device()
        missing = [words for words in dict.fromkeys(sentences) if words not in self.starts]
        ends = np.cumsum([len(words) for words in missing], dtype=np.int64)
        ends = ends[ends <= self.most - self.used]
        total = int(ends[-1]) if len(ends) else 0
        self._grow(self.used + total)
        done = 0
        for part in np.split(np.arange(len(ends)), np.flatnonzero(np.diff(ends // AHEAD)) + 1):
            self.add([missing[place] for place in part])
            done += sum(len(missing[place]) for place in part)
            report(Progress("reading with the biLM", done, total, "tokens"))

    def add(self, sentences: Sequence[Words]) -> dict[Words, Tensor]:
        """Computes sentences and adds them to the table. Those that do not fit are returned, (length, layers, dim)."""
        if not sentences:
            return {}
        computed = self.compute(sentences)
        self._grow(self.used + len(computed))
        overflow: dict[Words, Tensor] = {}
        first, end = self.used, 0
        for words in sentences:
            start, end = end, end + len(words)
            if overflow or self.used + len(words) > len(self.table):
                overflow[words] = computed[start:end]
                continue
            self.starts[words] = self.used
            self.used += len(words)
        self.table[first : self.used] = computed[: self.used - first]
        return overflow

    def _grow(self, rows: int) -> None:
        """Grows the table, at least twofold, to this many rows, at most as many as `room` allows."""
        size = min(self.most, max(rows, 2 * len(self.table)))
        if rows > len(self.table) and size > len(self.table):
            longer = self.table.new_empty(size, self.layers, self.dim)
            longer[: self.used] = self.table[: self.used]
            self.table = longer

    def compute(self, sentences: Sequence[Words]) -> Tensor:
        """Runs the biLM: the layers of all words, one sentence after another, (words, layers, dim) in float16."""
        self._wait()
        start = time.monotonic()
        layers = slice(None) if self.layer is None else slice(self.layer, self.layer + 1)
        computed = layers_of(self.bilm, sentences, lambda batch: batch[layers].half()).movedim(0, 1)
        self._wait()
        self.seconds += time.monotonic() - start
        self.words_read += len(computed)
        return computed

    def _wait(self) -> None:
        """Waits for all work of the device, so that a clock can be read."""
        self.table.flatten()[:1].tolist()
