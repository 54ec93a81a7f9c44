"""ELMo's official layout, written: equal to official files, and refused where it has no place for a model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firth.errors import FormatError, OptionError
from firth.formats import elmo
from firth.formats.elmo_files import find_files
from firth.formats.elmo_write import dump_token_embeddings
from firth.formats.registry import load, save
from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.text.vocabulary import Vocabulary

TINY = PRESETS["tiny"]

WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "the", "tea"])

CELL = "RNN_{}/RNN/MultiRNNCell/Cell{}/LSTMCell/"


@pytest.mark.parametrize("model", ["allennlp", "bilm-tf/model"])
def test_an_official_model_is_written_back_as_it_was(
    read_tensors: Callable[[Path], dict[str, np.ndarray]],
    embed: Callable[[BiLM], torch.Tensor],
    data: Path,
    tmp_path: Path,
    model: str,
) -> None:
    original = data / "fixtures" / "elmo" / model
    bilm = load(original)
    save(bilm, tmp_path / "again", format="elmo")
    theirs, ours = read_tensors(original / "lm_weights.hdf5"), read_tensors(tmp_path / "again" / "weights.hdf5")
    assert sorted(theirs) == sorted(ours)
    for name, tensor in theirs.items():
        assert (ours[name].shape, ours[name].dtype) == (tensor.shape, tensor.dtype)
        assert np.abs(ours[name] - tensor).max() < 1e-7, name
    options = json.loads((tmp_path / "again" / "options.json").read_text())
    assert options == json.loads((original / "options.json").read_text())
    assert torch.equal(embed(load(tmp_path / "again")), embed(bilm))


def test_the_layout_is_the_published_one(read_tensors: Callable[[Path], dict[str, np.ndarray]], tmp_path: Path) -> None:
    save(BiLM(dataclasses.replace(TINY, highways=1)), tmp_path / "model", format="elmo")
    shapes = {name: array.shape for name, array in read_tensors(tmp_path / "model" / "weights.hdf5").items()}
    expected: dict[str, tuple[int, ...]] = {"char_embed": (261, 4)}
    for i, (size, count) in enumerate(TINY.filters):
        expected |= {f"CNN/W_cnn_{i}": (1, size, 4, count), f"CNN/b_cnn_{i}": (count,)}
    expected |= {f"CNN_high_0/{name}": (124, 124) for name in ("W_carry", "W_transform")}
    expected |= {f"CNN_high_0/{name}": (124,) for name in ("b_carry", "b_transform")}
    expected |= {"CNN_proj/W_proj": (124, 16), "CNN_proj/b_proj": (16,)}
    for cell in (CELL.format(run, depth) for run in (0, 1) for depth in (0, 1)):
        expected |= {cell + "W_0": (32, 256), cell + "B": (256,), cell + "W_P_0": (64, 16)}
    assert shapes == expected


def test_weights_have_the_order_of_the_original(
    read_tensors: Callable[[Path], dict[str, np.ndarray]], folder: Path
) -> None:
    """Gates input, new, forget, output; input rows before recurrent rows; a forget bias without the constant 1."""
    bilm, file = load(folder), read_tensors(folder / "weights.hdf5")
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
def test_any_sizes_come_back(embed: Callable[[BiLM], torch.Tensor], tmp_path: Path, change: dict[str, Any]) -> None:
    bilm = BiLM(dataclasses.replace(TINY, **change))
    save(bilm, tmp_path / "model", format="elmo")
    again = load(tmp_path / "model")
    assert again.architecture == bilm.architecture
    assert torch.allclose(embed(again), embed(bilm), atol=1e-6)


def test_a_softmax_is_saved_beside_the_weights_with_its_words(tmp_path: Path) -> None:
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


def test_dumped_token_embeddings_are_read_in_place_of_the_characters(folder: Path, tmp_path: Path) -> None:
    bilm = load(folder)
    words = ["<S>", "</S>", "<UNK>", "tea", "Naïve"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    dump_token_embeddings(bilm, words, tmp_path / "tokens.hdf5")
    looked_up = elmo.read_files(find_files(folder), token_vectors=tmp_path / "tokens.hdf5")
    assert looked_up.words is not None
    assert looked_up.words.words == tuple(words)
    sentences = [["tea", "Naïve", "unlisted"], []]
    for one, other in zip(bilm.embed(sentences, layers="all"), looked_up.embed(sentences, layers="all")):
        assert np.abs(one - other).max(initial=0) <= 1e-6
