"""The state of a biLM between batches."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class BiLMState:
    """The LSTM state of the rows of a batch, of both directions and all layers.

    The original programs never reset it: row r of a batch starts from the state that row r of the batch before left.
    """

    cell: Tensor  # (2, layers, rows, cell)
    hidden: Tensor  # (2, layers, rows, dim)

    def rows(self, count: int) -> BiLMState:
        """The first `count` rows; rows that are new are zero."""
        missing = max(0, count - self.cell.shape[2])
        padded = [torch.cat([part, part.new_zeros(*part.shape[:2], missing, part.shape[3])], 2) for part in self.parts]
        return BiLMState(*(part[:, :, :count] for part in padded))

    def followed_by(self, later: BiLMState) -> BiLMState:
        """The later state, with the rows of this one that the later one lacks."""
        count = later.cell.shape[2]
        return BiLMState(*(torch.cat([new, old[:, :, count:]], 2) for new, old in zip(later.parts, self.parts)))

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        """Cell and hidden."""
        return self.cell, self.hidden
