"""The bricks of a biLM in plain torch: words become vectors, and vectors take in what was read before them.

Three encoders make a vector of a word's spelling or of its number; `ProjectedLstm` reads a sentence in one direction.
This is the reference. It is written to be read, and the fast path is tested against it. Vectors of words do not depend
on their neighbors, so an encoder takes a list of words, best each word once.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

from firth.errors import UnknownWord
from firth.text.character_ids import CHARACTERS, FILL, CharacterIds
from firth.text.vocabulary import Vocabulary

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}
UNKNOWN = ("<UNK>", "<unk>")
CellState = tuple[Tensor, Tensor]  # what a row has in its cells, (rows, cell), and what it last said, (rows, dim)


class Highway(nn.Module):
    """x ← g · relu(T x) + (1 − g) · x, where g = sigmoid(G x): a layer that can step aside."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.gate = nn.Linear(size, size)
        self.transform = nn.Linear(size, size)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(x))
        return gate * torch.relu(self.transform(x)) + (1 - gate) * x


class CharacterCnn(nn.Module):
    """A word's vector from its spelling: filters slide over the characters, and each keeps its highest answer.

    `filters` holds (characters seen at once, how many of them). A projection leads from the filters' answers to `dim`
    where these are not as many already.
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
        """The characters of words, as many as can matter, (n, characters).

        A window of nothing but filling gives the same answer wherever it stands, so one for each filter is enough.
        """
        ids = self.spelling.of(words)
        longest = int((ids != FILL).sum(1).max(initial=0))
        return torch.from_numpy(ids[:, : longest + self.longest])

    def encode(self, ids: Tensor) -> Tensor:
        """The vectors of spelled words, (n, dim)."""
        characters = functional.embedding(ids.to(self.table.device), self.table)  # (n, characters, character_dim)
        windows = characters.transpose(1, 2)
        best = [conv(windows).amax(2) for conv in self.filters]  # each (n, filters of this size)
        return self.finish(torch.cat(best, 1))

    def finish(self, best: Tensor) -> Tensor:
        """The vectors, (n, dim), from the filters' highest answers, (n, filters)."""
        x: Tensor = self.activation(best)
        for highway in self.highways:
            x = highway(x)
        return x if self.projection is None else self.projection(x)


class CharacterRnn(nn.Module):
    """A word's vector from its spelling: one LSTM reads the characters forwards, one backwards, to the word's end."""

    def __init__(self, dim: int, *, width: int = 50, character_dim: int = 16, cell: int = 256) -> None:
        super().__init__()
        self.spelling = CharacterIds(width)
        self.table = nn.Parameter(torch.zeros(CHARACTERS, character_dim))
        self.lstm = nn.LSTM(character_dim, cell, batch_first=True, bidirectional=True)
        self.projection = nn.Linear(2 * cell, dim)

    def forward(self, words: Sequence[str]) -> Tensor:
        return self.encode(self.spell(words))

    def spell(self, words: Sequence[str]) -> Tensor:
        """The characters of words, (n, characters)."""
        ids = self.spelling.of(words)
        return torch.from_numpy(ids[:, : int((ids != FILL).sum(1).max(initial=1))])

    def encode(self, ids: Tensor) -> Tensor:
        """The vectors of spelled words, (n, dim)."""
        if len(ids) == 0:
            return self.projection.weight.new_zeros(0, self.projection.out_features)
        lengths = (ids != FILL).sum(1).cpu()
        characters = functional.embedding(ids.to(self.table.device), self.table)  # (n, characters, character_dim)
        packed = pack_padded_sequence(characters, lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.lstm(packed)  # (2, n, cell): forwards at the last character, backwards at the first
        both: Tensor = self.projection(torch.cat([last[0], last[1]], 1))
        return both


class WordEmbedding(nn.Module):
    """A word's vector from a table. A word that is not in it is spelled, or is <UNK>, or is an error."""

    def __init__(self, dim: int, vocabulary: Vocabulary, spelled: CharacterCnn | None = None) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.table = nn.Parameter(torch.zeros(len(vocabulary), dim))
        self.spelled = spelled
        self.unknown = next((id for id in map(vocabulary.find, UNKNOWN) if id >= 0), -1)

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


Encoder = CharacterCnn | CharacterRnn | WordEmbedding


class ProjectedLstm(nn.Module):
    """An LSTM that reads sentences in one direction and says, at each word, a projection of what its cells let out.

        i, f, g, o = input · x + recurrent · h + bias        (the forget gate's bias holds its extra 1)
        c ← clip(sigmoid(f) · c + sigmoid(i) · tanh(g))
        h ← clip(projection · (sigmoid(o) · tanh(c)))

    The clipped h is what it says and what it hears of itself at the next word. There is no projection where dim and
    cell are the same, and then h is not clipped. A clip of 0 is none.
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
        """What it says at each word, (rows, time, dim), zero beyond a row's length; and its state at each row's end."""
        if self.norm is not None:
            vectors = self.norm(vectors)
        rows, time, _ = vectors.shape
        cells, said = state or (vectors.new_zeros(rows, self.cell), vectors.new_zeros(rows, self.dim))
        outputs = []
        for t in range(time):
            alive = (t < lengths)[:, None]
            new_cells, new_said = self.step(vectors[:, t], (cells, said))
            cells, said = torch.where(alive, new_cells, cells), torch.where(alive, new_said, said)
            outputs.append(torch.where(alive, new_said, 0.0))
        spoken = torch.stack(outputs, 1) if outputs else vectors.new_zeros(rows, 0, self.dim)
        return spoken, (cells, said)

    def step(self, vectors: Tensor, state: CellState) -> CellState:
        """One word further."""
        cells, said = state
        gates = functional.linear(vectors, self.input, self.bias) + functional.linear(said, self.recurrent)
        i, f, g, o = gates.chunk(4, dim=1)
        cells = clip(torch.sigmoid(f) * cells + torch.sigmoid(i) * torch.tanh(g), self.cell_clip)
        said = torch.sigmoid(o) * torch.tanh(cells)
        if self.projection is not None:
            said = clip(functional.linear(said, self.projection), self.projection_clip)
        return cells, said


def clip(x: Tensor, most: float) -> Tensor:
    """x, kept between -most and most; 0 keeps it as it is."""
    return x.clamp(-most, most) if most else x
