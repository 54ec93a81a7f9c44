"""Sequence to sequence from pairs to a trained model."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.runtime import Runtime
from firth.tasks.coref.task import Coref
from firth.tasks.inputs import Embedding, Inputs, Sizes
from firth.tasks.model import TaskModel
from firth.tasks.seq2seq.cove import Cove
from firth.tasks.seq2seq.data import Seq2SeqExample
from firth.tasks.seq2seq.task import Seq2Seq, generate, perplexity
from firth.tasks.training import Training, fit

WORDS = ["tea", "rain", "milk", "wind", "sun"]


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
    [answer] = reverser.ask("tea Ouagadougou milk")
    assert (answer["output"], answer["input"], answer["text"]) == ("milk Ouagadougou tea", 0, "tea Ouagadougou milk")
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


def test_only_a_model_of_texts_says_texts() -> None:
    task = Coref(hidden=2, feedforward=2)
    other = TaskModel(task, {"genres": []}, Inputs(Embedding(characters=5)), task.network(Sizes(5), {"genres": []}))
    for use in (lambda: generate(other, "tea"), lambda: perplexity(other, []), lambda: Cove(other)):
        with pytest.raises(OptionError, match="coref"):
            use()


def test_real_sentences_are_said_again(data: Path) -> None:
    """The beginnings of 120 sentences of an encyclopedia; without training none is said."""
    task = Seq2Seq(hidden=32, layers=1, dim=16, dropout=0.0, pairs="itself", longest=5, limit=120, vocabulary=100)
    pairs = task.read(data / "data" / "corpora" / "en-raw-sample.txt.xz")
    training = Training(epochs=12, batch=16, learning_rate=0.01, patience=None)
    made = fit(task, Embedding(characters=24), pairs, pairs[:60], training, runtime=Runtime(1))
    assert made.metadata["epochs"][-1]["loss"] < 0.5 * made.metadata["epochs"][0]["loss"]
    assert made.metadata["dev"]["bleu"] > 0.4
