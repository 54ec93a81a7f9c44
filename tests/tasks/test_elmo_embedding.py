"""ELMo as a layer of other networks: the numbers of `embed`, frozen or trained, compiled or not."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import firth
from firth.errors import OptionError
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.tasks.elmo_embedding import ElmoEmbedding, batch_to_ids
from firth.text.vocabulary import Vocabulary

BATCH = [["Rain"], ["A", "cup", "of", "hot", "tea", "😀", "e\u0301t" + "e" * 80], [], ["No", "."]]
WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "A", "cup", "of", "tea", "Rain"])


@pytest.fixture(scope="module")
def bilm() -> BiLM:
    return BiLM(Architecture.named("tiny"))


def assert_equal_to_embed(elmo: ElmoEmbedding, batch: list[list[str]], found: Tensor, mask: Tensor) -> None:
    expected = elmo.bilm.embed(batch)
    assert found.shape == (len(batch), max(map(len, batch)), elmo.get_output_dim())
    assert mask.dtype == torch.bool
    for row, array in enumerate(expected):
        assert mask[row].tolist() == [place < len(array) for place in range(found.shape[1])]
        assert np.abs(found[row, : len(array)].detach().numpy() - array).max(initial=0) <= 1e-6
        assert not found[row, len(array) :].any()


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("as_ids", [False, True])
def test_the_numbers_are_those_of_embed(bilm: BiLM, requires_grad: bool, as_ids: bool) -> None:
    elmo = ElmoEmbedding(copy.deepcopy(bilm), 2, requires_grad=requires_grad).eval()
    output = elmo(batch_to_ids(BATCH) if as_ids else BATCH)
    for found in output["elmo_representations"]:
        assert_equal_to_embed(elmo, BATCH, found, output["mask"])


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize("encoder", ["character-rnn", "words"])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_other_encoders_give_the_numbers_of_embed(encoder: str, requires_grad: bool) -> None:
    architecture = replace(Architecture.named("tiny"), encoder=encoder)
    model = BiLM(architecture, words=WORDS if encoder == "words" else None)
    elmo = ElmoEmbedding(model, requires_grad=requires_grad).eval()
    output = elmo(BATCH)
    assert_equal_to_embed(elmo, BATCH, output["elmo_representations"][0], output["mask"])
    if encoder == "words":
        with pytest.raises(OptionError, match="pass lists of words, not ids"):
            elmo(batch_to_ids(BATCH))
    else:
        assert torch.allclose(elmo(batch_to_ids(BATCH))["elmo_representations"][0], output["elmo_representations"][0])


def test_character_ids_are_those_of_allennlp() -> None:
    """By its documentation: 259 and 260 begin and end a word, 261 pads it, a byte is its number plus one."""
    ids = batch_to_ids([["é", "a"], []])
    assert ids.shape == (2, 2, 50)
    assert ids[0, 0, :5].tolist() == [259, 0xC3 + 1, 0xA9 + 1, 260, 261]
    assert ids[0, 0, 5:].eq(261).all()
    assert not ids[1].any()
    assert ids.dtype == torch.int64
    assert batch_to_ids([]).shape == (0, 0, 50)


def test_a_frozen_bilm_gets_no_gradients_and_stays_in_evaluation_mode(bilm: BiLM) -> None:
    elmo = ElmoEmbedding(bilm, 2, dropout=0.0)
    network = nn.Sequential(elmo).train()
    first, second = network(batch_to_ids(BATCH))["elmo_representations"]
    (first.square().sum() + second.sum()).backward()
    assert not elmo.bilm.training
    assert elmo.mixes[0].training
    assert all(weight.grad is None for weight in bilm.parameters())
    assert all(weight.grad is not None for weight in elmo.mixes.parameters())


def test_asked_for_gradients_reach_the_bilm_and_training_changes_the_vectors(bilm: BiLM) -> None:
    elmo = ElmoEmbedding(copy.deepcopy(bilm), dropout=0.0, requires_grad=True)
    optimizer = torch.optim.SGD(elmo.parameters(), 0.1)
    before = elmo(batch_to_ids(BATCH))["elmo_representations"][0]
    before.square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in elmo.bilm.encoder.parameters())
    assert elmo.bilm.forward_layers[0].input.grad is not None
    assert elmo.bilm.training
    optimizer.step()
    with torch.no_grad():  # by the inference kernels, whose packed weights are made again
        after = elmo(batch_to_ids(BATCH))["elmo_representations"][0]
    assert (after - before).abs().max() > 1e-4
    assert torch.allclose(after, elmo(BATCH)["elmo_representations"][0], atol=1e-6)


def test_dropout_acts_in_training_mode_alone(bilm: BiLM) -> None:
    elmo = ElmoEmbedding(bilm, dropout=0.5)
    torch.manual_seed(3)
    trained = elmo(BATCH)["elmo_representations"][0][1]
    evaluated = elmo.eval()(BATCH)["elmo_representations"][0][1]
    dropped = (trained == 0).float().mean()
    assert 0.3 < dropped < 0.7
    assert torch.allclose(trained[trained != 0], 2 * evaluated[trained != 0], atol=1e-6)


def test_the_mix_and_the_marks_are_options(bilm: BiLM) -> None:
    top = ElmoEmbedding(bilm, scalar_mix_parameters=[-9e9, -9e9, 1.0], keep_sentence_boundaries=True).eval()
    output = top(BATCH)
    layers, lengths, _ = bilm(BATCH)
    assert torch.allclose(output["elmo_representations"][0], layers[2], atol=1e-6)
    assert output["mask"].sum(1).tolist() == lengths.tolist() == [3, 9, 2, 4]
    assert not [one for one in top.parameters() if one.requires_grad]
    normalized = ElmoEmbedding(bilm, do_layer_norm=True).eval()(BATCH)
    words = normalized["elmo_representations"][0][normalized["mask"]]
    assert 0.3 < words.std() < 1.5
    assert not normalized["elmo_representations"][0][~normalized["mask"]].any()


def test_the_state_goes_into_another_module_and_into_a_file(bilm: BiLM, tmp_path: Path) -> None:
    elmo = ElmoEmbedding(bilm, 2)
    nn.init.normal_(elmo.mixes[1].weights)
    other = ElmoEmbedding(BiLM(Architecture.named("tiny"), seed=9), 2).eval()
    before = other(BATCH)["elmo_representations"][1]
    torch.save(elmo.state_dict(), tmp_path / "elmo.pt")
    other.load_state_dict(torch.load(tmp_path / "elmo.pt", weights_only=True))
    after, expected = (one(BATCH)["elmo_representations"][1] for one in (other, elmo.eval()))
    assert not torch.allclose(before, expected, atol=1e-3)
    assert torch.allclose(after, expected, atol=1e-6)


class Tagger(nn.Module):
    """A network of a user."""

    def __init__(self, elmo: ElmoEmbedding) -> None:
        super().__init__()
        self.elmo, self.scores = elmo, nn.Linear(elmo.get_output_dim(), 3)

    def forward(self, ids: Tensor) -> Tensor:
        output = self.elmo(ids)
        scores: Tensor = self.scores(output["elmo_representations"][0]) * output["mask"][:, :, None]
        return scores


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_compiled_network_gives_the_same_numbers_and_gradients(bilm: BiLM, requires_grad: bool) -> None:
    """With torch's own tracing; the backend is eager, so that no compiler is needed."""
    tagger = Tagger(ElmoEmbedding(copy.deepcopy(bilm), dropout=0.0, requires_grad=requires_grad))
    compiled = torch.compile(tagger, backend="eager")
    for batch in (BATCH, [["Tea"], ["Hot", "tea"]]):
        ids = batch_to_ids(batch)
        assert torch.allclose(compiled(ids), tagger(ids), atol=1e-6)
    compiled(batch_to_ids(BATCH)).square().sum().backward()
    assert tagger.elmo.mixes[0].weights.grad is not None
    assert (next(tagger.elmo.bilm.parameters()).grad is not None) == requires_grad


def test_it_opens_names_and_folders_and_is_a_public_name(bilm: BiLM, tmp_path: Path) -> None:
    firth.save(bilm, tmp_path / "bilm")
    for given in (tmp_path / "bilm", str(tmp_path / "bilm")):
        assert firth.ElmoEmbedding(given).get_output_dim() == 32
    assert firth.batch_to_ids is batch_to_ids
    firth.save(firth.WordVectors(["tea"], np.ones((1, 2))), tmp_path / "words")
    with pytest.raises(OptionError, match="but a BiLM is needed"):
        ElmoEmbedding(tmp_path / "words")


def test_what_is_no_batch_is_an_error(bilm: BiLM) -> None:
    elmo = ElmoEmbedding(bilm)
    with pytest.raises(OptionError, match=r"expected character ids of size batch × time × 50.*batch_to_ids"):
        elmo(batch_to_ids(BATCH, width=20))
    ids = batch_to_ids([["a", "b"]])
    ids[0, 0] = 0
    with pytest.raises(OptionError, match="a row of zeros is between words"):
        elmo(ids)
    with pytest.raises(OptionError, match="num_output_representations is 0"):
        ElmoEmbedding(bilm, 0)


def test_a_notebook_shows_the_bilm_and_each_mix(bilm: BiLM) -> None:
    page = ElmoEmbedding(bilm, 2)._repr_html_()
    assert page.count("ScalarMix") == 2
    assert "BiLM" in page
