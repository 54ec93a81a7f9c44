"""Two paired tests of a difference between two systems: over seeds, and over test items."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

ROUNDS, BLOCK = 10_000, 100


def paired_t_test(before: Sequence[float], after: Sequence[float]) -> float | None:
    """The p-value of a two-sided paired t-test over seeds; None with fewer than two pairs or equal differences.

    >>> round(paired_t_test([70.0, 71.0, 72.0], [73.0, 73.0, 76.0]), 3)
    0.035
    """
    differences = np.asarray(after, np.float64) - np.asarray(before, np.float64)
    if len(differences) < 2 or np.ptp(differences) == 0:
        return None
    p = float(stats.ttest_1samp(differences, 0).pvalue)
    return None if math.isnan(p) else p


def randomization_test(
    before: Sequence[Sequence[float]], after: Sequence[Sequence[float]], seed: int = 1
) -> float | None:
    """The p-value of a two-sided approximate randomization test over test items; None without items.

    `before` and `after` have one list of item scores per seed. The scores of an item are averaged over the seeds. Under
    the null hypothesis the two systems are exchangeable, so the sign of each item's difference is random: the p-value
    is the share of random signs whose sum is at least as large as the one that was seen.

    >>> randomization_test([[0.0] * 20], [[1.0] * 20]) < 0.001
    True
    >>> randomization_test([[0.0, 1.0]], [[1.0, 0.0]])
    1.0
    """
    if not len(before) or not len(after):
        return None
    differences = np.mean(np.asarray(after, np.float64), 0) - np.mean(np.asarray(before, np.float64), 0)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    rng, seen, extreme = np.random.default_rng(seed), abs(differences.sum()) - 1e-9, 0
    for _ in range(ROUNDS // BLOCK):
        signs = rng.integers(0, 2, (BLOCK, len(differences)), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ differences) >= seen).sum())
    return (extreme + 1) / (ROUNDS + 1)
