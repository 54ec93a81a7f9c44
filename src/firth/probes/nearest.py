"""Whose occurrence is nearest: of one word's occurrences in many texts, does the nearest one share its sense or tag?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firth.probes.readers import unit

TIES = 1e-5  # cosines that differ by less are alike: without context all of a word's are 1 but for rounding


class Shares(NamedTuple):
    """How many occurrences have an equal for nearest, how many would by chance, and how many were asked."""

    same: float
    chance: float
    asked: int


def shares(vectors: Tensor, labels: Sequence[Any], documents: Sequence[str]) -> list[Shares]:
    """For each name of a reader, (names, occurrences, dim), how often the nearest occurrence has the same label.

    Only occurrences of other documents count as neighbors, for one document repeats its words in one sense. Those
    with no neighbor are not asked. Where several are equally near each counts for its part, so that vectors without
    context get what chance gets.

    >>> vectors = torch.tensor([[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]], [[1.0, 0.0]] * 4])
    >>> [tuple(round(x, 2) for x in one) for one in shares(vectors, "aabb", ["1", "2", "3", "4"])]
    [(4.0, 1.33, 4), (1.33, 1.33, 4)]
    """
    names, texts = np.asarray(list(labels)), np.asarray(list(documents))
    alike = torch.from_numpy(names[:, None] == names[None, :]).to(vectors.device)
    other = torch.from_numpy(texts[:, None] != texts[None, :]).to(vectors.device)
    asked = other.any(1)
    chance = float(((alike & other).sum(1)[asked] / other.sum(1)[asked]).sum())
    found = []
    for layer in vectors:
        rows = unit(layer)
        cosines = torch.where(other, rows @ rows.T, -2.0)
        nearest = other & (cosines >= cosines.amax(1, keepdim=True) - TIES)
        share = (nearest & alike).sum(1)[asked] / nearest.sum(1)[asked]
        found.append(Shares(float(share.sum()), chance, int(asked.sum())))
    return found


def neighbors(vectors: Tensor, queries: Tensor, topn: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The nearest occurrences of each query and their cosines, (names, queries, topn), the nearest first."""
    cosines = unit(queries) @ unit(vectors).transpose(1, 2)
    scores, places = cosines.topk(min(topn, vectors.shape[1]), dim=-1)
    return places.cpu().numpy(), scores.cpu().numpy()
