"""The adaptive softmax: frequent words are in the head, rare words in clusters with shorter vectors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from firth.neural.softmax import SampledWords, count_targets, cross_entropy, pick, split_rows

SHRINK = 4  # factor by which the dimension shrinks from one cluster to the next
SHORTEST = 8


class AdaptiveSoftmax(nn.Module):
    """p(word) is softmax(head · h)[word] for frequent words, softmax(head · h)[cluster] · p(word | cluster) for others.

    `cutoffs` are the first ids of the clusters: ids are ranks, so later clusters are rarer and have shorter vectors.
    Calling it gives the log probabilities of all words, (n, words).

    >>> softmax = AdaptiveSoftmax(8, 10, cutoffs=(4, 7))
    >>> round(softmax(torch.randn(3, 8)).exp().sum().item(), 4)
    3.0
    """

    def __init__(self, dim: int, words: int, cutoffs: Sequence[int]) -> None:
        super().__init__()
        self.edges = (0, *cutoffs, words)
        self.head = nn.Linear(dim, cutoffs[0] + len(cutoffs))
        self.narrow = nn.ModuleList()
        self.tails = nn.ModuleList()
        for cluster, (first, last) in enumerate(itertools.pairwise(self.edges[1:]), start=1):
            size = max(SHORTEST, dim // SHRINK**cluster)
            self.narrow.append(nn.Linear(dim, size, bias=False))
            self.tails.append(nn.Linear(size, last - first))

    def forward(self, hidden: Tensor) -> Tensor:
        head = self.head(hidden).float().log_softmax(-1)
        parts = [head[..., : self.edges[1]]]
        for cluster, (narrow, tail) in enumerate(zip(self.narrow, self.tails)):
            inside = tail(narrow(hidden)).float().log_softmax(-1)
            parts.append(inside + head[..., self.edges[1] + cluster, None])
        return torch.cat(parts, -1)

    def draw(self, targets: Tensor, step: int) -> SampledWords | None:
        """None: no words are sampled."""
        return None

    def loss(self, hidden: Tensor, targets: Tensor, step: int = 0, drawn: SampledWords | None = None) -> Tensor:
        """The mean of -log p of the targets, (n), given hidden states, (n, dim)."""
        total = cross_entropy(hidden, self.head.weight, self.head.bias, self.in_head(targets))
        for narrow, tail, first, last in self._clusters():
            here = ((targets >= first) & (targets < last)).nonzero()[:, 0]
            inside = nn.functional.linear(hidden[here], narrow.weight.to(hidden.dtype))
            total = total + cross_entropy(inside, tail.weight, tail.bias, targets[here] - first)
        return total / count_targets(targets)

    def log_prob(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """The log probability of each target; 0 where there is none."""
        log_probs = [hidden.new_zeros(0, dtype=torch.float32)]
        for some, target in zip(*split_rows(self.edges[-1], hidden, targets)):
            rows = some.to(self.head.weight.dtype)
            logits = self.head(rows).float().log_softmax(1)
            log_prob = pick(logits, self.in_head(target))
            for narrow, tail, first, last in self._clusters():
                here = ((target >= first) & (target < last)).nonzero()[:, 0]
                inside = tail(narrow(rows[here])).float().log_softmax(1)
                log_prob[here] += pick(inside, target[here] - first)
            log_probs.append(log_prob)
        return torch.cat(log_probs)

    def in_head(self, targets: Tensor) -> Tensor:
        """The column of each target in the head: its own, or that of its cluster."""
        places = targets.clone()
        for cluster, (first, last) in enumerate(itertools.pairwise(self.edges[1:])):
            places[(targets >= first) & (targets < last)] = self.edges[1] + cluster
        return places

    def _clusters(self) -> list[tuple[nn.Linear, nn.Linear, int, int]]:
        spans = itertools.pairwise(self.edges[1:])
        return [(narrow, tail, *span) for narrow, tail, span in zip(self.narrow, self.tails, spans)]  # type: ignore[misc]


def default_cutoffs(words: int) -> tuple[int, ...]:
    """The default cutoffs: after a tenth and after a third of the words, in a vocabulary of at least 100.

    >>> default_cutoffs(100_000), default_cutoffs(3)
    ((10000, 33333), (2,))
    """
    if words < 100:
        return (max(1, words - 1),)
    return words // 10, words // 3
