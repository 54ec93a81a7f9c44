"""The encoder and decoder against their formulas word by word, and the task from pairs to texts."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.runtime import Runtime
from firth.tasks.coref.task import Coref
from firth.tasks.inputs import Embedding, Inputs, Sizes
from firth.tasks.model import TaskModel
from firth.tasks.seq2seq.cove import Cove
from firth.tasks.seq2seq.data import Seq2SeqExample
from firth.tasks.seq2seq.network import BEGIN, END, UNKNOWN, EncoderDecoder
from firth.tasks.seq2seq.task import Seq2Seq, generate, perplexity
from firth.tasks.training import Training, fit

WORDS = ["tea", "rain", "milk", "wind", "sun"]
SMALL = Seq2Seq(hidden=6, layers=2, dim=4, dropout=0.0, longest=6)
PAIRS = [
    Seq2SeqExample(("tea", "zebra", "milk", "zebra"), ("zebra", "tea", "fog")),  # zebra can be copied, fog cannot
    Seq2SeqExample(("rain",), ("rain", "sun")),
    Seq2SeqExample(("wind", "quagga"), ()),
]


def model(**options: object) -> TaskModel:
    task = replace(SMALL, **options)  # type: ignore[arg-type]
    torch.manual_seed(2)
    inputs = Inputs(Embedding(characters=5))
    labels = {"words": WORDS}
    return TaskModel(task, labels, inputs, task.network(inputs.sizes, labels)).eval()


def network(made: TaskModel) -> EncoderDecoder:
    assert isinstance(made.network, EncoderDecoder)
    return made.network


def plain_chances(made: TaskModel, pair: Seq2SeqExample, target: list[str]) -> list[dict[str, float]]:
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
        said, state = net.decoder(vector[None, None], state)
        shares = torch.softmax(torch.stack([said[0, 0] @ net.keys(one) for one in states[0]]), 0)
        joined = torch.tanh(net.join(torch.cat([shares @ states[0], said[0, 0]])))
        chances = dict(zip(net.words, torch.softmax(net.say(joined), 0).tolist()))
        if task.unknown == "copy":
            copied = float(torch.sigmoid(net.copied(joined)))
            chances = {word: chance * (1 - copied) for word, chance in chances.items()}
            for word, share in zip(pair.source, shares.tolist()):
                chances[word] = chances.get(word, 0.0) + copied * share
        found.append(chances)
    return found


@pytest.mark.parametrize("unknown", ["copy", "replace", "keep"])
@pytest.mark.parametrize("feeding", [False, True])
@torch.no_grad()
def test_the_loss_is_that_of_the_formulas(unknown: str, feeding: bool) -> None:
    made = model(unknown=unknown, feeding=feeding)
    losses = []
    for pair in PAIRS:
        for word, chances in zip([*pair.gold, "</s>"], plain_chances(made, pair, list(pair.gold))):
            losses.append(-np.log(chances.get(word, chances["<unk>"])))
    found = network(made).loss(made.texts(PAIRS), PAIRS)
    assert float(found) == pytest.approx(np.mean(losses), rel=1e-5)
    assert perplexity(made, PAIRS) == pytest.approx(np.exp(np.mean(losses)), rel=1e-5)


@pytest.mark.parametrize("feeding", [False, True])
@torch.no_grad()
def test_a_step_gives_the_probabilities_of_the_formulas(feeding: bool) -> None:
    """What is not known goes to the word that is looked at most, so <unk> is never said; all adds up to one."""
    made = model(feeding=feeding)
    net, pair = network(made), PAIRS[0]
    state = net.encode(made.texts([pair])[0], [pair])
    word = torch.tensor([BEGIN])
    for chances in plain_chances(made, pair, ["tea", "zebra"]):
        found, state = net.step(word, state)
        got = dict(zip([*net.words, "zebra"], found.exp()[0].tolist()))
        assert got["<unk>"] == got["<s>"] == 0
        assert sum(got.values()) + chances["<s>"] == pytest.approx(1, abs=1e-5)
        raised = [name for name in got if got[name] > chances.get(name, 0) + 1e-6]
        assert len(raised) <= 1
        assert set(raised) <= set(pair.source)
        word = torch.tensor([len(net.words)] if word[0] == net.ids["tea"] else [net.ids["tea"]])


@torch.no_grad()
def test_a_pair_has_the_same_loss_and_answer_in_any_company() -> None:
    made = model()
    together = made.predict(PAIRS)
    assert [made.predict([pair])[0] for pair in PAIRS] == together
    losses = [float(network(made).loss(made.texts([pair]), [pair])) for pair in PAIRS]
    sizes = [len(pair.gold) + 1 for pair in PAIRS]
    mean = np.average(losses, weights=sizes)
    assert float(network(made).loss(made.texts(PAIRS), PAIRS)) == pytest.approx(mean, rel=1e-5)


def test_a_source_without_words_is_answered() -> None:
    for unknown in ("copy", "replace", "keep"):
        made = model(unknown=unknown)
        assert isinstance(made.predict([Seq2SeqExample(())])[0], str)
        assert len(made.ask("", "tea")) == 2


def test_the_words_that_can_be_said_are_the_most_frequent() -> None:
    pairs = [Seq2SeqExample(("x",), ("b", "a", "b")), Seq2SeqExample(("x",), ("a", "c", "</s>", "<unk>"))]
    assert Seq2Seq().learn_labels(pairs) == {"words": ["a", "b", "c"]}
    assert Seq2Seq(vocabulary=1).learn_labels(pairs) == {"words": ["a"]}
    assert Seq2Seq(min_count=2).learn_labels(pairs) == {"words": ["a", "b"]}


def reversals(count: int, seed: int) -> list[Seq2SeqExample]:
    """Words in reverse; some of them are names that never come twice."""
    rng, made = random.Random(seed), []
    for number in range(count):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.3:
            words[rng.randrange(len(words))] = f"name{seed}{number}"
        made.append(Seq2SeqExample(tuple(words), tuple(reversed(words))))
    return made


@pytest.fixture(scope="module")
def reverser() -> TaskModel:
    task = Seq2Seq(hidden=24, layers=1, dim=12, dropout=0.0, vocabulary=5, longest=8)
    training = Training(epochs=12, batch=16, learning_rate=0.01, patience=None)
    return fit(
        task, Embedding(words=12, characters=8), reversals(240, 1), reversals(40, 2), training, runtime=Runtime(1)
    )


def test_reversing_is_learnt_also_of_words_never_seen(reverser: TaskModel) -> None:
    assert reverser.metadata["dev"]["bleu"] > 0.9
    assert reverser.metadata["epochs"][-1]["loss"] < 0.2 * reverser.metadata["epochs"][0]["loss"]
    assert reverser.ask("tea Ouagadougou milk") == ["milk Ouagadougou tea"]
    assert perplexity(reverser, reversals(40, 2)) < 1.5


def test_a_model_is_kept_and_opened(reverser: TaskModel, tmp_path: Path) -> None:
    save(reverser, tmp_path / "model")
    again = load(tmp_path / "model")
    held = reversals(20, 3)
    assert again.predict(held) == reverser.predict(held)
    assert perplexity(again, held) == perplexity(reverser, held)


def test_several_texts_for_a_source(reverser: TaskModel) -> None:
    found = generate(reverser, "tea rain", 3)
    assert found[0][0] == "rain tea"
    assert len(found) == 3
    assert found[0][1] > found[1][1] > found[2][1]


def test_words_in_context_by_the_encoder(reverser: TaskModel) -> None:
    """A word has other vectors in another sentence, the same in any batch; two directions of 24 numbers."""
    cove = Cove(reverser)
    sentences = [["tea", "rain"], ["sun", "tea"], [], ["tea", "rain", "milk", "wind"]]
    arrays = cove.embed(sentences)
    assert [array.shape for array in arrays] == [(2, 48), (2, 48), (0, 48), (4, 48)]
    assert all(array.dtype == np.float32 for array in arrays)
    assert np.abs(arrays[0][0] - arrays[1][1]).max() > 0.01
    for sentence, array in zip(sentences, arrays):
        assert np.allclose(cove.embed([sentence])[0], array, atol=1e-6)
    assert np.allclose(cove.embed(["tea rain"])[0], arrays[0], atol=1e-6)
    assert cove.embed(sentences, pooling="mean")[3] == pytest.approx(arrays[3].mean(0), abs=1e-6)


def test_each_layer_of_the_encoder_can_be_asked_for() -> None:
    cove = Cove(model())
    everything = cove.embed([["tea", "rain"]], layers="all")[0]
    assert everything.shape == (2, 2, 12)
    assert np.array_equal(cove.embed([["tea", "rain"]], layers=1)[0], everything[0])
    assert np.array_equal(cove.embed([["tea", "rain"]])[0], everything[1])
    assert np.allclose(cove.embed([["tea", "rain"]], layers="mix")[0], everything.mean(0))
    with pytest.raises(OptionError, match="a number from 1 to 2"):
        cove.embed([["tea"]], layers=3)


def test_only_a_model_of_texts_says_texts() -> None:
    task = Coref(hidden=2, feedforward=2)
    other = TaskModel(task, {"genres": []}, Inputs(Embedding(characters=5)), task.network(Sizes(5), {"genres": []}))
    for use in (lambda: generate(other, "tea"), lambda: perplexity(other, []), lambda: Cove(other)):
        with pytest.raises(OptionError, match="coref"):
            use()


@torch.no_grad()
def test_the_end_is_a_word_that_is_learnt() -> None:
    """Words after the end cost nothing, and the end itself does."""
    made = model()
    empty = [Seq2SeqExample(("tea",), ())]
    chances = plain_chances(made, empty[0], [])[0]
    assert float(network(made).loss(made.texts(empty), empty)) == pytest.approx(-np.log(chances["</s>"]), rel=1e-5)
    assert network(made).words[END] == "</s>"


def test_real_sentences_are_said_again(data: Path) -> None:
    """The beginnings of 120 sentences of an encyclopedia; without training none is said."""
    task = Seq2Seq(hidden=32, layers=1, dim=16, dropout=0.0, pairs="itself", longest=5, limit=120, vocabulary=100)
    pairs = task.read(data / "data" / "corpora" / "en-raw-sample.txt.xz")
    training = Training(epochs=12, batch=16, learning_rate=0.01, patience=None)
    made = fit(task, Embedding(characters=24), pairs, pairs[:60], training, runtime=Runtime(1))
    assert made.metadata["epochs"][-1]["loss"] < 0.5 * made.metadata["epochs"][0]["loss"]
    assert made.metadata["dev"]["bleu"] > 0.4
