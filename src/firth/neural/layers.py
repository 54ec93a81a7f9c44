"""The layers of a biLM in plain torch: encoders of words, and the LSTM with projection.

An encoder makes a vector of a word's characters or of its row in a table; `ProjectedLstm` runs over a sentence in one
direction. This is the reference: written to be read, and the twins for inference and training are tested against it.
The vector of a word does not depend on its context, so an encoder takes a list of words, best each word once.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

from firth.errors import UnknownWord
from firth.text.character_ids import BEGIN, CHARACTERS, END, FILL, CharacterIds
from firth.text.vocabulary import Vocabulary

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}
UNKNOWN = ("<UNK>", "<unk>")
CellState = tuple[Tensor, Tensor]  # cell, (rows, cell), and hidden, (rows, dim)


class Highway(nn.Module):
    """x ← g · relu(T x) + (1 − g) · x, where g = sigmoid(G x): a layer that can pass its input on."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.gate = nn.Linear(size, size)
        self.transform = nn.Linear(size, size)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(x))
        return gate * torch.relu(self.transform(x)) + (1 - gate) * x


class CharacterCnn(nn.Module):
    """The vector of a word from its characters: convolutions, max over time, highway layers and a projection to `dim`.

    `filters` holds pairs of a width in characters and a number of filters. There is no projection where the number of
    all filters equals `dim`.
    """

    def __init__(
        self,
        dim: int,
        *,
        width: int = 50,
        character_dim: int = 16,
        filters: Sequence[tuple[int, int]] = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)),
        activation: str = "relu",
        highways: int = 2,
    ) -> None:
        super().__init__()
        features = sum(count for _, count in filters)
        self.spelling = CharacterIds(width)
        self.longest = max(size for size, _ in filters)
        self.activation = ACTIVATIONS[activation]
        self.table = nn.Parameter(torch.zeros(CHARACTERS, character_dim))
        self.filters = nn.ModuleList(nn.Conv1d(character_dim, count, size) for size, count in filters)
        self.highways = nn.ModuleList(Highway(features) for _ in range(highways))
        self.projection = nn.Linear(features, dim) if features != dim else None

    def forward(self, words: Sequence[str]) -> Tensor:
        return self.encode(self.spell(words))

    def spell(self, words: Sequence[str]) -> Tensor:
        """The character ids of words, no more than can matter, (n, characters).

        All windows of padding alone have the same output, so one of them for each filter is enough.
        """
        ids = self.spelling.of(words)
        longest = int((ids != FILL).sum(1).max(initial=0))
        return torch.from_numpy(ids[:, : longest + self.longest])

    def encode(self, ids: Tensor) -> Tensor:
        """The vectors of words from their character ids, (n, dim)."""
        return self.finish(self.maxima(functional.embedding(ids.to(self.table.device), self.table)))

    def maxima(self, characters: Tensor) -> Tensor:
        """The maximum of each filter over a word, (n, filters), from characters (n, characters, character_dim)."""
        return torch.cat([convolve(conv, characters).amax(1) for conv in self.filters], 1)

    def finish(self, maxima: Tensor) -> Tensor:
        """The vectors, (n, dim), from the maximum of each filter, (n, filters)."""
        x: Tensor = self.activation(maxima)
        for highway in self.highways:
            x = highway(x)
        return x if self.projection is None else self.projection(x)


def convolve(conv: nn.Module, vectors: Tensor) -> Tensor:
    """A `Conv1d` over time as one product, (n, time, size) to (n, windows, filters).

    It is faster than the convolution on a CPU. On a GPU, cuDNN would plan anew for each number of words.

    >>> conv, vectors = nn.Conv1d(2, 4, 3), torch.randn(5, 6, 2)
    >>> torch.allclose(convolve(conv, vectors), conv(vectors.transpose(1, 2)).transpose(1, 2), atol=1e-6)
    True
    """
    assert isinstance(conv, nn.Conv1d)
    (width,) = conv.kernel_size
    count = vectors.shape[1] - width + 1
    windows = torch.cat([vectors[:, start : start + count] for start in range(width)], 2)
    return functional.linear(windows, conv.weight.transpose(1, 2).flatten(1), conv.bias)


class CharacterRnn(nn.Module):
    """The vector of a word from its characters: the final states of a forward and a backward LSTM, projected."""

    def __init__(self, dim: int, *, width: int = 50, character_dim: int = 16, cell: int = 256) -> None:
        super().__init__()
        self.spelling = CharacterIds(width)
        self.table = nn.Parameter(torch.zeros(CHARACTERS, character_dim))
        self.lstm = nn.LSTM(character_dim, cell, batch_first=True, bidirectional=True)
        self.projection = nn.Linear(2 * cell, dim)

    def forward(self, words: Sequence[str]) -> Tensor:
        return self.encode(self.spell(words))

    def spell(self, words: Sequence[str]) -> Tensor:
        """The character ids of words, (n, characters)."""
        ids = self.spelling.of(words)
        return torch.from_numpy(ids[:, : int((ids != FILL).sum(1).max(initial=1))])

    def encode(self, ids: Tensor) -> Tensor:
        """The vectors of words from their character ids, (n, dim)."""
        if len(ids) == 0:
            return self.projection.weight.new_zeros(0, self.projection.out_features)
        lengths = (ids != FILL).sum(1).cpu()
        characters = functional.embedding(ids.to(self.table.device), self.table)  # (n, characters, character_dim)
        packed = pack_padded_sequence(characters, lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.lstm(packed)  # (2, n, cell): forwards at the last character, backwards at the first
        both: Tensor = self.projection(torch.cat([last[0], last[1]], 1))
        return both


class WordEmbedding(nn.Module):
    """The vector of a word from a table. A word that is not there goes to a character CNN, or is <UNK>, or an error."""

    def __init__(self, dim: int, vocabulary: Vocabulary, spelled: CharacterCnn | None = None) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.table = nn.Parameter(torch.zeros(len(vocabulary), dim))
        self.spelled = spelled
        self.unknown = find_mark(vocabulary, UNKNOWN)

    def forward(self, words: Sequence[str]) -> Tensor:
        ids = torch.from_numpy(self.vocabulary.ids(words))
        missing = [place for place, id in enumerate(ids.tolist()) if id < 0]
        if self.spelled is None and missing:
            if self.unknown < 0:
                raise UnknownWord(words[missing[0]], self.vocabulary.near(words[missing[0]]))
            ids[missing] = self.unknown
        vectors = functional.embedding(ids.clamp(min=0).to(self.table.device), self.table)
        if self.spelled is not None and missing:
            vectors = vectors.index_copy(
                0, torch.tensor(missing, device=vectors.device), self.spelled([words[place] for place in missing])
            )
        return vectors


class LexiconCnn(nn.Module):
    """The word encoder of ELMoForManyLangs: the row of a word in a table beside a CNN over its Unicode characters,
    projected to `dim` together.

    A word or character outside its lexicon is <oov>. Words are cut to `width` - 2 characters. <S> and </S> are <bos>
    and <eos>. As in the original, a word begins with the mark <eow> and ends with <bow>.
    """

    def __init__(
        self,
        dim: int,
        characters: Vocabulary,
        words: Vocabulary | None,
        *,
        width: int = 50,
        character_dim: int = 50,
        word_dim: int = 100,
        filters: Sequence[tuple[int, int]],
        activation: str = "relu",
        highways: int = 2,
    ) -> None:
        super().__init__()
        features = sum(count for _, count in filters)
        self.characters, self.vocabulary, self.width = characters, words, width
        self.longest = max(size for size, _ in filters)
        self.activation = ACTIVATIONS[activation]
        self.table = nn.Parameter(torch.zeros(len(characters), character_dim))
        self.word_table = None if words is None else nn.Parameter(torch.zeros(len(words), word_dim))
        self.filters = nn.ModuleList(nn.Conv1d(character_dim, count, size) for size, count in filters)
        self.highways = nn.ModuleList(Highway(features) for _ in range(highways))
        self.projection = nn.Linear(features + (word_dim if words is not None else 0), dim)

    def forward(self, words: Sequence[str]) -> Tensor:
        marks = {BEGIN: "<bos>", END: "<eos>"}
        cut = [marks.get(word, word[: self.width - 2]) for word in words]
        parts = [] if self.word_table is None else [self.look_up(cut)]
        ids = self.spell(cut).to(self.table.device)
        windows = functional.embedding(ids, self.table).transpose(1, 2)  # (n, character_dim, characters)
        maxima = torch.cat([conv(windows).amax(2) for conv in self.filters], 1)  # (n, filters)
        x: Tensor = self.activation(maxima)
        for highway in self.highways:
            x = highway(x)
        projected: Tensor = self.projection(torch.cat([*parts, x], 1))
        return projected

    def look_up(self, words: Sequence[str]) -> Tensor:
        """The rows of words in the table, (n, word_dim)."""
        assert self.vocabulary is not None
        assert self.word_table is not None
        ids = self.vocabulary.ids(words)
        ids[ids < 0] = self.vocabulary.find("<oov>")
        return functional.embedding(torch.from_numpy(ids).to(self.word_table.device), self.word_table)

    def spell(self, words: Sequence[str]) -> Tensor:
        """The character ids of words, no more than can matter, (n, characters)."""
        begin, end, pad, unknown = (self.characters.find(mark) for mark in ("<eow>", "<bow>", "<pad>", "<oov>"))
        letters = [[word] if word in ("<bos>", "<eos>") else list(word) for word in words]
        longest = max(map(len, letters), default=0) + 2
        ids = torch.full((len(words), min(self.width, longest + self.longest)), pad)
        for row, spelled in zip(ids, letters):
            found = self.characters.ids(spelled)
            found[found < 0] = unknown
            row[: len(spelled) + 2] = torch.tensor([begin, *found.tolist(), end])
        return ids


def find_mark(vocabulary: Vocabulary, spellings: Sequence[str]) -> int:
    """The id of the first of these spellings that a vocabulary has, or -1."""
    return next((id for id in map(vocabulary.find, spellings) if id >= 0), -1)


Encoder = CharacterCnn | CharacterRnn | WordEmbedding | LexiconCnn


class ProjectedLstm(nn.Module):
    """An LSTM with a projection and clipping, in one direction:

        i, f, g, o = input · x + recurrent · hidden + bias        (the bias of the forget gate includes its extra 1)
        cell ← clip(sigmoid(f) · cell + sigmoid(i) · tanh(g))
        hidden ← clip(projection · (sigmoid(o) · tanh(cell)))

    The clipped hidden state is the output and the recurrent input of the next step. Where dim equals cell there is no
    projection, and hidden is not clipped. A clip of 0 disables clipping.
    """

    def __init__(
        self,
        dim: int,
        cell: int,
        *,
        input_dim: int | None = None,
        cell_clip: float = 3.0,
        projection_clip: float = 3.0,
        normalized: bool = False,
    ) -> None:
        super().__init__()
        self.dim, self.cell = dim, cell
        self.cell_clip, self.projection_clip = cell_clip, projection_clip
        self.norm = nn.LayerNorm(input_dim or dim) if normalized else None
        self.input = nn.Parameter(torch.zeros(4 * cell, input_dim or dim))
        self.recurrent = nn.Parameter(torch.zeros(4 * cell, dim))
        self.bias = nn.Parameter(torch.zeros(4 * cell))
        self.projection = nn.Parameter(torch.zeros(dim, cell)) if dim != cell else None

    def forward(self, vectors: Tensor, lengths: Tensor, state: CellState | None = None) -> tuple[Tensor, CellState]:
        """The hidden states, (rows, time, dim), zero beyond the length of a row, and the final state of each row."""
        if self.norm is not None:
            vectors = self.norm(vectors)
        rows, time, _ = vectors.shape
        cell, hidden = state or (vectors.new_zeros(rows, self.cell), vectors.new_zeros(rows, self.dim))
        outputs = []
        for t in range(time):
            inside = (t < lengths)[:, None]
            new_cell, new_hidden = self.step(vectors[:, t], (cell, hidden))
            cell, hidden = torch.where(inside, new_cell, cell), torch.where(inside, new_hidden, hidden)
            outputs.append(torch.where(inside, new_hidden, 0.0))
        return torch.stack(outputs, 1) if outputs else vectors.new_zeros(rows, 0, self.dim), (cell, hidden)

    def step(self, inputs: Tensor, state: CellState) -> CellState:
        """One step: the new cell and hidden state, from inputs (rows, dim)."""
        cell, hidden = state
        gates = functional.linear(inputs, self.input, self.bias) + functional.linear(hidden, self.recurrent)
        i, f, g, o = gates.chunk(4, dim=1)
        cell = clip(torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g), self.cell_clip)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        if self.projection is not None:
            hidden = clip(functional.linear(hidden, self.projection), self.projection_clip)
        return cell, hidden


def clip(x: Tensor, limit: float, out: Tensor | None = None) -> Tensor:
    """x clipped to ±limit; 0 disables clipping. In place where `out` is x.

    >>> clip(torch.tensor([-5.0, 1.0]), 3.0)
    tensor([-3.,  1.])
    """
    return torch.clamp(x, -limit, limit, out=out) if limit else x


def clip_gradient(grad: Tensor, clipped: Tensor, limit: float) -> Tensor:
    """The gradient through `clip`, in place: 0 where the clipped value is at the limit.

    >>> clip_gradient(torch.ones(2), torch.tensor([-3.0, 1.0]), 3.0)
    tensor([0., 1.])
    """
    return grad.mul_(clipped.abs() < limit) if limit else grad
