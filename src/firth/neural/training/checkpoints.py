"""A training that is killed goes on: all that it needs lies in a folder that is whole at every moment.

    config.json             which training this is, how far it has come, and the name of the file that belongs to it
    state-STEP.safetensors  weights, what the optimizer remembers, what the LSTMs remember
    best-STEP.safetensors   the weights with the lowest held-out perplexity so far

`config.json` is replaced last and in one step: whenever the power goes out, the old checkpoint is there or the new one.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from firth.errors import FormatError, OptionError
from firth.files import atomic_file

CONFIG, KIND = "config.json", "bilm-checkpoint"
Tensors = dict[str, Tensor]


class Checkpoints:
    """The folder of a training. `identity` says which training it is: another one's folder is never touched."""

    def __init__(self, folder: Path, identity: Mapping[str, Any], *, resume: bool = True) -> None:
        self.folder, self.resume = folder, resume
        self.identity: dict[str, Any] = json.loads(json.dumps(identity))
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"{folder}: is a file, but a folder is needed for the checkpoint. Choose another name")
        strange = [path.name for path in folder.glob("*") if not _is_ours(path.name)] if folder.is_dir() else []
        if strange:
            raise OptionError(f"{folder}: the folder holds other files ({strange[0]}). Choose another name or empty it")

    def keep(self, tensors: Tensors, progress: Mapping[str, Any]) -> None:
        """Writes a checkpoint; the one before is gone when this one is whole."""
        name = f"state-{progress['step']}.safetensors"
        self._write(name, tensors)
        config = {"library": "firth", "kind": KIND, "tensors": name, "identity": self.identity, "progress": progress}
        with atomic_file(self.folder / CONFIG) as draft:
            draft.write_text(json.dumps(config, indent=1) + "\n", encoding="ascii")
            _flush(draft)
        for old in self.folder.glob("state-*.safetensors"):
            if old.name != name:
                old.unlink(missing_ok=True)

    def keep_best(self, tensors: Tensors, step: int) -> None:
        """Writes the best weights of all so far, those of a step, beside those that the last checkpoint knows of."""
        self._write(f"best-{step}.safetensors", tensors)

    def best(self, step: int) -> Tensors:
        """The best weights, which were those of a step."""
        return self.read(f"best-{step}.safetensors")

    def forget_best(self, step: int | None) -> None:
        """Removes best weights but those of a step."""
        for old in self.folder.glob("best-*.safetensors"):
            if old.name != f"best-{step}.safetensors":
                old.unlink(missing_ok=True)

    def _write(self, name: str, tensors: Tensors) -> None:
        path = self.folder / name
        plain = {key: tensor.detach().cpu().contiguous().clone() for key, tensor in tensors.items()}
        with atomic_file(path) as draft:
            try:
                save_file(plain, draft)
            except SafetensorError as error:  # which also stands for a disk that is full
                problem = f"the checkpoint could not be written: {error}"
                raise OSError(errno.ENOSPC if "No space" in str(error) else errno.EIO, problem, str(path)) from error
            _flush(draft)

    def restore(self) -> tuple[Tensors, dict[str, Any]] | None:
        """The tensors and the progress of the checkpoint; None where there is none yet."""
        path = self.folder / CONFIG
        if not path.exists() or not self.resume:
            return None
        try:
            config = json.loads(path.read_bytes())
        except ValueError as error:
            raise FormatError(path, f"is not JSON: {error}") from error
        if not isinstance(config, dict) or config.get("kind") != KIND:
            raise OptionError(f"{self.folder}: holds something else than a checkpoint of ELMo. Choose another folder")
        if not config.keys() >= {"tensors", "identity", "progress"}:
            raise FormatError(path, "does not tell how far its training had come")
        different = sorted(
            name
            for name in self.identity.keys() | config["identity"].keys()
            if self.identity.get(name) != config["identity"].get(name)
        )
        if different:
            raise OptionError(
                f"{self.folder}: the checkpoint is of another training: it differs in {', '.join(different)}. "
                "Choose another folder or empty this one"
            )
        return self.read(Path(config["tensors"]).name), config["progress"]

    def read(self, name: str) -> Tensors:
        """The tensors of one file of the folder."""
        path = self.folder / name
        try:
            return dict(load_file(path))
        except (OSError, SafetensorError) as error:
            raise FormatError(path, f"cannot be read: {error}", cure="Empty the folder and start anew") from error


def _is_ours(name: str) -> bool:
    return name in (CONFIG, "log.jsonl") or name.startswith((".", "state-", "best-"))


def _flush(path: Path) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def named(prefix: str, tensors: Mapping[str, Tensor]) -> Tensors:
    """Tensors with a prefix before their names.

    >>> list(named("model", {"bias": Tensor([1.0])}))
    ['model:bias']
    """
    return {f"{prefix}:{name}": tensor for name, tensor in tensors.items()}


def without(prefix: str, tensors: Mapping[str, Tensor]) -> Tensors:
    """Those tensors whose names have a prefix, without it."""
    return {name[len(prefix) + 1 :]: one for name, one in tensors.items() if name.startswith(prefix + ":")}
