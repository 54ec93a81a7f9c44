"""What the ELMo tests of AllenNLP and bilm-tf ask, asked of firth with their models and their stored numbers.

The numbers lie in the data folder under `fixtures/elmo`. The stateful batches, the mixes without the module, the
character ids and the exchange of files with an installed AllenNLP are tested in `tests/neural/inference/test_embed.py`,
`tests/neural/test_mix.py`, `tests/text/test_character_ids.py` and `tests/formats/test_elmo_in_allennlp.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from firth.bulk.embed_file import BulkOptions, embed_file
from firth.errors import OptionError
from firth.formats.elmo_write import dump_token_embeddings
from firth.formats.registry import load
from firth.neural.bilm import BiLM
from firth.tasks.elmo_embedding import ElmoEmbedding, batch_to_ids
from firth.text.tokenize import Tokenizer

SENTENCES = [["The", "first", "sentence", "."], ["The", "second"], ["Third"]]  # of both suites
MIXES = [((0.1, 0.3, 0.5), 1.1), ((0.2, 0.4, 0.6), 0.88)]  # weights and gamma
CLOSE = 2e-6


@pytest.fixture(scope="module")
def folder(data: Path) -> Path:
    """AllenNLP's test model."""
    place = data / "fixtures" / "elmo" / "allennlp"
    if not place.is_dir():
        pytest.skip(f"needs AllenNLP's test model, and {place} is not there")
    return place


@pytest.fixture(scope="module")
def bilm(folder: Path) -> BiLM:
    return load(folder)


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> list[str]:
    return (folder / "vocab_test.txt").read_text(encoding="utf-8").split("\n")


def read_stored(folder: Path, name: str) -> np.ndarray:
    with np.load(folder.parent / "derived" / "allennlp_2.10.1_expected.npz") as arrays:
        return arrays[name]


# allennlp, tests/modules/elmo_test.py: Elmo


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_the_module_gives_the_mixes_and_the_mask_of_elmo(
    folder: Path, bilm: BiLM, layer_norm: bool, keep: bool
) -> None:
    elmo = ElmoEmbedding(bilm, 2, dropout=0.0, do_layer_norm=layer_norm, keep_sentence_boundaries=keep)
    for mix, (weights, gamma) in zip(elmo.mixes, MIXES):
        with torch.no_grad():
            mix.weights.copy_(torch.tensor(weights))
            mix.gamma.fill_(gamma)
    with torch.no_grad():
        output = elmo(batch_to_ids(SENTENCES))
    name = f"mix.ln{int(layer_norm)}.keep{int(keep)}"
    mask = read_stored(folder, f"{name}.mask").astype(bool)
    assert np.array_equal(output["mask"].numpy().astype(bool), mask)
    for number, found in enumerate(output["elmo_representations"]):
        expected = read_stored(folder, f"{name}.{number}")
        assert np.abs(found.numpy() - expected)[mask].max() < CLOSE


def test_fixed_weights_of_the_mix_choose_a_layer(folder: Path, bilm: BiLM) -> None:
    elmo = ElmoEmbedding(bilm, dropout=0.0, scalar_mix_parameters=[-9e10, 1, -9e10])
    found = elmo(batch_to_ids(SENTENCES))
    mask = found["mask"].numpy().astype(bool)
    difference = found["elmo_representations"][0].detach().numpy() - read_stored(folder, "mix.only_layer1")
    assert np.abs(difference)[mask].max() < CLOSE


@pytest.mark.parametrize("requires_grad", [False, True])
def test_gradients_reach_every_weight_of_the_bilm_or_none(folder: Path, requires_grad: bool) -> None:
    elmo = ElmoEmbedding(load(folder), 1, dropout=0.0, requires_grad=requires_grad)
    torch.stack(elmo(batch_to_ids(SENTENCES))["elmo_representations"]).sum().backward()
    assert {weight.grad is not None for weight in elmo.bilm.parameters()} == {requires_grad}
    assert all(weight.grad is not None for weight in elmo.mixes.parameters())


# allennlp, tests/modules/elmo_test.py: token representation


def test_the_vectors_of_all_tokens_are_the_stored_ones(folder: Path, bilm: BiLM, vocabulary: list[str]) -> None:
    with h5py.File(folder / "elmo_token_embeddings.hdf5") as file:
        expected = file["embedding"][()]
    found = np.concatenate(bilm.embed([[token] for token in vocabulary], layers=0))
    assert found.shape == (458, 32)
    for half in (found[:, :16], found[:, 16:]):
        assert np.abs(half - expected).max() < CLOSE


def test_the_marks_that_are_added_are_the_tokens_for_them(bilm: BiLM) -> None:
    elmo = ElmoEmbedding(bilm, dropout=0.0, keep_sentence_boundaries=True, scalar_mix_parameters=[1, -9e10, -9e10])
    framed = elmo(batch_to_ids([["tea"]]))["elmo_representations"][0][0].detach().numpy()
    begin, end = (one[0] for one in bilm.embed([["<S>"], ["</S>"]], layers=0))
    assert np.abs(framed[0] - begin).max() < CLOSE
    assert np.abs(framed[-1] - end).max() < CLOSE


# allennlp 0.9, tests/commands/elmo_test.py: the command


@pytest.fixture(scope="module")
def sentences(folder: Path) -> list[str]:
    """The first rows of the stored sentences, without repetitions."""
    rows = json.loads((folder / "sentences.json").read_text())
    return list(dict.fromkeys(text.strip() for text in rows[0]))[:4]


@pytest.mark.parametrize("layers,shape", [("all", (3, 32)), ("top", (32,)), ("mix", (32,))])
def test_the_command_writes_a_data_set_for_each_line_and_their_index(
    bilm: BiLM, sentences: list[str], tmp_path: Path, layers: str, shape: tuple[int, ...]
) -> None:
    (tmp_path / "lines.txt").write_text("\n".join(sentences) + "\n")
    bulk = BulkOptions(layers=layers)
    embed_file(bilm, tmp_path / "lines.txt", tmp_path / "out.hdf5", bulk, tokenizer=Tokenizer(mode="whitespace"))
    every = bilm.embed([line.split() for line in sentences], layers="all")
    with h5py.File(tmp_path / "out.hdf5") as file:
        index = json.loads(file["sentence_to_index"][()][0])
        assert index == {line: str(number) for number, line in enumerate(sentences)}
        for number, layered in enumerate(every):
            expected = {"all": layered, "top": layered[2], "mix": layered.mean(axis=0)}[layers]
            found = file[str(number)][()]
            assert found.shape == (*shape[:-1], len(sentences[number].split()), 32)
            assert np.allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("keys", ["sentences", "numbers"])
def test_sentences_are_keys_or_forgotten(bilm: BiLM, sentences: list[str], tmp_path: Path, keys: str) -> None:
    (tmp_path / "lines.txt").write_text("\n".join(sentences) + "\n")
    bulk = BulkOptions(use_sentence_keys=keys == "sentences", forget_sentences=keys == "numbers")
    embed_file(bilm, tmp_path / "lines.txt", tmp_path / "out.hdf5", bulk, tokenizer=Tokenizer(mode="whitespace"))
    with h5py.File(tmp_path / "out.hdf5") as file:
        assert set(file) == (set(sentences) if keys == "sentences" else set(map(str, range(len(sentences)))))


# bilm-tf, tests/test_model.py and tests/test_data.py


def test_dumped_token_embeddings_are_the_stored_ones(
    folder: Path, bilm: BiLM, vocabulary: list[str], tmp_path: Path
) -> None:
    dump_token_embeddings(bilm, vocabulary, tmp_path / "tokens.hdf5")
    with h5py.File(tmp_path / "tokens.hdf5") as ours, h5py.File(folder / "elmo_token_embeddings.hdf5") as theirs:
        assert np.abs(ours["embedding"][()] - theirs["embedding"][()]).max() < CLOSE


def test_rows_that_a_batch_lacks_keep_their_state(data: Path) -> None:
    bilm = load(data / "fixtures" / "elmo" / "bilm-tf" / "model")
    _, state = bilm.embed(SENTENCES, stateful=True, batch_size=3)
    _, after = bilm.embed(SENTENCES[:2], stateful=True, batch_size=3, state=state)
    changed = (after.cell - state.cell).abs().amax(dim=tuple(d for d in range(state.cell.ndim) if d != 2))
    assert changed[2] < 1e-7
    assert changed[:2].min() > 1e-4


def test_a_batch_of_more_dimensions_is_an_error_of_ours(bilm: BiLM) -> None:
    """AllenNLP also takes (batch, choices, time, 50); here the caller joins the first two dimensions."""
    with pytest.raises(OptionError):
        ElmoEmbedding(bilm, dropout=0.0)(batch_to_ids(SENTENCES)[None])
