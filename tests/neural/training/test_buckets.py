"""Buckets of gradients: sums over ranks, sent while the backward pass goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import pytest
import torch
from torch import Tensor, nn

from firth.models.elmo import Elmo
from firth.neural.softmax import sparse_rows
from firth.neural.training.buckets import GradientBuckets, sum_rows
from firth.neural.training.pretrain import Pretraining, sparse_names
from firth.runtime import Runtime
from firth.text.corpus import Corpus


@dataclass(frozen=True)
class Pair(Runtime):
    """Two ranks in one process, of which the other has the same gradients. It records what is sent, and when."""

    events: list[str] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            tensor.mul_(2)

    def begin_add_up(self, flat: Tensor) -> Callable[[], None]:
        self.events.append("send")
        self.sent.append(flat.numel())

        def wait() -> None:
            self.events.append("wait")
            flat.mul_(2)

        return wait

    def begin_gather(self, rows: Tensor) -> Callable[[], list[Tensor]]:
        self.events.append("send")
        self.sent.append(rows.numel())
        return lambda: [rows, rows]


def test_only_rows_of_a_large_table_are_sent() -> None:
    table, bias = nn.Parameter(torch.zeros(10_000, 8)), nn.Parameter(torch.zeros(3))
    runtime = Pair(1, size=2)
    buckets = GradientBuckets({"table": table, "bias": bias}, ["table"], runtime)
    table.grad = sparse_rows(torch.tensor([5, 70, 9000]), torch.ones(3, 8), table.shape)
    bias.grad = torch.ones(3)
    buckets.finish()
    assert sum(runtime.sent) == 3 + 3 * 8 + (3 + 1)  # rows, their values, and the bias with a count
    assert table.grad.is_sparse
    assert table.grad.coalesce().values().unique().tolist() == [2.0]
    assert bias.grad.tolist() == [2, 2, 2]


def test_a_gradient_that_all_ranks_lack_stays_none() -> None:
    used, unused, table = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    buckets = GradientBuckets({"used": used, "unused": unused, "table": table}, ["table"], Pair(1, size=2))
    buckets.begin()
    used.sum().backward()  # type: ignore[no-untyped-call]
    buckets.finish()
    assert used.grad is not None
    assert used.grad.tolist() == [2, 2]
    assert unused.grad is None
    assert table.grad is None


def test_sums_are_those_of_one_exchange_for_any_size_of_buckets() -> None:
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 4))
    inputs = torch.randn(5, 8)
    expected: list[Tensor] = []
    for size in (1 << 20, 100, 1):
        network.zero_grad()
        buckets = GradientBuckets(dict(network.named_parameters()), [], Pair(1, size=2), size)
        buckets.begin()
        network(inputs).square().sum().backward()
        buckets.finish()
        grads = [one.grad.clone() for one in network.parameters() if one.grad is not None]
        expected = expected or grads
        assert all(torch.equal(one, other) for one, other in zip(expected, grads, strict=True))


@pytest.mark.parametrize("softmax", ["sampled", "full"])
def test_the_softmax_is_sent_before_the_backward_pass_reaches_the_encoder(softmax: str) -> None:
    tokens = Corpus.of(["the king drinks hot tea in the cold rain while the queen sleeps"] * 20).tokens()
    recipe = Elmo(preset="tiny", batch=4, unroll=5, min_count=1, negatives=3, softmax=softmax)  # type: ignore[arg-type]
    runtime = Pair(1, size=2)
    bilm = recipe.new(tokens)
    training = Pretraining(bilm, tokens, replace(recipe.plan(Runtime(1)), batch=4), runtime)
    events = runtime.events
    training.buckets = GradientBuckets(training.parameters, sparse_names(bilm, training.softmax), runtime, 1 << 14)
    bilm.encoder.table.register_post_accumulate_grad_hook(lambda _: events.append("encoder"))
    training.begin()
    training._step(next(training.batches(0, 1)))
    before = events[: events.index("encoder")]
    assert before.count("send") >= 3
    assert "wait" not in before
    assert training.buckets.early == len(training.buckets.buckets)


def test_rows_that_several_ranks_have_are_added() -> None:
    total = sum_rows(torch.tensor([3, 1, 3]), torch.tensor([[1.0], [2.0], [5.0]]), torch.Size([5, 1]))
    assert total.to_dense()[:, 0].tolist() == [0, 2, 0, 6, 0]
