"""Where the sentences of the page of senses come from."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from firth.errors import OptionError, UnknownWord
from firth.explorer.answers import senses as answers
from firth.maps.scatter import unpack
from firth.vectors.occurrences import Occurrences


class Spelled:
    """A biLM that needs no weights: the vectors of a word are numbers of its neighbors."""

    def embed(self, sentences: list[list[str]], layers: str) -> list[Any]:
        self.calls = getattr(self, "calls", 0) + 1
        return [
            np.array([[[len(word), layer * len(words[place - 1]), layer + 1.0] for place, word in enumerate(words)]
                      for layer in range(3)], np.float32)
            for words in sentences
        ]  # fmt: skip


@pytest.fixture
def models() -> Any:
    index = Occurrences(["play", "ball", "a"], [2, 0, 0, 1], [0, 2, 4], np.eye(4, 2))
    table = {"bilm": Spelled(), "index": index}
    return SimpleNamespace(load=table.__getitem__, table=table)


def test_sentences_are_pasted_or_indexed_or_examples(models: Any) -> None:
    key = answers.keep_text("One play .\n\nTwo plays .")
    assert answers.find_sentences(models, ["play"], "", key) == ["One play .", "Two plays ."]
    assert answers.find_sentences(models, ["play"], "index") == [["a", "play"], ["play", "ball"]]
    assert len(answers.find_sentences(models, ["bat", "شیر"])) == 28
    with pytest.raises(UnknownWord, match="'bank'"):
        answers.find_sentences(models, ["bankk"])
    with pytest.raises(OptionError, match="no longer in memory"):
        answers.find_sentences(models, ["play"], "", "0" * 16)
    with pytest.raises(OptionError, match="is no index"):
        answers.find_sentences(models, ["play"], "bilm")


def test_the_same_senses_are_made_once_and_packed(models: Any) -> None:
    parameters = {"model": "bilm", "word": "bat", "senses": "2", "mix": "0,1,0", "gamma": "2", "label-mean": "میانگین"}
    first = answers.make_senses(models, parameters)
    assert answers.make_senses(models, {**parameters, "mix": "1,0,0"}) is first
    assert models.table["bilm"].calls == 1
    head, _ = unpack(answers.pack_senses(models, parameters))
    assert (head["mixing"], head["gamma"], head["size"]) == ([0.0, 1.0, 0.0], 2.0, 15)
    assert head["fields"][0]["names"][-1] == "میانگین"
    with pytest.raises(OptionError, match="no word is given"):
        answers.make_senses(models, {"model": "bilm", "word": " "})


def test_only_recent_values_are_kept() -> None:
    recent = answers.Recent(2)
    for number in range(3):
        recent.put(number, str(number))
    assert [recent.get(number) for number in range(3)] == [None, "1", "2"]


@pytest.mark.parametrize("text", ["", "1,2", "a,b,c", "0,0,0"])
def test_weights_that_are_none_are_equal(text: str) -> None:
    assert answers.read_weights(text) == answers.EQUAL
