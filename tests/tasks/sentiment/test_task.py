"""Sentiment from files to a trained model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firth.runtime import Runtime
from firth.tasks.inputs import Embedding
from firth.tasks.sentiment.data import SentimentExample
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.training import Training, fit

TREE = "(3 (2 It) (4 (2 's) (4 (2 -LRB-) (4 fine))))"


def test_training_learns_from_long_phrases_and_the_whole(write_lines: Callable[..., Path], tmp_path: Path) -> None:
    examples = Sentiment().read(write_lines(TREE))
    lengths = [
        [len(one.words) for one in Sentiment(phrases=phrases, shortest=shortest).training_examples(examples)]
        for phrases, shortest in ((True, 1), (True, 2), (False, 1))
    ]
    assert lengths == [[4, 1, 1, 1, 1, 2, 3], [4, 2, 3], [4]]


def test_between_two_sides_the_neutral_goes(write_lines: Callable[..., Path], tmp_path: Path) -> None:
    task = Sentiment(classes=2, shortest=1)
    [example] = task.read(write_lines(TREE, "(2 (1 So) (3 so))"))
    assert {one.label for one in task.training_examples([example])} == {"positive"}
    assert len(task.training_examples([example])) == 4


@pytest.mark.parametrize("architecture", ["biattentive", "plain"])
def test_both_networks_learn_a_slice_of_the_treebank(data: Path, architecture: Any) -> None:
    task = Sentiment(architecture=architecture, classes=2, hidden=16, dropout=0.1, shortest=8)
    trees = task.read(data / "data/tasks/sentiment/sst5-train.txt")[::70]
    training = Training(epochs=8, batch=16, learning_rate=5e-3, patience=None)
    model = fit(task, Embedding(words=24), trees, trees, training, runtime=Runtime(threads=1))
    majority = max(sum(tree.label == label for tree in trees) for label in ("positive", "negative")) / len(trees)
    losses = [line["loss"] for line in model.metadata["epochs"]]
    assert losses[-1] < 0.6 * losses[0]
    assert model.metadata["dev"]["accuracy"] > majority + 0.2


def test_an_answer_is_described_with_all_its_labels() -> None:
    described = Sentiment().describe(SentimentExample(("fine",)), {"bad": 0.25, "good": 0.75})
    answer = {"label": "good", "probability": 0.75, "labels": {"good": 0.75, "bad": 0.25}}
    assert described == {"input": 0, "text": "fine", "tokens": ["fine"]} | answer
