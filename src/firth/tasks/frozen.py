"""The layers of a biLM that does not learn: it reads each distinct sentence once, as long as there is room for them.

They lie in one table, a row a word, in float16. A batch is then one look-up, and epochs after the first never run the
biLM again. What finds no room is computed on the spot and rounded in the same way, so the room changes the time that a
training takes and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from firth.neural.bilm import BiLM
from firth.neural.inference import embed as embedding
from firth.neural.inference.transfer import to_device
from firth.progress import Progress, Report, silent

Words = tuple[str, ...]
AHEAD = 1 << 16  # words that are read at once where there are many
ROOM = 1 << 30


class FrozenLayers:
    """All layers of a biLM, or one of them, for batches of sentences. `room` is the size of the table in bytes.

    >>> from firth.neural.architecture import Architecture
    >>> frozen = FrozenLayers(BiLM(Architecture.named("tiny")))
    >>> frozen.of([("A", "cup", "of", "tea"), ("Rain",)]).shape  # (batch, time, layers, dim)
    torch.Size([2, 4, 3, 32])
    >>> frozen.of([("Rain",), ("Rain",)]).shape, frozen.words_read  # nothing was read again
    (torch.Size([2, 1, 3, 32]), 5)
    """

    def __init__(self, bilm: BiLM, layer: int | None = None, room: int = ROOM) -> None:
        self.bilm, self.layer, self.room = bilm, layer, room
        self.layers = 1 if layer is not None else bilm.architecture.layers + 1
        self.dim = 2 * bilm.architecture.dim
        self.seconds, self.words_read = 0.0, 0  # spent in the biLM
        self.forget()

    def forget(self) -> None:
        """Empties the table. Row 0 is for padding."""
        self.starts: dict[Words, int] = {(): 0}
        self.table = torch.zeros(1, self.layers, self.dim, dtype=torch.float16, device=self.device)
        self.used = 1

    @property
    def device(self) -> torch.device:
        """Where the biLM is, and so the table."""
        return next(self.bilm.parameters()).device

    @property
    def most(self) -> int:
        """Rows that there is room for."""
        return max(1, self.room // (2 * self.layers * self.dim))

    def _follow(self) -> None:
        """Begins anew where the biLM has gone to, if it was moved."""
        if self.table.device != self.device:
            self.forget()

    def of(self, sentences: Sequence[Words]) -> Tensor:
        """The layers of sentences, (batch, time, layers, dim) in float32, zeros beyond a sentence's length."""
        self._follow()
        homeless = self.add([words for words in dict.fromkeys(sentences) if words not in self.starts])
        rows = np.zeros((len(sentences), max(1, max(map(len, sentences), default=0))), np.int64)
        for row, words in zip(rows, sentences):
            if words in self.starts:
                row[: len(words)] = np.arange(self.starts[words], self.starts[words] + len(words))
        found = self.table[to_device(rows, self.device)].float()
        for place, words in enumerate(sentences):
            if words in homeless:
                found[place, : len(words)] = homeless[words].float()
        return found

    def read_ahead(self, sentences: Iterable[Words], report: Report = silent) -> None:
        """Fills the table with sentences that will be asked for, many at a time, until there is no more room."""
        self._follow()
        missing = [words for words in dict.fromkeys(sentences) if words not in self.starts]
        ends = np.cumsum([len(words) for words in missing], dtype=np.int64)
        ends = ends[ends <= self.most - self.used]
        total = int(ends[-1]) if len(ends) else 0
        self._make_room(self.used + total)
        done = 0
        for part in np.split(np.arange(len(ends)), np.flatnonzero(np.diff(ends // AHEAD)) + 1):
            self.add([missing[place] for place in part])
            done += sum(len(missing[place]) for place in part)
            report(Progress("reading with the biLM", done, total, "tokens"))

    def add(self, sentences: Sequence[Words]) -> dict[Words, Tensor]:
        """Reads sentences and puts them into the table; what finds no room there comes back, (length, layers, dim)."""
        read = self.read(sentences)
        self._make_room(self.used + len(read))
        homeless: dict[Words, Tensor] = {}
        end = 0
        for words in sentences:
            start, end = end, end + len(words)
            if homeless or self.used + len(words) > len(self.table):
                homeless[words] = read[start:end]
                continue
            self.starts[words] = self.used
            self.used += len(words)
        kept = self.used - (len(read) - sum(map(len, homeless.values())))
        self.table[kept : self.used] = read[: self.used - kept]
        return homeless

    def _make_room(self, rows: int) -> None:
        """Makes the table longer, at least twofold, so that it holds so many rows or as many as there is room for."""
        size = min(self.most, max(rows, 2 * len(self.table)))
        if rows > len(self.table) and size > len(self.table):
            longer = self.table.new_empty(size, self.layers, self.dim)
            longer[: self.used] = self.table[: self.used]
            self.table = longer

    def read(self, sentences: Sequence[Words]) -> Tensor:
        """Runs the biLM: the layers of all words of sentences, one behind the other, (words, layers, dim)."""
        ends = np.cumsum([len(words) for words in sentences], dtype=np.int64)
        said = self.table.new_empty(int(ends[-1]) if sentences else 0, self.layers, self.dim)
        if not len(said):
            return said
        wait_for(said)
        begun = time.monotonic()
        tokens = embedding.GPU_BATCH_TOKENS if said.is_cuda else embedding.BATCH_TOKENS
        with torch.no_grad():
            for places in embedding.batches([len(words) + 2 for words in sentences], tokens):
                target = np.concatenate(
                    [np.arange(ends[place] - len(sentences[place]), ends[place]) for place in places]
                )
                said[torch.from_numpy(target).to(said.device)] = self._run([sentences[place] for place in places])
        wait_for(said)
        self.seconds += time.monotonic() - begun
        self.words_read += len(said)
        return said

    def _run(self, sentences: Sequence[Words]) -> Tensor:
        """One batch, the longest sentence first."""
        lengths = [len(words) + 2 for words in sentences]  # <S> and </S> are around each
        vectors, words = embedding.distinct_vectors(self.bilm, sentences)
        layers = embedding.contextual_layers(self.bilm, vectors, lengths, "float32", words)
        chosen = layers if self.layer is None else layers[self.layer : self.layer + 1]
        starts = np.cumsum([0, *lengths[:-1]])
        inner = np.concatenate([np.arange(start + 1, start + length - 1) for start, length in zip(starts, lengths)])
        return chosen[:, torch.from_numpy(inner).to(layers.device)].movedim(0, 1).half()


def wait_for(tensor: Tensor) -> None:
    """Waits until a GPU has done what it was asked for, so that a clock can be read."""
    if tensor.is_cuda:
        tensor.flatten()[:1].tolist()
