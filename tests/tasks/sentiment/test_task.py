"""Sentiment: trees are read as the treebank means them, both networks learn, and measures are those of scikit-learn."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score

from firth.errors import FormatError
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding, Sizes, Text
from firth.tasks.layers import sequence_mask
from firth.tasks.sentiment.data import GRADES, SentimentExample, parse_tree
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.training import Training, fit

TREE = "(3 (2 It) (4 (2 's) (4 (2 -LRB-) (4 fine))))"


def file_of(folder: Path, *lines: str) -> Path:
    path = folder / "trees.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_tree_is_the_whole_and_the_phrases_inside(tmp_path: Path) -> None:
    [example] = Sentiment().read(file_of(tmp_path, TREE))
    assert example.words == ("It", "'s", "(", "fine")
    assert example.label == "positive"
    assert [(" ".join(part.words), part.label) for part in example.parts] == [
        ("It", "neutral"),
        ("'s", "neutral"),
        ("(", "neutral"),
        ("fine", "very positive"),
        ("( fine", "very positive"),
        ("'s ( fine", "very positive"),
    ]


def test_training_learns_from_long_phrases_and_the_whole(tmp_path: Path) -> None:
    examples = Sentiment().read(file_of(tmp_path, TREE))
    lengths = [
        [len(one.words) for one in Sentiment(phrases=phrases, shortest=shortest).training_examples(examples)]
        for phrases, shortest in ((True, 1), (True, 2), (False, 1))
    ]
    assert lengths == [[4, 1, 1, 1, 1, 2, 3], [4, 2, 3], [4]]


def test_between_two_sides_the_neutral_goes(tmp_path: Path) -> None:
    task = Sentiment(classes=2, shortest=1)
    [example] = task.read(file_of(tmp_path, TREE, "(2 (1 So) (3 so))"))
    assert {one.label for one in task.training_examples([example])} == {"positive"}
    assert len(task.training_examples([example])) == 4


def test_a_line_may_be_a_label_and_a_text(tmp_path: Path) -> None:
    examples = Sentiment().read(file_of(tmp_path, "praise\tI love it!", "", "blame\tNo."))
    assert examples == [SentimentExample(("I", "love", "it", "!"), "praise"), SentimentExample(("No", "."), "blame")]
    assert Sentiment().learn_labels(examples) == {"labels": ["blame", "praise"]}


def test_files_may_be_packed(tmp_path: Path) -> None:
    (tmp_path / "trees.xz").write_bytes(lzma.compress(TREE.encode()))
    assert len(Sentiment().read(tmp_path / "trees.xz")) == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("(3 (2 It) (4 fine)", "2: not a tree with grades from 0 to 4: a bracket is not closed"),
        ("(3 (2 It) (7 fine))", "2: .*expected a grade after a bracket, found '7'"),
        ("(3 It)) (2 no)", "2: .*'\\)' is outside all brackets"),
        ("(3 )", "2: .*a phrase has no words"),
        ("just words", "2: expected a label, a tab and a text"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        Sentiment().read(file_of(tmp_path, TREE, line))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no labeled texts"):
        Sentiment().read(file_of(tmp_path, ""))


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    gold = rng.choice(GRADES, 60).tolist()
    told = [label if rng.random() < 0.5 else rng.choice(GRADES) for label in gold]
    found = Sentiment().score([SentimentExample(("x",), one) for one in gold], [{label: 1.0} for label in told])
    assert found["accuracy"] == pytest.approx(accuracy_score(gold, told))
    assert found["macro_f1"] == pytest.approx(f1_score(gold, told, average="macro"))


@pytest.mark.parametrize("architecture", ["biattentive", "plain"])
@pytest.mark.parametrize("extra", [0, 3])
def test_padding_changes_no_answer(architecture: Any, extra: int) -> None:
    torch.manual_seed(1)
    task = Sentiment(architecture=architecture, hidden=4)
    network: Any = task.network(Sizes(5, extra), {"labels": ["good", "bad"]}).eval()
    lengths = torch.tensor([6, 2, 1])
    mask = sequence_mask(lengths, 6)
    vectors, more = torch.randn(3, 6, 5) * mask[:, :, None], torch.randn(3, 6, 3) * mask[:, :, None]
    together = network(Text(vectors, lengths, mask, more if extra else None))
    for row, length in enumerate(lengths.tolist()):
        one = slice(row, row + 1), slice(length)
        text = Text(vectors[one], lengths[row : row + 1], mask[one], more[one] if extra else None)
        torch.testing.assert_close(network(text)[0], together[row], atol=1e-5, rtol=1e-4)
    assert together.std(0).max() > 1e-3  # they do differ


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


def test_the_treebank_has_the_sizes_that_are_known(data: Path) -> None:
    dev = data / "data/tasks/sentiment/sst5-dev.txt"
    assert len(Sentiment().read(dev)) == 1095
    assert len(Sentiment(classes=2).read(dev)) == 872
    for line in dev.read_text(encoding="utf-8").splitlines():
        phrases = parse_tree(line)
        assert len(phrases) == line.count("(")
        assert len(phrases[-1][0]) == max(len(words) for words, _ in phrases)


def test_an_answer_is_told_with_all_its_labels() -> None:
    told = Sentiment().describe(SentimentExample(("fine",)), {"bad": 0.25, "good": 0.75})
    assert told == {"label": "good", "probability": 0.75, "labels": {"good": 0.75, "bad": 0.25}}
