"""The record of a training: steps, tokens, seconds, losses and the best evaluation. A checkpoint stores it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self, get_args, get_origin, get_type_hints

from firth.errors import OptionError

CURVE_POINTS = 400  # beyond this length every second point of a curve is dropped


@dataclass
class Record:
    """How far a training has come, and when it was best.

    `losses` and `norms` (gradient norms) are those since they were last summarized. `stale` counts the evaluations
    since the best one.

    >>> record = Record(step=2, losses=[2.0, 4.0], norms=[1.0, 1.0])
    >>> record.take_means(), record.losses
    ((3.0, 1.0), [])
    >>> [record.update_best(value, higher_is_better=True) for value in (0.5, 0.4, 0.6)], record.stale
    ([True, False, True], 0)
    """

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    best_value: float | None = None
    best_step: int = 0
    stale: int = 0

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """The record of a checkpoint, from the values of `as_dict`.

        >>> Record.restore({"step": "two"})
        Traceback (most recent call last):
        firth.errors.OptionError: the checkpoint does not fit: step is 'two'
        """
        kinds = get_type_hints(cls)
        for name, value in state.items():
            if name not in kinds or not _fits(value, kinds[name]):
                raise OptionError(f"the checkpoint does not fit: {name} is {value!r:.60}")
        return cls(**state)

    def take_means(self) -> tuple[float, float]:
        """The mean loss and gradient norm since the last call."""
        loss, norm = (sum(values) / max(1, len(values)) for values in (self.losses, self.norms))
        self.losses, self.norms = [], []
        return loss, norm

    def update_best(self, value: float, *, higher_is_better: bool) -> bool:
        """Counts an evaluation; returns whether its value is the best so far."""
        is_best = self.best_value is None or (value > self.best_value if higher_is_better else value < self.best_value)
        if is_best:
            self.best_value, self.best_step, self.stale = value, self.step, 0
        else:
            self.stale += 1
        return is_best

    def is_out_of_patience(self, patience: int | None) -> bool:
        """Whether `patience` evaluations in a row brought no improvement."""
        return patience is not None and self.stale >= patience

    def as_dict(self) -> dict[str, Any]:
        """All values, ready for JSON."""
        return asdict(self)


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of a checkpoint fits the annotation of its field. Counts are not negative."""
    arguments = get_args(kind)
    if get_origin(kind) is list:
        return isinstance(value, list) and all(_fits(entry, arguments[0]) for entry in value)
    if get_origin(kind) is dict:
        return isinstance(value, dict)
    if type(None) in arguments:
        return value is None or _fits(value, arguments[0])
    if kind is int:
        return type(value) is int and 0 <= value < 1 << 62
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


@dataclass
class EpochRecord(Record):
    """The record of a static model: `losses` and `counts` are the summed loss and the predictions of each epoch.

    >>> EpochRecord(losses=[6.0, 4.0], counts=[2, 2]).curve
    [3.0, 2.0]
    """

    counts: list[int] = field(default_factory=list)
    epochs_done: int = 0
    held_out: list[float] = field(default_factory=list)

    @property
    def curve(self) -> list[float]:
        """The mean loss of a prediction, by epoch."""
        return [loss / max(1, count) for loss, count in zip(self.losses, self.counts)]


@dataclass
class CurveRecord(Record):
    """The record of a biLM: a learning curve of bounded length, and every evaluation on held-out text."""

    curve: list[dict[str, float]] = field(default_factory=list)
    stride: int = 1
    lines: int = 0
    held_out: list[dict[str, float]] = field(default_factory=list)

    def add_point(self, point: dict[str, float]) -> None:
        """Appends a point to the curve, or skips it where the curve is already thinned out."""
        if self.lines % self.stride == 0:
            self.curve.append(point)
        if len(self.curve) > CURVE_POINTS:
            self.curve, self.stride = self.curve[::2], 2 * self.stride
        self.lines += 1
