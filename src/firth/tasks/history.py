"""How far the training of a task has come, and how it went: a value that a checkpoint can hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class History:
    """Steps, words and seconds so far; a line for each epoch; and when the model was at its best.

    `losses` are those of the epoch that is under way. `stale` counts the epochs since the best one, `halvings` how
    often the learning rate was halved.

    >>> history = History(step=8, words=640, losses=[3.0, 1.0], norms=[1.0, 1.0])
    >>> history.end_epoch({"accuracy": 0.5}), history.stale, history.epochs[0]["loss"]
    (True, 0, 2.0)
    """

    step: int = 0
    words: int = 0
    seconds: float = 0.0
    bilm_seconds: float = 0.0
    dev_seconds: float = 0.0
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    epochs: list[dict[str, Any]] = field(default_factory=list)
    best_score: float | None = None
    best_step: int = 0
    stale: int = 0
    halvings: int = 0

    def end_epoch(self, scores: dict[str, float]) -> bool:
        """Takes down an epoch and the scores on the dev set after it; tells whether the model was never better."""
        before = self.epochs[-1] if self.epochs else {}
        line: dict[str, Any] = {"epoch": len(self.epochs) + 1, "step": self.step, "words": self.words}
        for name in ("seconds", "bilm_seconds", "dev_seconds"):
            line[name] = round(getattr(self, name), 3)
        took = line["seconds"] - before.get("seconds", 0.0)
        line["words_per_second"] = round((self.words - before.get("words", 0)) / max(1e-9, took), 1)
        line["loss"] = sum(self.losses) / max(1, len(self.losses))
        line["norm"] = sum(self.norms) / max(1, len(self.norms))
        line["dev"] = scores
        self.epochs.append(line)
        self.losses, self.norms = [], []
        score = next(iter(scores.values()), None)
        better = score is not None and (self.best_score is None or score > self.best_score)
        if better:
            self.best_score, self.best_step, self.stale = score, self.step, 0
        elif score is not None:
            self.stale += 1
        return better

    @property
    def best(self) -> dict[str, float]:
        """The scores on the dev set when they were best."""
        for line in self.epochs:
            if line["step"] == self.best_step:
                return dict(line["dev"])
        return {}

    @property
    def bilm_share(self) -> float:
        """The part of the time that went into the biLM."""
        return self.bilm_seconds / max(1e-9, self.seconds + self.dev_seconds)

    @property
    def words_per_second(self) -> float:
        """Words of examples that were learnt from in a second, the biLM's time counted."""
        return self.words / max(1e-9, self.seconds)

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)
