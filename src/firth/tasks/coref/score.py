"""Metrics of coreference clusters: MUC, B³, CEAF-φ4 and their mean.

Computed as the reference scorer of CoNLL-2012 does since version 8: mentions are compared as they are, and none is
added or removed to make both sides equal; numerators and denominators are summed over documents; a score with a
denominator of zero is zero. A mention in several clusters counts in the first only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment

Clusters = Sequence[Sequence[Hashable]]
Mention = TypeVar("Mention", bound=Hashable)


class Agreement(NamedTuple):
    """The numerators and denominators of recall (found of true) and of precision (right of answered).

    >>> Agreement(1, 2, 3, 4).f1
    0.6
    """

    found: float
    true: float
    right: float
    answered: float

    @property
    def recall(self) -> float:
        """The share of the gold clusters that was found."""
        return self.found / self.true if self.true else 0.0

    @property
    def precision(self) -> float:
        """The share of the answer that is right."""
        return self.right / self.answered if self.answered else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


Metric = Callable[[Clusters, Clusters], Agreement]


def score_clusters(gold: Sequence[Clusters], answers: Sequence[Clusters]) -> dict[str, float]:
    """The mean F1 of MUC, B³ and CEAF-φ4 over documents, the F1 of each, and that of mention detection.

    `sum_agreement` gives the precision and the recall of a metric.

    >>> scores = score_clusters([["abc", "defg"]], [["ab", "cd", "fghi"]])
    >>> {name: round(scores[name], 2) for name in ("average", "muc", "b3", "ceaf")}
    {'average': 0.46, 'muc': 0.4, 'b3': 0.45, 'ceaf': 0.52}
    """
    scores = {name: sum_agreement(metric, gold, answers).f1 for name, metric in METRICS.items()}
    return {
        "average": float(np.mean(list(scores.values()))),
        **scores,
        "mentions": sum_agreement(mention_agreement, gold, answers).f1,
    }


def sum_agreement(metric: Metric, gold: Sequence[Clusters], answers: Sequence[Clusters]) -> Agreement:
    """The agreement by a metric, summed over documents."""
    sums = np.zeros(4)
    for clusters, answer in zip(gold, answers, strict=True):
        sums += metric(deduplicate(clusters), deduplicate(answer))
    return Agreement(*sums.tolist())


def deduplicate(clusters: Iterable[Iterable[Mention]]) -> list[list[Mention]]:
    """Clusters in which every mention is once, in its first cluster; empty clusters are dropped.

    >>> deduplicate(["abb", "bc", "a"])
    [['a', 'b'], ['c']]
    """
    seen: set[Mention] = set()
    distinct = []
    for cluster in clusters:
        new = [mention for mention in dict.fromkeys(cluster) if mention not in seen]
        seen.update(new)
        if new:
            distinct.append(new)
    return distinct


def drop_singletons(clusters: Iterable[Sequence[Mention]]) -> list[Sequence[Mention]]:
    """The clusters of more than one mention."""
    return [cluster for cluster in clusters if len(cluster) > 1]


def muc(gold: Clusters, answer: Clusters) -> Agreement:
    """Links (Vilain et al. 1995): a cluster of n mentions has n - 1 links; each part it is split into loses one.

    >>> agreement = muc(["abcd"], ["ab", "cd"])  # one of three links is missing
    >>> round(agreement.recall, 2), agreement.precision
    (0.67, 1.0)
    """
    return Agreement(*_count_links(gold, answer), *_count_links(answer, gold))


def _count_links(clusters: Clusters, others: Clusters) -> tuple[int, int]:
    cluster_of = _cluster_index(others)
    right = possible = 0
    for cluster in clusters:
        parts = {cluster_of.get(mention, mention) for mention in cluster}  # a mention in no cluster is its own part
        right += len(cluster) - len(parts)
        possible += len(cluster) - 1
    return right, possible


def b_cubed(gold: Clusters, answer: Clusters) -> Agreement:
    """Mentions (Bagga and Baldwin 1998): the mean share of a mention's cluster that is in its other cluster too.

    >>> agreement = b_cubed(["abc", "defg"], ["ab", "cd", "fghi"])
    >>> round(agreement.recall, 3), agreement.precision
    (0.417, 0.5)
    """
    return Agreement(*_sum_overlaps(gold, answer), *_sum_overlaps(answer, gold))


def _sum_overlaps(clusters: Clusters, others: Clusters) -> tuple[float, int]:
    cluster_of = _cluster_index(others)
    overlaps = 0.0
    for cluster in clusters:
        parts = Counter(cluster_of[mention] for mention in cluster if mention in cluster_of)
        overlaps += sum(count * count for count in parts.values()) / len(cluster)
    return overlaps, sum(map(len, clusters))


def ceaf(gold: Clusters, answer: Clusters) -> Agreement:
    """Entities (Luo 2005): the best one-to-one match of clusters by their similarity φ4 = 2·|K∩R| / (|K|+|R|).

    >>> agreement = ceaf(["abc", "defg"], ["ab", "cd", "fghi"])  # abc with ab, defg with fghi
    >>> round(agreement.recall, 2), round(agreement.precision, 2)
    (0.65, 0.43)
    """
    cluster_of = _cluster_index(answer)
    similarity = np.zeros((len(gold), len(answer)))
    for row, cluster in enumerate(gold):
        for mention in cluster:
            if mention in cluster_of:
                similarity[row, cluster_of[mention][1]] += 1
    sizes = np.add.outer([len(cluster) for cluster in gold], [len(cluster) for cluster in answer])
    similarity = 2 * similarity / np.maximum(sizes, 1)
    matched = float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())
    return Agreement(matched, len(gold), matched, len(answer))


def mention_agreement(gold: Clusters, answer: Clusters) -> Agreement:
    """Mention detection, whatever the clusters.

    >>> mention_agreement(["abc"], ["ab", "dx"]).precision
    0.5
    """
    true, answered = ({mention for cluster in side for mention in cluster} for side in (gold, answer))
    both = len(true & answered)
    return Agreement(both, len(true), both, len(answered))


def _cluster_index(clusters: Clusters) -> dict[Hashable, tuple[str, int]]:
    """The cluster of each mention, in a tuple that cannot be confused with a mention."""
    return {mention: ("cluster", number) for number, cluster in enumerate(clusters) for mention in cluster}


METRICS: dict[str, Metric] = {"muc": muc, "b3": b_cubed, "ceaf": ceaf}
