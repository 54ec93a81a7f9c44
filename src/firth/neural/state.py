"""What a biLM remembers between batches, where it is asked to."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class BiLMState:
    """What the LSTMs remember of the rows of a batch: of both directions, all layers, each row.

    The originals never forgot: row r of a batch began with what row r of the batch before had left.
    """

    cell: Tensor  # (2, layers, rows, cell)
    hidden: Tensor  # (2, layers, rows, dim)

    def rows(self, count: int) -> BiLMState:
        """The first so many rows; those that are new have nothing to remember."""
        missing = max(0, count - self.cell.shape[2])
        padded = [torch.cat([part, part.new_zeros(*part.shape[:2], missing, part.shape[3])], 2) for part in self.parts]
        return BiLMState(*(part[:, :, :count] for part in padded))

    def followed_by(self, later: BiLMState) -> BiLMState:
        """The later state, and what this one has in rows beyond it."""
        beyond = later.cell.shape[2]
        return BiLMState(*(torch.cat([new, old[:, :, beyond:]], 2) for new, old in zip(later.parts, self.parts)))

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        """Cells and what was said."""
        return self.cell, self.hidden
