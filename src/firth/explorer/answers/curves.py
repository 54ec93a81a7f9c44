"""The curves of a training: of a folder with checkpoints, a log of JSON lines, or a finished model."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firth.errors import FormatError
from firth.pretrained import shipped
from firth.training.checkpoints import CONFIG, LOG
from firth.training.record import EpochRecord

AXES = ("tokens", "words", "step", "epoch")  # what a curve may run over, the best first
FIRST = ("loss", "perplexity", "average")  # what is drawn before other curves
LAST = ("words_per_second", "norm")  # and after them
HIDDEN = frozenset((*AXES, "seconds", "bilm_seconds", "dev_seconds", "memory", "bilm_share"))
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class TrainingCurves:
    """Curves by name, each a list of points, and the name of their horizontal axis."""

    axis: str
    curves: dict[str, Points]
    seconds: float | None = None


def read_curves(name: str) -> TrainingCurves:
    """The curves of a training. A log that is being written may end in the middle of a line.

    >>> read_curves("word2vec-en").axis, len(read_curves("word2vec-en").curves["loss"])
    ('epoch', 5)
    """
    path = Path(shipped.locate(name))
    log = path / LOG if path.is_dir() else path
    if log.is_file() and log.suffix == ".jsonl":
        return collect(read_lines(log))
    try:
        config = json.loads((path / CONFIG).read_bytes())
        state: dict[str, Any] = config.get("state") or config.get("config", {}).get("metadata", {})
        return collect(lines_of(state), state.get("seconds"))
    except (OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError) as error:
        raise FormatError(os.fspath(path), f"the folder has neither {LOG} nor a {CONFIG} that can be read") from error


def read_lines(log: Path) -> list[dict[str, Any]]:
    """The complete lines of a log.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = Path(folder, LOG)
    ...     _ = log.write_text('{"step": 1}\\n{"st')
    ...     read_lines(log)
    [{'step': 1}]
    """
    found = []
    for line in log.read_text("utf-8", "replace").splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # the last line is being written
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def lines_of(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines in the record of a checkpoint, or in the metadata of a model.

    >>> lines_of({"loss": [3.0, 2.5]})
    [{'epoch': 1, 'loss': 3.0}, {'epoch': 2, 'loss': 2.5}]
    """
    if "curve" in state:  # a biLM
        return [*state["curve"], *({"held_out": True, **one} for one in state.get("held_out", ()))]
    if "epochs" in state:  # a task
        return list(state["epochs"])
    losses = state.get("loss", [])
    if "counts" in state:  # a static model
        losses = EpochRecord(losses=state["losses"], counts=state["counts"]).curve
    held_out = state.get("held_out")
    lines = [{"epoch": number, "loss": loss} for number, loss in enumerate(losses, 1)]
    if isinstance(held_out, list):
        lines += [{"epoch": number, "held-out loss": loss} for number, loss in enumerate(held_out, 1)]
    return lines


def collect(lines: Sequence[Mapping[str, Any]], seconds: float | None = None) -> TrainingCurves:
    """The numbers of lines as curves over the first axis that they have.

    >>> collect([{"step": 1, "loss": 3.0, "dev": {"f1": 0.5}}, {"step": 2, "loss": 2.0}]).curves
    {'loss': ((1.0, 3.0), (2.0, 2.0)), 'dev f1': ((1.0, 0.5),)}
    """
    axis = next((name for name in AXES if any(name in line for line in lines)), "step")
    curves: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        if axis not in line:
            continue
        where = float(line[axis])
        for name, value in flatten(line).items():
            curves.setdefault(name, []).append((where, value))
    last = max((float(line["seconds"]) for line in lines if "seconds" in line), default=seconds)
    ordered = sorted(curves, key=lambda name: (name in LAST, not any(one in name for one in FIRST)))
    return TrainingCurves(axis, {name: tuple(curves[name]) for name in ordered}, last)


def flatten(line: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a line by name; those of held-out text and of a part have its name before theirs.

    >>> flatten({"step": 7, "dev": {"f1": 0.5}, "loss": 2}), flatten({"held_out": True, "perplexity": 30.0})
    ({'dev f1': 0.5, 'loss': 2.0}, {'held-out perplexity': 30.0})
    """
    before = "held-out " if line.get("held_out") is True else ""
    found: dict[str, float] = {}
    for name, value in line.items():
        if isinstance(value, Mapping):
            found |= {f"{name} {inner}": number for inner, number in flatten(value).items()}
        elif name not in HIDDEN and not isinstance(value, bool) and isinstance(value, (int, float)):
            found[before + name] = float(value)
    return found
