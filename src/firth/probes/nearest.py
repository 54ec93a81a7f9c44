"""Nearest occurrences of a word: whether they have the same label, a sense or a part of speech."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firth.probes.readers import unit

TIES = 1e-5  # smaller differences of cosines are rounding errors: without context, all cosines of a word are 1


class NeighborShares(NamedTuple):
    """The number of occurrences with a nearest neighbor of the same label, the number by chance, and the total."""

    same: float
    chance: float
    asked: int


def neighbor_shares(vectors: Tensor, labels: Sequence[Any], documents: Sequence[str]) -> list[NeighborShares]:
    """For each layer of (layers, occurrences, dim), how often the nearest occurrence has the same label.

    Only occurrences in other documents are neighbors, because a document tends to repeat a word in one sense.
    Occurrences without a neighbor are left out. Equally near neighbors share the count, so that vectors without
    context score exactly as chance does.

    >>> vectors = torch.tensor([[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]], [[1.0, 0.0]] * 4])
    >>> [tuple(round(x, 2) for x in one) for one in neighbor_shares(vectors, "aabb", ["1", "2", "3", "4"])]
    [(4.0, 1.33, 4), (1.33, 1.33, 4)]
    """
    label, document = np.asarray(list(labels)), np.asarray(list(documents))
    alike = torch.from_numpy(label[:, None] == label[None, :]).to(vectors.device)
    other = torch.from_numpy(document[:, None] != document[None, :]).to(vectors.device)
    asked = other.any(1)
    chance = float(((alike & other).sum(1)[asked] / other.sum(1)[asked]).sum())
    shares = []
    for layer in vectors:
        rows = unit(layer)
        cosines = torch.where(other, rows @ rows.T, -2.0)
        nearest = other & (cosines >= cosines.amax(1, keepdim=True) - TIES)
        share = (nearest & alike).sum(1)[asked] / nearest.sum(1)[asked]
        shares.append(NeighborShares(float(share.sum()), chance, int(asked.sum())))
    return shares


def neighbors(vectors: Tensor, queries: Tensor, topn: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The nearest occurrences of each query and their cosines, (layers, queries, topn), the nearest first."""
    cosines = unit(queries) @ unit(vectors).transpose(1, 2)
    scores, places = cosines.topk(min(topn, vectors.shape[1]), dim=-1)
    return places.cpu().numpy(), scores.cpu().numpy()
