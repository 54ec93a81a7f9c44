"""What a training tells about itself: a line of JSON now and then, a curve of bounded length, how far it has come."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from firth.files import name_in_errors
from firth.neural.training.checkpoints import Checkpoints
from firth.neural.training.perplexity import BiLMPerplexity, perplexity_of
from firth.progress import Report, silent

POINTS = 400  # of a curve; when there are more every second one goes


@dataclass
class Record:
    """How far a training has come. `losses` and `norms` are those since the last line of the log.

    >>> record = Record(step=2, tokens=40, losses=[2.0, 4.0], norms=[1.0, 1.0])
    >>> record.line(0.1)["loss"], record.losses
    (3.0, [])
    """

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    curve: list[dict[str, float]] = field(default_factory=list)
    stride: int = 1
    lines: int = 0
    held_out: list[dict[str, float]] = field(default_factory=list)
    best_loss: float | None = None
    best_step: int = 0
    stale: int = 0

    def line(self, rate: float) -> dict[str, float]:
        """What there is to say since the last line; it joins the curve."""
        loss = sum(self.losses) / max(1, len(self.losses))
        norm = sum(self.norms) / max(1, len(self.norms))
        self.losses, self.norms = [], []
        said = {"step": self.step, "tokens": self.tokens, "seconds": round(self.seconds, 3)}
        said |= {"loss": loss, "perplexity": perplexity_of(loss), "rate": rate, "norm": norm}
        if self.lines % self.stride == 0:
            self.curve.append(said)
        if len(self.curve) > POINTS:
            self.curve, self.stride = self.curve[::2], 2 * self.stride
        self.lines += 1
        return said

    def look(self, found: BiLMPerplexity) -> tuple[dict[str, float], bool]:
        """Takes a look at the held-out text into account; tells whether the model has never been better."""
        said = {"step": self.step, "tokens": self.tokens, "seconds": round(self.seconds, 3), **found.as_dict()}
        self.held_out.append(said)
        better = self.best_loss is None or found.loss < self.best_loss
        if better:
            self.best_loss, self.best_step, self.stale = found.loss, self.step, 0
        else:
            self.stale += 1
        return said, better

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Watch:
    """Who watches a training and what is kept of it."""

    report: Report = silent
    checkpoints: Checkpoints | None = None
    log: Path | None = None
    is_asked_to_stop: Callable[[], bool] = lambda: False


class Log:
    """A file of JSON lines that grows with a training; lines of steps that were lost with a crash are taken out."""

    def __init__(self, path: Path | None, step: int) -> None:
        self.path = path
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = []
        if step and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.endswith("}") and json.loads(line).get("step", 0) <= step:
                    kept.append(line + "\n")
        with name_in_errors(path):
            path.write_text("".join(kept), encoding="utf-8")

    def write(self, values: dict[str, Any]) -> None:
        """Adds a line."""
        if self.path is not None:
            with name_in_errors(self.path), open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(values) + "\n")


class Clock:
    """Seconds of a training, over all its runs, and tokens a second of late."""

    def __init__(self, seconds: float, tokens: int) -> None:
        self.offset = seconds - time.monotonic()
        self.mark, self.tokens = time.monotonic(), tokens

    @property
    def seconds(self) -> float:
        """So many have passed."""
        return self.offset + time.monotonic()

    def speed(self, tokens: int) -> float:
        """Tokens a second since it was last asked."""
        now = time.monotonic()
        speed = (tokens - self.tokens) / max(1e-9, now - self.mark)
        self.mark, self.tokens = now, tokens
        return speed

    def skip(self, tokens: int) -> None:
        """Leaves the time since it was last asked out of the speed: something else was done."""
        self.mark, self.tokens = time.monotonic(), tokens
