"""Reads ELMo's official layout: sizes in options.json, weights in weights.hdf5.

The weights have TensorFlow's order: y = x · W, gates input, new, forget, output, and a forget bias without the constant
1. They are converted to torch's order: y = W · x, gates input, forget, new, output, and a forget bias with the 1 added.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError, OptionError
from firth.files import Name
from firth.formats.elmo_files import (
    ElmoFiles,
    find_files,
    has_many_languages,
    read_number,
    read_options,
    read_section,
)
from firth.formats.elmo_zip import is_zip, unpack
from firth.formats.many_languages import read_folder
from firth.formats.reading import RowSelection
from firth.lazy import import_name
from firth.text.character_ids import BEGIN, END
from firth.text.vocabulary import Vocabulary
from firth.text.vocabulary_file import read_vocabulary

if TYPE_CHECKING:
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

Floats = NDArray[np.float32]
Arrays = dict[str, Floats]
DIRECTIONS = {"forward_layers": 0, "backward_layers": 1}
CELL = "RNN_{}/RNN/MultiRNNCell/Cell{}/LSTMCell/"
LINKS = "Copy the model into one file with HDF5's tool h5repack, if you trust it"
SMALL_TENSOR = 1 << 20  # bytes; chunks that were never written are zeros and need no room in a file
MOST_EXPANSION = 100
OFFICIAL = re.compile(r"char_embed$|CNN|RNN_\d")


def read(path: Name, part: RowSelection) -> BiLM:
    """The model in a folder or a zip archive, or of an options.json or weights.hdf5."""
    if not part.whole:
        raise OptionError(f"{os.fspath(path)}: limit and vocabulary select vectors, but this is an ELMo model")
    if is_zip(path):
        with unpack(path) as folder:
            bilm = read_folder(folder) if has_many_languages(folder) else read_files(find_files(folder))
        bilm.metadata["source"] = Path(path).name
        return bilm
    if has_many_languages(path):
        return read_folder(Path(path))
    return read_files(find_files(path))


def read_files(files: ElmoFiles, *, token_vectors: Name | None = None) -> BiLM:
    """The model in these files, with its softmax if there is one.

    `token_vectors` is a file of precomputed vectors for the words of the vocabulary; the character encoder computes the
    vectors of other words.
    """
    torch, neural = (import_name(name, "opening an ELMo model", "elmo") for name in ("torch", "firth.neural.bilm"))
    architecture = _read_architecture(files.options, neural)
    words = vocabulary = None
    with open_weights(files.weights, files.options.name) as weights:
        arrays = _read_layers(weights, architecture)
        if architecture.encoder == "character-cnn":
            arrays |= _read_characters(weights, architecture)
        else:
            words, arrays["encoder.table"] = _read_words(weights, files.vocabulary, architecture.dim)
            _check_bounds(words, files)
        weights.check_all_taken()
        if "softmax/W" in weights.file:
            vocabulary, softmax = _read_softmax(weights, files.vocabulary, architecture.dim)
            arrays |= softmax
    if files.softmax is not None and vocabulary is None:
        with open_weights(files.softmax, files.options.name) as weights:
            vocabulary, softmax = _read_softmax(weights, files.vocabulary, architecture.dim)
            arrays |= softmax
    if token_vectors is not None:
        arrays = {re.sub(r"^encoder\.", "encoder.spelled.", name): array for name, array in arrays.items()}
        with open_weights(token_vectors, files.options.name) as weights:
            words, arrays["encoder.table"] = _read_words(weights, files.vocabulary, architecture.dim)
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    metadata = {"format": "elmo", "source": files.weights.name}
    bilm: BiLM = neural.BiLM.of_tensors(architecture, tensors, vocabulary=vocabulary, words=words, metadata=metadata)
    return bilm


def _read_architecture(path: Path, neural: Any) -> Architecture:
    options = read_options(path)
    lstm, characters = read_section(path, options, "lstm"), read_section(path, options, "char_cnn")
    if options.get("bidirectional") is False:
        raise FormatError(
            path, "has bidirectional: false, but a biLM has two directions", cure="Train a bidirectional model"
        )
    cell = read_number(path, "lstm", lstm, "dim")
    values: dict[str, Any] = {
        "cell": cell,
        "dim": read_number(path, "lstm", lstm, "projection_dim", cell),
        "layers": read_number(path, "lstm", lstm, "n_layers", 1),
        "cell_clip": lstm.get("cell_clip") or 0.0,
        "projection_clip": lstm.get("proj_clip") or 0.0,
        "skip": bool(lstm.get("use_skip_connections", False)),
        "encoder": "words",
    }
    if characters:
        count = read_number(path, "char_cnn", characters, "n_characters", 262)
        if count not in (261, 262):
            cure = "firth encodes UTF-8 bytes and five special characters, as the official models do"
            raise FormatError(path, f"char_cnn.n_characters is {count}, but must be 261 or 262", cure=cure)
        table = read_section(path, characters, "embedding", "char_cnn.")
        values |= {
            "encoder": "character-cnn",
            "character_dim": read_number(path, "char_cnn.embedding", table, "dim"),
            "filters": characters.get("filters", []),
            "highways": read_number(path, "char_cnn", characters, "n_highway", 0),
            "activation": characters.get("activation", "relu"),
            "width": read_number(path, "char_cnn", characters, "max_characters_per_token", 50),
        }
    try:
        architecture: Architecture = neural.Architecture.from_dict(values)
    except (OptionError, TypeError) as error:
        raise FormatError(path, f"is not the options of an ELMo model: {error}") from error
    return architecture


class TensorReader:
    """Reads tensors from an HDF5 file and checks them."""

    def __init__(self, path: Name, file: Any, options: str) -> None:
        self.path, self.file, self.options = path, file, options
        self.taken: set[str] = set()
        self._groups: dict[str, Any] = {"": file}  # those that were looked up

    def take(self, key: str, *shape: int | None) -> Floats:
        """A tensor of this shape; None matches any size."""
        self.taken.add(key)
        with self.reading(key):
            tensor = self._look_up(key)
            self._check_storage(key, tensor)
            size, kind = getattr(tensor, "shape", None), getattr(getattr(tensor, "dtype", None), "kind", "")
        cure = f"Use the {self.options} that came with the weights"
        if size is None:
            raise FormatError(self.path, f"the tensor {key!r} is missing", cure=f"{cure}, or download them again")
        if len(size) != len(shape) or any(want not in (None, have) for want, have in zip(shape, size)):
            expected = " × ".join("any" if want is None else str(want) for want in shape)
            problem = f"the tensor {key!r} is {' × '.join(map(str, size))}, but {self.options} makes it {expected}"
            raise FormatError(self.path, problem, cure=cure)
        if kind != "f":
            raise FormatError(self.path, f"the tensor {key!r} must contain floating-point numbers")
        with self.reading(key):
            array: Floats = tensor[()].astype(np.float32)
        wrong = array.size - np.count_nonzero(np.isfinite(array))
        if wrong:
            problem = f"the tensor {key!r} has {wrong:,} numbers that are NaN or infinite"
            raise FormatError(self.path, problem, cure="Download the file again, or train with a lower learning rate")
        return array

    def _look_up(self, key: str) -> Any:
        """A tensor or a group; None if it is missing. Links are refused: a tensor must be in the file itself."""
        if key in self._groups:
            return self._groups[key]
        parent, _, name = key.rpartition("/")
        group = self._look_up(parent)
        if not hasattr(group, "keys") or name not in group:
            return None
        if not isinstance(group.get(name, getlink=True), import_h5py().HardLink):
            raise FormatError(self.path, f"{key!r} is a link, which is not followed", cure=LINKS)
        found = group[name]
        if hasattr(found, "keys"):
            self._groups[key] = found
        return found

    def _check_storage(self, key: str, tensor: Any) -> None:
        """Refuses numbers that are in other files, and more numbers than the file can hold."""
        if not hasattr(tensor, "shape"):
            return
        if tensor.external or tensor.is_virtual:
            raise FormatError(self.path, f"the numbers of {key!r} are in other files, which are not opened", cure=LINKS)
        size, stored = tensor.size * tensor.dtype.itemsize, tensor.id.get_storage_size()
        if size > max(SMALL_TENSOR, MOST_EXPANSION * stored):
            problem = f"the tensor {key!r} has {size:,} bytes, but only {stored:,} are stored"
            raise FormatError(self.path, problem, cure="The file is broken, or made to fill the memory")

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Converts the errors of a damaged file to FormatError."""
        try:
            yield
        except FormatError:
            raise
        except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError) as error:
            problem = f"{what!r} cannot be read ({error})"
            raise FormatError(self.path, problem, cure="Download the file again") from error

    def check_all_taken(self) -> None:
        """Refuses a file with tensors that the options do not describe."""
        names: list[str] = []
        with self.reading("the list of tensors"):
            self.file.visit(names.append)
            others = (name for name in names if OFFICIAL.match(name) and name not in self.taken)
            names = [name for name in others if hasattr(self.file[name], "shape")]
        if names:
            problem = f"the tensor {names[0]!r} has no place in the model that {self.options} describes"
            raise FormatError(self.path, problem, cure=f"Use the {self.options} that came with the weights")


@contextmanager
def open_weights(path: Name, options: str) -> Iterator[TensorReader]:
    """Opens an HDF5 file of tensors."""
    h5py = import_h5py()
    if not os.path.isfile(path):
        raise OptionError(f"{os.fspath(path)}: no such file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        problem = f"is not an HDF5 file, or is cut short ({error})"
        raise FormatError(path, problem, cure="Download it again") from error
    with file:
        yield TensorReader(path, file, options)


def import_h5py() -> Any:
    return import_name("h5py", "opening and writing ELMo's weights", "elmo")


def _read_characters(weights: TensorReader, sizes: Architecture) -> Arrays:
    table = weights.take("char_embed", 261, sizes.character_dim)
    arrays = {"encoder.table": np.concatenate([np.zeros_like(table[:1]), table])}  # row 0 is padding
    for i, (size, count) in enumerate(sizes.filters):
        kernel = weights.take(f"CNN/W_cnn_{i}", 1, size, sizes.character_dim, count)
        arrays[f"encoder.filters.{i}.weight"] = kernel[0].transpose(2, 1, 0)
        arrays[f"encoder.filters.{i}.bias"] = weights.take(f"CNN/b_cnn_{i}", count)
    features = sum(count for _, count in sizes.filters)
    for i in range(sizes.highways):
        for theirs, ours in (("carry", "gate"), ("transform", "transform")):  # their "carry" gates the transform
            name = f"encoder.highways.{i}.{ours}"
            arrays[f"{name}.weight"] = weights.take(f"CNN_high_{i}/W_{theirs}", features, features).T
            arrays[f"{name}.bias"] = weights.take(f"CNN_high_{i}/b_{theirs}", features)
    if features != sizes.dim:
        arrays["encoder.projection.weight"] = weights.take("CNN_proj/W_proj", features, sizes.dim).T
        arrays["encoder.projection.bias"] = weights.take("CNN_proj/b_proj", sizes.dim)
    return arrays


def _read_layers(weights: TensorReader, sizes: Architecture) -> Arrays:
    arrays: Arrays = {}
    for direction, run in DIRECTIONS.items():
        for depth in range(sizes.layers):
            name, key = f"{direction}.{depth}.", CELL.format(run, depth)
            both = reorder_gates(weights.take(key + "W_0", 2 * sizes.dim, 4 * sizes.cell).T)
            arrays[name + "input"], arrays[name + "recurrent"] = both[:, : sizes.dim], both[:, sizes.dim :]
            arrays[name + "bias"] = reorder_gates(weights.take(key + "B", 4 * sizes.cell))
            arrays[name + "bias"][sizes.cell : 2 * sizes.cell] += 1
            if sizes.cell != sizes.dim:
                arrays[name + "projection"] = weights.take(key + "W_P_0", sizes.cell, sizes.dim).T
    return arrays


def reorder_gates(array: Floats) -> Floats:
    """Converts between the two gate orders: swaps the second and third quarter of the rows.

    >>> reorder_gates(np.array([1, 2, 3, 4], np.float32))
    array([1., 3., 2., 4.], dtype=float32)
    """
    first, second, third, fourth = np.split(array, 4)
    return np.concatenate([first, third, second, fourth])


def _read_words(weights: TensorReader, path: Path | None, dim: int) -> tuple[Vocabulary, Floats]:
    table = weights.take("embedding", None, dim)
    return _read_row_words(weights, path, "embedding", len(table)), table


def _check_bounds(words: Vocabulary, files: ElmoFiles) -> None:
    for bound in (BEGIN, END):
        if bound not in words:
            cure = "Sentences begin with <S> and end with </S>, so a model over words needs vectors for them"
            raise FormatError(files.vocabulary or files.weights, f"the vocabulary has no {bound}", cure=cure)


def _read_softmax(weights: TensorReader, path: Path | None, dim: int) -> tuple[Vocabulary, Arrays]:
    table = weights.take("softmax/W", None, dim)
    arrays = {"softmax.weight": table, "softmax.bias": weights.take("softmax/b", len(table))}
    return _read_row_words(weights, path, "softmax/W", len(table)), arrays


def _read_row_words(weights: TensorReader, path: Path | None, key: str, rows: int) -> Vocabulary:
    if path is None:
        cure = "Put the vocabulary that the model was trained with beside it, as vocab.txt"
        raise FormatError(weights.path, f"{key!r} has {rows:,} rows, but there is no vocabulary", cure=cure)
    words = read_vocabulary(path)
    if len(words) != rows:
        problem = f"has {len(words):,} words, but {key!r} in {Path(weights.path).name} has {rows:,} rows"
        raise FormatError(path, problem, cure="Use the vocabulary that the model was trained with")
    return words
