"""ELMo's official layout: read as others read it, written back equal, and every kind of damage named."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from firth.errors import FirthError, FormatError, MissingExtra, OptionError
from firth.formats import elmo
from firth.formats.elmo_files import ElmoFiles, find_files, read_vocabulary
from firth.formats.registry import detect, load, save
from firth.neural.architecture import PRESETS, Architecture
from firth.neural.bilm import BiLM
from firth.text.vocabulary import Vocabulary

TINY = PRESETS["tiny"]
SENTENCES = [["The", "first", "sentence", "."], ["Naïve"], []]
WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "the", "tea"])
CELL = "RNN_{}/RNN/MultiRNNCell/Cell{}/LSTMCell/"


def layers_of(bilm: BiLM) -> torch.Tensor:
    with torch.no_grad():
        return bilm(SENTENCES)[0]


def tensors(path: Path) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(BiLM(TINY), tmp_path / "model", format="elmo")
    return tmp_path / "model"


def change_options(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    options = json.loads((folder / "options.json").read_text())
    change(options)
    (folder / "options.json").write_text(json.dumps(options))


@pytest.mark.parametrize("model", ["allennlp", "bilm-tf/model"])
def test_an_official_model_is_written_back_as_it_was(data: Path, tmp_path: Path, model: str) -> None:
    original = data / "fixtures" / "elmo" / model
    bilm = load(original)
    save(bilm, tmp_path / "again", format="elmo")
    theirs, ours = tensors(original / "lm_weights.hdf5"), tensors(tmp_path / "again" / "weights.hdf5")
    assert sorted(theirs) == sorted(ours)
    for name, tensor in theirs.items():
        assert (ours[name].shape, ours[name].dtype) == (tensor.shape, tensor.dtype)
        assert np.abs(ours[name] - tensor).max() < 1e-7, name
    options = json.loads((tmp_path / "again" / "options.json").read_text())
    assert options == json.loads((original / "options.json").read_text())
    assert torch.equal(layers_of(load(tmp_path / "again")), layers_of(bilm))


def test_the_layout_is_the_published_one(tmp_path: Path) -> None:
    save(BiLM(dataclasses.replace(TINY, highways=1)), tmp_path / "model", format="elmo")
    shapes = {name: array.shape for name, array in tensors(tmp_path / "model" / "weights.hdf5").items()}
    expected: dict[str, tuple[int, ...]] = {"char_embed": (261, 4)}
    for i, (size, count) in enumerate(TINY.filters):
        expected |= {f"CNN/W_cnn_{i}": (1, size, 4, count), f"CNN/b_cnn_{i}": (count,)}
    expected |= {f"CNN_high_0/{name}": (124, 124) for name in ("W_carry", "W_transform")}
    expected |= {f"CNN_high_0/{name}": (124,) for name in ("b_carry", "b_transform")}
    expected |= {"CNN_proj/W_proj": (124, 16), "CNN_proj/b_proj": (16,)}
    for cell in (CELL.format(run, depth) for run in (0, 1) for depth in (0, 1)):
        expected |= {cell + "W_0": (32, 256), cell + "B": (256,), cell + "W_P_0": (64, 16)}
    assert shapes == expected


def test_numbers_stand_where_the_original_has_them(folder: Path) -> None:
    """Gates input, new, forget, output; the first rows hear the word; the forget gate's 1 is not in the file."""
    bilm, file = load(folder), tensors(folder / "weights.hdf5")
    layer = bilm.forward_layers[1]
    w, b = file[CELL.format(0, 1) + "W_0"], file[CELL.format(0, 1) + "B"]
    for theirs, ours in enumerate((0, 2, 1, 3)):
        columns, rows = slice(64 * theirs, 64 * theirs + 64), slice(64 * ours, 64 * ours + 64)
        assert np.array_equal(w[:16, columns], layer.input[rows].detach().numpy().T)
        assert np.array_equal(w[16:, columns], layer.recurrent[rows].detach().numpy().T)
        assert np.array_equal(b[columns] + (theirs == 2), layer.bias[rows].detach().numpy())
    assert np.array_equal(file["CNN_high_0/W_carry"].T, bilm.encoder.highways[0].gate.weight.detach().numpy())


@pytest.mark.parametrize(
    "change",
    [
        {"layers": 1},
        {"layers": 3, "skip": False},
        {"cell": 16},
        {"highways": 0, "activation": "tanh"},
        {"filters": ((3, 16),)},
        {"cell_clip": 0.0, "projection_clip": 0.0, "width": 20},
    ],
)
def test_any_sizes_come_back(tmp_path: Path, change: dict[str, Any]) -> None:
    bilm = BiLM(dataclasses.replace(TINY, **change))
    save(bilm, tmp_path / "model", format="elmo")
    again = load(tmp_path / "model")
    assert again.architecture == bilm.architecture
    assert torch.allclose(layers_of(again), layers_of(bilm), atol=1e-6)


def test_options_of_training_are_understood(folder: Path) -> None:
    before = layers_of(load(folder))

    def as_in_training(options: dict[str, Any]) -> None:
        options["char_cnn"]["n_characters"] = 261
        options |= {"bidirectional": True, "dropout": 0.1, "n_tokens_vocab": 793471, "all_clip_norm_val": 10.0}
        options["lstm"]["cell_clip"] = 3.0

    change_options(folder, as_in_training)
    assert torch.equal(layers_of(load(folder)), before)


def test_a_model_is_opened_by_its_folder_its_weights_or_its_options(folder: Path) -> None:
    for place in (folder, folder / "weights.hdf5", folder / "options.json"):
        assert detect(place) == "elmo"
        assert load(place).architecture == TINY
    with pytest.raises(OptionError, match="limit"):
        load(folder, limit=3)


def test_two_models_in_one_folder_are_told_apart_by_name(folder: Path, tmp_path: Path) -> None:
    for name in ("elmo_small", "elmo_large"):
        shutil.copy(folder / "weights.hdf5", tmp_path / f"{name}_weights.hdf5")
        shutil.copy(folder / "options.json", tmp_path / f"{name}_options.json")
    found = find_files(tmp_path / "elmo_large_weights.hdf5")
    assert found.options.name == "elmo_large_options.json"
    assert find_files(tmp_path / "elmo_small_options.json").weights.name == "elmo_small_weights.hdf5"
    with pytest.raises(FormatError, match="Name the weights"):
        find_files(tmp_path)


def test_words_with_stored_vectors_are_looked_up_and_others_spelled(data: Path) -> None:
    base = data / "fixtures" / "elmo" / "allennlp"
    stored = base / "elmo_token_embeddings.hdf5"
    spelled, looked_up = load(base), elmo.read_files(find_files(base), token_vectors=stored)
    words = read_vocabulary(base / "vocab_test.txt")
    with torch.no_grad():
        found = spelled.encoder(list(words)).numpy()
        assert np.abs(found - tensors(stored)["embedding"]).max() < 2e-6
        assert torch.allclose(looked_up(SENTENCES)[0], spelled(SENTENCES)[0], atol=2e-6)
    sentences = [list(words)[:20], ["unseen", "wörds"]]
    for one, other in zip(looked_up.embed(sentences, layers="all"), spelled.embed(sentences, layers="all")):
        assert np.abs(one - other).max() < 2e-6


def test_a_model_over_words_comes_back_with_its_words(tmp_path: Path) -> None:
    bilm = BiLM(Architecture(encoder="words", cell=8, dim=4), words=WORDS, vocabulary=WORDS)
    save(bilm, tmp_path / "model", format="elmo")
    assert "char_cnn" not in json.loads((tmp_path / "model" / "options.json").read_text())
    again = load(tmp_path / "model")
    assert again.words == WORDS
    assert torch.allclose(layers_of(again), layers_of(bilm), atol=1e-6)
    (tmp_path / "model" / "vocab.txt").write_text("<S>\nend\n<UNK>\nthe\ntea\n")
    with pytest.raises(FormatError, match="no </S>"):
        load(tmp_path / "model")


def test_a_softmax_lies_beside_the_weights_with_its_words(tmp_path: Path) -> None:
    bilm = BiLM(TINY, vocabulary=WORDS)
    save(bilm, tmp_path / "model", format="elmo")
    files = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert files == ["options.json", "softmax_weights.hdf5", "vocab.txt", "weights.hdf5"]
    again = load(tmp_path / "model")
    assert again.vocabulary == WORDS
    assert again.score([["tea"]])[0].log_prob == pytest.approx(bilm.score([["tea"]])[0].log_prob, abs=1e-5)
    (tmp_path / "model" / "vocab.txt").write_text("<S>\n</S>\n")
    with pytest.raises(FormatError, match=r"2 words, but 'softmax/W' in softmax_weights\.hdf5 has 5 rows"):
        load(tmp_path / "model")
    (tmp_path / "model" / "vocab.txt").unlink()
    with pytest.raises(FormatError, match=r"softmax_weights\.hdf5.*beside it, as vocab\.txt"):
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
        (put("CNN_proj/b_proj", np.array(["a"] * 16, "S1")), "must hold numbers"),
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


@pytest.mark.parametrize(
    "text, problem",
    [
        ("{", "is not JSON"),
        ("[]", "no section 'lstm'"),
        ('{"lstm": 5}', "lstm is 5, but must be a table"),
        ('{"lstm": {"dim": 64, "projection_dim": 16}}', "'embedding' is missing"),
        ('{"lstm": {"dim": 64}, "bidirectional": false}', "two directions"),
    ],
)
def test_options_that_are_none_are_refused(folder: Path, text: str, problem: str) -> None:
    (folder / "options.json").write_text(text)
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


def test_a_part_of_a_model_alone_says_what_is_missing(folder: Path) -> None:
    (folder / "options.json").unlink()
    with pytest.raises(FormatError, match=r"no options\.json lies here"):
        load(folder / "weights.hdf5")
    with pytest.raises(FormatError, match="holds no"):
        load(folder)


def test_models_of_pickles_are_refused_with_the_reason(tmp_path: Path) -> None:
    for name in ("encoder.pkl", "token_embedder.pkl", "config.json", "char.dic", "word.dic"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(FormatError, match=r"ELMoForManyLangs.*pickles"):
        load(tmp_path)


def test_what_the_layout_cannot_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    odd = [
        BiLM(dataclasses.replace(TINY, encoder="character-rnn")),
        BiLM(dataclasses.replace(TINY, normalized=True)),
        BiLM(TINY, vocabulary=Vocabulary(["<S>", "</S>", "two\nlines"])),
        BiLM(dataclasses.replace(TINY, encoder="words"), words=WORDS, vocabulary=Vocabulary(["tea"])),
    ]
    for bilm in odd:
        with pytest.raises(OptionError, match="no place for"):
            save(bilm, tmp_path / "model", format="elmo")
    with pytest.raises(OptionError, match="a BiLM cannot be written as vec, only as native, elmo"):
        save(odd[0], tmp_path / "model.vec")
    assert not list(tmp_path.iterdir())


def test_without_torch_or_h5py_the_extra_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(BiLM(TINY), tmp_path / "native")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "h5py", None)
        with pytest.raises(MissingExtra, match=r"firth\[elmo\]"):
            load(folder)
    monkeypatch.setitem(sys.modules, "torch", None)
    for place in (folder, tmp_path / "native"):
        with pytest.raises(MissingExtra, match=r"firth\[elmo\]"):
            load(place)


def test_a_vocabulary_is_read_by_line(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes("<S>\n</S>\n!!!MAXTERMID\nnaïve \r\n".encode())
    assert read_vocabulary(tmp_path / "vocab.txt").words == ("<S>", "</S>", "naïve")


def test_files_may_lie_apart(folder: Path, tmp_path: Path) -> None:
    (folder / "weights.hdf5").rename(tmp_path / "elsewhere.h5")
    assert elmo.read_files(ElmoFiles(folder / "options.json", tmp_path / "elsewhere.h5")).architecture == TINY
