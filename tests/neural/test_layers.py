"""The layers: each against another way to compute it, and its independence of the batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from firth.errors import UnknownWord
from firth.neural.initialization import draw
from firth.neural.layers import CharacterCnn, CharacterRnn, Highway, ProjectedLstm, WordEmbedding
from firth.text.vocabulary import Vocabulary

FILTERS = ((1, 3), (2, 4), (5, 6))
WORDS = ["tea", "", "<S>", "</S>", "x" * 47, "x" * 200, "日本語", "\x00", "😀", "a"]


def initialize(layer: nn.Module, seed: int = 1) -> nn.Module:
    draw(layer, seed)
    return layer


def make_cnn(**sizes: object) -> CharacterCnn:
    made = CharacterCnn(8, **({"character_dim": 3, "filters": FILTERS} | sizes))  # type: ignore[arg-type]
    draw(made, 1)
    return made


def test_a_highway_of_zeros_halves_its_input() -> None:
    highway = Highway(2)
    for parameter in highway.parameters():
        nn.init.zeros_(parameter)
    assert highway(torch.tensor([[4.0, -2.0]])).tolist() == [[2.0, -1.0]]


def test_a_highway_with_an_open_gate_is_its_transform() -> None:
    highway = Highway(2)
    nn.init.constant_(highway.gate.bias, 50.0)
    nn.init.zeros_(highway.gate.weight)
    x = torch.tensor([[4.0, -2.0]])
    assert torch.equal(highway(x), torch.relu(highway.transform(x)))


def encode_by_window(layer: CharacterCnn, word: str) -> np.ndarray:
    """One word by the formula, window by window over all its characters."""
    with torch.no_grad():
        table = layer.table.double().numpy()[layer.spelling.of([word])[0]]  # (50, character_dim)
        outputs = []
        for conv in layer.filters:
            weight, bias = (parameter.double().numpy() for parameter in conv.parameters())
            size = weight.shape[2]
            windows = [table[start : start + size].T for start in range(len(table) - size + 1)]
            outputs += [max(float((one * window).sum()) for window in windows) + b for one, b in zip(weight, bias)]
        x = layer.activation(torch.tensor(outputs, dtype=torch.float32))[None]
        for highway in layer.highways:
            x = highway(x)
        return (x if layer.projection is None else layer.projection(x))[0].numpy()


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"activation": "tanh"},
        {"highways": 0},
        {"filters": ((2, 8),), "highways": 1},  # as many filters as dim: no projection
        {"width": 7},
    ],
)
def test_the_cnn_is_its_formula_although_it_leaves_out_most_filling(sizes: dict[str, object]) -> None:
    layer = make_cnn(**sizes)
    with torch.no_grad():
        together = layer(WORDS).numpy()
    expected = np.stack([encode_by_window(layer, word) for word in WORDS])
    assert np.abs(together - expected).max() < 1e-6


def test_no_more_characters_are_spelled_than_can_matter() -> None:
    assert make_cnn().spell(["tea", "a"]).shape == (2, 5 + 5)
    assert make_cnn().spell(["x" * 46]).shape == (1, 50)


def test_as_many_filters_as_dimensions_need_no_projection() -> None:
    assert make_cnn(filters=((2, 8),)).projection is None
    assert make_cnn().projection is not None


@pytest.mark.parametrize("make", [make_cnn, lambda: initialize(CharacterRnn(8, character_dim=3, cell=5))])
def test_a_word_has_the_same_vector_in_any_batch(make: object) -> None:
    layer = make()  # type: ignore[operator]
    with torch.no_grad():
        together = layer(WORDS)
        assert layer([]).shape == (0, 8)
        for word, vector in zip(WORDS, together):
            assert torch.allclose(layer([word])[0], vector, atol=1e-6)
    assert not torch.equal(together[0], together[-1])
    assert torch.allclose(layer(["x" * 48]), layer(["x" * 200]))


def test_the_character_rnn_reads_a_word_from_both_sides() -> None:
    layer = CharacterRnn(4, character_dim=3, cell=5)
    draw(layer, 1)
    ids = layer.spell(["tea", "to"])
    with torch.no_grad():
        for row, length in zip(ids, (5, 4)):
            _, (last, _) = layer.lstm(layer.table[row[:length].long()][None])
            expected = layer.projection(torch.cat([last[0], last[1]], 1))
            assert torch.allclose(layer.encode(row[None]), expected, atol=1e-6)


def test_a_word_that_has_no_row_is_unknown_or_spelled_or_an_error() -> None:
    known = WordEmbedding(8, Vocabulary(["<UNK>", "tea"]))
    draw(known, 1)
    assert torch.equal(known(["tea", "milk"]), known.table[[1, 0]])
    spelled = WordEmbedding(8, Vocabulary(["tea"]), make_cnn())
    found = spelled(["milk", "tea", "rain"])
    assert torch.equal(found[1], spelled.table[0])
    assert spelled.spelled is not None
    assert torch.equal(found[[0, 2]], spelled.spelled(["milk", "rain"]))
    with pytest.raises(UnknownWord, match="'te' is not in the vocabulary"):
        WordEmbedding(8, Vocabulary(["tea"]))(["te"])


def make_lstm(dim: int = 3, cell: int = 5, **more: object) -> ProjectedLstm:
    made = ProjectedLstm(dim, cell, **({"cell_clip": 0.0, "projection_clip": 0.0} | more))  # type: ignore[arg-type]
    draw(made, 3)
    return made


def to_torch_lstm(ours: ProjectedLstm) -> nn.LSTM:
    theirs = nn.LSTM(
        ours.input.shape[1], ours.cell, batch_first=True, proj_size=ours.dim if ours.dim != ours.cell else 0
    )
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.input)
        theirs.weight_hh_l0.copy_(ours.recurrent)
        theirs.bias_ih_l0.copy_(ours.bias)
        theirs.bias_hh_l0.zero_()
        if ours.projection is not None:
            theirs.weight_hr_l0.copy_(ours.projection)
    return theirs


def draw_numbers(*shape: int, seed: int = 7) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dim, cell", [(3, 5), (4, 4)])
@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_without_clipping_it_is_the_lstm_of_torch(dim: int, cell: int) -> None:
    ours, vectors = make_lstm(dim, cell), draw_numbers(2, 6, dim)
    found, (cells, hidden) = ours(vectors, torch.tensor([6, 6]))
    expected, (last_hidden, last_cells) = to_torch_lstm(ours)(vectors)
    for mine, theirs in ((found, expected), (cells, last_cells[0]), (hidden, last_hidden[0])):
        assert torch.allclose(mine, theirs, atol=1e-6)


def test_cells_and_hidden_states_are_clipped() -> None:
    free, bound = make_lstm(), make_lstm(cell_clip=0.1, projection_clip=0.05)
    vectors, lengths = 9 * draw_numbers(4, 8, 3), torch.full((4,), 8)
    assert free(vectors, lengths)[0].abs().max() > 0.05
    found, (cells, _) = bound(vectors, lengths)
    assert found.abs().max().item() == pytest.approx(0.05)
    assert cells.abs().max().item() == pytest.approx(0.1)


def test_a_short_row_ends_where_it_ends() -> None:
    layer, vectors = make_lstm(cell_clip=3.0, projection_clip=3.0), draw_numbers(2, 6, 3)
    found, (cells, hidden) = layer(vectors, torch.tensor([6, 2]))
    alone, (cells_alone, hidden_alone) = layer(vectors[1:, :2], torch.tensor([2]))
    assert torch.allclose(found[1, :2], alone[0], atol=1e-7)
    assert not found[1, 2:].any()
    assert torch.allclose(cells[1], cells_alone[0], atol=1e-7)
    assert torch.allclose(hidden[1], hidden_alone[0], atol=1e-7)


def test_two_halves_with_the_state_carried_over_are_one_whole() -> None:
    layer, vectors = make_lstm(), draw_numbers(2, 6, 3)
    whole, end = layer(vectors, torch.tensor([6, 6]))
    first, between = layer(vectors[:, :4], torch.tensor([4, 4]))
    second, last = layer(vectors[:, 4:], torch.tensor([2, 2]), between)
    assert torch.allclose(torch.cat([first, second], 1), whole, atol=1e-7)
    assert torch.allclose(last[0], end[0], atol=1e-7)


def test_a_normalized_layer_does_not_depend_on_the_scale_of_its_input() -> None:
    layer, vectors, lengths = make_lstm(normalized=True), draw_numbers(2, 6, 3), torch.tensor([6, 6])
    assert torch.allclose(layer(vectors, lengths)[0], layer(100 * vectors + 5, lengths)[0], atol=1e-3)


def test_gradients_are_those_of_finite_differences() -> None:
    layer = make_lstm(cell_clip=3.0, projection_clip=3.0).double()
    vectors = draw_numbers(2, 3, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: layer(x, torch.tensor([3, 2]))[0], (vectors,))


def test_every_parameter_of_every_layer_has_a_gradient() -> None:
    layer = make_lstm(8, 6, normalized=True)
    spelled, spelled_too = make_cnn(), CharacterRnn(8, character_dim=3, cell=5)
    draw(spelled_too, 1)
    vectors = torch.stack([spelled(WORDS), spelled_too(WORDS)])
    layer(vectors, torch.tensor([10, 7]))[0].square().sum().backward()
    for module in (layer, spelled, spelled_too):
        for name, parameter in module.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name
