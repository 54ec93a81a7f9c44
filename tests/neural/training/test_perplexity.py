"""The perplexity of a biLM: of its scores, sentence by sentence, and of a plain loop with the state carried over."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import pytest
import torch

from firth.errors import OptionError
from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.progress import Progress
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain", "and", "the"])
LINES = ["tea and rain", "the rain", "milk and the tea and the milk", "tea"] * 3


def make_bilm(**change: Any) -> BiLM:
    """A biLM that prefers some words to others."""
    made = BiLM(dataclasses.replace(PRESETS["tiny"], **change), vocabulary=WORDS, seed=2)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)))
    return made


def tokenize(lines: list[str]) -> TokenFile:
    return Corpus.of(["\n".join(lines)], tokenizer=Tokenizer(mode="whitespace")).tokens()


def compute_losses(model: BiLM, lines: list[str]) -> list[float]:
    """Nats per word in each direction, word by word; the state carries over, and end marks are no inputs."""
    losses = []
    for direction, layers in enumerate((model.forward_layers, model.backward_layers)):
        states = [(torch.zeros(1, 64), torch.zeros(1, 16)) for _ in layers]
        log_probs = []
        for line in lines:
            for word, follower in itertools.pairwise(["<S>", *line.split(), "</S>"][:: 1 - 2 * direction]):
                vector = model.encoder([word])
                for depth, layer in enumerate(layers):
                    states[depth] = layer.step(vector, states[depth])
                    vector = states[depth][1] + vector if depth else states[depth][1]
                target = WORDS.id(follower if follower in WORDS else "<UNK>")
                log_probs.append(float(model.softmax(vector)[0].log_softmax(0)[target].detach()))
        losses.append(-sum(log_probs) / len(log_probs))
    return losses


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_one_sentence_has_the_perplexity_of_its_score() -> None:
    model = make_bilm()
    for line in ("tea and rain", "milk", "the " * 60):
        (score,) = model.score([line.split()])
        steps = len(line.split()) + 1
        for sentences, rows in itertools.product((True, False), (1, 32)):  # one sentence has nothing to remember
            found = model.perplexity(tokenize([line]), sentences=sentences, rows=rows)
            assert found.forward_loss == pytest.approx(-score.forward / steps, rel=1e-5)
            assert found.backward_loss == pytest.approx(-score.backward / steps, rel=1e-5)
            assert found.average == pytest.approx(1 / score.per_word, rel=1e-5)
            assert (found.words, found.unknown) == (steps, score.unknown)


def test_sentence_by_sentence_it_is_that_of_all_scores_in_any_number_of_rows() -> None:
    model = make_bilm()
    scores = model.score([line.split() for line in LINES])
    count = sum(len(score.words) + 1 for score in scores)
    for rows in (1, 5, 99):
        found = model.perplexity(tokenize(LINES), sentences=True, rows=rows)
        assert found.forward_loss == pytest.approx(-sum(score.forward for score in scores) / count, rel=1e-5)
        assert found.backward_loss == pytest.approx(-sum(score.backward for score in scores) / count, rel=1e-5)
        assert found.unknown == sum(score.unknown for score in scores) == 6


def test_a_stream_carries_its_state_over() -> None:
    model = make_bilm()
    found = model.perplexity(tokenize(LINES), sentences=False, rows=1)
    assert [found.forward_loss, found.backward_loss] == pytest.approx(compute_losses(model, LINES), rel=1e-5)
    assert found.average == pytest.approx(math.exp((found.forward_loss + found.backward_loss) / 2))
    apart = model.perplexity(tokenize(LINES), sentences=True)
    assert abs(found.forward_loss - apart.forward_loss) > 1e-4


def test_an_adaptive_softmax_is_as_exact() -> None:
    model = make_bilm(cutoffs=(3, 5))
    scores = model.score([line.split() for line in LINES])
    count = sum(len(score.words) + 1 for score in scores)
    found = model.perplexity(tokenize(LINES), sentences=True)
    assert found.loss == pytest.approx(-sum(score.log_prob for score in scores) / (2 * count), rel=1e-5)


def test_before_training_it_is_about_the_size_of_the_vocabulary() -> None:
    """With a softmax of zeros all seven words are equally probable."""
    model = BiLM(PRESETS["tiny"], vocabulary=WORDS)
    with torch.no_grad():
        model.softmax.weight.zero_()
        model.softmax.bias.zero_()
    found = model.perplexity(tokenize(LINES)).as_dict()
    assert found == {"forward": 7.0, "backward": 7.0, "average": 7.0, "words": 51, "unknown": 6}


def test_what_has_no_perplexity_is_refused() -> None:
    with pytest.raises(OptionError, match="no softmax"):
        BiLM(PRESETS["tiny"]).perplexity(tokenize(LINES))
    with pytest.raises(OptionError, match="no words"):
        make_bilm().perplexity(tokenize([]))
    with pytest.raises(OptionError, match="rows is 0"):
        make_bilm().perplexity(tokenize(LINES), rows=0)
    small = BiLM(PRESETS["tiny"], vocabulary=Vocabulary(["<S>", "</S>", "tea"]))
    with pytest.raises(OptionError, match="<UNK>"):
        small.perplexity(tokenize(LINES))


def test_progress_is_reported() -> None:
    seen: list[Progress] = []
    make_bilm().perplexity(tokenize(LINES), rows=1, report=seen.append)
    assert [one.done for one in seen] == [0, 1, 2]
    assert {(one.step, one.total) for one in seen} == {("perplexity", 3)}
