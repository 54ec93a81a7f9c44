"""Folders of ELMoForManyLangs, made here by code: their numbers against a plain network, and traps."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import pickle
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import firth  # noqa: E402
from firth.errors import FirthError, FormatError, OptionError  # noqa: E402
from firth.formats.many_languages import PUBLISHED, check_pickle, find_sizes, read_lexicon  # noqa: E402

pytestmark = pytest.mark.skipif(
    tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 6), reason="PyTorch files need torch 2.6"
)
DIM, CELL, LAYERS, WIDTH = 7, 11, 2, 12
WORD_DIM, CHARACTER_DIM, FILTERS, HIGHWAYS = 6, 5, [[1, 4], [2, 5], [3, 6]], 2
FEATURES = sum(count for _, count in FILTERS)
SIZES = {
    "encoder": {
        "name": "elmo",
        "projection_dim": DIM,
        "cell_clip": 0.3,
        "proj_clip": 0.2,
        "dim": CELL,
        "n_layers": LAYERS,
    },
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": FILTERS,
        "n_highway": HIGHWAYS,
        "word_dim": WORD_DIM,
        "char_dim": CHARACTER_DIM,
        "max_characters_per_token": WIDTH,
    },
    "classifier": {"name": "sampled_softmax", "n_samples": 8192},
    "dropout": 0.1,
}
WORDS = ["<oov>", "<bos>", "<eos>", "<pad>", "چای", "و", "tea", "abcdefghij"]
CHARACTERS = [*"چایوteabcdfghij", "\u3000", "<bos>", "<eos>", "<oov>", "<pad>", "<bow>", "<eow>"]
SENTENCES = [["چای", "و", "tea"], ["unknown", "字", "t"], ["abcdefghijklmno", "abcdefghijxyz"], ["tea"]]
Tensors = dict[str, Any]


def make_tensors(seed: int = 1) -> tuple[Tensors, Tensors]:
    """Random tensors of a word encoder and of LSTM layers, named as in the files."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator) * 0.5

    embedder = {
        "word_emb_layer.embedding.weight": draw(len(WORDS), WORD_DIM),
        "char_emb_layer.embedding.weight": draw(len(CHARACTERS), CHARACTER_DIM),
    }
    for i, (width, count) in enumerate(FILTERS):
        embedder[f"convolutions.{i}.weight"] = draw(count, CHARACTER_DIM, width)
        embedder[f"convolutions.{i}.bias"] = draw(count)
    for i in range(HIGHWAYS):
        embedder[f"highways._layers.{i}.weight"] = draw(2 * FEATURES, FEATURES)
        embedder[f"highways._layers.{i}.bias"] = draw(2 * FEATURES)
    embedder["projection.weight"], embedder["projection.bias"] = draw(DIM, WORD_DIM + FEATURES), draw(DIM)
    encoder = {}
    for direction in ("forward", "backward"):
        for depth in range(LAYERS):
            name = f"{direction}_layer_{depth}."
            encoder[name + "input_linearity.weight"] = draw(4 * CELL, DIM)
            encoder[name + "state_linearity.weight"] = draw(4 * CELL, DIM)
            encoder[name + "state_linearity.bias"] = draw(4 * CELL)
            encoder[name + "state_projection.weight"] = draw(DIM, CELL)
    return collections.OrderedDict(embedder), collections.OrderedDict(encoder)


def make_folder(folder: Path, *, old: bool = True, sizes: Any = SIZES) -> Path:
    """A folder as the program writes it; `old` is the form of PyTorch 0.4, as the published models have it."""
    folder.mkdir(parents=True)
    for name, tensors in zip(("token_embedder.pkl", "encoder.pkl"), make_tensors()):
        torch.save(tensors, folder / name, _use_new_zipfile_serialization=not old)
    for name, entries in (("word.dic", WORDS), ("char.dic", CHARACTERS)):
        lines = "".join(f"{entry}\t{row}\n" for row, entry in enumerate(entries))
        (folder / name).write_text(lines, encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"config_path": "/elsewhere/configs/sizes.json", "seed": 1}))
    (folder / "sizes.json").write_text(json.dumps(sizes))
    return folder


def compute_layers(words: list[str]) -> Any:
    """All layers of a sentence, (layers + 1, words, 2 · dim), by the plainest code: one word, one step at a time."""
    embedder, encoder = make_tensors()
    tokens = ["<bos>", *(word[: WIDTH - 2] for word in words), "<eos>"]
    inputs = torch.stack([encode_word(word, embedder) for word in tokens])
    forward, backward = [inputs], [inputs]
    for depth in range(LAYERS):
        for outputs, direction in ((forward, "forward"), (backward, "backward")):
            weights = {
                name.removeprefix(f"{direction}_layer_{depth}."): tensor
                for name, tensor in encoder.items()
                if name.startswith(f"{direction}_layer_{depth}.")
            }
            read = run_lstm(outputs[-1], weights, is_backward=direction == "backward")
            outputs.append(read if depth == 0 else read + outputs[-1])
    return torch.stack([torch.cat(pair, 1) for pair in zip(forward, backward)])[:, 1:-1]


def encode_word(word: str, tensors: Tensors) -> Any:
    letters = [word] if word in ("<bos>", "<eos>") else list(word)
    spelled = ["<eow>", *letters, "<bow>"]
    spelled += ["<pad>"] * (WIDTH - len(spelled))
    ids = [CHARACTERS.index(letter if letter in CHARACTERS else "<oov>") for letter in spelled]
    columns = tensors["char_emb_layer.embedding.weight"][ids].T[None]
    maxima = []
    for i in range(len(FILTERS)):
        convolved = torch.conv1d(columns, tensors[f"convolutions.{i}.weight"], tensors[f"convolutions.{i}.bias"])
        maxima.append(torch.relu(convolved.max(dim=2).values[0]))
    x = torch.cat(maxima)
    for i in range(HIGHWAYS):
        both = tensors[f"highways._layers.{i}.weight"] @ x + tensors[f"highways._layers.{i}.bias"]
        carry = torch.sigmoid(both[FEATURES:])
        x = carry * x + (1 - carry) * torch.relu(both[:FEATURES])
    row = tensors["word_emb_layer.embedding.weight"][WORDS.index(word if word in WORDS else "<oov>")]
    return tensors["projection.weight"] @ torch.cat([row, x]) + tensors["projection.bias"]


def run_lstm(inputs: Any, weights: Tensors, *, is_backward: bool) -> Any:
    cell, hidden = torch.zeros(CELL), torch.zeros(DIM)
    outputs = torch.zeros(len(inputs), DIM)
    order = range(len(inputs))
    for place in reversed(order) if is_backward else order:
        gates = weights["input_linearity.weight"] @ inputs[place]
        gates = gates + weights["state_linearity.weight"] @ hidden + weights["state_linearity.bias"]
        i, f, g, o = gates.split(CELL)
        cell = torch.clamp(torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(f) * cell, -0.3, 0.3)
        hidden = weights["state_projection.weight"] @ (torch.sigmoid(o) * torch.tanh(cell))
        hidden = torch.clamp(hidden, -0.2, 0.2)
        outputs[place] = hidden
    return outputs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "model")


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize("old", [True, False])
def test_the_layers_are_those_of_a_plain_network(tmp_path: Path, old: bool) -> None:
    bilm = firth.load(make_folder(tmp_path / "model", old=old))
    arrays = bilm.embed(SENTENCES, layers="all")
    for words, array in zip(SENTENCES, arrays):
        expected = compute_layers(words).numpy()
        assert array.shape == expected.shape == (LAYERS + 1, len(words), 2 * DIM)
        assert np.abs(array - expected).max() < 1e-5
    layers, lengths, _ = bilm(SENTENCES)  # the reference in neural/, in one padded batch
    for row, words in enumerate(SENTENCES):
        plain = layers[:, row, 1 : int(lengths[row]) - 1].detach().numpy()
        assert np.abs(plain - compute_layers(words).numpy()).max() < 1e-5


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_the_layers_are_those_of_the_original_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decorators = types.SimpleNamespace(overrides=lambda method: method)  # today's refuse the signatures of the original
    monkeypatch.setitem(sys.modules, "overrides", decorators)
    original = pytest.importorskip("elmoformanylangs", reason="the original program is not installed")
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, "config_path": "sizes.json"}))
    with torch.no_grad():  # each sentence alone: the original carries its states over to the next batch
        expected = [original.Embedder(str(folder)).sents2elmo([words], output_layer=-2)[0] for words in SENTENCES]
    for array, other in zip(firth.load(folder).embed(SENTENCES, layers="all"), expected):
        assert np.abs(array - other).max() < 1e-5


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_a_model_is_saved_in_the_own_format_and_read_from_an_archive(folder: Path, tmp_path: Path) -> None:
    bilm = firth.load(folder)
    firth.save(bilm, tmp_path / "own")
    with zipfile.ZipFile(tmp_path / "136.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    for again in (firth.load(tmp_path / "own"), firth.load(tmp_path / "136.zip")):
        assert again.characters.words == tuple(CHARACTERS)
        for one, other in zip(bilm.embed(SENTENCES), again.embed(SENTENCES)):
            assert np.array_equal(one, other)
    with pytest.raises(OptionError, match="lexicons of ELMoForManyLangs"):
        firth.save(bilm, tmp_path / "official", format="elmo")
    with pytest.raises(OptionError, match="cannot be trained further"):
        firth.Elmo(steps=1).fit(["tea and tea"] * 20, start=bilm)


def test_words_outside_the_lexicon_and_long_ones_are_counted(folder: Path) -> None:
    coverage = firth.load(folder).coverage(SENTENCES)
    assert (coverage.words, coverage.unknown, coverage.cut, coverage.unit) == (9, 5, 2, "characters")


def test_published_sizes_need_no_file(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"config_path": f"configs/{PUBLISHED}"}))
    assert find_sizes(folder)[1]["encoder"]["dim"] == 4096
    with pytest.raises(FormatError, match="char_emb_layer"):
        firth.load(folder)
    (folder / "config.json").write_text(json.dumps({"config_path": "x" * 300}))  # no name of a file is so long
    with pytest.raises(FormatError, match="the folder has no such file"):
        firth.load(folder)
    (folder / "config.json").write_text(json.dumps({"config_path": "other.json"}))
    with pytest.raises(FormatError, match=r"'other\.json', but the folder has no such file"):
        firth.load(folder)


def test_a_lexicon_is_read_as_the_original_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "char.dic"
    path.write_text("a\t1\n\t0\nб\t2\r\n", encoding="utf-8")
    assert read_lexicon(path, ("a",)).words == ("\u3000", "a", "б")
    for text, problem in (
        ("a\t0\nb\t0\n", "two entries"),
        ("a\t1\n", "none has the row 0"),
        ("a 0\n", "expected a word"),
        (f"a\t{'9' * 5000}\n", "expected a word"),  # Python converts no number of so many digits
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=problem):
            read_lexicon(path, ())
    path.write_text("a\t0\n")
    with pytest.raises(FormatError, match="has no <oov>"):
        read_lexicon(path, ("<oov>",))


class Trap:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("file", ["token_embedder.pkl", "encoder.pkl"])
def test_a_trap_among_the_tensors_is_refused_by_name_and_does_not_spring(tmp_path: Path, file: str, old: bool) -> None:
    folder, sprung = make_folder(tmp_path / "model", old=old), tmp_path / "sprung"
    tensors = torch.load(folder / file, weights_only=True)
    tensors["trap"] = Trap(sprung)
    torch.save(tensors, folder / file, _use_new_zipfile_serialization=not old)
    with pytest.raises(FormatError, match=r"asks for posix\.mkdir, which is no part of a tensor"):
        firth.load(folder)
    assert not sprung.exists()


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
def test_plain_pickles_with_traps_are_refused(folder: Path, tmp_path: Path, protocol: int) -> None:
    (folder / "encoder.pkl").write_bytes(pickle.dumps(Trap(tmp_path / "sprung"), protocol))
    with pytest.raises(FormatError, match=r"asks for posix\.mkdir|STACK_GLOBAL"):
        firth.load(folder)
    assert not (tmp_path / "sprung").exists()


def test_what_is_no_tensor_is_refused_by_name(folder: Path) -> None:
    torch.save({"forward_layer_0.input_linearity.weight": [1, 2]}, folder / "encoder.pkl")
    with pytest.raises(FormatError, match=r"holds 'forward_layer_0.*a list"):
        firth.load(folder)
    torch.save([1.0], folder / "encoder.pkl")
    with pytest.raises(FormatError, match="holds a list"):
        firth.load(folder)
    _, encoder = make_tensors()
    torch.save(encoder | {"more": torch.zeros(2)}, folder / "encoder.pkl")
    with pytest.raises(FormatError, match="'more' has no place"):
        firth.load(folder)
    name = "backward_layer_1.state_linearity.bias"
    torch.save(encoder | {name: torch.zeros(1).expand(4 * CELL)}, folder / "encoder.pkl")
    with pytest.raises(FormatError, match="has more numbers than the file"):
        firth.load(folder)
    torch.save(encoder | {name: torch.full((4 * CELL,), float("nan"))}, folder / "encoder.pkl")
    with pytest.raises(FormatError, match="NaN"):
        firth.load(folder)
    del encoder[name]
    torch.save(encoder, folder / "encoder.pkl")
    with pytest.raises(FormatError, match="is missing"):
        firth.load(folder)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("change", [lambda one: one.requires_grad_(), torch._neg_view, lambda one: one.bfloat16()])
def test_tensors_in_other_states_are_read(tmp_path: Path, change: Callable[[Any], Any], old: bool) -> None:
    folder, name = make_folder(tmp_path / "model", old=old), "backward_layer_1.state_linearity.bias"
    encoder = make_tensors()[1]
    numbers = change(encoder[name].clone())
    torch.save(encoder | {name: numbers}, folder / "encoder.pkl", _use_new_zipfile_serialization=not old)
    weights = firth.load(folder).state_dict()["backward_layers.1.bias"]
    assert torch.equal(weights, numbers.detach().float())


def test_tensors_that_share_their_numbers_do_not_fill_the_memory(folder: Path) -> None:
    encoder, big = make_tensors()[1], torch.zeros(1 << 20)
    torch.save(encoder | {f"more{i}": big.view(1 << 20) for i in range(100)}, folder / "encoder.pkl")
    with pytest.raises(FormatError, match="has more numbers in its tensors than in the file"):
        firth.load(folder)


@pytest.mark.parametrize("depth", [5_000, 1_000_000])
def test_a_name_of_nested_tuples_is_refused(folder: Path, depth: int) -> None:
    """Python hashes nested tuples without a limit: a million of them were a crash."""
    head = [torch.serialization.MAGIC_NUMBER, torch.serialization.PROTOCOL_VERSION, {"little_endian": True}]
    table = b"\x80\x02})" + b"\x85" * depth + b"Ns."
    content = b"".join(pickle.dumps(one, 2) for one in head) + table + pickle.dumps([], 2)
    (folder / "encoder.pkl").write_bytes(content)
    with pytest.raises(FormatError, match="a tensor by a tuple" if depth < 10_000 else "more than 10,000 tuples"):
        firth.load(folder)


@pytest.mark.parametrize("old", [True, False])
def test_damaged_files_are_errors(tmp_path: Path, old: bool) -> None:
    folder = make_folder(tmp_path / "model", old=old)
    data = (folder / "encoder.pkl").read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(data)
        for place in rng.integers(0, min(len(data), 4000), 3):
            damaged[place] = rng.integers(256)
        (folder / "encoder.pkl").write_bytes(damaged[: rng.integers(1, len(data))] if rng.random() < 0.3 else damaged)
        with contextlib.suppress(FirthError):  # any other error fails
            firth.load(folder)


def test_a_compressed_archive_is_refused(folder: Path) -> None:
    torch.save(make_tensors()[1], folder / "encoder.pkl")
    with zipfile.ZipFile(folder / "encoder.pkl") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(folder / "encoder.pkl", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, member in members.items():
            packed.writestr(name, b"\0" * (1 << 20) if name.endswith("/data/0") else member)
    with pytest.raises(FormatError, match="compressed archive"):
        check_pickle(folder / "encoder.pkl")


def test_an_old_torch_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.5.1+cpu")
    with pytest.raises(OptionError, match=r"torch 2\.6 or later"):
        firth.load(folder)


@pytest.mark.parametrize(
    ("section", "change", "problem"),
    [
        ("encoder", {"name": "lstm"}, "encoder.name is 'lstm'"),
        ("token_embedder", {"name": "lstm"}, "token_embedder.name is 'lstm'"),
        ("token_embedder", {"char_dim": 0}, "char_dim is 0"),
        ("token_embedder", {"filters": [[1, 2.5]]}, "is not the sizes of an ELMo model"),
        ("encoder", {"dim": DIM}, "both 7"),
        ("encoder", {"n_layers": 10**9}, "is missing"),
    ],
)
def test_sizes_that_cannot_be_are_errors(tmp_path: Path, section: str, change: dict[str, Any], problem: str) -> None:
    sizes: dict[str, Any] = {**SIZES, section: {**SIZES[section], **change}}  # type: ignore[dict-item]
    with pytest.raises(FormatError, match=problem):
        firth.load(make_folder(tmp_path / "model", sizes=sizes))


def test_a_model_of_characters_alone_is_opened(tmp_path: Path) -> None:
    sizes = {**SIZES, "token_embedder": {**SIZES["token_embedder"], "word_dim": 0}}  # type: ignore[dict-item]
    folder = make_folder(tmp_path / "model", sizes=sizes)
    embedder, _ = make_tensors()
    del embedder["word_emb_layer.embedding.weight"]
    embedder["projection.weight"] = embedder["projection.weight"][:, WORD_DIM:].clone()
    torch.save(embedder, folder / "token_embedder.pkl")
    bilm = firth.load(folder)
    assert bilm.words is None
    assert bilm.embed([["tea"]])[0].shape == (1, 2 * DIM)
