"""What observes a training from outside: progress reports, a log of JSON lines, a clock, checkpoints and Ctrl-C."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firth.errors import FormatError
from firth.files import Name, name_in_errors, parse_json, read_lines, refuse_address
from firth.locks import exclusive_folder
from firth.progress import Report, silent
from firth.training.checkpoints import CONFIG, LOG, Checkpoints


@dataclass(frozen=True)
class Monitor:
    """Where a training reports to, where it saves, and whether it should stop."""

    report: Report = silent
    checkpoints: Checkpoints | None = None
    log: Path | None = None
    is_interrupted: Callable[[], bool] = lambda: False

    @classmethod
    @contextmanager
    def open(
        cls,
        identity: Mapping[str, Any],
        *,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
        log: Name | None = None,
        is_main: bool = True,
    ) -> Iterator[Monitor]:
        """The monitor of one `fit`. With a checkpoint folder, Ctrl-C is deferred and the log is in that folder.

        The main process locks the folder: a second training on it is an error, not a mixture of two.
        """
        if log is not None:
            refuse_address(log, "a log")
        checkpoints = None if checkpoint is None else Checkpoints(checkpoint, identity, resume=resume)
        lock = nullcontext() if checkpoints is None or not is_main else exclusive_folder(checkpoints.folder)
        if log is None and checkpoints is not None:
            log = checkpoints.folder / LOG
        with lock, defer_interrupt(enabled=checkpoints is not None) as is_interrupted:
            yield cls(report, checkpoints, None if log is None else Path(log), is_interrupted)

    def interruption(self) -> KeyboardInterrupt:
        """What to raise when Ctrl-C stops the training; the message names the checkpoint."""
        if self.checkpoints is None or not (self.checkpoints.folder / CONFIG).exists():
            return KeyboardInterrupt()
        return KeyboardInterrupt(
            f"the progress is saved in {self.checkpoints.folder}; run the same command again to continue"
        )


@contextmanager
def defer_interrupt(*, enabled: bool) -> Iterator[Callable[[], bool]]:
    """A function that returns whether Ctrl-C was pressed. A second Ctrl-C stops at once.

    A step that is interrupted in the middle can neither be counted nor repeated, so the first Ctrl-C waits for its end.
    """
    pressed = threading.Event()
    if not enabled or threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def on_interrupt(number: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


class Log:
    """A file of JSON lines. A resumed training removes the lines of steps after its checkpoint."""

    def __init__(self, path: Path | None, step: int) -> None:
        self.path = path
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        if step and path.exists():
            for number, line in read_lines(path):
                if line.endswith("}") and _read_step(path, number, line) <= step:  # a kill leaves half a line
                    lines.append(line + "\n")
        with name_in_errors(path):
            path.write_text("".join(lines), encoding="utf-8")

    def write(self, values: dict[str, Any]) -> None:
        """Appends a line."""
        if self.path is not None:
            with name_in_errors(self.path), open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(values) + "\n")


def _read_step(path: Path, number: int, line: str) -> float:
    cure = "Delete the file: it is only for reading"
    record = parse_json(line, path, line=number, cure=cure)
    step = record.get("step", 0) if isinstance(record, dict) else None
    if not isinstance(step, (int, float)):
        raise FormatError(path, "is not the record of a step", line=number, cure=cure)
    return step


class Clock:
    """The seconds of a training over all its runs, and the current speed in tokens per second."""

    def __init__(self, seconds: float, tokens: int) -> None:
        self.offset = seconds - time.monotonic()
        self.mark, self.tokens = time.monotonic(), tokens

    @property
    def seconds(self) -> float:
        """Seconds since the training began."""
        return self.offset + time.monotonic()

    def speed(self, tokens: int) -> float:
        """Tokens per second since the last call."""
        now = time.monotonic()
        speed = (tokens - self.tokens) / max(1e-9, now - self.mark)
        self.mark, self.tokens = now, tokens
        return speed

    def skip(self, tokens: int) -> None:
        """Leaves the time since the last call out of the speed, for example after an evaluation."""
        self.mark, self.tokens = time.monotonic(), tokens
