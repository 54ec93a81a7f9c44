"""ZeRO-1: processes that each keep a part of the optimizer state make the steps of one. Real ranks: test_ranks.py."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from firth.neural.softmax import sparse_rows
from firth.neural.training.optimizers import Kind, Optimizer
from firth.neural.training.sharding import ShardedOptimizer, assign
from firth.runtime import Runtime

CPU = torch.device("cpu")
needs_muon = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="Muon came with torch 2.9")


class Board:
    """What the threads of a test, one for each rank, show each other."""

    def __init__(self, ranks: int) -> None:
        self.barrier, self.shown = Barrier(ranks), [torch.empty(0)] * ranks

    def exchange(self, rank: int, tensor: Tensor) -> list[Tensor]:
        self.shown[rank] = tensor.clone()
        self.barrier.wait()
        seen = list(self.shown)
        self.barrier.wait()
        return seen


@dataclass(frozen=True)
class ThreadRank(Runtime):
    """A rank that is a thread."""

    board: Any = None

    def begin_gather(self, rows: Tensor) -> Callable[[], list[Tensor]]:
        gathered: list[Tensor] = self.board.exchange(self.rank, rows)
        return lambda: gathered

    def copy_from(self, rank: int, tensor: Tensor) -> None:
        tensor.copy_(self.board.exchange(self.rank, tensor)[rank])


def make_parameters() -> dict[str, nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    sizes = {"table": (7, 3), "layer.input": (4, 5), "bias": (5,), "other.projection": (3, 3)}
    return {name: nn.Parameter(torch.randn(size, generator=generator)) for name, size in sizes.items()}


def learn(optimizer: Optimizer, parameters: dict[str, nn.Parameter], steps: range) -> None:
    for step in steps:
        generator = torch.Generator().manual_seed(step)
        for name, one in parameters.items():
            grad = torch.randn(one.shape, generator=generator)
            rows = torch.tensor([0, 2 + step % 3, 6])
            one.grad = sparse_rows(rows, grad[rows], one.shape) if name == "table" else grad
        optimizer.step(0.05)


def run_ranks(count: int, work: Callable[[Runtime], Any]) -> list[Any]:
    board = Board(count)
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, [ThreadRank(1, rank=rank, size=count, board=board) for rank in range(count)]))


@pytest.mark.parametrize("kind", ["adam", "adagrad", pytest.param("muon", marks=needs_muon)])
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_with_parts_of_the_state_make_the_steps_of_one(kind: Kind, ranks: int) -> None:
    expected = make_parameters()
    whole = Optimizer(kind, expected, ["table"], 0.1)
    learn(whole, expected, range(6))

    def work(runtime: Runtime) -> tuple[dict[str, nn.Parameter], dict[str, Tensor], int]:
        parameters = make_parameters()
        optimizer = ShardedOptimizer(kind, parameters, ["table"], 0.1, runtime)
        learn(optimizer, parameters, range(6))
        own = sum(value.numel() for _, value in Optimizer.tensors(optimizer))
        assert all(one.grad is None for one in parameters.values())
        return parameters, dict(optimizer.tensors()), own

    results = run_ranks(ranks, work)
    state = dict(whole.tensors())
    for parameters, gathered, own in results:
        assert all(torch.equal(one, expected[name]) for name, one in parameters.items())
        assert gathered.keys() == state.keys()
        assert all(torch.equal(gathered[name], value.cpu()) for name, value in state.items())
        assert own < 0.8 * sum(value.numel() for value in state.values())


@pytest.mark.parametrize("before, after", [(1, 2), (2, 3), (3, 1)])
def test_a_state_is_continued_by_another_number_of_ranks(before: int, after: int) -> None:
    expected = make_parameters()
    learn(Optimizer("adam", expected, ["table"], 0.1), expected, range(6))

    def begin(runtime: Runtime) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        parameters = make_parameters()
        optimizer = ShardedOptimizer("adam", parameters, ["table"], 0.1, runtime)
        learn(optimizer, parameters, range(3))
        return {name: one.detach().clone() for name, one in parameters.items()}, dict(optimizer.tensors())

    weights, state = run_ranks(before, begin)[0]

    def go_on(runtime: Runtime) -> dict[str, nn.Parameter]:
        parameters = {name: nn.Parameter(one.clone()) for name, one in weights.items()}
        optimizer = ShardedOptimizer("adam", parameters, ["table"], 0.1, runtime)
        optimizer.load({name: value.clone() for name, value in state.items()}, CPU)
        learn(optimizer, parameters, range(3, 6))
        return parameters

    for parameters in run_ranks(after, go_on):
        assert all(torch.equal(one, expected[name]) for name, one in parameters.items())


def test_large_parameters_are_spread_over_the_ranks() -> None:
    owners = assign({"a": 100, "b": 90, "c": 50, "d": 60}, 2)
    assert owners == {"a": 0, "b": 1, "c": 0, "d": 1}
