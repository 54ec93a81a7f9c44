"""The biLM: sizes, the context of each direction, states, and round trips through files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from firth.errors import FormatError, OptionError
from firth.formats.registry import detect, load, save
from firth.neural.architecture import PRESETS, Architecture
from firth.neural.bilm import BiLM, reverse_sentences
from firth.neural.state import BiLMState
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

TINY = PRESETS["tiny"]
SENTENCES = [["A", "cup", "of", "tea"], [], ["Rain", "fell"]]
VARIANTS = {
    "as published": TINY,
    "one layer": dataclasses.replace(TINY, layers=1),
    "three layers, no skip": dataclasses.replace(TINY, layers=3, skip=False),
    "no projection": dataclasses.replace(TINY, cell=16),
    "no highway, tanh": dataclasses.replace(TINY, highways=0, activation="tanh"),
    "no bounds": dataclasses.replace(TINY, cell_clip=0.0, projection_clip=0.0),
    "normalized": dataclasses.replace(TINY, normalized=True),
    "character rnn": dataclasses.replace(TINY, encoder="character-rnn", character_cell=6),
    "words": dataclasses.replace(TINY, encoder="words"),
}


def make_bilm(architecture: Architecture, **more: object) -> BiLM:
    words = Vocabulary(["<S>", "</S>", "<UNK>", "tea", "Rain"]) if architecture.encoder == "words" else None
    return BiLM(architecture, words=words, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_kind_of_model_reads_and_comes_back_from_a_file(tmp_path: Path, name: str) -> None:
    bilm = make_bilm(VARIANTS[name], vocabulary=Vocabulary(["<S>", "</S>", "<UNK>", "tea"]), metadata={"made": "here"})
    with torch.no_grad():
        layers, lengths, _ = bilm(SENTENCES)
    assert layers.shape == (VARIANTS[name].layers + 1, 3, 6, 32)
    assert lengths.tolist() == [6, 2, 4]
    save(bilm, tmp_path / "model")
    assert detect(tmp_path / "model") == "native"
    again = load(tmp_path / "model")
    assert (again.architecture, again.vocabulary, again.words) == (bilm.architecture, bilm.vocabulary, bilm.words)
    assert again.metadata == {"made": "here"}
    with torch.no_grad():
        assert torch.equal(again(SENTENCES)[0], layers)
    with pytest.raises(OptionError, match="limit"):
        load(tmp_path / "model", limit=5)
    with pytest.raises(OptionError, match="limit"):
        load(tmp_path / "model", limit=5)


@pytest.mark.parametrize("name, parameters", [("small", 13_593_296), ("medium", 28_027_728), ("original", 93_600_848)])
def test_published_models_have_their_published_sizes(name: str, parameters: int) -> None:
    bilm = BiLM(Architecture.named(name), seed=None)
    mask = Architecture.named(name).character_dim  # the padding row, which is not counted
    assert sum(one.numel() for one in bilm.parameters()) - mask == parameters


def test_beyond_a_sentence_all_is_zero() -> None:
    with torch.no_grad():
        layers, lengths, _ = make_bilm(TINY)(SENTENCES)
    for row, length in enumerate(lengths.tolist()):
        assert layers[:, row, :length].abs().amin(-1).amin() >= 0
        assert not layers[:, row, length:].any()
        assert layers[:, row, :length].any(-1).all()


def test_layer_0_is_the_word_vector_twice_in_any_context() -> None:
    with torch.no_grad():
        layers, _, _ = make_bilm(TINY)([["tea", "for", "two", "tea"]])
    first = layers[0, 0]
    assert torch.equal(first[1], first[4])
    assert torch.equal(first[:, :16], first[:, 16:])
    assert not torch.allclose(layers[2, 0, 1], layers[2, 0, 4])


def test_forward_depends_on_the_words_before_and_backward_on_the_words_after() -> None:
    with torch.no_grad():
        one, _, _ = make_bilm(TINY)([["we", "drank", "tea", "together"]])
        other, _, _ = make_bilm(TINY)([["we", "drank", "tea", "alone"]])
        third, _, _ = make_bilm(TINY)([["they", "drank", "tea", "together"]])
    assert torch.allclose(one[:, 0, :4, :16], other[:, 0, :4, :16], atol=1e-7)
    assert not torch.allclose(one[1, 0, :4, 16:], other[1, 0, :4, 16:], atol=1e-4)
    assert torch.allclose(one[:, 0, 2:, 16:], third[:, 0, 2:, 16:], atol=1e-7)


def test_backward_is_forward_over_the_reversed_sentence() -> None:
    bilm = make_bilm(TINY)
    bilm.backward_layers.load_state_dict(bilm.forward_layers.state_dict())
    vectors, lengths = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(1)), torch.tensor([5, 3])
    vectors[1, 3:] = 0
    with torch.no_grad():
        straight, _ = bilm.contextualize(vectors, lengths)
        mirrored, _ = bilm.contextualize(reverse_sentences(vectors, lengths), lengths)
    for layer, mirror in zip(straight, mirrored):
        assert torch.allclose(layer[..., 16:], reverse_sentences(mirror, lengths)[..., :16], atol=1e-6)


def test_skip_connections_add_the_input_of_a_layer() -> None:
    bilm = make_bilm(TINY)
    with torch.no_grad():
        for parameter in [*bilm.forward_layers[1].parameters(), *bilm.backward_layers[1].parameters()]:
            parameter.zero_()
        layers, _, _ = bilm(SENTENCES)
        assert torch.equal(layers[1], layers[2])  # a second layer of zeros passes its input on
        bilm.architecture = dataclasses.replace(TINY, skip=False)
        assert not bilm(SENTENCES)[0][2].any()


def test_rows_go_on_from_their_own_state_and_idle_rows_keep_theirs() -> None:
    bilm = make_bilm(TINY)
    with torch.no_grad():
        _, _, first = bilm([["tea"], ["rain", "fell"], ["on"]])
        layers, _, second = bilm([["again"]], first)
        alone, _, third = bilm([["again"]], first.rows(1))
    assert torch.equal(layers, alone)
    assert torch.equal(second.cell[:, :, 1:], first.cell[:, :, 1:])
    assert torch.equal(second.hidden[:, :, :1], third.hidden)
    with torch.no_grad():
        wider, _, fourth = bilm([["again"], ["new"]], third)
        fresh, _, _ = bilm([["new"]])
    assert torch.allclose(wider[:, 1:, :3], fresh, atol=1e-6)  # a new row starts from zeros
    assert fourth.cell.shape[2] == 2


def test_no_sentences_give_no_rows_and_a_string_is_a_text_of_sentences() -> None:
    layers, lengths, state = make_bilm(TINY)([])
    assert layers.shape == (3, 0, 0, 32)
    assert (len(lengths), state.cell.shape[2]) == (0, 0)
    assert make_bilm(TINY)("She saw a play. Then tea.")[1].tolist() == [7, 5]
    with pytest.raises(OptionError, match="must be a text or a list of texts"):
        make_bilm(TINY)(b"She saw a play.")  # type: ignore[arg-type]


def test_a_blank_state_is_no_state() -> None:
    bilm = make_bilm(TINY)
    with torch.no_grad():
        assert torch.equal(bilm(SENTENCES)[0], bilm(SENTENCES, bilm.blank(0))[0])
    assert isinstance(bilm.blank(2), BiLMState)


def test_a_task_may_tune_all_of_it() -> None:
    bilm = make_bilm(TINY)
    layers, _, _ = bilm(SENTENCES)
    layers.square().sum().backward()
    for name, parameter in bilm.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_its_repr_has_its_sizes() -> None:
    assert repr(make_bilm(TINY)) == "BiLM(2 × 64 → 16, character-cnn, 105,124 parameters)"
    assert "skip connections" in make_bilm(TINY)._repr_html_()


def test_architectures_survive_json_and_impossible_ones_are_refused() -> None:
    values = TINY.as_dict() | {"filters": [list(pair) for pair in TINY.filters]}
    assert Architecture.from_dict(values) == TINY
    for wrong in ({"filters": ()}, {"filters": ((0, 3),)}, {"width": 4}, {"layers": 0}, {"activation": "sine"}):
        with pytest.raises(OptionError):
            dataclasses.replace(TINY, **wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="tiny, small, medium, original"):
        Architecture.named("huge")
    with pytest.raises(OptionError, match="needs a vocabulary"):
        BiLM(dataclasses.replace(TINY, encoder="words"))


def test_tensors_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    tensors = make_bilm(TINY).state_dict()
    with pytest.raises(OptionError, match=r"'encoder\.table' is missing"):
        BiLM.of_tensors(TINY, {name: one for name, one in tensors.items() if name != "encoder.table"})
    with pytest.raises(OptionError, match="'odd' belongs to no layer"):
        BiLM.of_tensors(TINY, tensors | {"odd": torch.zeros(1)})
    with pytest.raises(OptionError, match="is 2, but the architecture needs 262 × 4"):
        BiLM.of_tensors(TINY, tensors | {"encoder.table": torch.zeros(2)})


def test_a_folder_that_contradicts_itself_or_holds_no_numbers_is_refused(tmp_path: Path) -> None:
    bilm = make_bilm(TINY)
    save(bilm, tmp_path / "model")
    config = (tmp_path / "model" / "config.json").read_text()
    (tmp_path / "model" / "config.json").write_text(config.replace('"cell": 64', '"cell": 65'))
    with pytest.raises(FormatError, match=r"forward_layers\.0\.input"):
        load(tmp_path / "model")
    with torch.no_grad():
        bilm.forward_layers[1].bias[3] = torch.nan  # type: ignore[index]
    save(bilm, tmp_path / "model")
    with pytest.raises(FormatError, match=r"forward_layers\.1\.bias.*NaN"):
        load(tmp_path / "model")


def test_lists_of_tokens_are_normalized_as_the_training_text_was() -> None:
    fold = {"tokenizer": Tokenizer(normalizer=Normalizer(fold_case=True)).as_dict()}
    folded = BiLM(Architecture.named("tiny"), metadata=fold)
    plain = BiLM(Architecture.named("tiny"))
    [upper], [lower] = folded.embed([["HOT", "Tea"]]), folded.embed([["hot", "tea"]])
    assert np.array_equal(upper, lower)
    assert not np.array_equal(plain.embed([["HOT"]])[0], plain.embed([["hot"]])[0])


def test_clips_may_be_whole_numbers_of_any_size_that_a_float_has() -> None:
    bilm = BiLM(dataclasses.replace(PRESETS["tiny"], cell_clip=10**20, projection_clip=10**20))
    assert torch.isfinite(bilm([["tea"]])[0]).all()
    with pytest.raises(OptionError, match=r"cell_clip is 1e\+308, but must be at most"):
        dataclasses.replace(PRESETS["tiny"], cell_clip=1e308)


@pytest.mark.parametrize("name", ["layers", "highways"])
def test_a_folder_with_more_layers_than_tensors_is_refused_before_anything_is_built(tmp_path: Path, name: str) -> None:
    save(BiLM(PRESETS["tiny"]), tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    config["config"]["architecture"][name] = 10**9
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match=f"{name}: 1,000,000,000 do not fit"):
        load(tmp_path / "model")
