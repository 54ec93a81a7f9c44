"""Layers that the networks of several tasks share. Padding never changes their output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from firth.errors import OptionError
from firth.neural.bilm import reverse_sentences
from firth.neural.device import work_sizes
from firth.neural.inference.transfer import to_device

RNNS = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
RnnKind = Literal["lstm", "gru", "rnn"]
Pooling = Literal["mean", "max", "min", "sum"]


class Bidirectional(nn.Module):
    """A bidirectional LSTM (or GRU, or plain RNN) of one or more layers.

    >>> lstm = Bidirectional(3, 5)
    >>> lstm(torch.ones(2, 4, 3), torch.tensor([4, 1])).shape  # (batch, time, 2 · hidden)
    torch.Size([2, 4, 10])
    """

    def __init__(
        self, size: int, hidden: int, *, layers: int = 1, kind: RnnKind = "lstm", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.size = 2 * hidden  # of the output
        self.dropout = VariationalDropout(dropout)  # of the input of each layer
        self.layers = nn.ModuleList()
        for depth in range(layers):
            input_size = 2 * hidden if depth else size
            self.layers.append(RNNS[kind](input_size, hidden, batch_first=True, bidirectional=True))
            _initialize(self.layers[-1])

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The hidden states, (batch, time, 2 · hidden), 0 beyond a sentence's length.

        The lengths are on the CPU, as in `Text`.
        """
        inside = to_device(sequence_mask(lengths, vectors.shape[1]).numpy(), vectors.device)[:, :, None]
        is_apart = not work_sizes(vectors.device).joins_directions and 2 * inside.sum() > inside.numel()
        for layer in self.layers:
            run = run_directions if is_apart and isinstance(layer, nn.LSTM) else run_packed
            vectors = run(layer, self.dropout(vectors), lengths) * inside
        return vectors


def run_packed(layer: nn.Module, inputs: Tensor, lengths: Tensor) -> Tensor:
    """The hidden states of a bidirectional layer, both directions at once and without padding. Fast on a GPU."""
    packing = Packing.of(lengths, inputs)
    return packing.unpack(layer(packing.pack(inputs))[0].data)


@dataclass(frozen=True)
class Packing:
    """Where the words of a batch are in a packed sequence: word by word, the sentences that have this word.

    torch's own functions copy each step and each sentence by itself.

    >>> vectors = torch.arange(6.0).view(2, 3, 1)
    >>> packing = Packing.of(torch.tensor([1, 3]), vectors)
    >>> packing.pack(vectors).data.flatten().tolist(), packing.sizes.tolist()
    ([3.0, 0.0, 4.0, 5.0], [2, 1, 1])
    >>> packing.unpack(packing.pack(vectors).data).flatten().tolist()
    [0.0, 0.0, 0.0, 3.0, 4.0, 5.0]
    """

    sizes: Tensor  # sentences that have a first, second, ... word, on the CPU
    places: Tensor  # of each packed word, among all words of the batch
    shape: tuple[int, int]  # sentences, time

    @classmethod
    def of(cls, lengths: Tensor, inputs: Tensor) -> Packing:
        """The packing of inputs (batch, time, size). An empty sentence is run as one word of padding; mask it."""
        shape = inputs.shape[0], inputs.shape[1]
        longest_first = np.argsort(-lengths.numpy(), kind="stable")
        counts = lengths.clamp(min=1).numpy()[longest_first]
        step, rank = np.nonzero(np.arange(counts.max(initial=0))[:, None] < counts)
        places = to_device(longest_first[rank] * shape[1] + step, inputs.device)
        return cls(torch.from_numpy(np.bincount(step)), places, shape)

    def pack(self, inputs: Tensor) -> PackedSequence:
        """The words of all sentences."""
        return PackedSequence(inputs.flatten(0, 1).index_select(0, self.places), self.sizes)

    def unpack(self, packed: Tensor) -> Tensor:
        """Packed words (words, size) as sentences (batch, time, size), zero beyond a sentence."""
        rows = packed.new_zeros(self.shape[0] * self.shape[1], packed.shape[1])
        return rows.index_copy(0, self.places, packed).view(*self.shape, -1)


def run_directions(layer: Any, inputs: Tensor, lengths: Tensor) -> Tensor:
    """As `run_packed`, but each direction by itself, with padding at the end.

    On a CPU this takes a half to two thirds of the time, gradients included, where there is little padding.
    """
    with torch.device("meta"):
        one_way = nn.LSTM(layer.input_size, layer.hidden_size, batch_first=True)
    names = [name for name, _ in one_way.named_parameters()]
    weights: dict[str, Tensor] = dict(layer.named_parameters())
    forward_weights = {name: weights[name] for name in names}
    backward_weights = {name: weights[name + "_reverse"] for name in names}
    forward = functional_call(one_way, forward_weights, (inputs,))[0]
    backward = functional_call(one_way, backward_weights, (reverse_sentences(inputs, lengths),))[0]
    return torch.cat([forward, reverse_sentences(backward, lengths)], 2)


def _initialize(layer: nn.Module) -> None:
    """Xavier-uniform input weights, orthogonal recurrent weights, zero biases, but 1 for the forget gate of an LSTM."""
    for name, parameter in layer.named_parameters():
        if name.startswith("weight_ih"):
            nn.init.xavier_uniform_(parameter)
        elif name.startswith("weight_hh"):
            for gate in torch.split(parameter.data, parameter.shape[1]):
                nn.init.orthogonal_(gate)
        else:
            nn.init.zeros_(parameter)
            if isinstance(layer, nn.LSTM) and name.startswith("bias_ih"):
                parameter.data[layer.hidden_size : 2 * layer.hidden_size] = 1


def final_states(hidden: Tensor, lengths: Tensor) -> Tensor:
    """The final state of each direction: forward at the last word, backward at the first.

    >>> hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]])  # one sentence of two words, padded
    >>> final_states(hidden, torch.tensor([2]))
    tensor([[3., 2.]])
    """
    half = hidden.shape[2] // 2
    last = (lengths - 1).clamp(min=0).to(hidden.device)
    forward = hidden[torch.arange(len(hidden), device=hidden.device), last, :half]
    return torch.cat([forward, hidden[:, 0, half:]], 1)


def sequence_mask(lengths: Tensor, time: int) -> Tensor:
    """True where there is a word, (batch, time), on the device of the lengths.

    >>> sequence_mask(torch.tensor([2, 0]), 3).tolist()
    [[True, True, False], [False, False, False]]
    """
    return torch.arange(time, device=lengths.device) < lengths[:, None]


def take_rows(table: Tensor, places: Tensor) -> Tensor:
    """The rows of a table at these places, of any shape: `table[places]`.

    On a GPU the gradients of rows that are taken many times are added without an order, which takes far less time.

    >>> take_rows(torch.tensor([5.0, 6.0]), torch.tensor([[0, 1], [1, 1]])).tolist()
    [[5.0, 6.0], [6.0, 6.0]]
    """
    if not table.is_cuda:
        return table[places]
    return table.index_select(0, places.flatten()).view(*places.shape, *table.shape[1:])


def take_few(table: Tensor, places: Tensor) -> Tensor:
    """As `take_rows`, of a table of few rows. On a GPU a product, whose gradient is a product, too.

    >>> take_few(torch.tensor([[5.0], [6.0]]), torch.tensor([1, 1])).tolist()
    [[6.0], [6.0]]
    """
    return functional.one_hot(places, len(table)).to(table) @ table if table.is_cuda else table[places]


def initialize_linear(*layers: nn.Linear) -> None:
    """Xavier-uniform weights and zero biases."""
    for layer in layers:
        nn.init.xavier_uniform_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def relu_layer(input_size: int, size: int) -> nn.Sequential:
    """A linear layer and a relu, with Kaiming initialization."""
    linear = nn.Linear(input_size, size)
    nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
    nn.init.zeros_(linear.bias)
    return nn.Sequential(linear, nn.ReLU())


class VariationalDropout(nn.Module):
    """Dropout with one mask for all words of a sentence, on vectors (batch, time, dim)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, vectors: Tensor) -> Tensor:
        if not self.training or not self.share:
            return vectors
        mask = torch.empty_like(vectors[:, :1]).bernoulli_(1 - self.share)
        return vectors * (mask / (1 - self.share))


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """The softmax over unmasked positions; 0 everywhere where all are masked.

    >>> masked_softmax(torch.zeros(2, 3), torch.tensor([[True, True, False], [False, False, False]]))
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 0.0000]])
    """
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim)
    return weights * mask  # where all are masked, the softmax alone would be uniform


def attend(queries: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
    """For each query the mean of the keys, weighted by softmax(query · key).

    Queries are (batch, m, dim), keys (batch, n, dim) with their mask (batch, n); the result is (batch, m, dim).
    """
    weights = masked_softmax(queries @ keys.transpose(1, 2), mask[:, None, :])  # (batch, m, n)
    return weights @ keys


def pool(vectors: Tensor, mask: Tensor, how: Pooling) -> Tensor:
    """One vector for each sentence, (batch, time, dim) to (batch, dim); 0 for a sentence without words.

    >>> vectors = torch.tensor([[[1.0], [3.0], [99.0]]])
    >>> mask = torch.tensor([[True, True, False]])
    >>> [pool(vectors, mask, how).item() for how in ("mean", "max", "min", "sum")]
    [2.0, 3.0, 1.0, 4.0]
    """
    inside = mask[:, :, None]
    if how in ("mean", "sum"):
        total = (vectors * inside).sum(1)
        return total if how == "sum" else total / inside.sum(1).clamp(min=1)
    limits = torch.finfo(vectors.dtype)
    if how == "max":
        pooled = vectors.masked_fill(~inside, limits.min).amax(1)
    else:
        pooled = vectors.masked_fill(~inside, limits.max).amin(1)
    return pooled * mask.any(1)[:, None]


def require_finite(numbers: Tensor) -> Tensor:
    """The scores of a network, if none is NaN or infinite. Weights of absurd size make such scores.

    >>> require_finite(torch.tensor([1.0, torch.nan]))
    Traceback (most recent call last):
    firth.errors.OptionError: the network gives numbers that are NaN or infinite: its weights are damaged
    """
    if not bool(torch.isfinite(numbers).all()):
        raise OptionError("the network gives numbers that are NaN or infinite: its weights are damaged")
    return numbers
