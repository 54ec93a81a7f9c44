"""The record of a task's training: the shared record, extended by one line per epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from firth.training.record import Record


@dataclass
class TaskHistory(Record):
    """The epochs of a training with their dev scores. `tokens` counts the words of training examples.

    `losses` are those of the current epoch. `halvings` is how often the learning rate was halved.

    >>> history = TaskHistory(step=8, tokens=640, losses=[3.0, 1.0], norms=[1.0, 1.0])
    >>> history.end_epoch({"accuracy": 0.5})["loss"], len(history.epochs), history.losses
    (2.0, 1, [])
    """

    bilm_seconds: float = 0.0
    dev_seconds: float = 0.0
    epochs: list[dict[str, Any]] = field(default_factory=list)
    halvings: int = 0

    def end_epoch(self, scores: dict[str, float]) -> dict[str, Any]:
        """Adds the line of the current epoch, with the scores on the dev set after it, and returns it."""
        previous = self.epochs[-1] if self.epochs else {}
        line: dict[str, Any] = {"epoch": len(self.epochs) + 1, "step": self.step, "words": self.tokens}
        for name in ("seconds", "bilm_seconds", "dev_seconds"):
            line[name] = round(getattr(self, name), 3)
        seconds = line["seconds"] - previous.get("seconds", 0.0)
        line["words_per_second"] = round((self.tokens - previous.get("words", 0)) / max(1e-9, seconds), 1)
        line["loss"], line["norm"] = self.take_means()
        line["dev"] = scores
        self.epochs.append(line)
        return line

    @property
    def best(self) -> dict[str, float]:
        """The best scores on the dev set."""
        for line in self.epochs:
            if line["step"] == self.best_step:
                return dict(line["dev"])
        return {}

    @property
    def bilm_share(self) -> float:
        """The fraction of the time that was spent in the biLM."""
        return self.bilm_seconds / max(1e-9, self.seconds + self.dev_seconds)

    @property
    def words_per_second(self) -> float:
        """Words of training examples per second, including the time of the biLM."""
        return self.tokens / max(1e-9, self.seconds)
