"""What a biLM remembers between batches, where it is asked to."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class State:
    """What the LSTMs remember of the rows of a batch: of both directions, all layers, each row.

    The originals never forgot: row r of a batch began with what row r of the batch before had left.
    """

    cells: Tensor  # (2, layers, rows, cell)
    said: Tensor  # (2, layers, rows, dim)

    def rows(self, count: int) -> State:
        """The first so many rows; those that are new have nothing to remember."""
        missing = max(0, count - self.cells.shape[2])
        padded = [torch.cat([part, part.new_zeros(*part.shape[:2], missing, part.shape[3])], 2) for part in self.parts]
        return State(*(part[:, :, :count] for part in padded))

    def followed_by(self, later: State) -> State:
        """The later state, and what this one has in rows beyond it."""
        beyond = later.cells.shape[2]
        return State(*(torch.cat([new, old[:, :, beyond:]], 2) for new, old in zip(later.parts, self.parts)))

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        """Cells and what was said."""
        return self.cells, self.said
