"""The LSTM layers of a biLM over streams of words for training: both directions, all layers, the state carried on.

`run_layers_reference` is the reference, written to be read. `run_layers` is the same, faster: on a CPU with the layers
of lstm_cpu.py, on a GPU with those of lstm_gpu.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from firth.neural.layers import CellState, ProjectedLstm
from firth.neural.state import BiLMState
from firth.neural.training import lstm_gpu
from firth.neural.training.lstm_cpu import run_layer

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

RunLayer = Callable[[ProjectedLstm, Tensor, CellState, Tensor | None], tuple[Tensor, CellState]]


@dataclass(frozen=True)
class Dropout:
    """Dropout whose masks depend on the seed, the step and the place in the model alone.

    Masks are drawn for the whole batch of `rows`; this process has the rows from `first_row` on. So processes that
    share a batch drop what one process would.

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
        """Vectors (steps, rows, dim) after dropout. Each place in the model has its own masks."""
        return vectors * self.mask(vectors, place) if self.rate else vectors

    def mask(self, vectors: Tensor, place: int) -> Tensor:
        """The factor of each number: 0, or 1 / (1 - rate)."""
        steps, here, dim = vectors.shape
        seed = np.random.SeedSequence((self.seed, self.step, place)).generate_state(1, np.uint64)[0] >> np.uint64(1)
        rng = torch.Generator(vectors.device).manual_seed(int(seed))
        uniform = torch.rand(steps, self.rows, dim, generator=rng, device=vectors.device)
        is_kept = uniform[:, self.first_row : self.first_row + here] >= self.rate
        return is_kept.to(vectors.dtype) / (1 - self.rate)


@dataclass(frozen=True)
class LayerInputs:
    """The vectors of words in reading order, (steps, rows, dim) for each direction, and the state before them.

    Dropout is applied to the inputs of each layer, also where a skip connection adds them, and to the outputs of the
    top layer. The state is reset where `fresh`, (steps, rows), is true.
    """

    forward: Tensor
    backward: Tensor
    state: BiLMState
    dropout: Dropout | None = None
    fresh: Tensor | None = None


def run_layers(bilm: BiLM, inputs: LayerInputs) -> tuple[Tensor, Tensor, BiLMState]:
    """The top hidden states, (steps, rows, dim) for each direction, and the final state, without gradients.

    This is the one place that decides which kernels train the layers.
    """
    if inputs.forward.dtype == torch.bfloat16 and lstm_gpu.fits(bilm, inputs.forward.device):
        return lstm_gpu.run_layers(bilm, inputs)
    weights = next(bilm.forward_layers.parameters())
    inputs = replace(inputs, forward=inputs.forward.to(weights), backward=inputs.backward.to(weights))
    return run_each_layer(run_layer, bilm, inputs)


def run_each_layer(run_layer: RunLayer, bilm: BiLM, inputs: LayerInputs) -> tuple[Tensor, Tensor, BiLMState]:
    """As `run_layers`; `run_layer` runs one direction of one layer."""
    tops, cell, hidden = [], [], []
    state, dropout, fresh = inputs.state, inputs.dropout, inputs.fresh
    directions = (bilm.forward_layers, inputs.forward), (bilm.backward_layers, inputs.backward)
    for direction, (layers, vectors) in enumerate(directions):
        for depth, layer in enumerate(layers):
            assert isinstance(layer, ProjectedLstm)
            if dropout is not None:
                vectors = dropout(vectors, direction * (len(layers) + 1) + depth)
            before = state.cell[direction, depth], state.hidden[direction, depth]
            outputs, after = run_layer(layer, vectors if layer.norm is None else layer.norm(vectors), before, fresh)
            vectors = outputs + vectors if bilm.architecture.skip and depth > 0 else outputs
            cell.append(after[0].detach())
            hidden.append(after[1].detach())
        if dropout is not None:
            vectors = dropout(vectors, direction * (len(layers) + 1) + len(layers))
        tops.append(vectors)
    end = BiLMState(*(torch.stack(parts).view(2, -1, *parts[0].shape) for parts in (cell, hidden)))
    return tops[0], tops[1], end


def run_layer_reference(
    layer: ProjectedLstm, inputs: Tensor, state: CellState, fresh: Tensor | None
) -> tuple[Tensor, CellState]:
    """One layer over inputs (steps, rows, dim), step by step: its hidden states and the final state."""
    outputs = []
    for step in range(len(inputs)):
        if fresh is not None:
            cell, hidden = state
            is_fresh = fresh[step][:, None]
            state = cell.masked_fill(is_fresh, 0), hidden.masked_fill(is_fresh, 0)
        state = layer.step(inputs[step], state)
        outputs.append(state[1])
    return torch.stack(outputs), state


run_layers_reference = partial(run_each_layer, run_layer_reference)
