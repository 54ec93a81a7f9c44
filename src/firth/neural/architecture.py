"""The architecture of a biLM, and its presets. No torch here: recipes and file formats read it too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from firth.errors import OptionError
from firth.options import Recipe, option

TrainedEncoder = Literal["character-cnn", "character-rnn", "words"]
Encoder = TrainedEncoder | Literal["lexicon-cnn"]  # the last is that of ELMoForManyLangs, which is only read
Activation = Literal["relu", "tanh"]
FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


@dataclass(frozen=True)
class Architecture(Recipe):
    """The architecture of a biLM. `dim` is the dimension of one direction: vectors have twice as many.

    >>> Architecture.named("small").cell, Architecture.named("original").highways
    (1024, 2)
    """

    encoder: Encoder = option(
        "character-cnn",
        "Word encoder: a CNN or an RNN over the characters of a word, or a table of word vectors.",
    )
    width: int = option(
        50,
        "Maximum length of a word in bytes, with its two boundary marks; longer words are cut.",
        minimum=3,
        maximum=10_000,
    )
    character_dim: int = option(16, "Dimension of the character embeddings.", minimum=1)
    word_dim: int = option(0, "Models of ELMoForManyLangs: dimension of the table of words.", minimum=0)
    filters: tuple[tuple[int, int], ...] = option(FILTERS, "Character CNN: (width, number) of the filters.")
    activation: Activation = option("relu", "Character CNN: activation function.")
    highways: int = option(2, "Character CNN: number of highway layers.", minimum=0)
    character_cell: int = option(256, "Character RNN: hidden units per direction.", minimum=1)
    layers: int = option(2, "LSTM layers per direction.", minimum=1)
    cell: int = option(4096, "Units of an LSTM cell.", minimum=1)
    dim: int = option(
        512,
        "Dimension of the LSTM output per direction. A projection reduces the cell to it, unless both are equal.",
        minimum=1,
    )
    cell_clip: float = option(3.0, "Clip the cell state to ±this value; 0 disables clipping.", minimum=0, maximum=1e30)
    projection_clip: float = option(
        3.0, "Clip the projection to ±this value; 0 disables clipping.", minimum=0, maximum=1e30
    )
    skip: bool = option(True, "Add a residual connection around each LSTM layer above the first.")
    normalized: bool = option(False, "Apply layer normalization to the input of each LSTM.")
    cutoffs: tuple[int, ...] = option(
        (), "Adaptive softmax: first word ids of the clusters of rarer words; empty is a plain softmax."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.encoder not in ("character-cnn", "lexicon-cnn"):
            return
        numbers = [number for pair in self.filters for number in pair]
        is_counts = all(isinstance(number, int) and number >= 1 for number in numbers)
        if not self.filters or not is_counts or any(len(pair) != 2 for pair in self.filters):
            raise OptionError(f"filters is {self.filters!r}, but must be pairs (width, number of filters)")
        widest = max(size for size, _ in self.filters)
        if widest > self.width:
            raise OptionError(
                f"filters: the widest filter has width {widest}, but width is {self.width}. Use a larger width"
            )

    def as_dict(self) -> dict[str, Any]:
        """The values by name; `word_dim` only where it is used, so that other models keep their fingerprint."""
        values = super().as_dict()
        return values if self.word_dim else {name: value for name, value in values.items() if name != "word_dim"}

    @classmethod
    def named(cls, name: str) -> Architecture:
        """A preset: one of the published sizes, or `tiny` for tests and first experiments."""
        if name not in PRESETS:
            raise OptionError(f"no architecture is called {name!r}. There are: {', '.join(PRESETS)}")
        return PRESETS[name]


PRESETS = {
    "tiny": Architecture(
        character_dim=4, filters=((1, 4), (2, 8), (3, 16), (4, 32), (5, 64)), highways=2, cell=64, dim=16
    ),
    "small": Architecture(highways=1, cell=1024, dim=128),
    "medium": Architecture(highways=1, cell=2048, dim=256),
    "original": Architecture(),
}
