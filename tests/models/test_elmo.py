"""The recipe of ELMo: the original's own test, presets, going on from a model, and what goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import firth
from firth.errors import FirthError, OptionError
from firth.models.elmo import Elmo
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.layers import WordEmbedding
from firth.neural.training.pretrain import Pretraining
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

ONE = Runtime(1)
LINES = Tokenizer(mode="whitespace")
TINY = Elmo(preset="tiny", batch=4, unroll=5, epochs=2, min_count=1, cell=16, dim=8)


def corpus(lines: int = 40) -> Corpus:
    said = ["the king rules the land .", "the queen drinks tea in the rain .", "a young king sees the old queen ."]
    return Corpus.of(["\n".join(said[i % 3] for i in range(lines))], tokenizer=LINES)


# The original's own test: five sentences, and a perplexity below 20.

TOY = Elmo(
    preset="tiny",
    cell=16,
    dim=8,
    width=10,
    character_dim=4,
    filters=(1, 8, 2, 8, 3, 16, 4, 32, 5, 64),
    activation="tanh",
    highways=1,
    batch=2,
    unroll=10,
    epochs=25,
    evaluate_every=1000,
    negatives=16,
    skip=False,
    learning_rate=0.01,
)


@pytest.mark.parametrize(
    "more",
    [
        {"encoder": "words"},
        {"softmax": "sampled"},
        {"encoder": "words", "tied": True},
        {"skip": True},
        {"optimizer": "paper", "learning_rate": None, "clip": 1.0, "skip": True, "epochs": 50},
    ],
    ids=["words", "characters", "words, tied", "skip connections", "as the paper"],
)
def test_the_original_s_toy_text_is_learnt(data: Path, more: dict[str, Any]) -> None:
    folder = data / "fixtures" / "elmo" / "bilm-tf" / "train"
    text = Corpus(folder / "data.txt", tokenizer=LINES)
    bilm = replace(TOY, vocabulary=32, **more).fit(text, held_out=text, runtime=ONE)
    told = bilm.metadata["perplexity"]
    assert told["before"]["average"] > 25
    assert max(told["after"]["forward"], told["after"]["backward"]) < 20


def test_a_tied_softmax_has_the_vectors_of_the_words() -> None:
    bilm = replace(TINY, encoder="words", tied=True).fit(corpus(), runtime=ONE)
    assert isinstance(bilm.encoder, WordEmbedding)
    assert torch.equal(bilm.softmax.weight, bilm.encoder.table)  # type: ignore[union-attr, arg-type]
    with pytest.raises(OptionError, match="tied: the softmax can share word vectors only if the encoder has some"):
        replace(TINY, tied=True).fit(corpus(), runtime=ONE)


# What is made


def test_presets_have_the_sizes_that_were_published_and_every_size_is_an_option() -> None:
    assert Elmo(preset="original").architecture().cell == 4096
    assert Elmo(preset="small").architecture().highways == 1
    mine = Elmo(preset="small", cell=300, filters=(1, 4, 3, 8), skip=False).architecture()
    assert (mine.cell, mine.dim, mine.filters, mine.skip) == (300, 128, ((1, 4), (3, 8)), False)
    with pytest.raises(OptionError, match="filters has 3 numbers, but must have pairs of numbers"):
        Elmo(filters=(1, 4, 3)).architecture()


def test_the_paper_s_way_is_the_paper_s() -> None:
    tokens = corpus().tokens()
    recipe = replace(TINY, optimizer="paper", learning_rate=None)
    training = Pretraining(recipe.new(tokens), tokens, recipe.plan(ONE), ONE)
    assert isinstance(training.optimizer.parts[-1], torch.optim.Adagrad)
    assert (training.clip, training.loss_scale, Elmo().negatives) == (10.0, recipe.unroll, 8192)
    assert [training.schedule.rate(step, step / 100) for step in (0, 100)] == [0.2, 0.2]
    assert not recipe.resets_at_sentences
    assert Elmo().resets_at_sentences  # as in embedding


def test_every_size_of_an_architecture_is_an_option_with_the_same_help_and_range() -> None:
    options = {field.name: field for field in fields(Elmo)}
    for field in fields(Architecture):
        if field.name not in ("cutoffs", "filters", "word_dim"):
            assert options[field.name].metadata == field.metadata
            assert options[field.name].default is None


def test_the_model_predicts_scores_and_tells_how_it_was_made(tmp_path: Path) -> None:
    bilm = replace(TINY, epochs=8, learning_rate=0.02, dropout=0.0).fit(corpus(), runtime=ONE)
    assert bilm.predict(["the", "king", "rules"], ["land", "."]).both[0][0] == "the"
    likely, unlikely = bilm.score([["the", "king", "rules", "the", "land", "."], ["tea", "the", "in", ".", "a"]])
    assert likely.per_word > 3 * unlikely.per_word
    assert bilm.metadata["recipe"]["name"] == "elmo"
    assert bilm.metadata["tokens_seen"] == bilm.metadata["steps"] * 20
    firth.save(bilm, tmp_path / "model")
    again = firth.load(tmp_path / "model")
    assert again.metadata == json.loads(json.dumps(bilm.metadata))
    assert np.allclose(again.embed([["the", "king"]])[0], bilm.embed([["the", "king"]])[0], atol=1e-5)


@pytest.mark.parametrize("more", [{"softmax": "adaptive"}, {"encoder": "character-rnn", "character_cell": 8}])
def test_other_softmaxes_and_encoders_are_kept_too(tmp_path: Path, more: dict[str, Any]) -> None:
    bilm = replace(TINY, **more).fit(corpus(), runtime=ONE)
    firth.save(bilm, tmp_path / "model")
    again = firth.load(tmp_path / "model")
    assert again.score([["the", "king"]])[0].log_prob == pytest.approx(bilm.score([["the", "king"]])[0].log_prob)


def test_the_same_seed_gives_the_same_bits_and_another_does_not() -> None:
    first, second, other = (replace(TINY, seed=seed).fit(corpus(), runtime=ONE) for seed in (1, 1, 2))
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, second.state_dict()[name])
    assert not torch.equal(first.forward_layers[0].input, other.forward_layers[0].input)


# Going on


def test_going_on_from_a_model_lowers_the_perplexity_of_the_new_text_and_leaves_the_model_as_it_was() -> None:
    start = replace(TINY, epochs=10, learning_rate=0.01).fit(corpus(), runtime=ONE)
    before = {name: tensor.clone() for name, tensor in start.state_dict().items()}
    new = Corpus.of(["\n".join(["the old queen rules the young king ."] * 20)], tokenizer=LINES)
    tuned = replace(TINY, epochs=5, learning_rate=0.01).fit(new, start=start, held_out=new, runtime=ONE)
    told = tuned.metadata["perplexity"]
    assert told["after"]["average"] < 0.7 * told["before"]["average"]
    assert tuned.vocabulary == start.vocabulary
    assert all(torch.equal(tensor, before[name]) for name, tensor in start.state_dict().items())


def test_official_weights_get_a_softmax_for_the_new_text(data: Path) -> None:
    """First the softmax learns alone, and what the model knew is untouched; then everything learns."""
    start = firth.load(data / "fixtures" / "elmo" / "allennlp")
    assert start.softmax is None
    text = Corpus(data / "fixtures" / "elmo" / "bilm-tf" / "train" / "data.txt", tokenizer=LINES)
    recipe = Elmo(batch=2, unroll=10, epochs=40, learning_rate=0.01, evaluate_every=1000)
    alone = replace(recipe, frozen=1.0).fit(text, start=start, held_out=text, runtime=ONE)
    for name, tensor in start.state_dict().items():
        assert torch.equal(tensor, alone.state_dict()[name])
    tuned = recipe.fit(text, start=start, held_out=text, runtime=ONE)
    looks = [look["average"] for look in tuned.metadata["held_out"]["looks"]]
    assert len(looks) == 2  # when the softmax had learnt alone, and at the end
    assert looks[1] < 0.6 * looks[0] < 0.6 * len(tuned.vocabulary)
    assert looks[1] < alone.metadata["perplexity"]["after"]["average"]


def test_sizes_that_contradict_the_model_to_start_from_are_refused() -> None:
    start = TINY.fit(corpus(), runtime=ONE)
    with pytest.raises(OptionError, match=r"cell is 32, but the start model has 16\. Leave the option out"):
        replace(TINY, cell=32).fit(corpus(), start=start, runtime=ONE)


# What goes wrong


def test_a_text_that_is_too_small_is_told() -> None:
    with pytest.raises(OptionError, match=r"smaller than one batch: 3 words .* Use a smaller batch or unroll"):
        TINY.fit(Corpus.of(["tea rain"], tokenizer=LINES), runtime=ONE)


def test_a_text_in_which_nothing_can_be_predicted_is_told() -> None:
    once = Corpus.of([" ".join(f"w{i}" for i in range(100))], tokenizer=LINES)
    with pytest.raises(OptionError, match=r"no word but <UNK> is left to predict\. A word must occur 2 times"):
        replace(TINY, min_count=2).fit(once, runtime=ONE)
    with pytest.raises(OptionError, match="no word but <UNK> is left to predict"):
        replace(TINY, vocabulary=3).fit(corpus(), runtime=ONE)


def test_a_text_of_three_words_and_one_endless_line_are_learnt() -> None:
    for softmax in ("sampled", "full", "adaptive"):
        text = Corpus.of([" ".join(["tea", "and", "rain"] * 1500)], tokenizer=LINES)
        bilm = replace(TINY, softmax=softmax, epochs=1, steps=20).fit(text, runtime=ONE)  # type: ignore[arg-type]
        assert len(bilm.vocabulary or ()) == 6


def test_half_precision_on_a_cpu_is_refused() -> None:
    with pytest.raises(OptionError, match="bfloat16 is for training on a GPU"):
        replace(TINY, precision="bfloat16").fit(corpus(), runtime=ONE)


def test_a_checkpoint_of_another_recipe_is_refused_and_stays(tmp_path: Path) -> None:
    TINY.fit(corpus(), checkpoint=tmp_path / "state", runtime=ONE)
    before = sorted(path.name for path in (tmp_path / "state").iterdir())
    with pytest.raises(OptionError, match="it differs in cell"):
        replace(TINY, cell=12).fit(corpus(), checkpoint=tmp_path / "state", runtime=ONE)
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == before
    replace(TINY, cell=12).fit(corpus(), checkpoint=tmp_path / "state", resume=False, runtime=ONE)


# The command


def test_the_command_trains_and_leaves_model_card_curves_and_log(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the king rules the land .\nthe queen drinks tea .\n" * 20)
    options = ["--preset=tiny", "--batch=4", "--unroll=5", "--epochs=2", "--tokens=whitespace", "--json"]
    places = ["--held-out", "text.txt", "--log", "log.jsonl", "--out", "model"]
    command = [sys.executable, "-c", "from firth.cli.main import main; main()"]
    done = subprocess.run(
        [*command, "train", "elmo", "text.txt", *options, *places],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["metadata"]["perplexity"]["after"]["average"] > 1
    assert (tmp_path / "model" / "curves.svg").read_text().startswith("<svg")
    assert (tmp_path / "model" / "README.md").exists()
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) >= 3
    assert isinstance(firth.load(tmp_path / "model"), BiLM)


def test_a_vocabulary_file_gives_the_words_of_the_softmax_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text("<S>\n</S>\n<UNK>\nking\ntea\nunseen\n")
    recipe = replace(TINY, epochs=1, vocab_file=str(file))
    bilm = recipe.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    assert bilm.vocabulary is not None
    assert bilm.vocabulary.words == ("<S>", "</S>", "<UNK>", "king", "tea", "unseen")
    assert bilm.perplexity(Corpus.of(["the king"])).unknown == 1
    with pytest.raises(OptionError, match="vocab_file is given, but the start model has a softmax"):
        recipe.fit(corpus(), runtime=ONE, start=bilm)
    file.write_text(file.read_text() + "queen\n")
    with pytest.raises(FirthError, match="vocab_file"):
        recipe.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
