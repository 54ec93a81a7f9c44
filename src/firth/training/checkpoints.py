"""A training that is stopped goes on: its arrays and its place lie in a folder that is whole at every moment."""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from firth.errors import FormatError, OptionError
from firth.files import Name, atomic_file

CONFIG = "config.json"
KEYS = {"arrays", "identity", "step", "losses", "counts", "held_out"}


@dataclass
class Position:
    """How far training has come: steps done, the loss and count of each epoch so far, and the held-out losses."""

    step: int
    losses: list[float]
    counts: list[int]
    held_out: list[float] = field(default_factory=list)

    @property
    def curve(self) -> list[float]:
        """The mean loss of a prediction, by epoch."""
        return [loss / max(1, count) for loss, count in zip(self.losses, self.counts)]


def save_checkpoint(
    folder: Name, arrays: Mapping[str, NDArray[Any]], identity: Mapping[str, Any], position: Position
) -> None:
    """Writes a checkpoint.

    The arrays get a name of their own, and `config.json`, which is replaced in one step, says which arrays are meant:
    whenever the power goes out, either the old checkpoint is there or the new one.
    """
    place = Path(folder)
    _check_kind(place)
    name = f"state-{position.step}.safetensors"
    state = {"library": "firth", "kind": "checkpoint", "arrays": name, "identity": identity, **vars(position)}
    with atomic_file(place / name) as draft:
        try:
            save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, draft)
        except SafetensorError as error:  # which also stands for a disk that is full
            raise OSError(errno.EIO, f"the checkpoint could not be written: {error}", str(place / name)) from error
        _flush(draft)
    with atomic_file(place / CONFIG) as draft:
        draft.write_text(json.dumps(state, indent=2) + "\n", encoding="ascii")
        _flush(draft)
    for old in (*place.glob("state-*.safetensors"), *place.glob(".*.part")):  # drafts are of runs that were killed
        if old.name != name:
            old.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _check_kind(folder: Path) -> None:
    """A folder that holds other things than a checkpoint is never written to."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: is a file, but a folder is needed for the checkpoint. Choose another name")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if (folder / CONFIG).exists():
        _read(folder)
    elif not all(path.name.startswith((".", "state-")) for path in folder.iterdir()):
        raise OptionError(f"{folder}: the folder holds other files. Choose another name or empty it")


def _read(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    try:
        state = json.loads(path.read_bytes())
    except ValueError as error:
        raise FormatError(path, f"is not JSON: {error}") from error
    if not isinstance(state, dict) or state.get("kind") != "checkpoint":
        raise OptionError(f"{folder}: holds something else than a checkpoint. Choose another folder")
    if not state.keys() >= KEYS:
        raise FormatError(path, f"does not tell the {', '.join(sorted(KEYS - state.keys()))} of its training")
    return state


def restore_checkpoint(
    folder: Name, arrays: Mapping[str, NDArray[Any]], identity: Mapping[str, Any]
) -> Position | None:
    """Fills the arrays from a checkpoint and says how far it had come; None where there is no checkpoint yet."""
    place = Path(folder)
    _check_kind(place)
    if not (place / CONFIG).exists():
        return None
    state = _read(place)
    wanted = json.loads(json.dumps(identity))
    different = [name for name in wanted if state["identity"].get(name) != wanted[name]]
    if different:
        raise OptionError(
            f"{folder}: the checkpoint is of another training: it differs in {', '.join(different)}. "
            "Choose another folder, or start anew with resume=False"
        )
    path = place / Path(state["arrays"]).name
    try:
        with safe_open(path, framework="numpy") as file:
            for name, array in arrays.items():
                array[...] = file.get_tensor(name)
    except (OSError, SafetensorError, ValueError) as error:
        raise FormatError(path, f"does not hold the arrays of this training: {error}") from error
    return Position(state["step"], state["losses"], state["counts"], state["held_out"])


def interrupted_error(folder: Name | None) -> KeyboardInterrupt:
    """What to raise when Ctrl-C stops a training: it says where the state is kept."""
    if folder is None or not (Path(folder) / CONFIG).exists():
        return KeyboardInterrupt()
    return KeyboardInterrupt(f"{folder} keeps what was done, and the same command goes on from there")


@contextmanager
def stopping(wanted: bool) -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed; a second Ctrl-C stops at once.

    A block that is interrupted in the middle could be neither counted nor repeated, so the first Ctrl-C waits for it.
    """
    asked = threading.Event()
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def on_interrupt(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
