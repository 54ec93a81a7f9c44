"""Our own format: a folder that holds `config.json`, word lists as readable text, and `model.safetensors`.

Arrays and word lists are memory-mapped when they are opened; nothing in the folder can run.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from firth.errors import FormatError, MissingExtra, OptionError
from firth.files import Name, whole_folder
from firth.formats import safetensors
from firth.formats.opening import Part
from firth.formats.table import select
from firth.models.count_matrix import CountMatrix
from firth.models.ngram_model import NgramModel
from firth.models.phrases import PhraseModel
from firth.occurrences import Occurrences
from firth.parts import Artifact, Parts
from firth.text.vocabulary import Vocabulary
from firth.vectors import SubwordVectors, WordVectors

FORMAT_VERSION = 1
KINDS: dict[str, type[Artifact]] = {
    "word-vectors": WordVectors,
    "subword-vectors": SubwordVectors,
    "count-matrix": CountMatrix,
    "ngram": NgramModel,
    "phrases": PhraseModel,
    "occurrences": Occurrences,
}
BILM = "bilm"  # needs torch, so it is imported when one is opened
LIST_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
CONFIG, ARRAYS = "config.json", "model.safetensors"
LONGEST_CONFIG = 64 << 20


def read(path: Name, part: Part) -> Artifact:
    """The artifact that lies in a folder."""
    config = _read_config(Path(path) / CONFIG)
    vocabularies = {name: _read_list(Path(path), name) for name in config["vocabularies"]}
    arrays = safetensors.read(_existing(Path(path) / ARRAYS))
    parts = Parts(config["kind"], config["config"], arrays, vocabularies)
    made = _bilm() if parts.kind == BILM else KINDS[parts.kind]
    try:
        artifact = made.from_parts(parts)
    except (OptionError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        problem = f"the parts of this {parts.kind} do not fit together: {error}"
        raise FormatError(path, problem) from error
    if part.whole:
        return artifact
    if not isinstance(artifact, WordVectors):
        raise OptionError(f"{os.fspath(path)}: limit and vocabulary choose among vectors, but this is a {parts.kind}")
    return select(artifact, part)


def _bilm() -> type[Artifact]:
    try:
        import torch  # noqa: F401 (asked for first, so that another import that fails is not taken for this one)
    except ModuleNotFoundError as error:
        raise MissingExtra("opening a biLM", "elmo") from error
    from firth.neural.bilm import BiLM

    return BiLM


def _read_config(path: Path) -> dict[str, Any]:
    if _existing(path).stat().st_size > LONGEST_CONFIG:
        raise FormatError(path, "is too long to be a model's settings")
    try:
        config = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"is not JSON: {error}") from error
    if not isinstance(config, dict) or config.get("library") != "firth":
        raise FormatError(path, 'is not the config.json of a firth model: it does not say "library": "firth"')
    version = config.get("format_version")
    if version != FORMAT_VERSION:
        cure = "Update firth to open it" if isinstance(version, int) and version > FORMAT_VERSION else ""
        raise FormatError(path, f"has the format version {version!r}, but only {FORMAT_VERSION} is known", cure=cure)
    if config.get("kind") not in (*KINDS, BILM):
        known = ", ".join((*KINDS, BILM))
        raise FormatError(path, f"holds a {config.get('kind')!r}, but only these are known: {known}")
    lists = config.setdefault("vocabularies", [])
    if not isinstance(lists, list) or not all(isinstance(name, str) and LIST_NAME.fullmatch(name) for name in lists):
        raise FormatError(path, "names its word lists in a way that we do not know")
    if not isinstance(config.setdefault("config", {}), dict):
        raise FormatError(path, "has settings that are not a table")
    return config


def _read_list(folder: Path, name: str) -> Vocabulary:
    return Vocabulary.load(_existing(folder / name))


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise FormatError(path, "is missing from the folder of this model")
    return path


def write(artifact: Artifact, path: Name) -> None:
    """Writes an artifact as a folder, which appears under its name only when it is whole."""
    parts = artifact.to_parts()
    for name in parts.vocabularies:
        if not LIST_NAME.fullmatch(name):
            raise OptionError(f"a word list cannot be called {name!r}")
    config = {
        "library": "firth",
        "format_version": FORMAT_VERSION,
        "kind": parts.kind,
        "vocabularies": list(parts.vocabularies),
        "config": parts.config,
    }
    with whole_folder(path) as folder:
        text = json.dumps(config, indent=2, ensure_ascii=True, sort_keys=False)
        (folder / CONFIG).write_text(text + "\n", encoding="ascii")
        for name, vocabulary in parts.vocabularies.items():
            vocabulary.save(folder / name)
        safetensors.write(parts.arrays, folder / ARRAYS)
