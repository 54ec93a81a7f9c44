"""The softmax losses on a GPU against their references; how rows and weights are split and padded, on a CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from firth.neural import softmax
from firth.neural.training import softmax_gpu

Compare = Callable[[Tensor, Tensor], float]


def draw_softmax_inputs(dim: int) -> tuple[list[Tensor], Tensor, Tensor]:
    generator = torch.Generator().manual_seed(4)
    sizes = ((200, dim), 1.0), ((301, dim), 0.3), ((301,), 1.0)
    learned = [
        (torch.randn(size, generator=generator) * scale).bfloat16().float().cuda().requires_grad_()
        for size, scale in sizes
    ]
    targets = torch.randint(0, 301, (200,), generator=generator)
    targets[5] = -1
    negatives = torch.randperm(301, generator=generator)[:60].sort()[0]
    return learned, targets.cuda(), negatives.cuda()


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("dim", "table"), [(64, 2 << 30), (64, 2 * 320 * 128), (16, 2 << 30)])
def test_the_losses_of_the_gpu_are_those_of_the_reference(
    dim: int, table: int, monkeypatch: pytest.MonkeyPatch, relative_error: Compare
) -> None:
    monkeypatch.setattr(softmax_gpu, "TABLE", table)
    learned, targets, negatives = draw_softmax_inputs(dim)
    for mine, theirs, more in (
        (softmax_gpu.CrossEntropyGpu, softmax.CrossEntropyFunction, (targets,)),
        (softmax_gpu.SampledLossGpu, softmax.SampledLoss, (negatives, targets)),
    ):
        found, expected = (one.apply(*learned, *more, True) for one in (mine, theirs))  # type: ignore[no-untyped-call]
        assert found.item() == pytest.approx(expected.item(), rel=1e-5)
        for slope, reference in zip(torch.autograd.grad(found, learned), torch.autograd.grad(expected, learned)):
            assert relative_error(slope, reference) < 0.01


@pytest.mark.usefixtures("gpu")
def test_a_very_improbable_target_has_a_finite_loss_and_finite_gradients() -> None:
    hidden = torch.full((128, 64), 1.0, device="cuda", requires_grad=True)
    weight = torch.zeros(10, 64, device="cuda")
    weight[0] = 2.0  # 128 nats above the target
    bias, targets = torch.zeros(10, device="cuda"), torch.ones(128, dtype=torch.int64, device="cuda")
    loss = softmax_gpu.CrossEntropyGpu.apply(hidden, weight, bias, targets, True)  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss)
    assert torch.isfinite(torch.autograd.grad(loss, hidden)[0]).all()


def test_a_run_has_as_many_rows_as_fit_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax_gpu, "TABLE", 2 * 1000 * 300)
    hidden, targets = torch.arange(1000)[:, None], torch.arange(1000)
    runs = softmax_gpu.split_rows(1000, hidden, targets)
    assert [len(some) for some, _ in runs] == [256, 256, 256, 232]
    assert torch.equal(torch.cat([some for _, some in runs]), targets)
    assert softmax_gpu.split_rows(1000, hidden[:0], targets[:0]) == []


def test_one_product_has_the_gradients_of_weight_and_bias() -> None:
    generator = torch.Generator().manual_seed(1)
    e, hidden, scale = (torch.rand(*size, generator=generator).bfloat16() for size in ((6, 4), (6, 8), (6,)))
    total = torch.zeros(4, 8 + softmax_gpu.EXTRA)
    softmax_gpu.add_product(total, e.T, softmax_gpu.append_scale(hidden, scale))
    expected = e.float().T @ (hidden.float() * scale.float()[:, None])
    assert torch.allclose(total[:, :8], expected, rtol=0.01)
    assert torch.allclose(total[:, 8], e.float().T @ scale.float())
    assert not total[:, 9:].any()


def test_words_are_padded_with_zeros_to_whole_blocks() -> None:
    padded = softmax_gpu.pad_words(torch.ones(65, 3))
    assert padded.shape == (128, 3)
    assert (padded[:65].min(), padded[65:].max()) == (1, 0)
    assert softmax_gpu.pad_words(torch.ones(64, 3)).shape == (64, 3)


def test_a_cpu_is_not_supported() -> None:
    assert not softmax_gpu.fits(torch.zeros(2, 8))
