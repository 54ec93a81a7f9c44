"""How a word is told from what an LSTM says: three ways to train it, one meaning.

The probability of word w after h is softmax(weight · h + bias)[w]. `FullSoftmax` computes just that, some words of the
text at a time, so that a table of text × vocabulary never exists. `SampledSoftmax` compares each word with a few others
that are drawn anew for every batch; `AdaptiveSoftmax` (in adaptive.py) sorts rare words into clusters. For each of them
`loss` is what training lowers, in nats a word, and `log_prob` is exact. A target of -1 is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firth.neural.device import work_sizes
from firth.neural.training import softmax_gpu


class Softmax(Protocol):
    """What tells words. `step` is the number of the batch, on which random numbers depend.

    `draw` is the part of a loss that can be worked out ahead, from the targets alone, while a GPU is busy with others.
    """

    def draw(self, targets: Tensor, step: int) -> SampledWords | None: ...

    def loss(self, hidden: Tensor, targets: Tensor, step: int = 0, drawn: SampledWords | None = None) -> Tensor: ...

    def log_prob(self, hidden: Tensor, targets: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class SampledWords:
    """The words that the targets of a batch are set against, all words concerned, and where each stands among them."""

    rows: Tensor  # (words) ids, which rise
    against: Tensor  # (negatives) places in `rows`
    own: Tensor  # (targets) places in `rows`, or -1
    tries: int  # draws that it took to find the negatives

    def to(self, device: str | torch.device) -> SampledWords:
        """The same on a device."""
        rows, against, own = (one.to(device, non_blocking=True) for one in (self.rows, self.against, self.own))
        return SampledWords(rows, against, own, self.tries)

    def pinned(self) -> SampledWords:
        """The same in memory that a GPU can copy from while it works."""
        return SampledWords(self.rows.pin_memory(), self.against.pin_memory(), self.own.pin_memory(), self.tries)


class FullSoftmax:
    """Every word of the vocabulary at every place, exactly.

    >>> linear = nn.Linear(2, 3)
    >>> _ = linear.weight.data.zero_(), linear.bias.data.zero_()
    >>> round(FullSoftmax(linear).loss(torch.ones(4, 2), torch.tensor([0, 1, 2, -1])).item(), 4)  # log 3
    1.0986
    """

    def __init__(self, linear: nn.Linear) -> None:
        self.linear = linear

    def draw(self, targets: Tensor, step: int) -> SampledWords | None:
        """Nothing is drawn."""
        return None

    def loss(self, hidden: Tensor, targets: Tensor, step: int = 0, drawn: SampledWords | None = None) -> Tensor:
        """The mean of -log p of the targets, (n), after what was said, (n, dim)."""
        return cross_entropy(hidden, self.linear.weight, self.linear.bias, targets) / counted(targets)

    def log_prob(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """The logarithm of the probability of each target; 0 where there is none."""
        found = []
        for some, wanted in zip(*chunks(len(self.linear.weight), hidden, targets)):
            logits = self.linear(some.to(self.linear.weight.dtype)).float()
            found.append(picked(logits, wanted) - torch.where(wanted < 0, 0, logits.logsumexp(1)))
        return torch.cat(found) if found else hidden.new_zeros(0)


class SampledSoftmax(FullSoftmax):
    """Each target against the same few words, drawn from the vocabulary: the nth most frequent word about 1/n often.

    The words are drawn without repetition. So that their number and their frequency do not tell, the logarithm of the
    number of times that a word is expected among them is taken from what is said for it; a drawn word that is itself
    the target does not stand against it. One draw serves both directions. The gradient is sparse: it has rows for the
    words of the batch and the words drawn.
    """

    def __init__(self, linear: nn.Linear, negatives: int, seed: int = 1) -> None:
        super().__init__(linear)
        self.negatives, self.seed = negatives, seed

    def draw(self, targets: Tensor, step: int) -> SampledWords:
        """The words that belong to this step."""
        count = len(self.linear.weight)
        negatives, tries = draw_words(count, self.negatives, (self.seed, step))
        wanted = targets.cpu().numpy()
        is_met = np.zeros(count, np.bool_)
        is_met[negatives] = True
        is_met[wanted[wanted >= 0]] = True
        places = np.cumsum(is_met) - 1
        found = np.flatnonzero(is_met), places[negatives], np.where(wanted < 0, -1, places[wanted])
        rows, against, own = map(torch.from_numpy, found)
        return SampledWords(rows, against, own, tries)

    def loss(self, hidden: Tensor, targets: Tensor, step: int = 0, drawn: SampledWords | None = None) -> Tensor:
        """As of `FullSoftmax`, estimated from the words that belong to this step."""
        drawn = (drawn or self.draw(targets, step)).to(hidden.device)
        weight, bias = RowLookup.apply(self.linear.weight, self.linear.bias, drawn.rows)  # type: ignore[no-untyped-call]
        bias = bias - expected_counts(drawn.rows, drawn.tries, len(self.linear.weight)).log()
        function = softmax_gpu.SampledLossGpu if on_gpu(hidden) else SampledLoss
        learning = is_learning(hidden, weight)
        total: Tensor = function.apply(hidden, weight, bias, drawn.against, drawn.own, learning)  # type: ignore[no-untyped-call]
        return total / counted(targets)


def counted(targets: Tensor) -> Tensor:
    """How many targets there are, at least one."""
    return (targets >= 0).sum().clamp(min=1)


def is_learning(*tensors: Tensor) -> bool:
    """Whether gradients are wanted of any of these."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def on_gpu(hidden: Tensor) -> bool:
    """Whether the kernels of softmax_gpu.py are for what was said."""
    return hidden.dtype == torch.bfloat16 and softmax_gpu.fits(hidden)


def chunks(width: int, *tensors: Tensor) -> tuple[tuple[Tensor, ...], ...]:
    """Tensors in runs of rows, few enough that a table of them × width is small."""
    step = max(1, work_sizes(tensors[0].device).logits // max(1, width))
    return tuple(torch.split(tensor, step) for tensor in tensors)


def picked(table: Tensor, places: Tensor) -> Tensor:
    """The number at a place of each row, (n); 0 where the place is -1."""
    return torch.where(places < 0, 0, table.gather(1, places.clamp(min=0)[:, None])[:, 0])


def cross_entropy(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Σ -log softmax(weight · h + bias)[target], summed over the rows of `hidden`, (n, dim)."""
    function = softmax_gpu.CrossEntropyGpu if on_gpu(hidden) else CrossEntropyFunction
    learning = is_learning(hidden, weight, bias)
    total: Tensor = function.apply(hidden, weight, bias, targets, learning)  # type: ignore[no-untyped-call]
    return total


class CrossEntropyFunction(torch.autograd.Function):
    """`cross_entropy` some rows at a time: their gradients are taken at once, and the table of logits is let go.

    With e = exp(logit - the row's largest) and s = Σ e:  p = e / s, dh = p · weight - weight[target],
    dweight = Σ p ⊗ h - the sum of h by target. The rows of e are never divided: h is, which is narrower.
    Products are in the precision of `hidden`, sums in that of `weight`.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, learning: bool) -> Tensor:
        wide = weight.to(hidden.dtype)
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        to_hidden, to_weight, to_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        start = 0
        for some, wanted in zip(*chunks(len(weight), hidden, targets)):
            there, word = wanted >= 0, wanted.clamp(min=0)
            logits = logits_of(some, wide, bias)  # (rows, vocabulary)
            largest = logits.amax(1)
            said = logits.gather(1, word[:, None])[:, 0] - largest
            e = logits.sub_(largest[:, None]).exp_()
            s = e.sum(1)
            total += torch.where(there, s.log() - said, 0).sum()
            if learning:
                scale = (there / s)[:, None]
                lack = there.to(weight.dtype)[:, None]
                to_bias += torch.mv(e.T, scale[:, 0])
                e = e.to(hidden.dtype)
                to_hidden[start : start + len(some)] = (e @ wide) * scale - wide[word] * lack
                to_weight += e.T @ (some * scale).to(hidden.dtype)
                to_weight.index_add_(0, word, some * lack, alpha=-1)
                to_bias.index_add_(0, word, lack[:, 0].to(bias.dtype), alpha=-1)
            start += len(some)
        if learning:
            ctx.save_for_backward(to_hidden, to_weight, to_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        hidden, weight, bias = ctx.saved_tensors
        scale = grads[0]
        return hidden * scale.to(hidden.dtype), weight * scale, bias * scale, None, None


class SampledLoss(torch.autograd.Function):
    """Σ -log (e^own / (e^own + Σ e^others)): every row has its own word and all others that it is set against.

    `weight` (words, dim) and `bias` are those of all words concerned; `against` are the places there of the words that
    all rows are set against, `own` that of each row's own word, or -1 where it has none.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, against: Tensor, own: Tensor, learning: bool
    ) -> Tensor:
        wide = weight.to(hidden.dtype)
        others, other_bias = wide[against], bias[against]
        column = torch.full((len(weight),), -1, dtype=torch.int64, device=hidden.device)
        column[against] = torch.arange(len(against), device=hidden.device)
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        to_hidden, to_weight, to_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        to_others, to_other_bias = torch.zeros_like(weight[: len(against)]), torch.zeros_like(other_bias)
        start = 0
        for some, word in zip(*chunks(len(against), hidden, own)):
            there, word = word >= 0, word.clamp(min=0)
            mine = wide[word]  # (rows, dim)
            said = (some * mine).sum(1).to(bias.dtype) + bias[word]
            logits = logits_of(some, others, other_bias)  # (rows, against)
            hits = (column[word] >= 0).nonzero()[:, 0]
            logits[hits, column[word[hits]]] = -math.inf  # a word is not set against itself
            largest = torch.maximum(logits.amax(1), said)
            said = said - largest
            e = logits.sub_(largest[:, None]).exp_()
            s = e.sum(1) + said.exp()
            total += torch.where(there, s.log() - said, 0).sum()
            if learning:
                scale = (there / s)[:, None]
                lack = ((said.exp() / s - 1) * there)[:, None]
                to_other_bias += torch.mv(e.T, scale[:, 0])
                to_bias.index_add_(0, word, lack[:, 0])
                e = e.to(hidden.dtype)
                to_hidden[start : start + len(some)] = (e @ others) * scale + lack * mine
                to_others += e.T @ (some * scale).to(hidden.dtype)
                to_weight.index_add_(0, word, lack * some)
            start += len(some)
        if learning:
            to_weight.index_add_(0, against, to_others)
            to_bias.index_add_(0, against, to_other_bias)
            ctx.save_for_backward(to_hidden, to_weight, to_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        hidden, weight, bias = ctx.saved_tensors
        scale = grads[0]
        return hidden * scale.to(hidden.dtype), weight * scale, bias * scale, None, None, None


def logits_of(hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """weight · h + bias, (rows, words), in the precision of the bias."""
    if hidden.dtype == bias.dtype:
        return torch.addmm(bias, hidden, weight.T)
    return (hidden @ weight.T).to(bias.dtype).add_(bias)


class RowLookup(torch.autograd.Function):
    """Some rows of a table and of its bias, each once; their gradients are sparse, of these rows alone."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, rows: Tensor) -> tuple[Tensor, Tensor | None]:
        ctx.save_for_backward(rows)
        ctx.sizes = weight.shape, None if bias is None else bias.shape
        return weight[rows], None if bias is None else bias[rows]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (rows,) = ctx.saved_tensors
        made = [
            None if size is None or grad is None else sparse_rows(rows, grad, size)
            for size, grad in zip(ctx.sizes, grads)
        ]
        return *made, None


def sparse_rows(rows: Tensor, values: Tensor, size: Any) -> Tensor:
    """A sparse tensor that has these values in these rows, which rise."""
    return torch.sparse_coo_tensor(rows[None], values, size, check_invariants=False, is_coalesced=True)


def draw_words(count: int, wanted: int, seed: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
    """So many distinct ids below `count`, sorted, by the law of Zipf, and how many had to be drawn to find them.

    Id k has the probability log((k + 2) / (k + 1)) / log(count + 1).

    >>> draw_words(1000, 5, (1, 0))[0].tolist() == draw_words(1000, 5, (1, 0))[0].tolist()
    True
    """
    rng, drawn = np.random.default_rng(seed), np.zeros(0, np.int64)
    while True:
        more = np.exp(rng.random(2 * wanted + len(drawn)) * math.log(count + 1)).astype(np.int64) - 1
        drawn = np.concatenate([drawn, np.minimum(more, count - 1)])
        ids, firsts = np.unique(drawn, return_index=True)
        if len(ids) >= wanted:
            tries = int(np.partition(firsts, wanted - 1)[wanted - 1]) + 1
            return ids[firsts < tries], tries


def expected_counts(ids: Tensor, tries: int, count: int) -> Tensor:
    """How often each id is expected among the distinct ones of so many draws: 1 - (1 - p)^tries."""
    rank = ids.double()
    chance = (torch.log(rank + 2) - torch.log(rank + 1)) / math.log(count + 1)
    return -torch.expm1(tries * torch.log1p(-chance)).float()
