"""Checkpoints: named arrays and a JSON state in a folder that is complete at every moment.

    config.json             which training this is, its state, and the name of the arrays file that belongs to it
    state-STEP.safetensors  the arrays: weights, optimizer moments, recurrent states
    best-STEP.safetensors   the weights with the best validation score so far, where the training evaluates

`config.json` is replaced last and atomically. After a kill or a power failure, either the old or the new checkpoint
can be read. Arrays are NumPy arrays; trainings in torch convert at their border (`neural/training/loop.py`).

The configuration and each array have a checksum (CRC-32), so that a damaged byte is an error and not another model.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from firth.errors import FormatError, OptionError
from firth.files import Name, atomic_file, read_json, refuse_address, remove_drafts

CONFIG, LOG, KIND = "config.json", "log.jsonl", "checkpoint"
KEYS = {"arrays": str, "identity": dict, "state": dict}
LONGEST_CONFIG = 1 << 30
CHECKSUM = "checksum"
DAMAGED = "Choose another folder, or empty this one to start again"
SAVE_SECONDS = 60.0  # between checkpoints
SAVE_SHARE = 0.05  # of the time of a training, at most, is spent on checkpoints
Arrays = Mapping[str, NDArray[Any]]


class Checkpoints:
    """The checkpoint folder of one training.

    `identity` describes the training: options, corpus fingerprint and the like. A checkpoint with another identity is
    refused, and a folder that holds anything else is never written to. With `resume=False`, `restore` finds nothing.
    """

    def __init__(self, folder: Name, identity: Mapping[str, Any], *, resume: bool = True) -> None:
        refuse_address(folder, "checkpoints")
        self.folder, self.resume = Path(folder), resume
        self.identity: dict[str, Any] = json.loads(json.dumps(identity))
        if self.folder.exists() and not self.folder.is_dir():
            raise OptionError(f"{folder}: is a file, but checkpoints need a folder. Choose another name")
        others = [path.name for path in self.folder.glob("*") if not _is_checkpoint_file(path.name)]
        if others:
            raise OptionError(f"{folder}: the folder holds other files ({others[0]}). Choose another name or empty it")
        self._read_config()

    def save(self, arrays: Arrays, state: Mapping[str, Any]) -> None:
        """Writes a checkpoint. The previous one is deleted once this one is complete."""
        name = f"state-{state['step']}.safetensors"
        self._write(name, arrays)
        config: dict[str, Any] = {"library": "firth", "kind": KIND, "arrays": name}
        config |= {"identity": self.identity, "state": state}
        config[CHECKSUM] = sum_config(json.loads(json.dumps(config)))
        with atomic_file(self.folder / CONFIG) as draft:
            draft.write_text(json.dumps(config, indent=1) + "\n", encoding="ascii")
            _flush(draft)
        for old in self.folder.glob("state-*.safetensors"):
            if old.name != name:
                old.unlink(missing_ok=True)
        remove_drafts(self.folder)

    def save_best(self, arrays: Arrays, step: int) -> None:
        """Writes the best weights so far, those of `step`. Older best weights stay until `remove_best`."""
        self._write(f"best-{step}.safetensors", arrays)

    def remove_best(self, *, except_step: int | None) -> None:
        """Deletes all best weights but those of one step."""
        for old in self.folder.glob("best-*.safetensors"):
            if old.name != f"best-{except_step}.safetensors":
                old.unlink(missing_ok=True)

    def restore(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]] | None:
        """The arrays and the state of the checkpoint, or None if there is none."""
        config = self._find()
        return None if config is None else (self._read(config["arrays"]), config["state"])

    def restore_into(self, arrays: Arrays) -> dict[str, Any] | None:
        """Fills the arrays in place, one at a time, and returns the state, or None if there is no checkpoint."""
        config = self._find()
        if config is None:
            return None
        with self._open(config["arrays"]) as file:
            for name, array in arrays.items():
                stored = _take(file, name)
                if stored.shape != array.shape or stored.dtype != array.dtype:
                    problem = f"{stored.dtype} {stored.shape} instead of {array.dtype} {array.shape}"
                    raise ValueError(f"{name!r} is {problem}")
                array[...] = stored
        state: dict[str, Any] = config["state"]
        return state

    def read_best(self, step: int) -> dict[str, NDArray[Any]]:
        """The best weights, which are those of `step`."""
        return self._read(f"best-{step}.safetensors")

    def _find(self) -> dict[str, Any] | None:
        """The configuration of a checkpoint to resume from; None if there is none or it is not wanted."""
        config = self._read_config() if self.resume else None
        if config is None:
            return None
        theirs = config["identity"]
        names = sorted(self.identity.keys() | theirs.keys())
        different = [name for name in names if self.identity.get(name) != theirs.get(name)]
        if different:
            raise OptionError(
                f"{self.folder}: the checkpoint is of another training: it differs in {', '.join(different)}. "
                "Choose another folder, or delete this one to start again"
            )
        return config

    def _read_config(self) -> dict[str, Any] | None:
        path = self.folder / CONFIG
        if not path.exists():
            return None
        config = read_json(path, LONGEST_CONFIG)
        if not isinstance(config, dict) or not str(config.get("kind")).endswith(KIND):
            raise OptionError(f"{self.folder}: holds something else than a checkpoint. Choose another folder")
        if config["kind"] != KIND or not all(isinstance(config.get(name), kind) for name, kind in KEYS.items()):
            raise FormatError(path, "is a checkpoint that this version of firth cannot read", cure=DAMAGED)
        if config.keys() == {"library", "kind", *KEYS}:  # of an earlier version, which wrote no checksum
            return config
        if config.pop(CHECKSUM, None) != sum_config(config):
            raise FormatError(path, "is damaged: its checksum is wrong", cure=DAMAGED)
        return config

    def _write(self, name: str, arrays: Arrays) -> None:
        path = self.folder / name
        with atomic_file(path) as draft:
            try:
                stored = {key: np.asarray(array, order="C") for key, array in arrays.items()}
                checksums = {key: str(sum_array(key, array)) for key, array in stored.items()}
                save_file(stored, draft, checksums)
            except SafetensorError as error:  # also raised when the disk is full
                problem = f"the checkpoint could not be written: {error}"
                raise OSError(errno.ENOSPC if "No space" in str(error) else errno.EIO, problem, str(path)) from error
            _flush(draft)

    def _read(self, name: str) -> dict[str, NDArray[Any]]:
        with self._open(name) as file:
            return {key: _take(file, key) for key in file.keys()}  # noqa: SIM118 (not a mapping)

    @contextmanager
    def _open(self, name: str) -> Iterator[Any]:
        path = self.folder / Path(name).name
        try:
            with safe_open(path, framework="numpy") as file:
                yield file
        except (OSError, SafetensorError, ValueError, TypeError, KeyError, OverflowError) as error:
            raise FormatError(path, f"the arrays of the checkpoint cannot be read: {error}", cure=DAMAGED) from error


def _take(file: Any, name: str) -> NDArray[Any]:
    """An array of a file. Files of earlier versions have no checksums."""
    array: NDArray[Any] = file.get_tensor(name)
    checksums = file.metadata()
    if checksums is not None and checksums.get(name) != str(sum_array(name, array)):
        raise ValueError(f"{name!r} is damaged: its checksum is wrong")
    return array


def sum_array(name: str, array: NDArray[Any]) -> int:
    """The checksum of an array with its name, type and shape.

    >>> sum_array("inputs", np.zeros((2, 3))) == sum_array("inputs", np.zeros((3, 2)))
    False
    """
    start = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode())
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, start)


def sum_config(config: Mapping[str, Any]) -> int:
    """The checksum of a configuration without its checksum."""
    return zlib.crc32(json.dumps(config, sort_keys=True).encode())


def pause_before_next(seconds: float, duration: float) -> float:
    """The seconds until the next checkpoint: `seconds`, or more if the last one took `duration`, a large share of that.

    With 0 seconds every step is saved, whatever it takes.

    >>> pause_before_next(60.0, 0.5), pause_before_next(60.0, 12.0)
    (60.0, 240.0)
    """
    return max(seconds, duration / SAVE_SHARE) if seconds else 0.0


def _is_checkpoint_file(name: str) -> bool:
    return name in (CONFIG, LOG) or name.startswith((".", "state-", "best-"))


def _flush(path: Path) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
