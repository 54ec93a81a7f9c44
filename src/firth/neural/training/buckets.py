"""Gradients summed over ranks in buckets, while the backward pass still computes the next ones.

The backward pass computes the gradients of the softmax first, then those of the LSTMs from the top down, and those of
the word encoder last. A bucket is sent as soon as its gradients are complete. All ranks send them in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from firth.neural.softmax import sparse_rows
from firth.runtime import Runtime

BUCKET = 4 << 20  # bytes; smaller gradients are sent together


class GradientBuckets:
    """The gradients of parameters, summed over all ranks.

    `sparse` names the parameters with sparse gradients: these are sent as rows, never as whole tables, and rows that
    several ranks have are added. A gradient that a rank lacks counts as zero there; one that all lack stays None. Call
    `begin` before the backward pass of the last part of a batch, `finish` after it.

    >>> bias = nn.Parameter(torch.zeros(2))
    >>> buckets = GradientBuckets({"bias": bias}, [], Runtime(1))
    >>> buckets.begin(); (3 * bias).sum().backward(); buckets.finish()
    >>> bias.grad
    tensor([3., 3.])
    """

    def __init__(
        self, parameters: Mapping[str, nn.Parameter], sparse: Iterable[str], runtime: Runtime, size: int = BUCKET
    ) -> None:
        self.runtime, names = runtime, set(sparse)
        self.sparse = {one for name, one in parameters.items() if name in names}
        self.buckets = group(parameters, names, size)
        self.early = 0  # buckets that were sent before the end of the last backward pass
        self._waiting: list[Callable[[], None]] = []
        self._place: dict[nn.Parameter, int] = {}
        self._missing: list[int] = []
        self._is_begun = False
        if runtime.size == 1:
            return
        for place, bucket in enumerate(self.buckets):
            for one in bucket:
                self._place[one] = place
                one.register_post_accumulate_grad_hook(self._note)  # type: ignore[no-untyped-call]

    def begin(self) -> None:
        """From here on, gradients are complete when the backward pass has computed them."""
        self._missing = [len(bucket) for bucket in self.buckets]
        self._is_begun, self.early = True, 0

    def _note(self, parameter: nn.Parameter) -> None:
        """A gradient is complete; sends the buckets whose turn it is."""
        if not self._is_begun:
            return
        self._missing[self._place[parameter]] -= 1
        while self.early < len(self.buckets) and self._missing[self.early] == 0:
            self._send(self.buckets[self.early])
            self.early += 1

    def finish(self, also: Iterable[Tensor] = ()) -> None:
        """Sends what is left, waits for all sums, and replaces the tensors of `also` by their sums."""
        self._is_begun = False
        if self.runtime.size == 1:
            for one in self.sparse:
                one.grad = None if one.grad is None else one.grad.coalesce()  # parts of a batch may repeat rows
        else:
            for bucket in self.buckets[self.early :]:  # those of which a gradient is missing, and what follows them
                self._send(bucket)
            self.runtime.add_up(also)
        for wait in self._waiting:
            wait()
        self._waiting.clear()

    def _send(self, bucket: list[nn.Parameter]) -> None:
        if bucket[0] in self.sparse:
            self._send_rows(bucket[0])
        else:
            self._send_dense(bucket)

    def _send_dense(self, bucket: list[nn.Parameter]) -> None:
        """Sends the gradients as one tensor, and how many ranks have each."""
        grads = [one.detach().new_zeros(one.shape) if one.grad is None else one.grad for one in bucket]
        counts = torch.tensor([float(one.grad is not None) for one in bucket]).to(grads[0])
        flat = torch.cat([*(grad.reshape(-1) for grad in grads), counts])
        wait = self.runtime.begin_add_up(flat)

        def take() -> None:
            wait()
            spread(flat, [*grads, counts])
            for one, grad, count in zip(bucket, grads, counts.tolist()):
                one.grad = grad if count else None

        self._waiting.append(take)

    def _send_rows(self, parameter: nn.Parameter) -> None:
        """Sends the rows that the gradient of a table has."""
        table = parameter.detach()
        empty = sparse_rows(torch.zeros(0, dtype=torch.int64, device=table.device), table[:0], table.shape)
        grad = empty if parameter.grad is None else parameter.grad.coalesce()
        rows = self.runtime.begin_gather(grad.indices()[0])
        values = self.runtime.begin_gather(grad.values())

        def take() -> None:
            every = torch.cat(rows())
            total = sum_rows(every, torch.cat(values()), parameter.shape)
            parameter.grad = total if len(every) else None

        self._waiting.append(take)


def group(parameters: Mapping[str, nn.Parameter], sparse: set[str], size: int) -> list[list[nn.Parameter]]:
    """The parameters from the last to the first, in buckets of about `size` bytes; a sparse one has its own.

    >>> one, two, table = (nn.Parameter(torch.zeros(count)) for count in (300, 300, 5))
    >>> [len(bucket) for bucket in group({"one": one, "two": two, "table": table}, {"table"}, 2000)]
    [1, 1, 1]
    >>> [len(bucket) for bucket in group({"one": one, "two": two, "table": table}, {"table"}, 4000)]
    [1, 2]
    """
    buckets: list[list[nn.Parameter]] = []
    room = 0
    for name, one in reversed(list(parameters.items())):
        bytes_of = one.numel() * one.element_size()
        if name in sparse or bytes_of > room:
            buckets.append([])
            room = size
        buckets[-1].append(one)
        room = 0 if name in sparse else room - bytes_of
    return buckets


def spread(flat: Tensor, grads: list[Tensor]) -> None:
    """Copies the parts of a flat tensor to the gradients."""
    for grad, part in zip(grads, torch.split(flat, [grad.numel() for grad in grads])):
        grad.copy_(part.view_as(grad))


def sum_rows(rows: Tensor, values: Tensor, shape: torch.Size) -> Tensor:
    """A sparse gradient of rows; those that occur several times are added.

    >>> sum_rows(torch.tensor([7, 2, 7]), torch.tensor([[1.0], [2.0], [3.0]]), torch.Size([9, 1])).coalesce().values()
    tensor([[2.],
            [4.]])
    """
    distinct, places = torch.unique(rows, return_inverse=True)
    total = values.new_zeros(len(distinct), *values.shape[1:]).index_add_(0, places, values)
    return sparse_rows(distinct, total, shape)
