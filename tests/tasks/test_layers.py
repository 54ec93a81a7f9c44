"""The bricks of the tasks' networks: what they compute, and that they never see padding."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from firth.tasks.layers import (
    Bidirectional,
    VariationalDropout,
    attend,
    final_states,
    masked_softmax,
    pool,
    run_directions,
    run_packed,
)

LENGTHS = torch.tensor([4, 1, 3])


@pytest.fixture
def vectors() -> torch.Tensor:
    """Three sentences of up to four words, with nonsense where padding is."""
    return torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(1))


def test_both_ways_to_read_say_the_same_and_have_the_same_gradients(vectors: torch.Tensor) -> None:
    layer = nn.LSTM(5, 6, batch_first=True, bidirectional=True)
    inside = (torch.arange(4) < LENGTHS[:, None])[:, :, None]
    found = []
    for read in (run_packed, run_directions):
        layer.zero_grad()
        hidden = read(layer, vectors, LENGTHS) * inside
        hidden.square().sum().backward()
        found.append([hidden.detach(), *(one.grad.clone() for one in layer.parameters() if one.grad is not None)])
    assert len(found[0]) == 9
    for one, other in zip(*found):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_a_sentence_is_read_alike_alone_and_beside_longer_ones(kind: str, vectors: torch.Tensor) -> None:
    reader = Bidirectional(5, 6, layers=2, kind=kind)  # type: ignore[arg-type]
    together = reader(vectors, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = reader(vectors[row : row + 1, :length], LENGTHS[row : row + 1])
        torch.testing.assert_close(together[row, :length], alone[0], atol=1e-6, rtol=1e-5)
        assert not together[row, length:].any()


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_an_empty_sentence_says_nothing(kind: str, vectors: torch.Tensor) -> None:
    reader = Bidirectional(5, 6, kind=kind)  # type: ignore[arg-type]
    lengths = torch.tensor([4, 0, 0])
    hidden = reader(vectors, lengths)
    assert hidden[0].any()
    assert not hidden[1:].any()
    assert not final_states(hidden, lengths)[1:].any()


def test_the_ends_are_what_each_direction_says_last() -> None:
    layer = nn.LSTM(2, 3, batch_first=True, bidirectional=True)
    given = torch.randn(1, 4, 2)
    hidden, (final, _) = layer(given)
    torch.testing.assert_close(final_states(hidden, torch.tensor([4])), torch.cat([final[0], final[1]], 1))


def test_a_forget_gate_begins_open() -> None:
    layer = Bidirectional(3, 4).layers[0]
    assert layer.bias_ih_l0[4:8].tolist() == [1, 1, 1, 1]
    assert not layer.bias_hh_l0.any()


def test_variational_dropout_drops_the_same_numbers_at_every_word() -> None:
    dropout = VariationalDropout(0.5)
    torch.manual_seed(1)
    dropped = dropout(torch.ones(8, 6, 10))
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert (dropped == dropped[:, :1]).all()
    assert not (dropped[0] == dropped[1]).all()
    assert (dropout.eval()(torch.ones(2, 3, 4)) == 1).all()


def test_a_masked_softmax_has_gradients_even_where_all_is_masked() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    shares = masked_softmax(scores, torch.tensor([[True, False, True], [False, False, False]]))
    (shares * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert shares.tolist() == [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]
    assert scores.grad is not None
    torch.testing.assert_close(scores.grad, torch.tensor([[-0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]))


def test_attention_is_a_mean_of_what_is_not_masked() -> None:
    keys = torch.tensor([[[1.0, 0.0], [3.0, 0.0], [100.0, 100.0]]])
    found = attend(torch.zeros(1, 2, 2), keys, torch.tensor([[True, True, False]]))
    assert found.tolist() == [[[2.0, 0.0], [2.0, 0.0]]]


def test_pooling_a_sentence_without_words_gives_zeros() -> None:
    mask = torch.zeros(1, 3, dtype=torch.bool)
    for how in ("mean", "max", "min", "sum"):
        assert not pool(torch.full((1, 3, 2), 7.0), mask, how).any()  # type: ignore[arg-type]
