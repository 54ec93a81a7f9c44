"""The LSTMs of a biLM over streams of words, as training reads them: both directions, all layers, the state carried on.

`run_layers_reference` is the reference, written to be read. `run_layers` gives the same numbers sooner: on a CPU with
the layers of lstm_cpu.py, on a GPU with those of lstm_gpu.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from firth.neural.layers import CellState, ProjectedLstm
from firth.neural.state import BiLMState
from firth.neural.training import lstm_gpu
from firth.neural.training.lstm_cpu import read_layer

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM


@dataclass(frozen=True)
class Dropout:
    """Sets numbers to zero at random and makes the others larger; which ones depends on the seed, step and place alone.

    Masks are drawn for the whole batch of `rows`, of which those from `first_row` on are here: processes that share a
    batch drop what one would.

    >>> Dropout(0.5, seed=1, step=3, rows=2)(torch.ones(1, 2, 4), 0)
    tensor([[[0., 0., 0., 2.],
             [2., 0., 0., 0.]]])
    """

    rate: float
    seed: int
    step: int
    rows: int
    first_row: int = 0

    def __call__(self, vectors: Tensor, place: int) -> Tensor:
        """Vectors (steps, rows, dim) with some of their numbers gone. Each place of the model has masks of its own."""
        return vectors * self.mask(vectors, place) if self.rate else vectors

    def mask(self, vectors: Tensor, place: int) -> Tensor:
        """What vectors are multiplied with: 0, or 1 / (1 - rate)."""
        steps, here, dim = vectors.shape
        rng = torch.Generator(vectors.device).manual_seed(number_of(self.seed, self.step, place))
        drawn = torch.rand(steps, self.rows, dim, generator=rng, device=vectors.device)
        kept = drawn[:, self.first_row : self.first_row + here] >= self.rate
        return kept.to(vectors.dtype) / (1 - self.rate)


def number_of(*numbers: int) -> int:
    """One number, at random, for several; always the same."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def run_layers(
    bilm: BiLM,
    forward: Tensor,
    backward: Tensor,
    state: BiLMState,
    dropout: Dropout | None = None,
    fresh: Tensor | None = None,
) -> tuple[Tensor, Tensor, BiLMState]:
    """What the top layers say, (steps, rows, dim) for each direction, and the state that is left, without gradients.

    `forward` and `backward` are words' vectors in the order that they are read, (steps, rows, dim). Dropout takes from
    what each layer is given, also where a skip connection adds it, and from what the top layer says. Where `fresh`,
    (steps, rows), is true the LSTMs forget all before they read on.
    """
    if forward.dtype == torch.bfloat16 and lstm_gpu.fits(bilm, forward.device):
        return lstm_gpu.read_streams(bilm, forward, backward, state, dropout, fresh)
    weights = next(bilm.forward_layers.parameters())
    return _read(bilm, forward.to(weights), backward.to(weights), state, dropout, fresh, read_layer)


def run_layers_reference(
    bilm: BiLM,
    forward: Tensor,
    backward: Tensor,
    state: BiLMState,
    dropout: Dropout | None = None,
    fresh: Tensor | None = None,
) -> tuple[Tensor, Tensor, BiLMState]:
    """As `run_layers`: the reference."""
    return _read(bilm, forward, backward, state, dropout, fresh, step_by_step)


ReadLayer = Callable[[ProjectedLstm, Tensor, CellState, Tensor | None], tuple[Tensor, CellState]]


def _read(
    bilm: BiLM,
    forward: Tensor,
    backward: Tensor,
    state: BiLMState,
    dropout: Dropout | None,
    fresh: Tensor | None,
    read_layer: ReadLayer,
) -> tuple[Tensor, Tensor, BiLMState]:
    tops, cells, said = [], [], []
    directions: list[tuple[nn.ModuleList, Tensor]] = [(bilm.forward_layers, forward), (bilm.backward_layers, backward)]
    for direction, (layers, vectors) in enumerate(directions):
        for depth, layer in enumerate(layers):
            assert isinstance(layer, ProjectedLstm)
            if dropout is not None:
                vectors = dropout(vectors, direction * (len(layers) + 1) + depth)
            before = state.cell[direction, depth], state.hidden[direction, depth]
            given = vectors if layer.norm is None else layer.norm(vectors)
            spoken, end = read_layer(layer, given, before, fresh)
            vectors = spoken + vectors if bilm.architecture.skip and depth > 0 else spoken
            cells.append(end[0].detach())
            said.append(end[1].detach())
        if dropout is not None:
            vectors = dropout(vectors, direction * (len(layers) + 1) + len(layers))
        tops.append(vectors)
    after = BiLMState(*(torch.stack(parts).view(2, -1, *parts[0].shape) for parts in (cells, said)))
    return tops[0], tops[1], after


def step_by_step(
    layer: ProjectedLstm, vectors: Tensor, state: CellState, fresh: Tensor | None
) -> tuple[Tensor, CellState]:
    """One layer over vectors (steps, rows, dim), one step after another: what it says, and what it remembers."""
    outputs = []
    for step in range(len(vectors)):
        if fresh is not None:
            cells, said = state
            gone = fresh[step][:, None]
            state = cells.masked_fill(gone, 0), said.masked_fill(gone, 0)
        state = layer.step(vectors[step], state)
        outputs.append(state[1])
    return torch.stack(outputs), state
