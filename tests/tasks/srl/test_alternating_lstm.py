"""The deep alternating LSTM, against its formulas written out word by word."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from firth.tasks.srl.alternating_lstm import AlternatingLstm, Highway, HighwayLayer, LstmLayer, PackedPlan

LENGTHS = torch.tensor([2, 5, 0, 3])


@pytest.fixture(params=["within", "between"])
def reader(request: pytest.FixtureRequest) -> AlternatingLstm:
    torch.manual_seed(1)
    highway: Highway = request.param
    return AlternatingLstm(4, 3, layers=3, highway=highway).double()


def vectors() -> Tensor:
    return torch.randn(4, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def run_plainly(reader: AlternatingLstm, sentence: Tensor) -> Tensor:
    """The output of a stack for one sentence, (words, size), computed word by word."""
    for depth, layer in enumerate(reader.layers):
        places = list(range(len(sentence)))
        if depth % 2:
            places.reverse()
        cells, hidden = torch.zeros(2, 1, reader.size, dtype=sentence.dtype)
        outputs: dict[int, Tensor] = {}
        for place in places:
            word = sentence[place : place + 1]
            if isinstance(layer, HighwayLayer):
                cells, hidden = layer.step(word, cells, hidden)
                outputs[place] = hidden
            else:
                assert isinstance(layer, LstmLayer)
                out, (hidden, cells) = layer.lstm(word, (hidden, cells))
                gate, carried = layer.highway(word).chunk(2, 1)
                outputs[place] = torch.sigmoid(gate) * out + (1 - torch.sigmoid(gate)) * carried
        sentence = torch.cat([outputs[place] for place in range(len(sentence))])
    return sentence


def test_a_batch_is_read_as_each_sentence_is_word_by_word(reader: AlternatingLstm) -> None:
    given = vectors()
    hidden = reader(given, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        assert (hidden[row, length:] == 0).all()
        if length:
            assert torch.allclose(hidden[row, :length], run_plainly(reader, given[row, :length]), atol=1e-12)


def test_the_slopes_are_those_of_small_steps(reader: AlternatingLstm) -> None:
    given = vectors().requires_grad_()
    assert torch.autograd.gradcheck(lambda *_: reader(given, LENGTHS), (given, *reader.parameters()))


def test_the_slopes_hold_with_dropout_too() -> None:
    torch.manual_seed(1)
    layer = HighwayLayer(4, 3).double()
    plan = PackedPlan.of(torch.tensor([3, 2, 2, 1]), torch.device("cpu"))
    words = torch.randn(8, 4, dtype=torch.float64, requires_grad=True)
    kept = torch.tensor([[2.0, 0, 2], [0, 2, 2], [2, 2, 0]], dtype=torch.float64)
    for backwards in (False, True):
        weights = (words, *layer.parameters())
        assert torch.autograd.gradcheck(lambda *_, way=backwards: layer(words, plan, way, kept), weights)


def test_padding_is_never_seen(reader: AlternatingLstm) -> None:
    given = vectors()
    hidden = reader(given, LENGTHS)
    given[0, 2:], given[3, 3:] = 99.0, torch.nan
    assert torch.equal(reader(given, LENGTHS), hidden)


def test_dropout_leaves_out_the_same_numbers_at_all_words_of_a_sentence(reader: AlternatingLstm) -> None:
    reader.dropout = 0.5
    given = torch.randn(16, 5, 4, dtype=torch.float64)
    gone = reader.train()(given, torch.full((16,), 5)) == 0
    assert (gone.all(1) == gone.any(1)).all()
    assert 0.2 < gone.double().mean() < 0.8
    assert (reader.eval()(given, torch.full((16,), 5)) != 0).all()


def test_a_plan_says_which_word_was_read_before() -> None:
    plan = PackedPlan.of(torch.tensor([3, 2, 1]), torch.device("cpu"))  # a0 b0 c0 a1 b1 a2
    assert plan.row.tolist() == [0, 1, 2, 0, 1, 0]
    assert plan.previous[0].tolist() == [6, 6, 6, 0, 1, 3]
    assert plan.previous[1].tolist() == [3, 4, 6, 5, 6, 6]
    assert plan.mirror.tolist() == [5, 4, 2, 3, 1, 0]
