"""The softmax of a language model, with three ways to train it.

The probability of word w given the hidden state h is softmax(weight · h + bias)[w]. `FullSoftmax` computes exactly
that, some rows at a time, so that a table of text × vocabulary never exists. `SampledSoftmax` compares each target with
a few words that are drawn anew for every batch; `AdaptiveSoftmax` (adaptive_softmax.py) puts rare words into clusters.
Each has a `loss` for training, in nats per word, and an exact `log_prob`. A target of -1 is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firth.neural.device import TensorRecord, work_sizes
from firth.neural.training import softmax_gpu
from firth.neural.training.softmax_gpu import LossFunction, column_of


class Softmax(Protocol):
    """A softmax in training. `step` is the number of the batch, on which random numbers depend.

    `draw` is the part of a loss that needs the targets alone, so it can run ahead while a GPU is busy.
    """

    def draw(self, targets: Tensor, step: int) -> SampledWords | None: ...

    def loss(self, hidden: Tensor, targets: Tensor, step: int = 0, drawn: SampledWords | None = None) -> Tensor: ...

    def log_prob(self, hidden: Tensor, targets: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class SampledWords(TensorRecord):
    """The negatives of a batch, and the ids of all words in its loss: negatives and targets."""

    rows: Tensor  # (words) ids, ascending
    negatives: Tensor  # (negatives) places in `rows`
    targets: Tensor  # (targets) places in `rows`, or -1
    tries: int  # draws that it took to find the negatives


class FullSoftmax:
    """The softmax over the whole vocabulary.

    >>> linear = nn.Linear(2, 3)
    >>> _ = linear.weight.data.zero_(), linear.bias.data.zero_()
    >>> round(FullSoftmax(linear).loss(torch.ones(4, 2), torch.tensor([0, 1, 2, -1])).item(), 4)  # log 3
    1.0986
    """

    def __init__(self, linear: nn.Linear) -> None:
        self.linear = linear

    def draw(self, targets: Tensor, step: int) -> SampledWords | None:
        """None: no words are sampled."""
        return None

    def loss(self, hidden: Tensor, targets: Tensor, step: int = 0, drawn: SampledWords | None = None) -> Tensor:
        """The mean of -log p of the targets, (n), given hidden states, (n, dim)."""
        return cross_entropy(hidden, self.linear.weight, self.linear.bias, targets) / count_targets(targets)

    def log_prob(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """The log probability of each target; 0 where there is none."""
        log_probs = []
        for rows, target in zip(*split_rows(len(self.linear.weight), hidden, targets)):
            logits = self.linear(rows.to(self.linear.weight.dtype)).float()
            log_probs.append(pick(logits, target) - torch.where(target < 0, 0, logits.logsumexp(1)))
        return torch.cat(log_probs) if log_probs else hidden.new_zeros(0)


class SampledSoftmax(FullSoftmax):
    """Each target against the same few negatives, drawn from a Zipfian distribution over the vocabulary.

    The negatives are drawn without repetition. The logit of each word is corrected by the logarithm of its expected
    count among them, so that their number and frequency do not bias the loss; a negative that equals the target is left
    out. One draw serves both directions. The gradient is sparse: it has rows for the targets and the negatives.
    """

    def __init__(self, linear: nn.Linear, negatives: int, seed: int = 1) -> None:
        super().__init__(linear)
        self.negatives, self.seed = negatives, seed

    def draw(self, targets: Tensor, step: int) -> SampledWords:
        """The negatives of this step."""
        count = len(self.linear.weight)
        negatives, tries = draw_words(count, self.negatives, (self.seed, step))
        ids = targets.cpu().numpy()
        is_used = np.zeros(count, np.bool_)
        is_used[negatives] = True
        is_used[ids[ids >= 0]] = True
        places = np.cumsum(is_used) - 1
        arrays = np.flatnonzero(is_used), places[negatives], np.where(ids < 0, -1, places[ids])
        rows, negative_rows, target_rows = map(torch.from_numpy, arrays)
        return SampledWords(rows, negative_rows, target_rows, tries)

    def loss(self, hidden: Tensor, targets: Tensor, step: int = 0, drawn: SampledWords | None = None) -> Tensor:
        """As `FullSoftmax.loss`, estimated from the negatives of this step."""
        drawn = (drawn or self.draw(targets, step)).to(hidden.device)
        weight, bias = RowLookup.apply(self.linear.weight, self.linear.bias, drawn.rows)  # type: ignore[no-untyped-call]
        bias = bias - expected_counts(drawn.rows, drawn.tries, len(self.linear.weight)).log()
        function = softmax_gpu.SampledLossGpu if runs_on_gpu(hidden) else SampledLoss
        wants_grad = needs_grad(hidden, weight)
        total: Tensor = function.apply(hidden, weight, bias, drawn.negatives, drawn.targets, wants_grad)  # type: ignore[no-untyped-call]
        return total / count_targets(targets)


def count_targets(targets: Tensor) -> Tensor:
    """The number of targets, at least one."""
    return (targets >= 0).sum().clamp(min=1)


def needs_grad(*tensors: Tensor) -> bool:
    """Whether a gradient is needed for any of these tensors."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def runs_on_gpu(hidden: Tensor) -> bool:
    """Whether the kernels of softmax_gpu.py run: in bfloat16, where they support the hidden states."""
    return hidden.dtype == torch.bfloat16 and softmax_gpu.fits(hidden)


def split_rows(width: int, *tensors: Tensor) -> tuple[tuple[Tensor, ...], ...]:
    """Tensors split into runs of rows, few enough that a table of rows × width is small."""
    step = max(1, work_sizes(tensors[0].device).logits // max(1, width))
    return tuple(torch.split(tensor, step) for tensor in tensors)


def pick(table: Tensor, places: Tensor) -> Tensor:
    """The number at one place of each row, (n); 0 where the place is -1."""
    return torch.where(places < 0, 0, table.gather(1, places.clamp(min=0)[:, None])[:, 0])


def cross_entropy(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Σ -log softmax(weight · h + bias)[target], summed over the rows of `hidden`, (n, dim)."""
    function = softmax_gpu.CrossEntropyGpu if runs_on_gpu(hidden) else CrossEntropyFunction
    total: Tensor = function.apply(hidden, weight, bias, targets, needs_grad(hidden, weight, bias))  # type: ignore[no-untyped-call]
    return total


class CrossEntropyFunction(LossFunction):
    """`cross_entropy` some rows at a time: their gradients are computed at once, and the table of logits is freed.

    With e = exp(logit - the row's largest) and s = Σ e:  p = e / s, grad_hidden = p · weight - weight[target],
    grad_weight = Σ p ⊗ h - the sum of h by target. The rows of e are never divided: h is, which is narrower.
    Products are in the precision of `hidden`, sums in that of `weight`.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, needs_grad: bool) -> Tensor:
        factors = weight.to(hidden.dtype)
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        grad_hidden, grad_weight, grad_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        start = 0
        for rows, target in zip(*split_rows(len(weight), hidden, targets)):
            is_target, word = target >= 0, target.clamp(min=0)
            logits = logits_of(rows, factors, bias)  # (rows, vocabulary)
            largest = logits.amax(1)
            target_logit = logits.gather(1, word[:, None])[:, 0] - largest
            e = logits.sub_(largest[:, None]).exp_()
            s = e.sum(1)
            total += torch.where(is_target, s.log() - target_logit, 0).sum()
            if needs_grad:
                counts = is_target.to(weight.dtype)[:, None]
                products = add_gradients(e, (is_target / s)[:, None], rows, factors, grad_weight, grad_bias)
                grad_hidden[start : start + len(rows)] = products - factors[word] * counts
                grad_weight.index_add_(0, word, rows * counts, alpha=-1)
                grad_bias.index_add_(0, word, counts[:, 0].to(bias.dtype), alpha=-1)
            start += len(rows)
        if needs_grad:
            ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return total


class SampledLoss(LossFunction):
    """Σ -log (e^target / (e^target + Σ e^negatives)), summed over the rows of `hidden`.

    `weight` (words, dim) and `bias` are those of all words in the loss; `negatives` and `targets` are places there. A
    target of -1 is none.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, negatives: Tensor, targets: Tensor, needs_grad: bool
    ) -> Tensor:
        factors = weight.to(hidden.dtype)
        negative_weight, negative_bias = factors[negatives], bias[negatives]
        column = column_of(negatives, len(weight))
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        grad_hidden, grad_weight, grad_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        grad_negatives = torch.zeros_like(weight[: len(negatives)])
        grad_negative_bias = torch.zeros_like(negative_bias)
        start = 0
        for rows, target in zip(*split_rows(len(negatives), hidden, targets)):
            is_target, word = target >= 0, target.clamp(min=0)
            target_weight = factors[word]  # (rows, dim)
            target_logit = (rows * target_weight).sum(1).to(bias.dtype) + bias[word]
            logits = logits_of(rows, negative_weight, negative_bias)  # (rows, negatives)
            hits = (column[word] >= 0).nonzero()[:, 0]
            logits[hits, column[word[hits]]] = -math.inf  # a negative that equals the target
            largest = torch.maximum(logits.amax(1), target_logit)
            target_logit = target_logit - largest
            e = logits.sub_(largest[:, None]).exp_()
            s = e.sum(1) + target_logit.exp()
            total += torch.where(is_target, s.log() - target_logit, 0).sum()
            if needs_grad:
                error = ((target_logit.exp() / s - 1) * is_target)[:, None]  # p - 1
                grads = grad_negatives, grad_negative_bias
                products = add_gradients(e, (is_target / s)[:, None], rows, negative_weight, *grads)
                grad_hidden[start : start + len(rows)] = products + error * target_weight
                grad_weight.index_add_(0, word, error * rows)
                grad_bias.index_add_(0, word, error[:, 0])
            start += len(rows)
        if needs_grad:
            grad_weight.index_add_(0, negatives, grad_negatives)
            grad_bias.index_add_(0, negatives, grad_negative_bias)
            ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return total


def add_gradients(
    e: Tensor, scale: Tensor, rows: Tensor, factors: Tensor, grad_weight: Tensor, grad_bias: Tensor
) -> Tensor:
    """Adds the gradients of weight and bias from p = e · scale, (rows, words); returns p · weight, (rows, dim)."""
    grad_bias += torch.mv(e.T, scale[:, 0])
    e = e.to(rows.dtype)
    grad_weight += e.T @ (rows * scale).to(rows.dtype)
    return (e @ factors) * scale


def logits_of(hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """weight · h + bias, (rows, words), in the precision of the bias."""
    if hidden.dtype == bias.dtype:
        return torch.addmm(bias, hidden, weight.T)
    return (hidden @ weight.T).to(bias.dtype).add_(bias)


class RowLookup(torch.autograd.Function):
    """Rows of a table and of its bias, each at most once, with sparse gradients."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, rows: Tensor) -> tuple[Tensor, Tensor | None]:
        ctx.save_for_backward(rows)
        ctx.sizes = weight.shape, None if bias is None else bias.shape
        return weight[rows], None if bias is None else bias[rows]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (rows,) = ctx.saved_tensors
        sparse = [
            None if size is None or grad is None else sparse_rows(rows, grad, size)
            for size, grad in zip(ctx.sizes, grads)
        ]
        return *sparse, None


def sparse_rows(rows: Tensor, values: Tensor, size: Any) -> Tensor:
    """A sparse tensor with these values in these rows, which ascend."""
    return torch.sparse_coo_tensor(rows[None], values, size, check_invariants=False, is_coalesced=True)


def draw_words(count: int, number: int, seed: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
    """`number` distinct ids below `count`, sorted, from a Zipfian distribution, and how many draws that took.

    Id k has the probability log((k + 2) / (k + 1)) / log(count + 1).

    >>> draw_words(1000, 5, (1, 0))[0].tolist() == draw_words(1000, 5, (1, 0))[0].tolist()
    True
    """
    rng, drawn = np.random.default_rng(seed), np.zeros(0, np.int64)
    while True:
        more = np.exp(rng.random(2 * number + len(drawn)) * math.log(count + 1)).astype(np.int64) - 1
        drawn = np.concatenate([drawn, np.minimum(more, count - 1)])
        ids, firsts = np.unique(drawn, return_index=True)
        if len(ids) >= number:
            tries = int(np.partition(firsts, number - 1)[number - 1]) + 1
            return ids[firsts < tries], tries


def expected_counts(ids: Tensor, tries: int, count: int) -> Tensor:
    """The probability of each id to be among the distinct ids of `tries` draws: 1 - (1 - p)^tries."""
    rank = ids.double()
    chance = (torch.log(rank + 2) - torch.log(rank + 1)) / math.log(count + 1)
    return -torch.expm1(tries * torch.log1p(-chance)).float()
