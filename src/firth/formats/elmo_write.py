"""Writes ELMo's official layout, as AllenNLP and the original program read it. `elmo.py` is the reader."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.files import Name, atomic_file, atomic_folder
from firth.formats.elmo import CELL, DIRECTIONS, import_h5py, reorder_gates
from firth.formats.elmo_files import OPTIONS, SOFTMAX, VOCABULARY, WEIGHTS
from firth.text.vocabulary import Vocabulary, to_bytes

if TYPE_CHECKING:
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

Arrays = Mapping[str, NDArray[Any]]
Tensors = Iterator[tuple[str, NDArray[Any]]]
WORDS_AT_ONCE = 8192  # words whose vectors are computed and written together


def write(bilm: BiLM, path: Name) -> None:
    """Writes a folder with options.json and weights.hdf5; a softmax is saved beside them with its vocabulary."""
    sizes, arrays = bilm.architecture, bilm.to_parts().arrays
    words = bilm.words if sizes.encoder == "words" else bilm.vocabulary
    _check(bilm, words, path)
    with atomic_folder(path) as folder:
        text = json.dumps(build_options(sizes), indent=2)
        (folder / OPTIONS).write_text(text + "\n", encoding="ascii")
        _write_tensors(folder / WEIGHTS, _iterate_tensors(arrays, sizes))
        if bilm.vocabulary is not None:
            pairs = (("softmax/W", arrays["softmax.weight"]), ("softmax/b", arrays["softmax.bias"]))
            _write_tensors(folder / SOFTMAX, iter(pairs))
        if words is not None:
            (folder / VOCABULARY).write_bytes(b"".join(to_bytes(word) + b"\n" for word in words))


def _check(bilm: BiLM, words: Vocabulary | None, path: Name) -> None:
    reason = ""
    if bilm.architecture.encoder == "character-rnn":
        reason = "a character RNN"
    elif bilm.architecture.encoder == "lexicon-cnn":
        reason = "the lexicons of ELMoForManyLangs"
    elif bilm.architecture.normalized:
        reason = "layer normalization"
    elif bilm.architecture.cutoffs and bilm.vocabulary is not None:
        reason = "an adaptive softmax"
    elif bilm.vocabulary is not None and words != bilm.vocabulary:
        reason = "different input and output vocabularies"
    elif words is not None and any(word != word.strip() or "\n" in word for word in words):
        reason = "words with spaces around them or line ends in them"
    if reason:
        cure = "Use firth's own format: format='native'"
        raise OptionError(f"{os.fspath(path)}: ELMo's layout has no place for {reason}. {cure}")


def build_options(sizes: Architecture) -> dict[str, Any]:
    """The options.json of a model."""
    options: dict[str, Any] = {
        "lstm": {
            "use_skip_connections": sizes.skip,
            "projection_dim": sizes.dim,
            "cell_clip": sizes.cell_clip or None,  # the original program would clip to 0
            "proj_clip": sizes.projection_clip or None,
            "dim": sizes.cell,
            "n_layers": sizes.layers,
        }
    }
    if sizes.encoder == "character-cnn":
        options["char_cnn"] = {
            "activation": sizes.activation,
            "filters": [list(one) for one in sizes.filters],
            "n_highway": sizes.highways,
            "embedding": {"dim": sizes.character_dim},
            "n_characters": 262,
            "max_characters_per_token": sizes.width,
        }
    return options


def _iterate_tensors(arrays: Arrays, sizes: Architecture) -> Tensors:
    """The tensors of a model, by their official names and in their official shapes."""
    if sizes.encoder == "words":
        yield "embedding", arrays["encoder.table"]
    else:
        yield from _iterate_characters(arrays, sizes)
    for direction, run in DIRECTIONS.items():
        for depth in range(sizes.layers):
            name, key = f"{direction}.{depth}.", CELL.format(run, depth)
            yield key + "W_0", reorder_gates(np.concatenate([arrays[name + "input"], arrays[name + "recurrent"]], 1)).T
            bias = arrays[name + "bias"].copy()
            bias[sizes.cell : 2 * sizes.cell] -= 1
            yield key + "B", reorder_gates(bias)
            if sizes.cell != sizes.dim:
                yield key + "W_P_0", arrays[name + "projection"].T


def _iterate_characters(arrays: Arrays, sizes: Architecture) -> Tensors:
    encoder = "encoder.spelled." if "encoder.spelled.table" in arrays else "encoder."
    yield "char_embed", arrays[encoder + "table"][1:]
    for i in range(len(sizes.filters)):
        yield f"CNN/W_cnn_{i}", arrays[f"{encoder}filters.{i}.weight"].transpose(2, 1, 0)[None]
        yield f"CNN/b_cnn_{i}", arrays[f"{encoder}filters.{i}.bias"]
    for i in range(sizes.highways):
        for theirs, ours in (("carry", "gate"), ("transform", "transform")):
            yield f"CNN_high_{i}/W_{theirs}", arrays[f"{encoder}highways.{i}.{ours}.weight"].T
            yield f"CNN_high_{i}/b_{theirs}", arrays[f"{encoder}highways.{i}.{ours}.bias"]
    if encoder + "projection.weight" in arrays:
        yield "CNN_proj/W_proj", arrays[encoder + "projection.weight"].T
        yield "CNN_proj/b_proj", arrays[encoder + "projection.bias"]


def _write_tensors(path: Path, tensors: Tensors) -> None:
    with import_h5py().File(path, "w") as file:
        for key, array in tensors:
            file.create_dataset(key, data=np.ascontiguousarray(array, np.float32))


def dump_token_embeddings(bilm: BiLM, vocabulary: Iterable[str], path: Name) -> None:
    """Writes the vectors of words without context, (words, dim), to the dataset `embedding` of an HDF5 file.

    It has the layout of bilm-tf's `dump_token_embeddings`: a row for each word of the vocabulary, in its order.
    `read_files(..., token_vectors=path)` opens it.

    >>> import tempfile
    >>> from firth.neural.architecture import Architecture
    >>> from firth.neural.bilm import BiLM
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dump_token_embeddings(BiLM(Architecture.named("tiny")), ["<S>", "</S>", "tea"], f"{folder}/tea.hdf5")
    ...     import h5py
    ...     h5py.File(f"{folder}/tea.hdf5")["embedding"].shape
    (3, 16)
    """
    words = list(vocabulary)
    encoder = bilm.weight_cache.encoder(bilm)
    with atomic_file(path) as target, import_h5py().File(target, "w") as file:
        table = file.create_dataset("embedding", (len(words), bilm.architecture.dim), np.float32)
        for start in range(0, len(words), WORDS_AT_ONCE):
            part = slice(start, start + WORDS_AT_ONCE)
            table[part] = bilm.token_vectors.of(encoder, words[part]).cpu().numpy()
