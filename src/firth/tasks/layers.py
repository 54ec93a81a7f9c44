"""Bricks that the networks of several tasks share. None of them ever sees padding."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from firth.neural.bilm import reverse_sentences
from firth.neural.inference.transfer import to_device

RNNS = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
RnnKind = Literal["lstm", "gru", "rnn"]
Pooling = Literal["mean", "max", "min", "sum"]


class Bidirectional(nn.Module):
    """Layers of an LSTM (or GRU, or plain RNN) that read sentences in both directions.

    >>> reader = Bidirectional(3, 5)
    >>> reader(torch.ones(2, 4, 3), torch.tensor([4, 1])).shape  # (batch, time, 2 · hidden)
    torch.Size([2, 4, 10])
    """

    def __init__(
        self, size: int, hidden: int, *, layers: int = 1, kind: RnnKind = "lstm", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.size = 2 * hidden  # of what comes out
        self.dropout = VariationalDropout(dropout)  # of what goes into each layer
        self.layers = nn.ModuleList()
        for depth in range(layers):
            given = 2 * hidden if depth else size
            self.layers.append(RNNS[kind](given, hidden, batch_first=True, bidirectional=True))
            _initialize(self.layers[-1])

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """What is said at every word, (batch, time, 2 · hidden), zeros beyond a sentence's length.

        The lengths lie on the CPU, as they do in `Text`.
        """
        inside = to_device(sequence_mask(lengths, vectors.shape[1]).numpy(), vectors.device)[:, :, None]
        for layer in self.layers:
            given = self.dropout(vectors)
            if isinstance(layer, nn.LSTM) and not vectors.is_cuda and 2 * inside.sum() > inside.numel():
                vectors = run_directions(layer, given, lengths) * inside
            else:
                vectors = run_packed(layer, given, lengths) * inside
        return vectors


def run_packed(layer: nn.Module, vectors: Tensor, lengths: Tensor) -> Tensor:
    """What a bidirectional layer says, both directions at once and without padding: the way for a GPU."""
    # An empty sentence is read as one word of padding; whoever calls this masks it. Sentences are sorted here, since
    # torch would send their order to a GPU in a way that waits until all else is done.
    some, order = torch.sort(lengths.clamp(min=1), descending=True, stable=True)
    back = torch.argsort(order)
    longest_first = vectors[to_device(order.numpy(), vectors.device)]
    packed = pack_padded_sequence(longest_first, some, batch_first=True)
    said, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=vectors.shape[1])
    return said[to_device(back.numpy(), vectors.device)]


def run_directions(layer: nn.LSTM, vectors: Tensor, lengths: Tensor) -> Tensor:
    """As `run_packed`, each direction by itself, padding last.

    On a CPU this takes a half to two thirds of the time, gradients included, where there is little padding.
    """
    with torch.device("meta"):
        one_way = nn.LSTM(layer.input_size, layer.hidden_size, batch_first=True)
    names = [name for name, _ in one_way.named_parameters()]
    weights: dict[str, Tensor] = dict(layer.named_parameters())
    ahead = {name: weights[name] for name in names}
    behind = {name: weights[name + "_reverse"] for name in names}
    forwards = functional_call(one_way, ahead, (vectors,))[0]
    backwards = functional_call(one_way, behind, (reverse_sentences(vectors, lengths),))[0]
    return torch.cat([forwards, reverse_sentences(backwards, lengths)], 2)


def _initialize(layer: nn.Module) -> None:
    """Even input weights, orthogonal recurrent ones; an LSTM's forget gate begins open."""
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


def final_states(said: Tensor, lengths: Tensor) -> Tensor:
    """What both directions say when they have read all: forwards at the last word, backwards at the first.

    >>> said = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]])  # one sentence of two words, padded
    >>> final_states(said, torch.tensor([2]))
    tensor([[3., 2.]])
    """
    half = said.shape[2] // 2
    last = (lengths - 1).clamp(min=0).to(said.device)
    forwards = said[torch.arange(len(said), device=said.device), last, :half]
    return torch.cat([forwards, said[:, 0, half:]], 1)


def sequence_mask(lengths: Tensor, time: int) -> Tensor:
    """True where a word stands, (batch, time), on the device of the lengths.

    >>> sequence_mask(torch.tensor([2, 0]), 3).tolist()
    [[True, True, False], [False, False, False]]
    """
    return torch.arange(time, device=lengths.device) < lengths[:, None]


def relu_layer(given: int, size: int) -> nn.Sequential:
    """A linear layer and a relu, drawn so that what goes through many of them keeps its variance."""
    linear = nn.Linear(given, size)
    nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
    nn.init.zeros_(linear.bias)
    return nn.Sequential(linear, nn.ReLU())


class VariationalDropout(nn.Module):
    """Dropout that leaves out the same numbers at every word of a sentence, of vectors (batch, time, dim)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, vectors: Tensor) -> Tensor:
        if not self.training or not self.share:
            return vectors
        kept = torch.empty_like(vectors[:, :1]).bernoulli_(1 - self.share)
        return vectors * (kept / (1 - self.share))


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """The softmax over what the mask allows; all zeros where it allows nothing.

    >>> masked_softmax(torch.zeros(2, 3), torch.tensor([[True, True, False], [False, False, False]]))
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 0.0000]])
    """
    lowest = torch.finfo(scores.dtype).min
    shares = torch.softmax(scores.masked_fill(~mask, lowest), dim)
    return shares * mask  # where all is masked the softmax is even, and this takes it away


def attend(queries: Tensor, keys: Tensor, mask: Tensor, values: Tensor | None = None) -> Tensor:
    """For each query the mean of values (the keys, if there are none), weighted by softmax(query · key).

    Queries are (batch, m, dim), keys (batch, n, dim) with their mask (batch, n), and (batch, m, dim) comes back.
    """
    shares = masked_softmax(queries @ keys.transpose(1, 2), mask[:, None, :])  # (batch, m, n)
    return shares @ (keys if values is None else values)


def pool(vectors: Tensor, mask: Tensor, how: Pooling) -> Tensor:
    """One vector of a sentence's words, (batch, time, dim) to (batch, dim); zeros where it has no words.

    >>> vectors = torch.tensor([[[1.0], [3.0], [99.0]]])
    >>> mask = torch.tensor([[True, True, False]])
    >>> [pool(vectors, mask, how).item() for how in ("mean", "max", "min", "sum")]
    [2.0, 3.0, 1.0, 4.0]
    """
    inside = mask[:, :, None]
    if how in ("mean", "sum"):
        total = (vectors * inside).sum(1)
        return total if how == "sum" else total / inside.sum(1).clamp(min=1)
    edge = torch.finfo(vectors.dtype)
    found = vectors.masked_fill(~inside, edge.min).amax(1) if how == "max" else None
    if found is None:
        found = vectors.masked_fill(~inside, edge.max).amin(1)
    return found * mask.any(1)[:, None]
