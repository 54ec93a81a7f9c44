"""Two sets of points in one frame of reference: orthogonal Procrustes.

Two models have axes of their own, and two layouts an orientation of their own. The rotation that brings the points of
one nearest to those of the other, by least squares over their common words, makes them comparable (Schönemann, 1966).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.vectors.procrustes import procrustes

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alignment:
    """x ↦ (x - source_mean) · rotation · scale + target_mean.

    >>> target = np.array([[0, 0], [2, 0], [0, 4.0]])
    >>> turned = target[:, ::-1] * 3 + 5
    >>> Alignment.of(turned, target).apply(turned).round(6) + 0.0
    array([[0., 0.],
           [2., 0.],
           [0., 4.]])
    """

    rotation: Doubles
    scale: float
    source_mean: Doubles
    target_mean: Doubles

    @classmethod
    def of(cls, source: NDArray[Any], target: NDArray[Any]) -> Alignment:
        """The rotation, reflection and scale that bring source rows nearest to target rows, by least squares."""
        if source.shape != target.shape or not len(source):
            raise OptionError(f"an alignment needs two equal lists of points, not {source.shape} and {target.shape}")
        source_mean, target_mean = source.mean(axis=0, dtype=np.float64), target.mean(axis=0, dtype=np.float64)
        before, after = source - source_mean, target - target_mean
        rotation, values = procrustes(before, after)
        square = float((before**2).sum())
        scale = float(values.sum()) / square if square > 0 else 1.0
        return cls(rotation, scale, source_mean, target_mean)

    def apply(self, points: NDArray[Any]) -> Doubles:
        """Points of the source in the frame of the target."""
        return np.asarray((points - self.source_mean) @ self.rotation * self.scale + self.target_mean, np.float64)
