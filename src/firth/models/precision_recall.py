"""The precision and recall of predictions above each probability, as fastText computes its curve.

Predictions are ranked by probability. At each probability, those at least as probable count as made. Points after
the first one with full recall are left out, and a point with precision 1 and recall 0 is added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """The points of the curve, from the highest probability to the lowest.

    >>> curve = PrecisionRecallCurve.of([0.9, 0.8, 0.7, 0.6], [True, False, True, True], gold=4)
    >>> curve.precision.round(2).tolist(), curve.recall.tolist()
    ([1.0, 0.5, 0.67, 0.75, 1.0], [0.25, 0.25, 0.5, 0.75, 0.0])
    >>> curve.precision_at_recall(0.5), curve.recall_at_precision(0.9)
    (0.75, 0.25)
    """

    precision: Floats
    recall: Floats

    @classmethod
    def of(cls, probabilities: list[float], right: list[bool], gold: int) -> PrecisionRecallCurve:
        """The curve of predictions; `gold` is the number of labels that should have been predicted."""
        order = np.argsort(-np.asarray(probabilities, np.float64), kind="stable")
        ranked, hits = np.asarray(probabilities, np.float64)[order], np.asarray(right, bool)[order]
        is_last = np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)]  # equal probabilities are one point
        found = np.cumsum(hits)[is_last]
        made = np.flatnonzero(is_last) + 1
        if gold:
            end = int(np.searchsorted(found, gold)) + 1  # one point with full recall
            found, made = found[:end], made[:end]
        recall = found / gold if gold else np.zeros(len(found))
        return cls(np.append(found / made, 1.0), np.append(recall, 0.0))

    def precision_at_recall(self, recall: float) -> float:
        """The highest precision among the points with at least this recall; 0 if there is none."""
        return float(self.precision[self.recall >= recall].max(initial=0.0))

    def recall_at_precision(self, precision: float) -> float:
        """The highest recall among the points with at least this precision; 0 if there is none."""
        return float(self.recall[self.precision >= precision].max(initial=0.0))
