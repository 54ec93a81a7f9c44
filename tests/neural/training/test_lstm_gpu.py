"""The training pass on a GPU against the plain one: what it says, what it leaves, and every slope."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from firth.kernels.triton_support import supports
from firth.neural import softmax
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.layers import CharacterCnn
from firth.neural.state import BiLMState
from firth.neural.training import cnn_gpu, lstm_gpu, softmax_gpu
from firth.neural.training.lstm import Dropout, run_layers_reference
from firth.text.character_ids import CharacterIds

needs_gpu = pytest.mark.skipif(
    not (torch.cuda.is_available() and supports(torch.device("cuda"))),
    reason="needs an NVIDIA GPU for data centers (H100 or newer), a torch that was built for it, and Triton",
)
DIM, CELL, ROWS, STEPS = 64, 256, 70, 4


def off(found: Tensor, wanted: Tensor) -> float:
    """How far a tensor is from another, in parts of it."""
    return float((found.detach().float() - wanted.detach().float()).norm() / wanted.detach().float().norm())


def rounded(tensor: Tensor) -> Tensor:
    """A tensor whose numbers bfloat16 holds, so that a difference is not one of the input."""
    return tensor.bfloat16().float()


def small_bilm(clip: float = 3.0, **sizes: object) -> BiLM:
    generator = torch.Generator().manual_seed(5)
    given = {"dim": DIM, "cell": CELL, "character_dim": 4, "filters": ((1, 4),), "highways": 0} | sizes
    bilm = BiLM(Architecture(cell_clip=clip, projection_clip=clip / 2, **given))  # type: ignore[arg-type]
    for layers in (bilm.forward_layers, bilm.backward_layers):
        for parameter in layers.parameters():
            parameter.data = rounded(torch.randn(parameter.shape, generator=generator) * 0.12)
    return bilm.cuda()


def streams(bilm: BiLM, seed: int = 7) -> tuple[list[Tensor], BiLMState, Tensor]:
    generator, sizes = torch.Generator().manual_seed(seed), bilm.architecture
    given = [rounded(torch.randn(STEPS, ROWS, sizes.dim, generator=generator)).cuda() for _ in range(2)]
    parts = [torch.randn(2, sizes.layers, ROWS, size, generator=generator) for size in (sizes.cell, sizes.dim)]
    state = BiLMState(*(rounded(part * 0.2).cuda() for part in parts))
    return [one.requires_grad_() for one in given], state, torch.rand(STEPS, ROWS, generator=generator).cuda()


def slopes(outputs: tuple[Tensor, Tensor], given: list[Tensor], bilm: BiLM) -> tuple[Tensor, ...]:
    weights = [one for layers in (bilm.forward_layers, bilm.backward_layers) for one in layers.parameters()]
    way = torch.linspace(-1, 1, outputs[0].numel(), device="cuda").view(outputs[0].shape)
    return torch.autograd.grad(sum((output.float() * way).sum() for output in outputs), [*given, *weights])  # type: ignore[arg-type]


@needs_gpu
@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("sizes", [{}, {"skip": False}, {"normalized": True}, {"layers": 1}, {"dim": 16, "cell": 64}])
def test_the_gpu_reads_streams_as_the_reference_does(sizes: dict[str, object], forgets: bool) -> None:
    bilm = small_bilm(**sizes)
    given, state, chance = streams(bilm)
    fresh = chance < 0.3 if forgets else None
    wanted = run_layers_reference(bilm, *given, state, None, fresh)
    found = lstm_gpu.run_layers(bilm, *given, state, None, fresh)
    for mine, theirs in zip((*found[:2], *found[2].parts), (*wanted[:2], *wanted[2].parts)):
        assert off(mine, theirs) < 0.01
    for mine, theirs in zip(slopes(found[:2], given, bilm), slopes(wanted[:2], given, bilm)):
        assert off(mine, theirs) < 0.02


@needs_gpu
def test_the_gpu_clips_cells_and_projections_where_the_reference_does() -> None:
    bilm = small_bilm(clip=0.5)
    given, state, _ = streams(bilm)
    wanted = run_layers_reference(bilm, *given, state)
    found = lstm_gpu.run_layers(bilm, *given, state)
    assert found[2].cell.abs().max() == 0.5
    assert found[2].hidden.abs().max() == 0.25
    assert ((found[2].cell.abs() == 0.5) == (wanted[2].cell.abs() == 0.5)).float().mean() > 0.99
    # A cell so near its bound that rounding decides has a slope on one side only.
    for mine, theirs in zip(slopes(found[:2], given, bilm), slopes(wanted[:2], given, bilm)):
        assert off(mine, theirs) < 0.1


@needs_gpu
def test_two_passes_that_carry_the_state_are_one_long_pass() -> None:
    bilm = small_bilm()
    given, state, _ = streams(bilm)
    whole = lstm_gpu.run_layers(bilm, *given, state)
    half = STEPS // 2
    first = lstm_gpu.run_layers(bilm, *(one[:half] for one in given), state)
    second = lstm_gpu.run_layers(bilm, *(one[half:] for one in given), first[2])
    for way in range(2):
        assert torch.equal(torch.cat([first[way], second[way]]), whole[way])


@needs_gpu
def test_dropout_takes_its_share_and_the_slope_knows_which() -> None:
    x = torch.ones(2, 8, 16, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    whole = Dropout(0.25, seed=1, step=2, rows=32)
    kept = lstm_gpu.apply_dropout(x, whole, 0)
    assert (kept == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
    (slope,) = torch.autograd.grad(kept.float().sum(), x)
    assert torch.equal(slope == 0, kept == 0)
    assert not torch.equal(lstm_gpu.apply_dropout(x, whole, 1), kept)
    wide = torch.ones(2, 8, 32, 64, device="cuda", dtype=torch.bfloat16)
    part = lstm_gpu.apply_dropout(x, Dropout(0.25, seed=1, step=2, rows=32, first_row=16), 0)
    assert torch.equal(part, lstm_gpu.apply_dropout(wide, whole, 0)[:, :, 16:])


@needs_gpu
@pytest.mark.parametrize(
    "sizes",
    [
        {"dim": 32, "filters": ((1, 32), (2, 32), (3, 64), (7, 40)), "highways": 1},
        {"dim": 8, "width": 12, "character_dim": 4, "filters": ((1, 4), (5, 16)), "highways": 0, "activation": "tanh"},
    ],
)
def test_the_gpu_spells_words_as_the_reference_does(sizes: dict[str, object]) -> None:
    cnn = CharacterCnn(**sizes).cuda()  # type: ignore[arg-type]
    generator = torch.Generator("cuda").manual_seed(3)
    for parameter in cnn.parameters():
        parameter.data = rounded(torch.randn(parameter.shape, generator=generator, device="cuda") * 0.3)
    words = ["a", "the", "<S>", *(f"w{number}" for number in range(90)), "anticonstitutionnellement", "x" * 60]
    ids = torch.from_numpy(CharacterIds(int(sizes.get("width", 50))).of(words)).cuda()  # type: ignore[call-overload]
    wanted, found = cnn.encode(ids), cnn_gpu.encode(cnn, ids)
    assert off(found, wanted) < 0.01
    way, weights = torch.randn(wanted.shape, generator=generator, device="cuda"), list(cnn.parameters())
    wanted_slopes = torch.autograd.grad((wanted * way).sum(), weights)
    for mine, theirs in zip(torch.autograd.grad((found.float() * way).sum(), weights), wanted_slopes):
        assert off(mine, theirs) < 0.08  # where two windows answer alike, rounding decides who learns


def softmax_task(dim: int) -> tuple[list[Tensor], Tensor, Tensor]:
    generator = torch.Generator().manual_seed(4)
    sizes = ((200, dim), 1.0), ((301, dim), 0.3), ((301,), 1.0)
    learned = [rounded(torch.randn(size, generator=generator) * scale).cuda().requires_grad_() for size, scale in sizes]
    targets = torch.randint(0, 301, (200,), generator=generator)
    targets[5] = -1
    against = torch.randperm(301, generator=generator)[:60].sort()[0]
    return learned, targets.cuda(), against.cuda()


@needs_gpu
@pytest.mark.parametrize(("dim", "table"), [(64, 2 << 30), (64, 2 * 320 * 128), (16, 2 << 30)])
def test_the_losses_of_the_gpu_are_those_of_the_reference(
    dim: int, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(softmax_gpu, "TABLE", table)
    learned, targets, against = softmax_task(dim)
    for mine, theirs, more in (
        (softmax_gpu.CrossEntropyGpu, softmax.CrossEntropyFunction, (targets,)),
        (softmax_gpu.SampledLossGpu, softmax.SampledLoss, (against, targets)),
    ):
        found, wanted = (one.apply(*learned, *more, True) for one in (mine, theirs))  # type: ignore[no-untyped-call]
        assert found.item() == pytest.approx(wanted.item(), rel=1e-5)
        for slope, reference in zip(torch.autograd.grad(found, learned), torch.autograd.grad(wanted, learned)):
            assert off(slope, reference) < 0.01


@needs_gpu
def test_a_word_that_nobody_expected_costs_much_but_not_everything() -> None:
    hidden = torch.full((128, 64), 1.0, device="cuda", requires_grad=True)
    weight = torch.zeros(10, 64, device="cuda")
    weight[0] = 2.0  # 128 nats above the target
    bias, targets = torch.zeros(10, device="cuda"), torch.ones(128, dtype=torch.int64, device="cuda")
    loss = softmax_gpu.CrossEntropyGpu.apply(hidden, weight, bias, targets, True)  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss)
    assert torch.isfinite(torch.autograd.grad(loss, hidden)[0]).all()


def test_a_tile_holds_the_four_gates_of_its_cells() -> None:
    cell = 2 * lstm_gpu.CELLS
    gate, of = np.divmod(np.arange(4 * cell), cell)
    rows = torch.from_numpy(np.stack([gate, of], 1)).expand(2, -1, -1)
    tile = lstm_gpu.order_by_tile(rows, cell).view(2, 2, 2, lstm_gpu.CELLS, 2, 2)  # way, tile, half, cell, one, what
    for half in range(2):
        for one in range(2):
            assert (tile[:, :, half, :, one, 0] == 2 * half + one).all()
            assert torch.equal(tile[0, 1, half, :, one, 1], lstm_gpu.CELLS + torch.arange(lstm_gpu.CELLS))


def test_weights_are_joined_with_what_is_given_before_what_was_said() -> None:
    weights = [torch.full(size, float(number)) for number, size in enumerate(((8, 3), (8, 2), (8,), (2, 2)) * 2)]
    joined, bias, projection = lstm_gpu.join_weights(tuple(weights))
    assert joined[:, 0].tolist() == [[0, 0, 0, 1, 1], [4, 4, 4, 5, 5]]
    assert (bias[:, 0].tolist(), projection[:, 0, 0].tolist()) == ([2, 6], [3, 7])


def test_a_softmax_takes_as_many_rows_at_a_time_as_its_table_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax_gpu, "TABLE", 2 * 1000 * 300)
    hidden, own = torch.arange(1000)[:, None], torch.arange(1000)
    runs = softmax_gpu.split_rows(1000, hidden, own)
    assert [len(some) for some, _ in runs] == [256, 256, 256, 232]
    assert torch.equal(torch.cat([mine for _, mine in runs]), own)
    assert softmax_gpu.split_rows(1000, hidden[:0], own[:0]) == []
