"""Sentiment: is what a text says of a thing good or bad, and how much?

The Stanford Sentiment Treebank has a label for every phrase of a sentence, from 0, very negative, to 4, very positive.
The network is the biattentive classification network of McCann et al. (2017) without its maxout layers, as the ELMo
paper has it; a plain one, whose two final states go to a classifier, is there to compare it with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.options import option
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import (
    Bidirectional,
    RnnKind,
    VariationalDropout,
    attend,
    final_states,
    masked_softmax,
    pool,
    relu_layer,
)
from firth.tasks.task import Labels, Task
from firth.text.tokenize import Tokenizer

GRADES = "very negative", "negative", "neutral", "positive", "very positive"
SIDES = "negative", "negative", None, "positive", "positive"
MARK = re.compile(r"[()]|[^\s()]+")
SPELLED = {"-LRB-": "(", "-RRB-": ")", r"\/": "/", r"\*": "*"}
Labeled = tuple[tuple[str, ...], int]  # words, and a grade from 0 to 4


@dataclass(frozen=True)
class SentimentExample:
    """Words and their label; `parts` are the phrases inside with theirs, where a tree tells them."""

    words: tuple[str, ...]
    label: str | None = None
    parts: tuple[SentimentExample, ...] = ()

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The words, in the one place that this task has."""
        return (self.words,)


@dataclass(frozen=True)
class Sentiment(Task):
    """Sentiment classification: label a text as positive or negative, in five grades or two.

    Files have the trees of the Stanford Sentiment Treebank, or a label and a text on each line. An answer is the
    probability of each label.

    >>> task = Sentiment(classes=2)
    >>> [example] = task.ask("The movie was fantastic!")
    >>> example.words
    ('The', 'movie', 'was', 'fantastic', '!')
    >>> task.score([SentimentExample(("fine",), "positive")], [{"positive": 0.8, "negative": 0.2}])["accuracy"]
    1.0
    """

    name: ClassVar[str] = "sentiment"
    question: ClassVar[str] = "good or bad?"
    sample: ClassVar[tuple[str, ...]] = ("The movie was fantastic!",)
    commands: ClassVar[tuple[str, ...]] = (
        "firth task sentiment --train sst5-train.txt --dev sst5-dev.txt --test sst5-test.txt --out model/",
        "firth task sentiment --train train.txt --dev dev.txt --classes 2 --architecture plain --embedding glove-en",
        "firth task sentiment --train train.txt --dev dev.txt --embedding-at output --embedding-layers top",
    )
    defaults: ClassVar[dict[str, Any]] = {"at": "both", "mix_decay": 0.001, "batch": 64}

    architecture: Literal["biattentive", "plain"] = option(
        "biattentive", "a biattentive network, or a classifier of the final states of a plain one"
    )
    classes: Literal[5, 2] = option(5, "labels of trees: five grades, or two sides without the neutral")
    phrases: bool = option(True, "learn from the phrases inside a tree too, not from the whole alone")
    shortest: int = option(4, "words of the shortest such phrase", minimum=1)
    cell: RnnKind = option("lstm", "what reads the words")  # noqa: RUF009
    hidden: int = option(300, "cells in each direction", minimum=1)
    dropout: float = option(0.25, "share of the numbers that training leaves out", minimum=0, maximum=0.99)

    def read(self, path: Name) -> list[SentimentExample]:
        """The texts of a file: a tree a line, or a label, a tab and a text. Those that are neutral between two go."""
        examples = []
        for number, text in read_lines(path):
            if not (line := text.strip()):
                continue
            example = self._tree(line, path, number) if line[0] == "(" else _labeled(line, path, number)
            if example is not None:
                examples.append(example)
        if not examples:
            raise FormatError(path, "holds no labeled texts", cure="A line is a tree, or a label, a tab and a text")
        return examples

    def _tree(self, line: str, path: Name, number: int) -> SentimentExample | None:
        names = GRADES if self.classes == 5 else SIDES
        try:
            *inside, whole = parse_tree(line)
        except ValueError as error:
            cure = "A tree is (3 (2 It) (4 (2 's) (4 fine)))"
            raise FormatError(path, f"is no tree with grades from 0 to 4: {error}", line=number, cure=cure) from error
        if names[whole[1]] is None:
            return None
        parts = tuple(SentimentExample(words, names[grade]) for words, grade in inside if names[grade] is not None)
        return SentimentExample(whole[0], names[whole[1]], parts)

    def training_examples(self, examples: Sequence[SentimentExample]) -> list[SentimentExample]:
        """The whole texts, and the phrases inside them that are long enough."""
        learnt = []
        for example in examples:
            learnt.append(SentimentExample(example.words, example.label))
            if self.phrases:
                learnt += [part for part in example.parts if len(part.words) >= self.shortest]
        return learnt

    def learn_labels(self, examples: Sequence[SentimentExample]) -> Labels:
        """The labels, the grades of a treebank in their order."""
        found = {example.label for example in examples if example.label is not None}
        known = [name for name in GRADES if name in found]
        return {"labels": known + sorted(found - set(known))}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """A network that tells labels apart."""
        made = BiattentiveClassifier if self.architecture == "biattentive" else FinalStateClassifier
        return made(sizes, labels["labels"], self)

    def score(self, examples: Sequence[SentimentExample], answers: Sequence[dict[str, float]]) -> dict[str, float]:
        """The share of texts whose likeliest label is theirs, and the mean F1 of the labels."""
        pairs = [(example.label, likeliest(answer)) for example, answer in zip(examples, answers)]
        right = sum(gold == told for gold, told in pairs)
        scores = []
        for label in sorted({str(gold) for gold, _ in pairs}):
            found = sum(gold == told == label for gold, told in pairs)
            either = sum((gold == label) + (told == label) for gold, told in pairs)
            scores.append(2 * found / either)
        return {"accuracy": right / len(pairs), "macro_f1": sum(scores) / len(scores)}

    def ask(self, *texts: str) -> list[SentimentExample]:
        """An example for each text."""
        tokenizer = Tokenizer()
        return [SentimentExample(tuple(tokenizer.words(text))) for text in texts]

    def describe(self, example: SentimentExample, answer: dict[str, float]) -> dict[str, Any]:
        """The label, how sure it is, and all labels by falling probability."""
        ranked = dict(sorted(answer.items(), key=lambda pair: -pair[1]))
        return {"label": likeliest(answer), "probability": ranked[likeliest(answer)], "labels": ranked}


class SentimentNetwork(nn.Module):
    """What both networks share: the loss and the answers. `scores` says how much a text is of each label."""

    labels: list[str]

    def scores(self, text: Text) -> Tensor:
        """The scores of labels, (batch, labels)."""
        raise NotImplementedError

    def loss(self, texts: tuple[Text, ...], examples: Sequence[SentimentExample]) -> Tensor:
        scores = self.scores(texts[0])
        gold = torch.tensor([self.labels.index(str(example.label)) for example in examples])
        return functional.cross_entropy(scores, gold.to(scores.device))

    def answers(self, texts: tuple[Text, ...], examples: Sequence[SentimentExample]) -> list[dict[str, float]]:
        shares = torch.softmax(self.scores(texts[0]), 1).tolist()
        return [dict(zip(self.labels, row)) for row in shares]


class FinalStateClassifier(SentimentNetwork):
    """A bidirectional RNN; what it says at both ends of a text goes to a classifier."""

    def __init__(self, sizes: Sizes, labels: list[str], task: Sentiment) -> None:
        super().__init__()
        self.labels = labels
        self.reader = Bidirectional(sizes.input, task.hidden, kind=task.cell, dropout=task.dropout)
        self.dropout = nn.Dropout(task.dropout)
        self.classifier = nn.Linear(self.reader.size + sizes.extra, len(labels))

    def scores(self, text: Text) -> Tensor:
        final = final_states(self.reader(text.vectors, text.lengths), text.lengths)
        if text.extra is not None:
            final = torch.cat([final, pool(text.extra, text.mask, "mean")], 1)
        scores: Tensor = self.classifier(self.dropout(final))
        return scores


class BiattentiveClassifier(SentimentNetwork):
    """The text is read, attends to itself, is read again with what it has found, and is pooled in four ways."""

    def __init__(self, sizes: Sizes, labels: list[str], task: Sentiment) -> None:
        super().__init__()
        self.labels, wide = labels, 2 * task.hidden
        self.dropout, self.between = nn.Dropout(task.dropout), VariationalDropout(task.dropout)
        self.shrink = relu_layer(sizes.input, task.hidden)
        self.reader = Bidirectional(task.hidden, task.hidden, kind=task.cell)
        self.integrator = Bidirectional(3 * (wide + sizes.extra), task.hidden, kind=task.cell)
        self.attention = nn.Linear(wide, 1)
        self.classifier = nn.Sequential(
            self.dropout,
            *(relu_layer(4 * wide, wide), self.dropout),
            *(relu_layer(wide, wide // 2), nn.Linear(wide // 2, len(labels))),
        )

    def scores(self, text: Text) -> Tensor:
        small = self.shrink(self.between(text.vectors))
        said = text.with_extra(self.reader(small, text.lengths))  # (batch, time, 2 · hidden + extra)
        about = attend(said, said, text.mask)
        heard = self.between(torch.cat([said, said - about, said * about], 2))
        read = self.integrator(heard, text.lengths)  # (batch, time, 2 · hidden)
        shares = masked_softmax(self.attention(read)[:, :, 0], text.mask)  # (batch, time)
        chosen = (shares[:, :, None] * read).sum(1)
        pools = [pool(read, text.mask, "max"), pool(read, text.mask, "mean"), pool(read, text.mask, "min")]
        scores: Tensor = self.classifier(torch.cat([*pools, chosen], 1))
        return scores


def likeliest(answer: dict[str, float]) -> str:
    """The label with the highest probability."""
    return max(answer, key=lambda label: answer[label])


def parse_tree(line: str) -> list[Labeled]:
    """The phrases of a tree with their grades, each after those inside it, the whole last.

    >>> parse_tree("(3 (2 It) (4 (2 's) (4 fine)))")
    [(('It',), 2), (("'s",), 2), (('fine',), 4), (("'s", 'fine'), 4), (('It', "'s", 'fine'), 3)]
    """
    marks: list[str] = MARK.findall(line)
    words: list[str] = []
    begun: list[tuple[int, int]] = []  # grade, and where the phrase begins
    phrases: list[Labeled] = []
    place = 0
    while place < len(marks):
        mark = marks[place]
        place += 1
        if mark == "(":
            grade = marks[place] if place < len(marks) else ""
            if grade not in ("0", "1", "2", "3", "4"):
                raise ValueError(f"after a bracket stands {grade!r}")
            begun.append((int(grade), len(words)))
            place += 1
        elif not begun:
            raise ValueError(f"{mark!r} stands outside all brackets")
        elif mark == ")":
            grade_of, start = begun.pop()
            if start == len(words):
                raise ValueError("a phrase has no words")
            phrases.append((tuple(words[start:]), grade_of))
        else:
            words.append(SPELLED.get(mark, mark))
    if begun:
        raise ValueError("a bracket is never closed")
    return phrases


def _labeled(line: str, path: Name, number: int) -> SentimentExample:
    label, tab, text = line.partition("\t")
    if not tab or not label.strip() or not text.strip():
        cure = "A line is a tree, or a label, a tab and a text"
        raise FormatError(path, "expected a label, a tab and a text", line=number, cure=cure)
    return SentimentExample(tuple(Tokenizer().words(text)), label.strip())
