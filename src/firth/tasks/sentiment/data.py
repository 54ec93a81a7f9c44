"""Texts with sentiment labels: trees of the Stanford Sentiment Treebank, or a label, a tab and a text on each line.

The treebank labels every phrase of a sentence from 0, very negative, to 4, very positive.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.tasks.task import SentenceExample, require_gold
from firth.tasks.tokenization import make_tokenizer
from firth.text.tokenize import Tokenizer

GRADES = "very negative", "negative", "neutral", "positive", "very positive"
SIDES = "negative", "negative", None, "positive", "positive"
TREE_TOKEN = re.compile(r"[()]|[^\s()]+")
ESCAPES = {"-LRB-": "(", "-RRB-": ")", r"\/": "/", r"\*": "*"}
DEEPEST = 100  # phrases inside each other; the words of a phrase are stored with each of them
LINE_FORMAT = "A line is a tree, or a label, a tab and a text"
GradedPhrase = tuple[tuple[str, ...], int]  # words, and a grade from 0 to 4


@dataclass(frozen=True)
class SentimentExample(SentenceExample):
    """A text and its label; `parts` are the labeled phrases of its tree."""

    label: str | None = None
    parts: tuple[SentimentExample, ...] = ()

    @property
    def gold(self) -> str:
        """The label, which must be known."""
        return require_gold(self.label, self.words)


def read_texts(path: Name, classes: Literal[5, 2], tokenizer: Tokenizer | None = None) -> list[SentimentExample]:
    """The texts of a file. With two classes, neutral trees and phrases are left out. Trees are tokenized already."""
    examples = []
    split = (tokenizer or make_tokenizer("keep")).words
    names = GRADES if classes == 5 else SIDES
    for number, text in read_lines(path, blank=False):
        line = text.strip()
        example = _read_tree(line, path, number, names) if line[0] == "(" else _read_labeled(line, path, number, split)
        if example is not None:
            examples.append(example)
    if not examples:
        raise FormatError(path, "the file has no labeled texts", cure=LINE_FORMAT)
    return examples


def _read_tree(line: str, path: Name, number: int, names: tuple[str | None, ...]) -> SentimentExample | None:
    try:
        *phrases, (words, grade) = parse_tree(line)
    except ValueError as error:
        cure = "A tree is (3 (2 It) (4 (2 's) (4 fine)))"
        raise FormatError(path, f"not a tree with grades from 0 to 4: {error}", line=number, cure=cure) from error
    if names[grade] is None:
        return None
    parts = tuple(SentimentExample(part, names[its_grade]) for part, its_grade in phrases if names[its_grade])
    return SentimentExample(words, names[grade], parts)


def _read_labeled(line: str, path: Name, number: int, split: Callable[[str], list[str]]) -> SentimentExample:
    label, tab, text = line.partition("\t")
    if not tab or not label.strip() or not text.strip():
        raise FormatError(path, "expected a label, a tab and a text", line=number, cure=LINE_FORMAT)
    return SentimentExample(tuple(split(text)), label.strip())


def parse_tree(line: str) -> list[GradedPhrase]:
    """The phrases of a tree with their grades, each after those inside it, the whole text last.

    >>> parse_tree("(3 (2 It) (4 (2 's) (4 fine)))")
    [(('It',), 2), (("'s",), 2), (('fine',), 4), (("'s", 'fine'), 4), (('It', "'s", 'fine'), 3)]
    """
    tokens: list[str] = TREE_TOKEN.findall(line)
    words: list[str] = []
    stack: list[tuple[int, int]] = []  # grades of the open phrases, and where they begin
    phrases: list[GradedPhrase] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        if token == "(":
            grade = tokens[place] if place < len(tokens) else ""
            if grade not in ("0", "1", "2", "3", "4"):
                raise ValueError(f"expected a grade after a bracket, found {grade!r}")
            stack.append((int(grade), len(words)))
            if len(stack) > DEEPEST:
                raise ValueError(f"more than {DEEPEST} phrases are inside each other")
            place += 1
        elif not stack:
            raise ValueError(f"{token!r} is outside all brackets")
        elif token == ")":
            its_grade, start = stack.pop()
            if start == len(words):
                raise ValueError("a phrase has no words")
            phrases.append((tuple(words[start:]), its_grade))
        else:
            words.append(ESCAPES.get(token, token))
    if stack:
        raise ValueError("a bracket is not closed")
    return phrases
