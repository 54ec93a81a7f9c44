"""Named entities: which words of a sentence name something, and what.

Files have a word and a tag a line, as CoNLL-2003 does, in whatever columns and in IOB1, BIO or BIOES alike. Two
bidirectional LSTMs read the sentence, and a conditional random field chooses the tags together. Results are counted as
the `conlleval` script counts: a name is right when its first word, its last word and its kind are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from firth.errors import FormatError, OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.columns import ColumnRow, read_sentences, select_field
from firth.tasks.crf import Crf
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, VariationalDropout
from firth.tasks.tags import (
    Span,
    SpanCounts,
    bracket_spans,
    decode_spans,
    describe_spans,
    encode_tags,
    split_tag,
    tag_ids,
    tag_list,
)
from firth.tasks.task import Labels, Task
from firth.tasks.tokenization import Letters, make_tokenizer, normalize_words


@dataclass(frozen=True)
class NerExample:
    """A sentence and, where they are known, the names in it."""

    words: tuple[str, ...]
    names: tuple[Span, ...] | None = None

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """What is embedded: the sentence."""
        return (self.words,)


@dataclass(frozen=True)
class Ner(Task):
    """Named-entity recognition: find the names of people, places and other things.

    Files have a word and a tag on each line, as CoNLL-2003 does. An answer is a list of BIO tags.

    >>> task = Ner()
    >>> example, = task.ask("Elon Musk founded SpaceX.")
    >>> answer = ["B-PER", "I-PER", "O", "B-ORG", "O"]
    >>> task.describe(example, answer)["sentence"]
    '[PER: Elon Musk] founded [ORG: SpaceX] .'
    >>> task.score([NerExample(example.words, (Span("PER", 0, 2),))], [answer])["f1"]
    0.6666666666666666
    """

    name: ClassVar[str] = "ner"
    question: ClassVar[str] = "which words are names?"
    sample: ClassVar[tuple[str, ...]] = ("Elon Musk founded SpaceX.",)
    commands: ClassVar[tuple[str, ...]] = (
        "firth task ner --train train.conll --dev dev.conll --test test.conll --out model/",
        "firth task ner --train train.conll --dev dev.conll --embedding glove-en --embedding-characters 128",
    )
    defaults: ClassVar[dict[str, Any]] = {"characters": 128, "tuned": True, "mix_decay": 0.1, "dropout": 0.0}

    hidden: tuple[int, ...] = option((200, 100), "cells of each biLSTM, in each direction")
    dropout: float = option(0.25, "share of what enters each layer that training leaves out", minimum=0, maximum=0.99)
    scheme: Literal["BIO", "BIOES"] = option("BIOES", "how spans become tags inside the network")
    word: int = option(0, "the column of the word in a file, from 0; negative ones count from the last")
    tag: int = option(-1, "the column of the tag, likewise")
    letters: Letters = option("keep", "unify letters and digits as Persian or Arabic needs")  # noqa: RUF009

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden or min(self.hidden) < 1:
            raise OptionError(f"Ner: hidden is {self.hidden!r}, but must be numbers of at least 1")

    def read(self, path: Name) -> list[NerExample]:
        """The sentences of a file with their names."""
        examples = [self._example(path, rows) for rows in read_sentences(path)]
        if not examples:
            raise FormatError(path, "holds no sentences")
        return examples

    def _example(self, path: Name, rows: list[ColumnRow]) -> NerExample:
        tags = [select_field(path, row, self.tag) for row in rows]
        for row, tag in zip(rows, tags):
            try:
                split_tag(tag)
            except OptionError as error:
                cure = "Name the column of the tags with the option tag"
                raise FormatError(path, str(error), line=row.line, cure=cure) from error
        words = normalize_words([select_field(path, row, self.word) for row in rows], self.letters)
        return NerExample(tuple(words), tuple(decode_spans(tags)))

    def learn_labels(self, examples: Sequence[NerExample]) -> Labels:
        """The kinds of names that there are."""
        return {"kinds": sorted({name.label for example in examples for name in example.names or ()})}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The biLSTM-CRF."""
        return NerTagger(sizes, labels["kinds"], self)

    def score(self, examples: Sequence[NerExample], answers: Sequence[Sequence[str]]) -> dict[str, float]:
        """F1, precision and recall of whole names, and the share of words that are tagged right."""
        right = words = 0
        for example, tags in zip(examples, answers, strict=True):
            gold, said = (encode_tags(found, len(example.words)) for found in (known(example), decode_spans(tags)))
            right += sum(one == other for one, other in zip(gold, said))
            words += len(gold)
        return count_entities(examples, answers).rates() | {"accuracy": right / max(words, 1)}

    def by_kind(self, examples: Sequence[NerExample], answers: Sequence[Sequence[str]]) -> dict[str, dict[str, float]]:
        """F1, precision and recall of each kind of name, and how many there are and were found."""
        return count_entities(examples, answers).by_label()

    def ask(self, *texts: str) -> list[NerExample]:
        """One example for each sentence of the texts."""
        tokenizer = make_tokenizer(self.letters)
        return [
            NerExample(tuple(token.text for token in sentence))
            for text in texts
            for sentence in tokenizer.sentences(text)
        ]

    def describe(self, example: NerExample, answer: Sequence[str]) -> dict[str, Any]:
        """The sentence with its names in brackets, and these one by one."""
        names = decode_spans(answer)
        told = describe_spans(example.words, names)
        return {"sentence": bracket_spans(example.words, names), "entities": told, "words": list(example.words)}


def count_entities(examples: Sequence[NerExample], answers: Sequence[Sequence[str]]) -> SpanCounts:
    """The names of examples, counted."""
    counted = SpanCounts()
    for example, tags in zip(examples, answers, strict=True):
        counted.add(set(decode_spans(tags)), set(known(example)))
    return counted


class NerTagger(nn.Module):
    """Bidirectional LSTMs over a sentence, a linear layer to the tags, and a CRF over these."""

    def __init__(self, sizes: Sizes, kinds: list[str], task: Ner) -> None:
        super().__init__()
        self.scheme = task.scheme
        self.tags = tag_list(kinds, task.scheme)
        self.ids = {tag: id for id, tag in enumerate(self.tags)}
        widths = [sizes.input, *(2 * hidden for hidden in task.hidden)]
        self.readers = nn.ModuleList(
            Bidirectional(width, hidden, dropout=task.dropout) for width, hidden in zip(widths, task.hidden)
        )
        self.dropout = VariationalDropout(task.dropout)
        self.scores = nn.Linear(widths[-1] + sizes.extra, len(self.tags))
        nn.init.xavier_uniform_(self.scores.weight)
        nn.init.zeros_(self.scores.bias)
        self.crf = Crf(kinds, task.scheme)

    def forward(self, text: Text) -> Tensor:
        """What each word scores as each tag, (batch, time, tags)."""
        vectors = text.vectors
        for reader in self.readers:
            vectors = reader(vectors, text.lengths)
        scores: Tensor = self.scores(self.dropout(text.with_extra(vectors)))
        return scores

    def loss(self, texts: tuple[Text, ...], examples: Sequence[NerExample]) -> Tensor:
        """-log p(tags), the mean of the sentences."""
        (text,) = texts
        ids = torch.zeros(text.mask.shape, dtype=torch.long)
        for row, example in enumerate(examples):
            tags = encode_tags(known(example), len(example.words), self.scheme)
            ids[row, : len(tags)] = torch.tensor(tag_ids(tags, self.ids))
        return -self.crf.log_likelihood(self(text), ids.to(text.mask.device), text.mask).mean()

    def answers(self, texts: tuple[Text, ...], examples: Sequence[NerExample]) -> list[list[str]]:
        """The BIO tags of each sentence."""
        (text,) = texts
        best = self.crf.best(self(text), text.mask).tolist()
        found = []
        for ids, example in zip(best, examples):
            length = len(example.words)
            found.append(encode_tags(decode_spans(self.tags[id] for id in ids[:length]), length))
        return found


def known(example: NerExample) -> tuple[Span, ...]:
    """The names of an example that must have them told."""
    if example.names is None:
        raise OptionError(f"the names in {' '.join(example.words)!r} are not known: give examples that a file tells")
    return example.names
