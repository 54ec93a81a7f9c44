"""The sizes of a biLM, and those that were published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from firth.errors import OptionError
from firth.options import Recipe, option

FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


@dataclass(frozen=True)
class Architecture(Recipe):
    """The sizes of a biLM. `dim` is the size of one direction: vectors have twice as many numbers.

    >>> Architecture.named("small").cell, Architecture.named("original").highways
    (1024, 2)
    """

    encoder: Literal["character-cnn", "character-rnn", "words"] = option(
        "character-cnn", "what a word's vector is from"
    )
    width: int = option(50, "characters (bytes) of a word, with its two marks; more are cut off", minimum=3)
    character_dim: int = option(16, "length of a character's vector", minimum=1)
    filters: tuple[tuple[int, int], ...] = option(FILTERS, "character CNN: (characters seen at once, how many filters)")
    activation: Literal["relu", "tanh"] = option("relu", "character CNN: what filters go through")
    highways: int = option(2, "character CNN: highway layers behind the filters", minimum=0)
    character_cell: int = option(256, "character RNN: cells in each direction", minimum=1)
    layers: int = option(2, "LSTM layers in each direction", minimum=1)
    cell: int = option(4096, "cells of an LSTM", minimum=1)
    dim: int = option(512, "what cells are projected to; no projection where it equals them", minimum=1)
    cell_clip: float = option(3.0, "bound of what a cell holds; 0 is none", minimum=0)
    projection_clip: float = option(3.0, "bound of what a projection says; 0 is none", minimum=0)
    skip: bool = option(True, "a layer above the first adds what it was given to what it says")
    normalized: bool = option(False, "layer normalization of what an LSTM is given")
    cutoffs: tuple[int, ...] = option((), "adaptive softmax: where clusters of rarer words begin; none: a plain one")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.encoder != "character-cnn":
            return
        if not self.filters or any(len(one) != 2 or min(one) < 1 for one in self.filters):
            raise OptionError(f"filters is {self.filters!r}, but must be pairs of a width and a number of filters")
        widest = max(size for size, _ in self.filters)
        if widest > self.width:
            raise OptionError(f"a filter sees {widest} characters at once, but a word has a width of {self.width}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The architecture that these values name, as `as_dict` wrote them."""
        given = dict(values)
        if "filters" in given:
            given["filters"] = tuple(tuple(one) for one in given["filters"])
        return super().from_dict(given)

    @classmethod
    def named(cls, name: str) -> Architecture:
        """One of the published sizes, or `tiny` for tests and first steps."""
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
