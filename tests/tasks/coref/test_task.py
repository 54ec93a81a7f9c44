"""Coreference from files to a trained model."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.runtime import Runtime
from firth.tasks.coref.data import Document
from firth.tasks.coref.task import Coref
from firth.tasks.inputs import Embedding
from firth.tasks.model import TaskModel
from firth.tasks.training import Training, fit


def test_mentions_that_stand_alone_cannot_be_learnt_from_antecedents() -> None:
    with pytest.raises(OptionError, match="mention_loss is 0"):
        Coref(singletons=True, mention_loss=0.0)


def test_a_document_that_is_not_marked_cannot_be_judged() -> None:
    with pytest.raises(OptionError, match="has no gold labels"):
        Coref().score(Coref().ask("Rain."), [Coref.no_answer])


def test_mentions_that_stand_alone_count_only_when_asked_for() -> None:
    gold = Document((("a", "b", "c"),), (((0, 1), (1, 2)), ((2, 3),)))
    answer = {"clusters": [[[0, 1], [1, 2]]]}
    assert Coref().score([gold], [answer])["average"] == 1.0
    assert Coref(singletons=True).score([gold], [answer])["b3"] == pytest.approx(0.8)


STORIES = [
    ("Mary left . She ran .", [[(0, 1), (3, 4)]]),
    ("John slept . He snored .", [[(0, 1), (3, 4)]]),
    ("Mary saw John . He waved .", [[(2, 3), (4, 5)]]),
    ("John saw Mary . She waved .", [[(2, 3), (4, 5)]]),
]


def stories() -> list[Document]:
    made = []
    for line, clusters in STORIES:
        sentences = tuple((*part.split(), ".") for part in line.split(" .") if part)
        made.append(Document(sentences, tuple(map(tuple, clusters))))
    return made


def tiny_fit() -> TaskModel:
    task = Coref(hidden=12, feedforward=16, features=4, widest=2, dropout=0.0, word_dropout=0.0)
    training = Training(epochs=15, learning_rate=0.01, patience=None)
    return fit(task, Embedding(words=8), stories() * 2, stories(), training, runtime=Runtime(1))


def test_four_stories_are_learnt_kept_and_told(tmp_path: Path) -> None:
    """The network learns them, its folder gives the same answers, and raw text is answered."""
    model = tiny_fit()
    assert model.metadata["dev"]["average"] == 1.0
    assert model.metadata["epochs"][-1]["loss"] < model.metadata["epochs"][0]["loss"]
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(stories()) == model.predict(stories())
    (answer,) = again.ask("Mary left. She ran.")
    assert answer["bracketed"] == "[Mary]1 left . [She]1 ran ."
    [cluster] = answer["clusters"]
    places = [(one["text"], one["sentence"], one["start"], one["token_start"]) for one in cluster["mentions"]]
    assert places == [("Mary", 0, 0, 0), ("She", 1, 11, 3)]
    assert cluster["probability"] == pytest.approx(math.prod(one["probability"] for one in cluster["mentions"]))
    assert 0.5 < cluster["probability"] <= 1


def test_a_slice_of_ontogum_is_learnt(data: Path) -> None:
    """Beginnings of three documents, where no answer at all has 0 and joining equal words some 0.3."""
    read = Coref().read(f"{data / 'data' / 'tasks' / 'coref' / 'ontogum-conll.tar.xz'}:dev")
    small = [first_sentences(document, 6) for document in read[4:7]]
    task = Coref(hidden=24, feedforward=24, features=5, widest=6, dropout=0.0, word_dropout=0.0, antecedents=30)
    training = Training(epochs=30, learning_rate=5e-3, patience=None)
    model = fit(task, Embedding(words=16, characters=16), small, small, training, runtime=Runtime(1))
    assert model.metadata["epochs"][-1]["loss"] < 0.5 * model.metadata["epochs"][0]["loss"]
    assert model.metadata["dev"]["average"] > 0.4


def first_sentences(document: Document, count: int) -> Document:
    """The beginning of a document, with the mentions in it."""
    words = sum(map(len, document.sentences[:count]))
    inside = [tuple(span for span in cluster if span[1] <= words) for cluster in document.clusters or ()]
    return Document(document.sentences[:count], tuple(filter(None, inside)), None, document.genre, document.name)


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """Also where a step draws which sentences it reads."""
    task = Coref(hidden=6, feedforward=8, features=3, widest=2, sentences=1)

    def run(epochs: int, folder: str) -> TaskModel:
        training = Training(epochs=epochs, learning_rate=0.01, patience=None)
        return fit(
            task, Embedding(words=6), stories(), stories(), training, checkpoint=tmp_path / folder, runtime=Runtime(1)
        )

    straight = run(4, "one")
    run(2, "two")
    resumed = run(4, "two")
    assert [epoch["loss"] for epoch in resumed.metadata["epochs"]] == [
        epoch["loss"] for epoch in straight.metadata["epochs"]
    ]
    for name, tensor in straight.state().items():
        assert torch.equal(tensor, resumed.state()[name]), name
