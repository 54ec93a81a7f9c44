"""Sequence to sequence: a text is said for a text, by an encoder and a decoder with attention.

Pairs come from a table or are made of running text (`text_pairs.py`); the network is in `translation_network.py`. What
its encoder says of words is a contextual embedding of its own (`cove.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.inputs import Sizes
from firth.tasks.model import TaskModel, evaluation_mode
from firth.tasks.seq2seq.data import Kind, Seq2SeqExample, read_pairs
from firth.tasks.seq2seq.network import MARKS, EncoderDecoder
from firth.tasks.seq2seq.score import bleu
from firth.tasks.task import Labels, Task
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Seq2Seq(Task):
    """Sequence to sequence: generate one text from another, with an encoder, a decoder and attention.

    An answer is a string of words separated by spaces.

    >>> task = Seq2Seq()
    >>> pair, = task.ask("Tea, please.")
    >>> pair.source
    ('Tea', ',', 'please', '.')
    >>> task.score([Seq2SeqExample(pair.source, ("du", "thé"))], ["du thé"])
    {'bleu': 1.0, 'exact': 1.0}
    """

    name: ClassVar[str] = "seq2seq"
    question: ClassVar[str] = "which text corresponds to this one?"
    sample: ClassVar[tuple[str, ...]] = ("Tea, please.",)
    commands: ClassVar[tuple[str, ...]] = ("firth task seq2seq --train pairs.tsv --dev dev.tsv --out model/",)
    defaults: ClassVar[dict[str, Any]] = {"words": 100, "batch": 64}

    hidden: int = option(300, "cells of each layer: of each direction of the encoder, and of the decoder", minimum=1)
    layers: int = option(2, "layers of the encoder, and of the decoder", minimum=1)
    dim: int = option(300, "length of the vectors of the words that were said", minimum=1)
    vocabulary: int = option(20_000, "so many words can be said, the most frequent", minimum=1)
    min_count: int = option(1, "words that occur less often in the targets cannot be said", minimum=1)
    unknown: Literal["copy", "replace", "keep"] = option(
        "copy", "words beyond these: learn to copy them from the source, say what is looked at most, or say <unk>"
    )
    feeding: bool = option(False, "the decoder is told where it looked before; training is slower")
    dropout: float = option(0.2, "share of what enters each layer that training leaves out", minimum=0, maximum=0.99)
    beam: int = option(4, "beginnings of a text that are kept in search of the best; 1: greedy", minimum=1)
    length_penalty: float = option(1.0, "texts are compared by log P / length ** this", minimum=0)
    pairs: Kind = option("tabs", "what a file holds: a table, or text of which pairs are made")  # noqa: RUF009
    tokens: Literal["running", "whitespace"] = option("running", "running text, or spaces between the tokens")
    longest: int = option(100, "words of a source or a target; what is longer is cut", minimum=1)
    limit: int = option(0, "read the first so many pairs of a file; 0: all", minimum=0)

    def read(self, path: Name) -> list[Seq2SeqExample]:
        """The pairs of a file."""
        return read_pairs(path, self.pairs, Tokenizer(mode=self.tokens), self.longest, self.limit)

    def learn_labels(self, examples: Sequence[Seq2SeqExample]) -> Labels:
        """The words that can be said, by falling frequency."""
        counts = Counter(word for pair in examples for word in pair.known if word not in MARKS)
        return {"words": list(Vocabulary.from_counts(counts).cut(self.min_count).top(self.vocabulary))}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The encoder and the decoder."""
        return EncoderDecoder(self, sizes, labels["words"])

    def score(self, examples: Sequence[Seq2SeqExample], answers: Sequence[str]) -> dict[str, float]:
        """BLEU, and the share of answers that are the target word by word."""
        said, true = [tuple(answer.split()) for answer in answers], [pair.known for pair in examples]
        exact = sum(one == other for one, other in zip(said, true, strict=True)) / max(1, len(true))
        return {"bleu": bleu(true, said), "exact": exact}

    def ask(self, *texts: str) -> list[Seq2SeqExample]:
        """Each text is a source."""
        tokenizer = Tokenizer(mode=self.tokens)
        return [Seq2SeqExample(tuple(tokenizer.words(text)[: self.longest])) for text in texts]

    def describe(self, example: Seq2SeqExample, answer: str) -> str:
        """The answer as it is."""
        return answer


def generate(model: TaskModel, source: str, count: int = 1) -> list[tuple[str, float]]:
    """The best texts for a source, each with its score, the best first; the beam is as wide as it must be."""
    task, network = _opened(model)
    pairs = task.ask(source)
    with evaluation_mode(model):
        found = network.best(model.texts(pairs)[0], pairs, max(count, task.beam))
    return found[0][:count]


def perplexity(model: TaskModel, pairs: Sequence[Seq2SeqExample]) -> float:
    """exp of the mean of -log P over the words of the targets, their ends among them."""
    _opened(model)
    total = words = 0.0
    with evaluation_mode(model):
        for places in model.batches(pairs):
            batch = [pairs[place] for place in places]
            size = sum(len(pair.known) + 1 for pair in batch)
            total += size * float(cast(EncoderDecoder, model.network).loss(model.texts(batch), batch))
            words += size
    return math.exp(total / words) if words else math.nan


def _opened(model: TaskModel) -> tuple[Seq2Seq, EncoderDecoder]:
    if not isinstance(model.task, Seq2Seq) or not isinstance(model.network, EncoderDecoder):
        raise OptionError(f"a model of the task {model.task.name} says no texts. Train one: firth task seq2seq")
    return model.task, model.network
