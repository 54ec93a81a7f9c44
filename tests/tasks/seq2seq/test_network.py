"""The encoder and decoder against their formulas, word by word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from firth.tasks.model import TaskModel
from firth.tasks.seq2seq.data import Seq2SeqExample
from firth.tasks.seq2seq.network import BEGIN, END, UNKNOWN, EncoderDecoder
from firth.tasks.seq2seq.task import Seq2Seq, perplexity

WORDS = ["tea", "rain", "milk", "wind", "sun"]
SMALL = Seq2Seq(hidden=6, layers=2, dim=4, dropout=0.0, longest=6)
PAIRS = [
    Seq2SeqExample(("tea", "zebra", "milk", "zebra"), ("zebra", "tea", "fog")),  # zebra can be copied, fog cannot
    Seq2SeqExample(("rain",), ("rain", "sun")),
    Seq2SeqExample(("wind", "quagga"), ()),
]


def network(made: TaskModel) -> EncoderDecoder:
    assert isinstance(made.network, EncoderDecoder)
    return made.network


def plain_probabilities(made: TaskModel, pair: Seq2SeqExample, target: list[str]) -> list[dict[str, float]]:
    """P of every word after each beginning of a target: the formulas of the network, one number at a time."""
    net, task = network(made), network(made).task
    text = made.inputs([pair.source])
    states = net.states(text)[-1]
    half = task.hidden
    first = torch.cat([states[0, -1, :half], states[0, 0, half:]])
    begin = torch.tanh(net.first(first)).reshape(2, task.layers, 1, half)
    state, joined = (begin[0].contiguous(), begin[1].contiguous()), torch.zeros(half)
    found = []
    for word in ["<s>", *target]:
        vector = net.table.weight[net.ids.get(word, UNKNOWN)]
        vector = torch.cat([vector, joined]) if task.feeding else vector
        output, state = net.decoder(vector[None, None], state)
        shares = torch.softmax(torch.stack([output[0, 0] @ net.keys(one) for one in states[0]]), 0)
        joined = torch.tanh(net.join(torch.cat([shares @ states[0], output[0, 0]])))
        probabilities = dict(zip(net.words, torch.softmax(net.say(joined), 0).tolist()))
        if task.unknown == "copy":
            copied = float(torch.sigmoid(net.copied(joined)))
            probabilities = {word: probability * (1 - copied) for word, probability in probabilities.items()}
            for word, share in zip(pair.source, shares.tolist()):
                probabilities[word] = probabilities.get(word, 0.0) + copied * share
        found.append(probabilities)
    return found


@pytest.mark.parametrize("unknown", ["copy", "replace", "keep"])
@pytest.mark.parametrize("feeding", [False, True])
@torch.no_grad()
def test_the_loss_is_that_of_the_formulas(model: Callable[..., TaskModel], unknown: str, feeding: bool) -> None:
    made = model(unknown=unknown, feeding=feeding)
    losses = []
    for pair in PAIRS:
        for word, probabilities in zip([*pair.gold, "</s>"], plain_probabilities(made, pair, list(pair.gold))):
            losses.append(-np.log(probabilities.get(word, probabilities["<unk>"])))
    found = network(made).loss(made.texts(PAIRS), PAIRS)
    assert float(found) == pytest.approx(np.mean(losses), rel=1e-5)
    assert perplexity(made, PAIRS) == pytest.approx(np.exp(np.mean(losses)), rel=1e-5)


@pytest.mark.parametrize("feeding", [False, True])
@torch.no_grad()
def test_a_step_gives_the_probabilities_of_the_formulas(model: Callable[..., TaskModel], feeding: bool) -> None:
    """The probability of <unk> goes to the source word with the highest attention; all add up to one."""
    made = model(feeding=feeding)
    net, pair = network(made), PAIRS[0]
    state = net.encode(made.texts([pair])[0], [pair])
    word = torch.tensor([BEGIN])
    for probabilities in plain_probabilities(made, pair, ["tea", "zebra"]):
        found, state = net.step(word, state)
        got = dict(zip([*net.words, "zebra"], found.exp()[0].tolist()))
        assert got["<unk>"] == got["<s>"] == 0
        assert sum(got.values()) + probabilities["<s>"] == pytest.approx(1, abs=1e-5)
        raised = [name for name in got if got[name] > probabilities.get(name, 0) + 1e-6]
        assert len(raised) <= 1
        assert set(raised) <= set(pair.source)
        word = torch.tensor([len(net.words)] if word[0] == net.ids["tea"] else [net.ids["tea"]])


@torch.no_grad()
def test_a_pair_has_the_same_loss_and_answer_in_any_company(model: Callable[..., TaskModel]) -> None:
    made = model()
    together = made.predict(PAIRS)
    for pair, answer in zip(PAIRS, together):
        [alone] = made.predict([pair])
        assert alone["text"] == answer["text"]
        assert alone["probability"] == pytest.approx(answer["probability"], rel=1e-4)
    losses = [float(network(made).loss(made.texts([pair]), [pair])) for pair in PAIRS]
    sizes = [len(pair.gold) + 1 for pair in PAIRS]
    mean = np.average(losses, weights=sizes)
    assert float(network(made).loss(made.texts(PAIRS), PAIRS)) == pytest.approx(mean, rel=1e-5)


def test_a_source_without_words_is_answered(model: Callable[..., TaskModel]) -> None:
    for unknown in ("copy", "replace", "keep"):
        made = model(unknown=unknown)
        assert isinstance(made.predict([Seq2SeqExample(())])[0]["text"], str)
        empty, tea = made.ask("", "tea")
        assert (empty["input"], empty["output"], empty["probability"]) == (0, "", None)
        assert (tea["input"], tea["text"]) == (1, "tea")


@torch.no_grad()
@pytest.mark.parametrize("length_penalty", [0.0, 0.7, 1.0])
def test_the_probability_of_an_answer_is_that_of_its_words_and_its_end(
    model: Callable[..., TaskModel], length_penalty: float
) -> None:
    made = model(length_penalty=length_penalty)
    for pair in PAIRS:
        [answer] = made.predict([pair])
        told = Seq2SeqExample(pair.source, tuple(answer["text"].split()))
        loss = float(network(made).loss(made.texts([told]), [told])) * (len(told.gold) + 1)
        if set(told.gold) <= set(network(made).words):  # the search may also say <unk> as a source word
            assert answer["probability"] >= np.exp(-loss) * (1 - 1e-4)
        assert 0 <= answer["probability"] <= 1


@torch.no_grad()
def test_the_end_is_a_word_that_is_learnt(model: Callable[..., TaskModel]) -> None:
    """Words after the end cost nothing, and the end itself does."""
    made = model()
    empty = [Seq2SeqExample(("tea",), ())]
    probabilities = plain_probabilities(made, empty[0], [])[0]
    assert float(network(made).loss(made.texts(empty), empty)) == pytest.approx(
        -np.log(probabilities["</s>"]), rel=1e-5
    )
    assert network(made).words[END] == "</s>"
