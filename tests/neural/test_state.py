"""The state of a biLM between batches: rows by hand."""

from __future__ import annotations

import torch

from firth.neural.state import BiLMState


def make_state(rows: int, first: float = 0.0) -> BiLMState:
    """A state of two layers whose rows have the values first, first + 1, …"""
    values = first + torch.arange(rows, dtype=torch.float32)[:, None]
    return BiLMState(values.expand(2, 2, rows, 5).clone(), values.expand(2, 2, rows, 3).clone())


def test_rows_are_cut_off_or_added_as_zeros() -> None:
    state = make_state(2, first=1.0)
    assert state.rows(1).cell[0, 0, :, 0].tolist() == [1]
    wider = state.rows(4)
    assert wider.cell[1, 1, :, 0].tolist() == [1, 2, 0, 0]
    assert wider.hidden.shape == (2, 2, 4, 3)


def test_rows_that_the_later_state_lacks_are_kept() -> None:
    joined = make_state(3, first=1.0).followed_by(make_state(2, first=8.0))
    assert joined.cell[0, 1, :, 0].tolist() == [8, 9, 3]
    assert joined.hidden[1, 0, :, 2].tolist() == [8, 9, 3]
    assert torch.equal(make_state(1).followed_by(make_state(2, first=5.0)).cell, make_state(2, first=5.0).cell)
