"""ELMo's official layout, read: every kind of damage is named."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from firth.errors import FirthError, FormatError, MissingExtra
from firth.formats import elmo
from firth.formats.elmo_files import ElmoFiles, find_files
from firth.formats.registry import load, save
from firth.neural.architecture import PRESETS, Architecture
from firth.neural.bilm import BiLM
from firth.text.vocabulary import Vocabulary
from firth.text.vocabulary_file import read_vocabulary

TINY = PRESETS["tiny"]

SENTENCES = [["The", "first", "sentence", "."], ["Naïve"], []]

WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "the", "tea"])

CELL = "RNN_{}/RNN/MultiRNNCell/Cell{}/LSTMCell/"


def change_options(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    options = json.loads((folder / "options.json").read_text())
    change(options)
    (folder / "options.json").write_text(json.dumps(options))


def test_options_of_training_are_understood(embed: Callable[[BiLM], torch.Tensor], folder: Path) -> None:
    before = embed(load(folder))

    def as_in_training(options: dict[str, Any]) -> None:
        options["char_cnn"]["n_characters"] = 261
        options |= {"bidirectional": True, "dropout": 0.1, "n_tokens_vocab": 793471, "all_clip_norm_val": 10.0}
        options["lstm"]["cell_clip"] = 3.0

    change_options(folder, as_in_training)
    assert torch.equal(embed(load(folder)), before)


def test_words_with_stored_vectors_are_looked_up_and_others_spelled(
    read_tensors: Callable[[Path], dict[str, np.ndarray]], data: Path
) -> None:
    base = data / "fixtures" / "elmo" / "allennlp"
    stored = base / "elmo_token_embeddings.hdf5"
    spelled, looked_up = load(base), elmo.read_files(find_files(base), token_vectors=stored)
    words = read_vocabulary(base / "vocab_test.txt")
    with torch.no_grad():
        found = spelled.encoder(list(words)).numpy()
        assert np.abs(found - read_tensors(stored)["embedding"]).max() < 2e-6
        assert torch.allclose(looked_up(SENTENCES)[0], spelled(SENTENCES)[0], atol=2e-6)
    sentences = [list(words)[:20], ["unseen", "wörds"]]
    for one, other in zip(looked_up.embed(sentences, layers="all"), spelled.embed(sentences, layers="all")):
        assert np.abs(one - other).max() < 2e-6


def test_a_model_over_words_comes_back_with_its_words(embed: Callable[[BiLM], torch.Tensor], tmp_path: Path) -> None:
    bilm = BiLM(Architecture(encoder="words", cell=8, dim=4), words=WORDS, vocabulary=WORDS)
    save(bilm, tmp_path / "model", format="elmo")
    assert "char_cnn" not in json.loads((tmp_path / "model" / "options.json").read_text())
    again = load(tmp_path / "model")
    assert again.words == WORDS
    assert torch.allclose(embed(again), embed(bilm), atol=1e-6)
    (tmp_path / "model" / "vocab.txt").write_text("<S>\nend\n<UNK>\nthe\ntea\n")
    with pytest.raises(FormatError, match="no </S>"):
        load(tmp_path / "model")


def remove(key: str) -> Callable[[h5py.File], None]:
    return lambda file: file.__delitem__(key)


def put(key: str, value: Any) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        if key in file:
            del file[key]
        file[key] = value

    return change


@pytest.mark.parametrize(
    "change, problem",
    [
        (remove("char_embed"), "'char_embed' is missing. Use the options.json"),
        (remove("CNN_high_1/W_carry"), "'CNN_high_1/W_carry' is missing"),
        (remove("CNN"), "'CNN/W_cnn_0' is missing"),
        (remove(CELL.format(1, 1) + "B"), "Cell1/LSTMCell/B' is missing"),
        (put("CNN_proj/W_proj", np.zeros((124, 17), "f4")), "'CNN_proj/W_proj' is 124 × 17, but options.json makes it"),
        (put("CNN_proj/b_proj", np.zeros((16, 1), "f4")), "'CNN_proj/b_proj' is 16 × 1"),
        (put("CNN_proj/b_proj", np.array(["a"] * 16, "S1")), "must contain floating-point numbers"),
        (put("CNN_proj/b_proj", np.full(16, np.nan, "f4")), "'CNN_proj/b_proj' has 16 numbers that are NaN"),
        (put("CNN/b_cnn_0", np.array([0, 0, 0, np.inf], "f4")), "'CNN/b_cnn_0' has 1 numbers that are NaN or infinite"),
        (put("CNN_high_2/W_carry", np.zeros((124, 124), "f4")), "'CNN_high_2/W_carry' has no place"),
        (put(CELL.format(0, 2) + "W_0", np.zeros((32, 256), "f4")), "Cell2/LSTMCell/W_0' has no place"),
    ],
)
def test_weights_that_are_wrong_are_named(folder: Path, change: Callable[[h5py.File], None], problem: str) -> None:
    with h5py.File(folder / "weights.hdf5", "a") as file:
        change(file)
    with pytest.raises(FormatError) as caught:
        load(folder)
    assert problem in str(caught.value)
    assert str(folder / "weights.hdf5") in str(caught.value)


@pytest.mark.parametrize(
    "section, key, value, problem",
    [
        (
            "lstm",
            "dim",
            32,
            "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_0' is 32 × 256, but options.json makes it 32 × 128",
        ),
        ("lstm", "n_layers", 3, "Cell2/LSTMCell/W_0' is missing"),
        ("lstm", "n_layers", 1, "Cell1/LSTMCell/B' has no place in the model that options.json describes"),
        ("lstm", "projection_dim", 64, "W_0' is 32 × 256, but options.json makes it 128 × 256"),
        ("lstm", "dim", None, "lstm.dim is missing"),
        ("lstm", "dim", "64", "lstm.dim is '64', but must be a whole number"),
        ("lstm", "dim", -1, "lstm.dim is -1"),
        ("lstm", "cell_clip", "much", "cell_clip is 'much'"),
        ("char_cnn", "n_highway", 1, "'CNN_high_1/W_carry' has no place"),
        ("char_cnn", "n_characters", 300, "must be 261 or 262"),
        ("char_cnn", "activation", "gelu", "activation is 'gelu'"),
        ("char_cnn", "filters", [[1, 4]], "'CNN_high_0/W_carry' is 124 × 124, but options.json makes it 4 × 4"),
        ("char_cnn", "filters", "wide", "is not the options of an ELMo model"),
        ("char_cnn", "filters", [], "filters is ()"),
        ("char_cnn", "filters", [[1, 4], [2, 3.0]], "must be pairs (width, number of filters)"),
        ("char_cnn", "embedding", 4, "char_cnn.embedding is 4, but must be a table"),
        ("char_cnn", "max_characters_per_token", 2, "width is 2"),
    ],
)
def test_options_that_contradict_the_weights_are_named(
    folder: Path, section: str, key: str, value: Any, problem: str
) -> None:
    change_options(folder, lambda options: options[section].update({key: value}))
    with pytest.raises(FormatError) as caught:
        load(folder)
    assert problem in str(caught.value)


def test_a_file_that_is_cut_short_is_refused_wherever_it_is_cut(folder: Path) -> None:
    whole = (folder / "weights.hdf5").read_bytes()
    for size in (0, 4, 100, 2000, len(whole) // 2, len(whole) - 1):
        (folder / "weights.hdf5").write_bytes(whole[:size])
        with pytest.raises(FormatError, match=r"weights\.hdf5"):
            load(folder)


def test_a_damaged_file_opens_or_raises_our_error(folder: Path) -> None:
    rng = np.random.default_rng(3)
    whole = (folder / "weights.hdf5").read_bytes()
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(20):
            damaged[int(rng.integers(min(len(damaged), 60_000)))] = int(rng.integers(256))
        (folder / "weights.hdf5").write_bytes(damaged)
        try:
            assert load(folder).architecture == TINY
        except FirthError:
            continue


def test_without_torch_or_h5py_the_extra_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(BiLM(TINY), tmp_path / "native")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "h5py", None)
        with pytest.raises(MissingExtra, match=r"firth\[elmo\]"):
            load(folder)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "firth.neural.bilm")
    for place in (folder, tmp_path / "native"):
        with pytest.raises(MissingExtra, match=r"firth\[elmo\]"):
            load(place)


def test_files_may_lie_apart(folder: Path, tmp_path: Path) -> None:
    (folder / "weights.hdf5").rename(tmp_path / "elsewhere.h5")
    assert elmo.read_files(ElmoFiles(folder / "options.json", tmp_path / "elsewhere.h5")).architecture == TINY


BIAS = "CNN/b_cnn_0"


def replace_bias(folder: Path, make: Callable[[h5py.File, tuple[int, ...]], object]) -> None:
    with h5py.File(folder / "weights.hdf5", "r+") as file:
        shape = file[BIAS].shape
        del file[BIAS]
        make(file, shape)


def make_external(file: h5py.File, shape: tuple[int, ...]) -> None:
    secret = Path(file.filename).parent / "secret"
    secret.write_bytes(bytes(64))
    file.create_dataset(BIAS, shape, "f4", external=[(str(secret), 0, 64)])


def make_virtual(file: h5py.File, shape: tuple[int, ...]) -> None:
    other = Path(file.filename).parent / "other"
    with h5py.File(other, "w") as inner:
        inner["x"] = np.zeros(shape, np.float32)
    layout = h5py.VirtualLayout(shape, "f4")
    layout[:] = h5py.VirtualSource(str(other), "x", shape)
    file.create_virtual_dataset(BIAS, layout)


def make_link(file: h5py.File, shape: tuple[int, ...]) -> None:
    file["elsewhere"] = np.zeros(shape, np.float32)
    file[BIAS] = h5py.SoftLink("/elsewhere")


def make_outer_link(file: h5py.File, shape: tuple[int, ...]) -> None:
    other = Path(file.filename).parent / "other"
    with h5py.File(other, "w") as inner:
        inner["x"] = np.zeros(shape, np.float32)
    file[BIAS] = h5py.ExternalLink(str(other), "/x")


@pytest.mark.parametrize("make", [make_external, make_virtual, make_link, make_outer_link])
def test_numbers_outside_of_the_file_are_never_read(
    folder: Path, make: Callable[[h5py.File, tuple[int, ...]], Any]
) -> None:
    replace_bias(folder, make)
    with pytest.raises(FormatError, match=r"is a link, which is not followed|in other files, which are not opened"):
        load(folder)


def test_a_group_that_is_a_link_is_not_followed(folder: Path) -> None:
    with h5py.File(folder / "weights.hdf5", "r+") as file:
        file.move("CNN", "elsewhere")
        file["CNN"] = h5py.SoftLink("/elsewhere")
    with pytest.raises(FormatError, match="is a link, which is not followed"):
        load(folder)


def test_a_hollow_tensor_is_refused(folder: Path) -> None:
    """Chunks that were never written need no room in the file, but the whole tensor would need memory."""
    with h5py.File(folder / "weights.hdf5", "r+") as file:
        file.create_dataset("softmax/W", (3_000_000, TINY.dim), "f4", chunks=(1000, TINY.dim))
        file["softmax/b"] = np.zeros(1, np.float32)
    with pytest.raises(FormatError, match="but only 0 are stored"):
        load(folder)


def test_a_pipe_in_place_of_a_file_does_not_hang(folder: Path) -> None:
    (folder / "options.json").unlink()
    os.mkfifo(folder / "options.json")
    with pytest.raises(FirthError):
        load(folder)
    with pytest.raises(FirthError, match=r"no options\.json here"):
        load(folder / "weights.hdf5")
