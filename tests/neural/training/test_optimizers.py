"""Optimizers: sparse rows against whole tables, the schedule, and gradient clipping."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from firth.errors import OptionError
from firth.neural.softmax import sparse_rows
from firth.neural.training.buckets import GradientBuckets
from firth.neural.training.optimizers import Kind, Optimizer, WarmupSchedule, clip_gradients
from firth.runtime import Runtime

needs_muon = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="Muon came with torch 2.9")


def test_muon_is_refused_where_torch_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.optim, "Muon", raising=False)
    with pytest.raises(OptionError, match=r"needs torch 2\.9 or newer.*optimizer='modern'"):
        Optimizer("muon", {"forward_layers.0.input": nn.Parameter(torch.zeros(6, 4))}, [], 0.0)


@pytest.mark.parametrize("kind", ["adam", "adagrad"])
def test_rows_change_as_in_a_whole_table_where_all_rows_have_a_gradient(kind: Kind) -> None:
    torch.manual_seed(1)
    start = torch.randn(6, 3)
    whole, rows = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    dense, sparse = Optimizer(kind, {"a": whole}, [], 0.0), Optimizer(kind, {"a": rows}, ["a"], 0.0)
    for step in range(5):
        grad = torch.randn(6, 3)
        whole.grad, rows.grad = grad.clone(), sparse_rows(torch.arange(6), grad, rows.shape)
        for one in (dense, sparse):
            one.step(0.1 / (1 + step))
    assert torch.allclose(whole, rows, atol=1e-6)
    assert not torch.allclose(whole, start, atol=0.1)


@pytest.mark.parametrize("kind", ["adam", "adagrad"])
def test_rows_without_a_gradient_do_not_change(kind: Kind) -> None:
    table = nn.Parameter(torch.ones(5, 2))
    optimizer = Optimizer(kind, {"a": table}, ["a"], 0.5)
    table.grad = sparse_rows(torch.tensor([1, 3]), torch.ones(2, 2), table.shape)
    optimizer.step(0.1)
    assert (table.detach()[[0, 2, 4]] == 1).all()
    assert (table.detach()[[1, 3]] < 1).all()
    assert table.grad is None


def test_adagrad_is_that_of_the_original() -> None:
    one = nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = Optimizer("adagrad", {"a": one}, [], 0.0)
    for _ in range(2):
        one.grad = torch.tensor([3.0, 0.0])
        optimizer.step(0.2)
    assert one.tolist() == pytest.approx([1 - 0.2 * 3 / math.sqrt(1 + 9) - 0.2 * 3 / math.sqrt(1 + 18), 2.0])


@needs_muon
def test_muon_updates_the_matrices_of_the_lstms_and_adam_the_rest() -> None:
    matrix, table = nn.Parameter(torch.zeros(6, 4)), nn.Parameter(torch.zeros(6, 4))
    optimizer = Optimizer("muon", {"forward_layers.0.input": matrix, "encoder.table": table}, [], 0.0)
    for parameter in (matrix, table):
        parameter.grad = torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
    optimizer.step(0.1)
    singular = torch.linalg.svdvals(matrix.detach())
    assert (singular.max() / singular.min()).item() < 2  # orthogonalized
    assert torch.allclose(table.abs(), torch.tensor(0.1), atol=1e-4)  # the first step of Adam


@pytest.mark.parametrize("kind", ["adam", "adagrad", pytest.param("muon", marks=needs_muon)])
def test_the_optimizer_state_can_be_saved_and_loaded(kind: Kind) -> None:
    def make() -> tuple[dict[str, nn.Parameter], Optimizer]:
        torch.manual_seed(1)
        shapes = {"a": (4, 2), "b": (3,), "highways.0.gate.weight": (3, 3)}
        parameters = {name: nn.Parameter(torch.randn(shape)) for name, shape in shapes.items()}
        return parameters, Optimizer(kind, parameters, ["a"], 0.01)

    def learn(parameters: dict[str, nn.Parameter], optimizer: Optimizer, steps: range) -> None:
        for step in steps:
            torch.manual_seed(step)
            parameters["a"].grad = sparse_rows(torch.tensor([0, 2]), torch.randn(2, 2), (4, 2))
            for name in ("b", "highways.0.gate.weight"):
                parameters[name].grad = torch.randn(parameters[name].shape)
            optimizer.step(0.1)

    whole = make()
    learn(*whole, range(6))
    first = make()
    learn(*first, range(3))
    second = make()
    for name, one in second[0].items():
        one.data.copy_(first[0][name].data)
    second[1].load({name: one.clone() for name, one in first[1].tensors()}, torch.device("cpu"))
    learn(*second, range(3, 6))
    for name, one in whole[0].items():
        assert torch.equal(one, second[0][name])


def test_clipping_includes_sparse_rows_and_adds_repeated_rows_first() -> None:
    table, bias = nn.Parameter(torch.zeros(4, 1)), nn.Parameter(torch.zeros(2))
    table.grad = sparse_rows(torch.tensor([1]), torch.tensor([[2.0]]), (4, 1))
    table.grad = table.grad + sparse_rows(torch.tensor([1]), torch.tensor([[1.0]]), (4, 1))
    bias.grad = torch.tensor([4.0, 0.0])
    GradientBuckets({"table": table, "bias": bias}, ["table"], Runtime(1)).finish()
    assert clip_gradients([table, bias], 1.0).item() == pytest.approx(5)
    assert table.grad.to_dense()[1].item() == pytest.approx(0.6)
    assert bias.grad.tolist() == pytest.approx([0.8, 0])
    assert clip_gradients([table, bias], 0.0).item() == pytest.approx(1)


def test_without_warmup_and_decay_the_rate_is_constant() -> None:
    assert {WarmupSchedule(0.2).rate(step, step / 10) for step in (0, 3, 10)} == {0.2}
