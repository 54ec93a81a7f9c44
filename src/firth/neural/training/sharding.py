"""ZeRO-1: each process keeps the optimizer state of a part of the parameters, updates that part, and sends it around.

A dense parameter belongs to one process. A table with sparse gradients, such as the weights of the softmax, is split by
rows, since it alone may be most of the model. Gradients are complete on every process: clipping is that of one process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import torch
from torch import Tensor, nn

from firth.neural.softmax import sparse_rows
from firth.neural.training.buckets import spread
from firth.neural.training.optimizers import Kind, Optimizer, RowOptimizer
from firth.runtime import Runtime

STATE_KEYS = "step", "exp_avg", "exp_avg_sq", "sum", "momentum_buffer"  # of Adam, Adagrad and Muon


class ShardedOptimizer(Optimizer):
    """As `Optimizer`, with the state of all parameters split over the processes. The weights are the same."""

    def __init__(
        self,
        kind: Kind,
        parameters: Mapping[str, nn.Parameter],
        sparse: Iterable[str],
        decay: float,
        runtime: Runtime,
    ) -> None:
        self.runtime, names = runtime, list(sparse)
        self.tables = {name: parameters[name] for name in names}
        self.dense = {name: one for name, one in parameters.items() if name not in self.tables}
        self.owners = assign({name: one.numel() for name, one in self.dense.items()}, runtime.size)
        super().__init__(kind, {name: self.dense[name] for name in self.dense if self._is_mine(name)}, [], decay)
        self.spans = {name: range(len(one))[runtime.shard(len(one))] for name, one in self.tables.items()}
        self.shards = {  # views of this process's rows, which have the same memory
            name: nn.Parameter(table.detach()[self.spans[name].start : self.spans[name].stop])
            for name, table in self.tables.items()
        }
        if self.shards:
            self.parts.append(RowOptimizer(kind, self.shards.values()))
        self.parameters |= self.shards

    def _is_mine(self, name: str) -> bool:
        return self.owners[name] == self.runtime.rank

    def step(self, rate: float) -> None:
        """One step of this process's part, then the exchange of the updated weights."""
        changed: dict[str, Tensor] = {}
        for name, table in self.tables.items():
            if table.grad is None:
                continue
            grad, span = table.grad.coalesce(), self.spans[name]
            rows = changed[name] = grad.indices()[0]
            mine = (rows >= span.start) & (rows < span.stop)
            self.shards[name].grad = sparse_rows(rows[mine] - span.start, grad.values()[mine], self.shards[name].shape)
            table.grad = None
        super().step(rate)
        with torch.no_grad():
            for name, rows in changed.items():
                span = self.spans[name]
                own = rows[(rows >= span.start) & (rows < span.stop)]
                self.tables[name][rows] = torch.cat(self.runtime.gather(self.tables[name].detach()[own]))
            for rank in range(self.runtime.size):
                theirs = [one.detach() for name, one in self.dense.items() if self.owners[name] == rank]
                if theirs:
                    flat = torch.cat([one.reshape(-1) for one in theirs])
                    self.runtime.copy_from(rank, flat)
                    spread(flat, theirs)
        for one in self.dense.values():
            one.grad = None

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The whole optimizer state, by name. All processes call it; only the first gets all values."""
        mine = dict(super().tensors())
        for name, parameter in self.dense.items():
            has = torch.tensor([float(f"{name}/{key}" in mine) for key in STATE_KEYS], device=parameter.device)
            self.runtime.copy_from(self.owners[name], has)
            for key, is_there in zip(STATE_KEYS, has.tolist()):
                if not is_there:
                    continue
                blank = torch.zeros(() if key == "step" else parameter.shape, device=parameter.device)
                value = mine[f"{name}/{key}"].to(blank) if self._is_mine(name) else blank
                self.runtime.copy_from(self.owners[name], value)
                yield f"{name}/{key}", value.cpu()
        for name in self.shards:
            for key in STATE_KEYS:
                if f"{name}/{key}" in mine:  # on every process
                    value = mine[f"{name}/{key}"]
                    yield f"{name}/{key}", value if key == "step" else torch.cat(self.runtime.gather(value)).cpu()

    def load(self, tensors: Mapping[str, Tensor], device: torch.device) -> None:
        """Restores this process's part of a whole state, which any number of processes may have written."""
        own: dict[str, Tensor] = {}
        for key, value in tensors.items():
            name, what = key.rsplit("/", 1)
            if name in self.spans and what != "step":
                own[key] = value[self.spans[name].start : self.spans[name].stop]
            elif name in self.parameters:
                own[key] = value
        super().load(own, device)


def assign(sizes: Mapping[str, int], ranks: int) -> dict[str, int]:
    """The rank that each parameter belongs to: the largest first, each to the rank that has least.

    >>> assign({"a": 5, "b": 3, "c": 3}, 2)
    {'a': 0, 'b': 1, 'c': 1}
    """
    loads = [0] * ranks
    owners: dict[str, int] = {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        owners[name] = loads.index(min(loads))
        loads[owners[name]] += sizes[name]
    return {name: owners[name] for name in sizes}
