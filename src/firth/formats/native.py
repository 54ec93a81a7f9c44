"""firth's own format: a folder with `config.json`, word lists as readable text, and `model.safetensors`.

Arrays and word lists are memory-mapped; nothing in the folder is executable. In a folder saved with reduced precision,
arrays are stored in smaller types (see `precision.py`) and word lists are compressed. The arrays of a large model may
be in several files (see `array_files.py`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from firth.array_names import array_files
from firth.errors import FormatError, OptionError
from firth.files import Name, atomic_folder, read_json, refuse_outer_link
from firth.formats import precision as precisions
from firth.formats import safetensors
from firth.formats.array_files import divide_arrays
from firth.formats.precision import Precision
from firth.formats.reading import RowSelection
from firth.formats.vector_table import select
from firth.lazy import import_name
from firth.serialization import Artifact, Parts
from firth.text.segmenters import LIBRARIES
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

FORMAT_VERSION = 1
BILM, TASK = "bilm", "task"
KINDS = {  # the class of each kind, imported when an artifact of the kind is opened
    "word-vectors": "firth.vectors.words:WordVectors",
    "word2vec": "firth.models.word2vec_model:Word2VecModel",
    "subword-vectors": "firth.vectors.subwords:SubwordVectors",
    "document-vectors": "firth.models.doc2vec:DocumentVectors",
    "count-matrix": "firth.models.count_matrix:CountMatrix",
    "ngram": "firth.models.ngram_model:NgramModel",
    "connected-phrases": "firth.models.connected_phrases:ConnectedPhrases",
    "phrases": "firth.models.phrases:PhraseModel",
    "segmenter": "firth.models.segmenter:SegmenterModel",
    "vector-map": "firth.models.vector_map:VectorMap",
    "occurrences": "firth.vectors.occurrences:Occurrences",
    BILM: "firth.neural.bilm:BiLM",
    TASK: "firth.tasks.model:TaskModel",
}
LIST_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
CONFIG, COMPRESSED = "config.json", ".xz"
LONGEST_CONFIG = 64 << 20


def read(path: Name, part: RowSelection) -> Artifact:
    """The artifact in a folder."""
    parts = read_parts(path)
    artifact = build_artifact(parts, path)
    if part.whole:
        return artifact
    if not isinstance(artifact, WordVectors):
        raise OptionError(f"{os.fspath(path)}: limit and vocabulary select vectors, but this is a {parts.kind}")
    return select(artifact, part)


def read_parts(path: Name) -> Parts:
    """The parts of the artifact in a folder."""
    config = _read_config(Path(path) / CONFIG)
    vocabularies = {name: _read_list(Path(path), name) for name in config["vocabularies"]}
    arrays = _read_arrays(Path(path), config)
    locate_segmenter(config["config"].get("metadata"), Path(path))
    parts = Parts(config["kind"], config["config"], arrays, vocabularies)
    if not config.get("coded"):
        return parts
    try:
        return replace(parts, arrays=precisions.restore(arrays, config["coded"]))
    except OptionError as error:
        raise FormatError(path, f"the parts of this {parts.kind} do not fit together: {error}") from error


def locate_segmenter(metadata: object, folder: Path) -> None:
    """Names the folder of the segmenter beside the model, if the model has a relative name that leads nowhere here.

    >>> metadata = {"tokenizer": {"segment": "zh-words"}}
    >>> locate_segmenter(metadata, Path("no-such-folder/vectors"))
    >>> metadata["tokenizer"]["segment"]
    'zh-words'
    """
    tokenizer = metadata.get("tokenizer") if isinstance(metadata, dict) else None
    if not isinstance(tokenizer, dict):
        return
    name = tokenizer.get("segment")
    if not isinstance(name, str) or name in ("", *LIBRARIES) or os.path.isdir(name):
        return
    beside = os.path.normpath(folder.absolute().parent / name)
    if os.path.isfile(os.path.join(beside, CONFIG)):
        tokenizer["segment"] = beside


def build_artifact(parts: Parts, path: Name, **more: Any) -> Artifact:
    """Builds an artifact from its parts; `more` is passed to `from_parts`."""
    purpose = f"opening a {'biLM' if parts.kind == BILM else parts.kind}"
    kind: type[Artifact] = import_name(KINDS[parts.kind], purpose, "elmo")
    try:
        return kind.from_parts(parts, **more)
    except (OptionError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        problem = f"the parts of this {parts.kind} do not fit together: {error}"
        raise FormatError(path, problem) from error


def _read_config(path: Path) -> dict[str, Any]:
    config = read_json(_check_exists(path), LONGEST_CONFIG)
    if not isinstance(config, dict) or config.get("library") != "firth":
        raise FormatError(path, 'is not the config.json of a firth model: it lacks "library": "firth"')
    version = config.get("format_version")
    if version != FORMAT_VERSION:
        cure = "Update firth to open it" if isinstance(version, int) and version > FORMAT_VERSION else ""
        raise FormatError(path, f"has the format version {version!r}, but only {FORMAT_VERSION} is known", cure=cure)
    if not isinstance(config.get("kind"), str) or config["kind"] not in KINDS:
        raise FormatError(path, f"contains a {config.get('kind')!r:.60}, but only these are known: {', '.join(KINDS)}")
    lists = config.setdefault("vocabularies", [])
    if not isinstance(lists, list) or not all(isinstance(name, str) and LIST_NAME.fullmatch(name) for name in lists):
        raise FormatError(path, "has invalid names of word lists")
    if not isinstance(config.setdefault("config", {}), dict):
        raise FormatError(path, "has a config that is not a JSON object")
    return config


def _read_arrays(folder: Path, config: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    try:
        files = array_files(config)
    except OptionError as error:
        raise FormatError(folder / CONFIG, str(error)) from error
    arrays: dict[str, NDArray[Any]] = {}
    for name in files:
        more = safetensors.read(_check_exists(folder / name))
        if twice := arrays.keys() & more:
            raise FormatError(folder / name, f"the array {min(twice)!r} is in another file already")
        arrays |= more
    return arrays


def _read_list(folder: Path, name: str) -> Vocabulary:
    compressed = folder / (name + COMPRESSED)
    return Vocabulary.load(_check_exists(compressed if compressed.is_file() else folder / name))


def _check_exists(path: Path) -> Path:
    """The path of a file of the folder; a missing one, and a symbolic link that leads out of the folder, are errors."""
    if not path.is_file():
        raise FormatError(path, "is missing from the folder of this model")
    return refuse_outer_link(path)


def write(artifact: Artifact, path: Name, precision: Precision | None = None, file_bytes: int | None = None) -> None:
    """Writes an artifact as a folder, atomically. No file of arrays has more than `file_bytes`."""
    ending = COMPRESSED if precision is not None else ""
    if precision is not None and isinstance(artifact, WordVectors):
        artifact = precisions.reduce_vectors(artifact, precision)
    parts = artifact.to_parts()
    for name in parts.vocabularies:
        if not LIST_NAME.fullmatch(name):
            raise OptionError(f"a word list cannot be called {name!r}")
    config: dict[str, Any] = {
        "library": "firth",
        "format_version": FORMAT_VERSION,
        "kind": parts.kind,
        "vocabularies": list(parts.vocabularies),
        "config": parts.config,
    }
    if precision is not None:
        arrays: Mapping[str, NDArray[Any]] = parts.arrays
        if parts.kind in (BILM, TASK):
            arrays, config["coded"] = precisions.reduce_precision(parts.arrays, precision)
        parts = replace(parts, arrays=precisions.narrow_integers(arrays))
    files = divide_arrays(parts.arrays, file_bytes)
    if len(files) > 1:
        config["files"] = len(files)
    with atomic_folder(path) as folder:
        text = json.dumps(config, indent=2, ensure_ascii=True, sort_keys=False)
        (folder / CONFIG).write_text(text + "\n", encoding="ascii")
        for name, vocabulary in parts.vocabularies.items():
            vocabulary.save(folder / (name + ending))
        for name, arrays in zip(array_files(config), files):
            safetensors.write(arrays, folder / name)
