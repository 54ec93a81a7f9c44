"""Training on a cluster: workers train copies of the arrays on blocks of their own, then the copies are averaged.

A round gives every worker some blocks. Each starts from the same arrays, trains alone, and returns the rows that it
changed. A rare word that one worker saw keeps its whole step. Where several workers changed a row, changes in the same
direction are averaged and changes in different directions added (`combine`): a plain mean would divide the steps of a
round by the number of workers. The result depends on the number of workers and on the length of a round, and on nothing
else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from firth.kernels.simd_float import matrix
from firth.training.schedule import BLOCK, TextBlock

Arrays = dict[str, NDArray[Any]]
MOST_SCALED = 8  # workers for which the learning rate grows
ROWS = 1024  # that are averaged at once, so that the changes of all workers stay in the cache of a core
LearnerType = TypeVar("LearnerType")


@dataclass(frozen=True)
class BlockTrainer:
    """Trains a copy of a learner on a worker."""

    learner: Any

    def train(self, blocks: Sequence[TextBlock]) -> Arrays:
        """The rows that some blocks change, and the loss and the number of predictions of each block."""
        learner = copy_learner(self.learner)
        losses = [learner.train(block) for block in blocks]
        changes = [find_changes(name, old, learner.arrays[name]) for name, old in self.learner.arrays.items()]
        result = {name: array for change in changes for name, array in change.items()}
        result["losses"] = np.array([one.loss for one in losses], np.float64)
        result["counts"] = np.array([one.count for one in losses], np.int64)
        return result


def copy_learner(learner: LearnerType) -> LearnerType:
    """A learner with arrays of its own, aligned as the kernels expect. Those of a task are read-only."""
    copied = copy(learner)
    for name, array in learner.arrays.items():  # type: ignore[attr-defined]
        own = matrix(*array.shape)
        own[:] = array
        setattr(copied, name, own)
    return copied


def find_changes(name: str, old: NDArray[Any], new: NDArray[Any]) -> Arrays:
    """The numbers of the rows that differ, and their new values.

    >>> changes = find_changes("inputs", np.zeros((3, 2)), np.array([[0, 0], [0, 1], [0, 0]]))
    >>> {name: array.tolist() for name, array in changes.items()}
    {'inputs.rows': [1], 'inputs.values': [[0, 1]]}
    """
    rows = np.flatnonzero((old != new).any(axis=1))
    return {f"{name}.rows": rows, f"{name}.values": new[rows]}


def average(arrays: Mapping[str, NDArray[Any]], results: Sequence[Arrays], *, summed: int | None = None) -> None:
    """Changes the arrays by the results of a round: changes of a row that agree are averaged, others are added.

    Columns from `summed` on are changed by the sum: squared gradients of AdaGrad are added up, wherever they arise.

    >>> rows = np.zeros((3, 2))
    >>> there = [find_changes("x", rows, np.array(new)) for new in ([[4, 0], [0, 5], [0, 0]], [[2, 0], [6, 0], [0, 0]])]
    >>> average({"x": rows}, there)
    >>> rows.tolist()
    [[3.0, 0.0], [6.0, 5.0], [0.0, 0.0]]
    """
    for name, array in arrays.items():
        changed = [(result[f"{name}.rows"], result[f"{name}.values"]) for result in results]
        touched = np.zeros(len(array), np.int64)
        for rows, _ in changed:
            touched[rows] += 1
        for rows, values in changed:  # what one worker alone changed is not rounded again
            is_alone = touched[rows] == 1
            array[rows[is_alone]] = values[is_alone]
        shared = np.flatnonzero(touched > 1)
        for first in range(0, len(shared), ROWS):
            chosen = shared[first : first + ROWS]
            changes = [_spread(array, chosen, rows, values) for rows, values in changed]
            while len(changes) > 1:
                pairs = zip(changes[::2], changes[1::2])
                odd = changes[len(changes) // 2 * 2 :]
                changes = [combine(one, other, summed) for one, other in pairs] + odd
            array[chosen] += changes[0]


def _spread(array: NDArray[Any], chosen: NDArray[Any], rows: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """The changes of the chosen rows by one result; 0 where it changed nothing. All rows are in ascending order."""
    part = slice(*np.searchsorted(rows, [chosen[0], chosen[-1] + 1]))
    places = np.searchsorted(chosen, rows[part])
    is_chosen = chosen[places] == rows[part]
    changes = np.zeros((len(chosen), array.shape[1]), array.dtype)
    changes[places[is_chosen]] = values[part][is_chosen] - array[rows[part][is_chosen]]
    return changes


def combine(one: NDArray[Any], other: NDArray[Any], summed: int | None = None) -> NDArray[Any]:
    """Two changes of the same rows as one: their mean where they are parallel, their sum where they are orthogonal.

    This is Adasum (Maleki et al., 2021): a (1 - a·b / 2|a|²) + b (1 - a·b / 2|b|²), row by row.

    >>> combine(np.array([[2.0, 0.0]]), np.array([[4.0, 0.0]])), combine(np.array([[2.0, 0.0]]), np.array([[0.0, 4.0]]))
    (array([[3., 0.]]), array([[2., 4.]]))
    """
    a, b = one[:, :summed], other[:, :summed]
    dots = np.einsum("ij,ij->i", a, b)
    shares = []
    for vectors in (a, b):
        squares = np.einsum("ij,ij->i", vectors, vectors)
        shares.append(1 - np.divide(dots, 2 * squares, out=np.zeros_like(dots), where=squares > 0))
    both: NDArray[Any] = one + other
    both[:, :summed] = a * shares[0][:, None] + b * shares[1][:, None]
    return both


def scale_rate(rate: float, workers: int) -> float:
    """The learning rate of workers whose copies are averaged: the mean of their steps is shorter than the sum.

    It grows with the square root of their number, up to that for which this was measured (docs/scale.md).

    >>> scale_rate(0.025, 4), scale_rate(0.025, 0)
    (0.05, 0.025)
    """
    return rate * math.sqrt(min(max(1, workers), MOST_SCALED))


def blocks_per_round(words: int, block: int = BLOCK) -> int:
    """The number of blocks that a worker trains in a round of about so many words.

    >>> blocks_per_round(200_000), blocks_per_round(10)
    (4, 1)
    """
    return max(1, round(words / block))
