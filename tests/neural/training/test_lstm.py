"""The training pass over streams: the fast layers against the reference, and the reference against the biLM itself."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.state import BiLMState
from firth.neural.training.lstm import Dropout, LayerInputs, run_layers, run_layers_reference

STEPS, ROWS = 7, 3
SIZES = {"character_dim": 3, "filters": ((1, 4), (2, 5)), "highways": 1, "cell": 6, "dim": 4}


def make_bilm(**more: object) -> BiLM:
    made = BiLM(Architecture(**(SIZES | more)), seed=3)  # type: ignore[arg-type]
    for parameter in made.parameters():
        parameter.data.mul_(3)  # so that some numbers are clipped
    return made.double()


def draw_inputs(model: BiLM, seed: int = 1) -> tuple[Tensor, Tensor, BiLMState, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    dim, cell, layers = model.architecture.dim, model.architecture.cell, model.architecture.layers

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    state = BiLMState(draw(2, layers, ROWS, cell), draw(2, layers, ROWS, dim))
    fresh = torch.rand(STEPS, ROWS, generator=rng) < 0.3
    forward, backward = draw(STEPS, ROWS, dim).requires_grad_(), draw(STEPS, ROWS, dim).requires_grad_()
    return forward, backward, state, fresh


@pytest.mark.parametrize("begin", [False, True], ids=["carried", "fresh"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"cell_clip": 0.0, "projection_clip": 0.0},
        {"cell_clip": 0.5, "projection_clip": 0.3},
        {"cell": 4},  # no projection
        {"layers": 3, "skip": False},
        {"normalized": True},
    ],
    ids=["usual", "unclipped", "much clipped", "no projection", "three layers", "normalized"],
)
def test_the_fast_layers_have_the_numbers_and_the_gradients_of_the_reference(
    more: dict[str, object], begin: bool
) -> None:
    model = make_bilm(**more)
    forward, backward, state, fresh = draw_inputs(model)
    found = []
    for read in (run_layers_reference, run_layers):
        dropout = Dropout(0.2, seed=1, step=4, rows=ROWS)
        inputs = LayerInputs(forward, backward, state, dropout, fresh if begin else None)
        ahead, behind, after = read(model, inputs)
        weights = torch.linspace(-1, 1, ahead.numel(), dtype=torch.float64).view_as(ahead)
        loss = (ahead * weights).sum() + (behind * weights.flip(0)).square().sum()
        inside = [forward, backward, *model.forward_layers.parameters(), *model.backward_layers.parameters()]
        found.append([ahead, behind, after.cell, after.hidden, *torch.autograd.grad(loss, inside)])
    for plain, fast in zip(*found):
        assert torch.allclose(plain, fast, rtol=1e-10, atol=1e-10)


def test_a_stream_of_one_sentence_has_the_hidden_states_of_the_bilm() -> None:
    model = make_bilm()
    sentence = ["tea", "and", "rain", "again", "."]
    with torch.no_grad():
        layers, lengths, _ = model([sentence])
        vectors, _ = model.encode_tokens([sentence])
        inside = vectors[0, :, None]  # (steps, one row, dim)
        ahead, behind, _ = run_layers(model, LayerInputs(inside, inside.flip(0), model.blank(1)))
    top = layers[-1, 0]
    assert torch.allclose(ahead[:, 0], top[:, :4], atol=1e-12)
    assert torch.allclose(behind[:, 0].flip(0), top[:, 4:], atol=1e-12)
    assert lengths.tolist() == [7]


def test_two_halves_with_the_state_carried_over_are_one_whole() -> None:
    model = make_bilm()
    forward, backward, state, fresh = draw_inputs(model)
    with torch.no_grad():
        whole = run_layers(model, LayerInputs(forward, backward, state, None, fresh))
        first = run_layers(model, LayerInputs(forward[:4], backward[:4], state, None, fresh[:4]))
        second = run_layers(model, LayerInputs(forward[4:], backward[4:], first[2], None, fresh[4:]))
    for direction in (0, 1):
        assert torch.allclose(whole[direction], torch.cat([first[direction], second[direction]]), atol=1e-12)
    assert torch.allclose(whole[2].cell, second[2].cell, atol=1e-12)
    assert torch.allclose(whole[2].hidden, second[2].hidden, atol=1e-12)


def test_the_state_is_reset_where_it_is_fresh() -> None:
    model = make_bilm()
    forward, backward, state, _ = draw_inputs(model)
    fresh = torch.zeros(STEPS, ROWS, dtype=torch.bool)
    fresh[3] = True
    with torch.no_grad():
        whole = run_layers(model, LayerInputs(forward, backward, state, None, fresh))
        rest = run_layers(model, LayerInputs(forward[3:], backward[3:], model.blank(ROWS)))
    assert torch.allclose(whole[0][3:], rest[0], atol=1e-12)


def test_dropout_keeps_the_mean_and_rows_of_several_processes_drop_what_one_would() -> None:
    vectors = torch.ones(50, 8, 20)
    whole = Dropout(0.25, seed=1, step=2, rows=8)(vectors, 1)
    assert sorted(set(whole.flatten().tolist())) == pytest.approx([0, 4 / 3])
    assert whole.mean().item() == pytest.approx(1, abs=0.02)
    half = Dropout(0.25, seed=1, step=2, rows=8, first_row=4)(vectors[:, 4:], 1)
    assert torch.equal(half, whole[:, 4:])
    assert not torch.equal(whole, Dropout(0.25, seed=1, step=3, rows=8)(vectors, 1))
    assert not torch.equal(whole, Dropout(0.25, seed=1, step=2, rows=8)(vectors, 2))
    assert torch.equal(Dropout(0, seed=1, step=2, rows=8)(vectors, 1), vectors)


def test_parameters_are_as_many_as_those_of_the_published_models() -> None:
    """The padding row of the character table is not trained, and is in no published file."""
    for name, count in (("small", 13_593_296), ("medium", 28_027_728), ("original", 93_600_848)):
        architecture = Architecture.named(name)
        made = BiLM(architecture, seed=None)
        assert sum(one.numel() for one in made.parameters()) - architecture.character_dim == count
