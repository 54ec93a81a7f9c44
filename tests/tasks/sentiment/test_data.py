"""Files of sentiment: trees of the treebank, and labeled lines."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.tasks.sentiment.data import SentimentExample, parse_tree
from firth.tasks.sentiment.task import Sentiment

TREE = "(3 (2 It) (4 (2 's) (4 (2 -LRB-) (4 fine))))"


def test_a_tree_is_the_whole_and_the_phrases_inside(write_lines: Callable[..., Path], tmp_path: Path) -> None:
    [example] = Sentiment().read(write_lines(TREE))
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


def test_a_line_may_be_a_label_and_a_text(write_lines: Callable[..., Path], tmp_path: Path) -> None:
    examples = Sentiment().read(write_lines("praise\tI love it!", "", "blame\tNo."))
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
def test_an_error_names_its_line(write_lines: Callable[..., Path], tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        Sentiment().read(write_lines(TREE, line))


def test_an_empty_file_is_refused(write_lines: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no labeled texts"):
        Sentiment().read(write_lines(""))


def test_the_treebank_has_the_sizes_that_are_known(data: Path) -> None:
    dev = data / "data/tasks/sentiment/sst5-dev.txt"
    assert len(Sentiment().read(dev)) == 1095
    assert len(Sentiment(classes=2).read(dev)) == 872
    for line in dev.read_text(encoding="utf-8").splitlines():
        phrases = parse_tree(line)
        assert len(phrases) == line.count("(")
        assert len(phrases[-1][0]) == max(len(words) for words, _ in phrases)


def test_phrases_that_are_nested_without_end_are_refused(write_lines: Callable[..., Path]) -> None:
    depth = 50_000
    with pytest.raises(FormatError, match="more than 100 phrases are inside each other"):
        Sentiment().read(write_lines("(2 a " * depth + ")" * depth))
