"""Spans of a document as tensors: all candidate mentions, the best of them, and the relations between them.

A span is its first and its last word, counted over the document. All operations are vectorized over spans.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from firth.kernels.spans import accept_spans

FARTHEST = 9  # the last distance bucket: 64 and more


def enumerate_spans(lengths: Tensor, widest: int) -> tuple[Tensor, Tensor]:
    """The last words of the spans that begin at each word, (words, widest), and whether they are in its sentence.

    A span of w words that begins at word s ends at places[s, w - 1].

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
    """The indices of the `count` best spans that do not cross each other, in the order of the text.

    Spans are accepted from the best downwards, unless they cross an accepted one: one begins inside the other and ends
    after it. Nested spans do not cross.

    >>> starts, lasts = torch.tensor([0, 1, 1, 4]), torch.tensor([2, 3, 1, 4])
    >>> best_spans(starts, lasts, torch.tensor([3.0, 2.0, 1.0, 0.0]), 2).tolist()  # 1 to 3 crosses 0 to 2
    [0, 2]
    """
    ranked = torch.argsort(scores, descending=True, stable=True)
    places = np.empty(count, np.int64)
    words = int(lasts.max()) + 1 if len(lasts) else 0
    found = accept_spans(starts[ranked].numpy(), lasts[ranked].numpy(), words, count, places)
    accepted = ranked[torch.from_numpy(places[:found])]
    order = torch.argsort(lasts[accepted], stable=True)
    order = order[torch.argsort(starts[accepted][order], stable=True)]
    return accepted[order]


def nearest_antecedents(count: int, most: int) -> tuple[Tensor, Tensor]:
    """For each of `count` spans the indices of the `most` nearest spans before it, and which of them exist.

    >>> places, exists = nearest_antecedents(3, 2)
    >>> places.tolist(), exists.tolist()
    ([[0, 0], [0, 0], [1, 0]], [[False, False], [True, False], [True, True]])
    """
    offsets = torch.arange(1, min(most, max(count - 1, 1)) + 1)
    places = torch.arange(count)[:, None] - offsets
    return places.clamp(min=0), places >= 0


def distance_buckets(distances: Tensor) -> Tensor:
    """The buckets of distances: 1, 2, 3, 4, 5 to 7, 8 to 15, 16 to 31, 32 to 63, 64 and more.

    >>> distance_buckets(torch.tensor([1, 4, 5, 7, 8, 31, 63, 64, 999])).tolist()
    [1, 4, 5, 5, 6, 7, 8, 9, 9]
    """
    edges = torch.tensor([1, 2, 3, 4, 5, 8, 16, 32, 64], device=distances.device)
    return torch.bucketize(distances, edges, right=True)


def cluster_ids(starts: Tensor, lasts: Tensor, gold: Tensor) -> Tensor:
    """The cluster of each span, -1 for no mention; `gold` has rows (first word, last word, cluster).

    >>> cluster_ids(torch.tensor([0, 3]), torch.tensor([1, 3]), torch.tensor([[3, 3, 7]])).tolist()
    [-1, 7]
    """
    if not len(gold):
        return torch.full_like(starts, -1)
    base = torch.maximum(lasts.max(), gold[:, 1].max()) + 1
    gold_keys, order = torch.sort(gold[:, 0] * base + gold[:, 1])
    keys = starts * base + lasts
    at = torch.searchsorted(gold_keys, keys).clamp(max=len(gold) - 1)
    return torch.where(gold_keys[at] == keys, gold[order[at], 2], -1)
