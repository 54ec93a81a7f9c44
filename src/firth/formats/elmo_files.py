"""Which files make an ELMo model: options as JSON, weights as HDF5, and beside them a vocabulary and a softmax."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firth.errors import FormatError
from firth.files import Name, read_json

HDF5 = b"\x89HDF\r\n\x1a\n"
OPTIONS, WEIGHTS, SOFTMAX, VOCABULARY = "options.json", "weights.hdf5", "softmax_weights.hdf5", "vocab.txt"
MANY_LANGUAGES = ("encoder.pkl", "token_embedder.pkl")
LONGEST_OPTIONS = 1 << 20
LONGEST_VOCABULARY = 1 << 30


@dataclass(frozen=True)
class ElmoFiles:
    """The files of one model."""

    options: Path
    weights: Path
    softmax: Path | None = None
    vocabulary: Path | None = None


def is_elmo(head: bytes) -> bool:
    """Whether a file that starts with `head` may belong to an ELMo model."""
    return head.startswith(HDF5) or (head.lstrip()[:1] == b"{" and b'"lstm"' in head)


def contains_elmo(folder: Name) -> bool:
    """Whether a folder contains an ELMo model, in the official layout or of ELMoForManyLangs."""
    names = os.listdir(folder)
    files = [name for name in names if os.path.isfile(os.path.join(folder, name))]
    official = any(is_options(name) for name in files) and any(is_hdf5(name) for name in files)
    return official or all(name in names for name in MANY_LANGUAGES)


def has_many_languages(folder: Name) -> bool:
    """Whether a folder has the files of a model of ELMoForManyLangs (see `many_languages.py`)."""
    return os.path.isdir(folder) and all(os.path.isfile(os.path.join(folder, name)) for name in MANY_LANGUAGES)


def find_files(path: Name) -> ElmoFiles:
    """Finds the files of the model in a folder, or beside a file of options or weights."""
    place = Path(path)
    folder = place if place.is_dir() else place.parent
    names = sorted(name for name in os.listdir(folder) if os.path.isfile(folder / name))  # no pipes, no devices
    options = [name for name in names if is_options(name)]
    weights = [name for name in names if is_hdf5(name) and "softmax" not in name and "embedding" not in name]
    weights = [name for name in weights if "weights" in name] or weights
    if place.is_file() and is_hdf5(place.name):
        weights, options = [place.name], _related_files(place.name, options)
    elif place.is_file():
        options, weights = [place.name], _related_files(place.name, weights)
    for what, files in (("options.json", options), ("weights.hdf5", weights)):
        if len(files) == 1:
            continue
        if not files:
            cure = "An ELMo model is options as JSON and weights as HDF5 in one folder; no other HDF5 is opened"
            raise FormatError(place, f"no {what} here", cure=cure)
        raise FormatError(place, f"contains several: {', '.join(files)}", cure="Name the weights to open")
    softmax = [name for name in names if is_hdf5(name) and "softmax" in name]
    vocabulary = [name for name in names if is_vocabulary(name)]
    return ElmoFiles(
        folder / options[0], folder / weights[0], _only_file(folder, softmax), _only_file(folder, vocabulary)
    )


def is_options(name: str) -> bool:
    """Whether a file name is that of options."""
    return name.endswith(".json") and "options" in name


def is_hdf5(name: str) -> bool:
    """Whether a file name is that of weights."""
    return name.endswith((".hdf5", ".h5"))


def is_vocabulary(name: str) -> bool:
    """Whether a file name is that of a vocabulary."""
    return name.startswith("vocab") and ".txt" in name


def _related_files(name: str, others: list[str]) -> list[str]:
    """The other files that share the longest prefix with this name, where several models share a folder."""
    shared = [len(os.path.commonprefix([name, other])) for other in others]  # noqa: RUF071 (names, not paths)
    return [other for other, size in zip(others, shared) if size == max(shared)]


def _only_file(folder: Path, names: list[str]) -> Path | None:
    return folder / names[0] if len(names) == 1 else None


def read_options(path: Name) -> dict[str, Any]:
    """The options of a model; unknown keys are ignored."""
    options = read_json(path, LONGEST_OPTIONS)
    if not isinstance(options, dict) or "lstm" not in options:
        raise FormatError(path, "has no section 'lstm', so it is not the options of an ELMo model")
    return options


def read_section(path: Name, values: Mapping[str, Any], key: str, within: str = "") -> Mapping[str, Any]:
    """A section of the options; empty if it is missing."""
    section = values.get(key) or {}
    if not isinstance(section, dict):
        raise FormatError(path, f"{within}{key} is {section!r}, but must be a table")
    return section


def read_number(path: Name, within: str, values: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """An integer from a section of the options."""
    value = values.get(key, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0:
        problem = "is missing" if value is None else f"is {value!r}, but must be a whole number"
        raise FormatError(path, f"{within}.{key} {problem}")
    return value
