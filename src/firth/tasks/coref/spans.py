"""Spans of a document as tensors: all that may be mentions, the best of them, and how two of them stand to each other.

A span is two numbers, its first and its last word, counted over the document. Everything is done for all spans at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

FARTHEST = 9  # the last of the groups of distances: 64 and more


def enumerate_spans(lengths: Tensor, widest: int) -> tuple[Tensor, Tensor]:
    """The words that a mention beginning at each word may reach, (words, widest), and whether they are its sentence's.

    Row by row the last words of all spans; a span of w words that begins at word s ends at places[s, w - 1].

    >>> places, inside = enumerate_spans(torch.tensor([2, 1]), 2)
    >>> places.tolist(), inside.tolist()
    ([[0, 1], [1, 2], [2, 2]], [[True, True], [True, False], [True, False]])
    """
    sentences = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
    words = len(sentences)
    reached = torch.arange(words, device=lengths.device)[:, None] + torch.arange(widest, device=lengths.device)
    places = reached.clamp(max=words - 1)
    return places, (reached < words) & (sentences[places] == sentences[:, None])


def best_spans(starts: Tensor, lasts: Tensor, scores: Tensor, count: int) -> Tensor:
    """The places of the `count` best spans of which no two cross, in the order of the text.

    Taken from the best downwards, one is left out if it crosses one that was taken: begins inside it and ends behind
    it, or the other way round. Within another is allowed.

    >>> starts, lasts = torch.tensor([0, 1, 1, 4]), torch.tensor([2, 3, 1, 4])
    >>> best_spans(starts, lasts, torch.tensor([3.0, 2.0, 1.0, 0.0]), 2).tolist()  # 1 to 3 crosses 0 to 2
    [0, 2]
    """
    ranked = torch.argsort(scores, descending=True, stable=True)
    pool = 2 * count
    while True:
        tried = ranked[:pool]
        taken = tried[_not_crossing(starts[tried], lasts[tried])][:count]
        if len(taken) == count or pool >= len(ranked):
            break
        pool *= 2
    order = torch.argsort(lasts[taken], stable=True)
    order = order[torch.argsort(starts[taken][order], stable=True)]
    return taken[order]


def _not_crossing(starts: Tensor, lasts: Tensor) -> Tensor:
    """Which of spans, the best first, are taken from the best downwards; in a few rounds instead of one by one.

    Each round takes the spans that cross no better one that is still in question, and gives up what crosses those.
    """
    begins_inside = (starts[:, None] < starts) & (starts <= lasts[:, None]) & (lasts[:, None] < lasts)
    crossing = begins_inside | begins_inside.T
    crossing_better = crossing & torch.ones_like(crossing).tril(-1)
    taken = torch.zeros_like(starts, dtype=torch.bool)
    open_ = ~taken
    while bool(open_.any()):
        fresh = open_ & ~(crossing_better & open_).any(1)
        taken |= fresh
        open_ &= ~fresh & ~(crossing & fresh).any(1)
    return taken


def nearest_antecedents(count: int, most: int) -> tuple[Tensor, Tensor]:
    """For each of `count` spans up to `most` that stand before it, the nearest first, and which of them there are.

    >>> places, there = nearest_antecedents(3, 2)
    >>> places.tolist(), there.tolist()
    ([[0, 0], [0, 0], [1, 0]], [[False, False], [True, False], [True, True]])
    """
    offsets = torch.arange(1, min(most, max(count - 1, 1)) + 1)
    places = torch.arange(count)[:, None] - offsets
    return places.clamp(min=0), places >= 0


def distance_groups(distances: Tensor) -> Tensor:
    """Distances from 1 on in groups: 1, 2, 3, 4, 5 to 7, 8 to 15, 16 to 31, 32 to 63, 64 and more.

    >>> distance_groups(torch.tensor([1, 4, 5, 7, 8, 31, 63, 64, 999])).tolist()
    [1, 4, 5, 5, 6, 7, 8, 9, 9]
    """
    edges = torch.tensor([1, 2, 3, 4, 5, 8, 16, 32, 64], device=distances.device)
    return torch.bucketize(distances, edges, right=True)


def cluster_numbers(starts: Tensor, lasts: Tensor, gold: Tensor) -> Tensor:
    """The cluster of each span, -1 for those that are no mention; `gold` has rows (first word, last word, cluster).

    >>> cluster_numbers(torch.tensor([0, 3]), torch.tensor([1, 3]), torch.tensor([[3, 3, 7]])).tolist()
    [-1, 7]
    """
    if not len(gold):
        return torch.full_like(starts, -1)
    beyond = torch.maximum(lasts.max(), gold[:, 1].max()) + 1
    marked, order = torch.sort(gold[:, 0] * beyond + gold[:, 1])
    asked = starts * beyond + lasts
    at = torch.searchsorted(marked, asked).clamp(max=len(gold) - 1)
    return torch.where(marked[at] == asked, gold[order[at], 2], -1)
