"""Reads folders of ELMoForManyLangs (Che et al., 2018): 44 languages, two PyTorch files and two lexicons.

    config.json           names the file with the sizes, in config_path
    char.dic, word.dic    a character or word, a tab, and its row
    token_embedder.pkl    the word encoder: a table of words beside a CNN over Unicode characters
    encoder.pkl           the LSTM layers

The PyTorch files are pickles. `check_pickle` lists the names in them and refuses all but those of tensors, and
`torch.load(weights_only=True)` opens them: it makes tensors, and executes nothing that a file asks for.
"""

from __future__ import annotations

import os
import pickletools
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from firth.archives import open_zip
from firth.errors import FormatError, OptionError
from firth.files import decode, read_bytes, read_json, refuse_outer_link
from firth.formats.elmo_files import LONGEST_OPTIONS, LONGEST_VOCABULARY, read_number, read_section
from firth.lazy import import_name
from firth.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

Floats = NDArray[np.float32]
SETTINGS, CHARACTERS, WORDS = "config.json", "char.dic", "word.dic"
TOKEN_EMBEDDER, ENCODER = "token_embedder.pkl", "encoder.pkl"
MOST_DIGITS = 9  # of the number of a row
MOST_TUPLES = 10_000  # in a pickle; a file has four for each tensor. Python's hash of nested ones has no limit
NEWEST_UNSAFE = (2, 5)  # before 2.6, weights-only loading of old files could be tricked
PARTS = "A model of ELMoForManyLangs has encoder.pkl, token_embedder.pkl, char.dic, word.dic and config.json"
SPACE = "\u3000"  # the character whose line is empty before the tab
REQUIRED_WORDS = ("<bos>", "<eos>", "<oov>", "<pad>")
REQUIRED_CHARACTERS = (*REQUIRED_WORDS, "<bow>", "<eow>")
STORAGES = ("FloatStorage", "DoubleStorage", "HalfStorage", "BFloat16Storage")
ALLOWED = {
    "collections.OrderedDict",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    *(f"torch.{name}" for name in STORAGES),
}
# The sizes of all 44 published models. Their config.json names this file, which is often not in the folder.
PUBLISHED = "cnn_50_100_512_4096_sample.json"
PUBLISHED_SIZES: dict[str, Any] = {
    "encoder": {"name": "elmo", "projection_dim": 512, "cell_clip": 3, "proj_clip": 3, "dim": 4096, "n_layers": 2},
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "n_highway": 2,
        "word_dim": 100,
        "char_dim": 50,
        "max_characters_per_token": 50,
    },
}


def read_folder(folder: Path) -> BiLM:
    """The model in a folder of ELMoForManyLangs."""
    torch, neural = (import_name(name, "opening an ELMo model", "elmo") for name in ("torch", "firth.neural.bilm"))
    path, sizes = find_sizes(folder)
    architecture = read_architecture(path, sizes, neural)
    characters = read_lexicon(folder / CHARACTERS, REQUIRED_CHARACTERS)
    words = read_lexicon(folder / WORDS, REQUIRED_WORDS) if architecture.word_dim else None
    tensors = _encoder_tensors(TensorFile.open(folder / TOKEN_EMBEDDER, torch), architecture, characters, words)
    tensors |= _layer_tensors(TensorFile.open(folder / ENCODER, torch), architecture)
    bilm: BiLM = neural.BiLM.of_tensors(
        architecture,
        {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in tensors.items()},
        words=words,
        characters=characters,
        metadata={"format": "elmo-for-many-languages", "source": folder.name},
    )
    return bilm


def find_sizes(folder: Path) -> tuple[Path, Mapping[str, Any]]:
    """The file with the sizes of a model, and what it says. Only the folder itself is searched."""
    place = folder / SETTINGS
    settings = read_json(refuse_outer_link(place), LONGEST_OPTIONS) if place.is_file() else {}
    if not isinstance(settings, dict):
        raise FormatError(place, "must be a table with config_path")
    if "token_embedder" in settings and "encoder" in settings:
        return place, settings
    named = settings.get("config_path", PUBLISHED)
    name = re.split(r"[/\\]", named)[-1] if isinstance(named, str) else ""
    path = folder / name
    if name and os.path.isfile(path):  # unlike Path.is_file it takes any name
        sizes = read_json(refuse_outer_link(path), LONGEST_OPTIONS)
        if isinstance(sizes, dict):
            return path, sizes
        raise FormatError(path, "must be a table with encoder and token_embedder")
    if name == PUBLISHED:
        return place, PUBLISHED_SIZES
    cure = "Put the file that config_path names into the folder"
    raise FormatError(place, f"names the sizes of the model, {name!r:.80}, but the folder has no such file", cure=cure)


def read_architecture(path: Path, sizes: Mapping[str, Any], neural: Any) -> Architecture:
    """The architecture that a file of sizes describes."""
    encoder, embedder = read_section(path, sizes, "encoder"), read_section(path, sizes, "token_embedder")
    for within, section, known in (("encoder", encoder, "elmo"), ("token_embedder", embedder, "cnn")):
        if str(section.get("name", "")).lower() != known:
            problem = f"{within}.name is {section.get('name')!r:.40}, but firth opens {known!r} only"
            raise FormatError(path, problem, cure="All published models have it")
    if read_number(path, "token_embedder", embedder, "char_dim") < 1:
        raise FormatError(path, "token_embedder.char_dim is 0, but firth opens models that read characters only")
    values = {
        "encoder": "lexicon-cnn",
        "cell": read_number(path, "encoder", encoder, "dim"),
        "dim": read_number(path, "encoder", encoder, "projection_dim"),
        "layers": read_number(path, "encoder", encoder, "n_layers"),
        "cell_clip": encoder.get("cell_clip") or 0.0,
        "projection_clip": encoder.get("proj_clip") or 0.0,
        "word_dim": read_number(path, "token_embedder", embedder, "word_dim", 0),
        "character_dim": read_number(path, "token_embedder", embedder, "char_dim"),
        "filters": embedder.get("filters", []),
        "highways": read_number(path, "token_embedder", embedder, "n_highway"),
        "activation": embedder.get("activation", "relu"),
        "width": read_number(path, "token_embedder", embedder, "max_characters_per_token"),
    }
    if values["cell"] == values["dim"]:
        raise FormatError(path, f"encoder.dim and projection_dim are both {values['dim']}, but must differ")
    try:
        architecture: Architecture = neural.Architecture.from_dict(values)
    except (OptionError, TypeError) as error:
        raise FormatError(path, f"is not the sizes of an ELMo model: {error}") from error
    return architecture


def read_lexicon(path: Path, required: tuple[str, ...]) -> Vocabulary:
    """The characters or words of a file by their rows, which must be 0, 1, 2, …, each once."""
    entries: dict[int, str] = {}
    if not path.is_file():
        raise FormatError(path, "is missing", cure=PARTS)
    text = decode(read_bytes(refuse_outer_link(path), LONGEST_VOCABULARY), path)
    for line, entry in enumerate(text.split("\n"), 1):
        if not entry.strip():
            continue
        word, tab, number = entry.rstrip("\r").rpartition("\t")
        row = number.strip()
        if not tab or not row.isascii() or not row.isdecimal() or len(row) > MOST_DIGITS:
            raise FormatError(path, "expected a word, a tab and the number of its row", line=line)
        if int(row) in entries:
            raise FormatError(path, f"two entries have the row {row}", line=line)
        entries[int(row)] = word.strip() or SPACE
    words = [entries.get(row) for row in range(len(entries))]
    if None in words:
        raise FormatError(path, f"has {len(entries):,} entries, but none has the row {words.index(None):,}")
    missing = sorted(set(required) - set(entries.values()))
    if missing:
        raise FormatError(path, f"has no {missing[0]}, which every model needs", cure="Download the model again")
    return Vocabulary([str(word) for word in words])


class TensorFile:
    """The tensors of a PyTorch file by name. Each is checked when it is taken."""

    def __init__(self, path: Path, tensors: Mapping[str, Any]) -> None:
        self.path, self.tensors, self.taken = path, tensors, set[str]()

    @classmethod
    def open(cls, path: Path, torch: Any) -> TensorFile:
        """Opens a file. A pickle that is more than tensors by name is an error that names what it asks for."""
        version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
        if version <= NEWEST_UNSAFE:
            problem = f"PyTorch files are opened with torch 2.6 or later, and this is {torch.__version__}"
            raise OptionError(f"{path}: {problem}. Use: pip install --upgrade torch")
        if not path.is_file():
            raise FormatError(
                path, "is missing", cure="A model has encoder.pkl, token_embedder.pkl, char.dic, word.dic"
            )
        check_pickle(refuse_outer_link(path))
        try:
            tensors = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            cure = "Download it again, if you trust where it comes from"
            raise FormatError(path, f"is not a PyTorch file of tensors, or is damaged ({reason})", cure=cure) from error
        if not isinstance(tensors, dict):
            raise FormatError(path, f"holds a {type(tensors).__name__}, but must hold tensors by name")
        for name, tensor in tensors.items():
            if not isinstance(name, str):
                raise FormatError(path, f"holds a tensor by a {type(name).__name__}, but must hold tensors by name")
            if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
                raise FormatError(path, f"holds {name!r:.60}, a {type(tensor).__name__}, but must hold tensors by name")
        if sum(tensor.numel() * tensor.element_size() for tensor in tensors.values()) > path.stat().st_size:
            raise FormatError(path, "has more numbers in its tensors than in the file", cure="Do not use it")
        return cls(path, tensors)

    def take(self, name: str, *shape: int) -> Floats:
        """A tensor of this shape as float32."""
        self.taken.add(name)
        tensor = self.tensors.get(name)
        if tensor is None:
            raise FormatError(self.path, f"the tensor {name!r} is missing", cure="Download the model again")
        if tuple(tensor.shape) != shape:
            sizes = [" × ".join(map(str, one)) for one in (tensor.shape, shape)]
            problem = f"the tensor {name!r} is {sizes[0]}, but the other files of the model make it {sizes[1]}"
            raise FormatError(self.path, problem)
        if not tensor.is_floating_point():
            raise FormatError(self.path, f"the tensor {name!r} must contain floating-point numbers")
        if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            raise FormatError(self.path, f"the tensor {name!r} has more numbers than the file", cure="Do not use it")
        array: Floats = tensor.detach().resolve_neg().float().numpy()
        if not np.isfinite(array).all():
            raise FormatError(self.path, f"the tensor {name!r} has NaN or infinite values")
        return array

    def check_all_taken(self) -> None:
        """Refuses tensors that the sizes do not describe."""
        surplus = sorted(self.tensors.keys() - self.taken)
        if surplus:
            raise FormatError(
                self.path, f"the tensor {surplus[0]!r:.80} has no place in the model that its sizes describe"
            )


def check_pickle(path: Path) -> None:
    """Refuses a PyTorch file whose pickle names anything but what tensors are made of. Nothing is unpickled.

    A file of PyTorch before 1.6 is five pickles and then the numbers; a later one is a zip archive with one pickle.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        if file.read(4) != b"PK\x03\x04":
            file.seek(0)
            for part in range(5):  # a magic number, a version, the machine, the tensors, the keys of their numbers
                _check_opcodes(path, file, size if part >= 3 else None)
            return
    with open_zip(path, cure="Download it again") as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > size:
            problem = "is a compressed archive, as PyTorch writes none"
            raise FormatError(path, problem, cure="Do not use it")
        pickles = [member for member in members if member.filename.endswith(".pkl")]
        for member in pickles:
            _check_opcodes(path, BytesIO(archive.read(member)), size)


def _check_opcodes(path: Path, file: IO[bytes], largest: int | None) -> None:
    """Refuses names that are not allowed in the pickle that begins here, instructions that hide a name, and sizes
    beyond those of the file.
    """
    tuples = 0
    try:
        for opcode, argument, _ in pickletools.genops(file):
            tuples += opcode.name.startswith("TUPLE")
            if tuples > MOST_TUPLES:
                raise FormatError(path, f"has more than {MOST_TUPLES:,} tuples", cure="Do not use it")
            if opcode.name == "GLOBAL":
                name = ".".join(str(argument).split(" ", 1))
                if name not in ALLOWED:
                    problem = f"asks for {name}, which is no part of a tensor, and is not opened"
                    raise FormatError(path, problem, cure="Do not use the file: a pickle can run any code")
            elif largest is not None and isinstance(argument, int) and abs(argument) > largest:
                problem = f"has the size {argument:,}, but the file has {largest:,} bytes"
                raise FormatError(path, problem, cure="Download it again")
            elif opcode.name in ("STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4"):
                problem = f"has the pickle instruction {opcode.name}, which files of tensors do not have"
                raise FormatError(path, problem, cure="Do not use the file: a pickle can run any code")
    except FormatError:
        raise
    except (ValueError, EOFError, UnicodeDecodeError, OverflowError, MemoryError, AttributeError, TypeError) as error:
        cure = "Download it again"
        raise FormatError(path, f"is not a PyTorch file, or is cut short ({error})", cure=cure) from error


def _encoder_tensors(
    file: TensorFile, sizes: Architecture, characters: Vocabulary, words: Vocabulary | None
) -> dict[str, Floats]:
    tensors = {"encoder.table": file.take("char_emb_layer.embedding.weight", len(characters), sizes.character_dim)}
    if words is not None:
        tensors["encoder.word_table"] = file.take("word_emb_layer.embedding.weight", len(words), sizes.word_dim)
    for i, (width, count) in enumerate(sizes.filters):
        weight = file.take(f"convolutions.{i}.weight", count, sizes.character_dim, width)
        tensors[f"encoder.filters.{i}.weight"] = weight
        tensors[f"encoder.filters.{i}.bias"] = file.take(f"convolutions.{i}.bias", count)
    features = sum(count for _, count in sizes.filters)
    for i in range(sizes.highways):
        weight = file.take(f"highways._layers.{i}.weight", 2 * features, features)
        bias = file.take(f"highways._layers.{i}.bias", 2 * features)
        name = f"encoder.highways.{i}."
        tensors[name + "transform.weight"], tensors[name + "transform.bias"] = weight[:features], bias[:features]
        tensors[name + "gate.weight"], tensors[name + "gate.bias"] = (
            -weight[features:],
            -bias[features:],
        )  # theirs carries
    tensors["encoder.projection.weight"] = file.take("projection.weight", sizes.dim, sizes.word_dim + features)
    tensors["encoder.projection.bias"] = file.take("projection.bias", sizes.dim)
    file.check_all_taken()
    return tensors


def _layer_tensors(file: TensorFile, sizes: Architecture) -> dict[str, Floats]:
    tensors: dict[str, Floats] = {}
    for direction in ("forward", "backward"):
        for depth in range(sizes.layers):
            theirs, ours = f"{direction}_layer_{depth}.", f"{direction}_layers.{depth}."
            tensors[ours + "input"] = file.take(theirs + "input_linearity.weight", 4 * sizes.cell, sizes.dim)
            tensors[ours + "recurrent"] = file.take(theirs + "state_linearity.weight", 4 * sizes.cell, sizes.dim)
            tensors[ours + "bias"] = file.take(theirs + "state_linearity.bias", 4 * sizes.cell)
            tensors[ours + "projection"] = file.take(theirs + "state_projection.weight", sizes.dim, sizes.cell)
    file.check_all_taken()
    return tensors
