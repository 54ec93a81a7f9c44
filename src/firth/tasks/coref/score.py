"""How well clusters of mentions agree with the true ones: MUC, B³, CEAF-φ4 and their mean.

Counted as the reference scorer of the CoNLL-2012 task does since its version 8: mentions are compared as they are, and
none is added or left out to make both sides alike; numerators and denominators are summed over the documents; what has
a denominator of zero is zero. A mention stays in the first cluster that names it.
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
    """Four sums: what was found again of the truth, of how much; what was right of the answer, of how much.

    >>> Agreement(1, 2, 3, 4).f1
    0.6
    """

    found: float
    true: float
    right: float
    answered: float

    @property
    def recall(self) -> float:
        """The part of the truth that was found."""
        return self.found / self.true if self.true else 0.0

    @property
    def precision(self) -> float:
        """The part of the answer that is right."""
        return self.right / self.answered if self.answered else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


Measure = Callable[[Clusters, Clusters], Agreement]


def score_clusters(truths: Sequence[Clusters], answers: Sequence[Clusters]) -> dict[str, float]:
    """The mean F1 of MUC, B³ and CEAF-φ4 over documents, and each of them.

    `mention_agreement` is the F1 of mentions, whatever they refer to. `sum_agreement` gives the precision and the recall of a measure.

    >>> found = score_clusters([["abc", "defg"]], [["ab", "cd", "fghi"]])
    >>> {name: round(found[name], 2) for name in ("average", "muc", "b3", "ceaf")}
    {'average': 0.46, 'muc': 0.4, 'b3': 0.45, 'ceaf': 0.52}
    """
    three = {name: sum_agreement(measure, truths, answers) for name, measure in MEASURES.items()}
    return {
        "average": float(np.mean([agreement.f1 for agreement in three.values()])),
        **{name: agreement.f1 for name, agreement in three.items()},
        "mentions": sum_agreement(mention_agreement, truths, answers).f1,
    }


def sum_agreement(measure: Measure, truths: Sequence[Clusters], answers: Sequence[Clusters]) -> Agreement:
    """What a measure counts over documents: its four numbers summed."""
    sums = np.zeros(4)
    for truth, answer in zip(truths, answers, strict=True):
        sums += measure(deduplicate(truth), deduplicate(answer))
    return Agreement(*sums.tolist())


def deduplicate(clusters: Iterable[Iterable[Mention]]) -> list[list[Mention]]:
    """Clusters in which every mention stands once, in the first that named it; none is empty.

    >>> deduplicate(["abb", "bc", "a"])
    [['a', 'b'], ['c']]
    """
    seen: set[Mention] = set()
    kept = []
    for cluster in clusters:
        fresh = [mention for mention in dict.fromkeys(cluster) if mention not in seen]
        seen.update(fresh)
        if fresh:
            kept.append(fresh)
    return kept


def drop_singletons(clusters: Iterable[Sequence[Mention]]) -> list[Sequence[Mention]]:
    """The clusters of more than one mention."""
    return [cluster for cluster in clusters if len(cluster) > 1]


def muc(truth: Clusters, answer: Clusters) -> Agreement:
    """Links (Vilain et al. 1995): a cluster of n mentions is n - 1 links, of which each part it falls into costs one.

    >>> found = muc(["abcd"], ["ab", "cd"])  # one of three links is missing
    >>> round(found.recall, 2), found.precision
    (0.67, 1.0)
    """
    return Agreement(*_links(truth, answer), *_links(answer, truth))


def _links(clusters: Clusters, others: Clusters) -> tuple[int, int]:
    home = _homes(others)
    kept = possible = 0
    for cluster in clusters:
        parts = {home.get(mention, mention) for mention in cluster}  # one that is nowhere is a part of its own
        kept += len(cluster) - len(parts)
        possible += len(cluster) - 1
    return kept, possible


def b_cubed(truth: Clusters, answer: Clusters) -> Agreement:
    """Mentions (Bagga and Baldwin 1998): of each one, how much of its cluster is in its other cluster too.

    >>> found = b_cubed(["abc", "defg"], ["ab", "cd", "fghi"])
    >>> round(found.recall, 3), found.precision
    (0.417, 0.5)
    """
    return Agreement(*_shared(truth, answer), *_shared(answer, truth))


def _shared(clusters: Clusters, others: Clusters) -> tuple[float, int]:
    home = _homes(others)
    shared = 0.0
    for cluster in clusters:
        parts = Counter(home[mention] for mention in cluster if mention in home)
        shared += sum(count * count for count in parts.values()) / len(cluster)
    return shared, sum(map(len, clusters))


def ceaf(truth: Clusters, answer: Clusters) -> Agreement:
    """Entities (Luo 2005): the best one-to-one match of clusters, where two are alike by φ4 = 2·|K∩R| / (|K|+|R|).

    >>> found = ceaf(["abc", "defg"], ["ab", "cd", "fghi"])  # abc with ab, defg with fghi
    >>> round(found.recall, 2), round(found.precision, 2)
    (0.65, 0.43)
    """
    home = _homes(answer)
    alike = np.zeros((len(truth), len(answer)))
    for row, cluster in enumerate(truth):
        for mention in cluster:
            if mention in home:
                alike[row, home[mention][1]] += 1
    sizes = np.add.outer([len(cluster) for cluster in truth], [len(cluster) for cluster in answer])
    alike = 2 * alike / np.maximum(sizes, 1)
    matched = float(alike[linear_sum_assignment(alike, maximize=True)].sum())
    return Agreement(matched, len(truth), matched, len(answer))


def mention_agreement(truth: Clusters, answer: Clusters) -> Agreement:
    """Which mentions there are, whatever they refer to.

    >>> mention_agreement(["abc"], ["ab", "dx"]).precision
    0.5
    """
    true, answered = ({mention for cluster in side for mention in cluster} for side in (truth, answer))
    both = len(true & answered)
    return Agreement(both, len(true), both, len(answered))


def _homes(clusters: Clusters) -> dict[Hashable, tuple[str, int]]:
    """Which cluster each mention is in; marked as such, so that no mention is taken for one."""
    return {mention: ("cluster", number) for number, cluster in enumerate(clusters) for mention in cluster}


MEASURES: dict[str, Measure] = {"muc": muc, "b3": b_cubed, "ceaf": ceaf}
