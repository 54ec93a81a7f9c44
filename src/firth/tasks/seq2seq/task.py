"""Sequence to sequence: one text from another, with an encoder, a decoder and attention.

The states of a trained encoder are contextual embeddings too (`cove.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.inputs import Sizes
from firth.tasks.located_text import LocatedText
from firth.tasks.model import TaskModel, evaluation_mode
from firth.tasks.seq2seq.data import Kind, Seq2SeqExample, read_pairs
from firth.tasks.seq2seq.network import MARKS, EncoderDecoder
from firth.tasks.seq2seq.score import score_texts
from firth.tasks.task import Answer, Labels, Task
from firth.text.model_tokenizer import TextLike
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Seq2Seq(Task):
    """Sequence to sequence: generate one text from another, with an encoder, a decoder and attention.

    An answer has a text, its words separated by spaces, and its probability given the source.

    >>> task = Seq2Seq()
    >>> example, = task.ask("Tea, please.")
    >>> example.source
    ('Tea', ',', 'please', '.')
    """

    name: ClassVar[str] = "seq2seq"
    question: ClassVar[str] = "which text corresponds to this one?"
    sample: ClassVar[tuple[str, ...]] = ("Tea, please.",)
    commands: ClassVar[tuple[str, ...]] = ("firth task seq2seq --train pairs.tsv --dev dev.tsv --out model/",)
    truecased: ClassVar[bool] = False  # words of the source are copied as they are
    no_answer: ClassVar[Answer] = {"text": "", "probability": None}
    columns: ClassVar[tuple[str, ...]] = ("input", "output", "probability", "text")
    defaults: ClassVar[dict[str, Any]] = {"words": 100, "batch": 64}

    hidden: int = option(300, "Units of each layer: of each direction of the encoder, and of the decoder.", minimum=1)
    layers: int = option(2, "Layers of the encoder, and of the decoder.", minimum=1)
    dim: int = option(300, "Size of the word vectors of the decoder.", minimum=1)
    vocabulary: int = option(20_000, "Maximum size of the decoder's vocabulary; the most frequent words.", minimum=1)
    min_count: int = option(1, "Minimum count in the targets of a word of the decoder's vocabulary.", minimum=1)
    unknown: Literal["copy", "replace", "keep"] = option(
        "copy",
        "Words outside the vocabulary: learn to copy them from the source, replace <unk> by the source word with the "
        "highest attention, or keep <unk>.",
    )
    feeding: bool = option(False, "Input feeding: the decoder also gets its last attention; training is slower.")
    dropout: float = option(0.2, "Dropout of the input of each layer.", minimum=0, maximum=0.99)
    beam: int = option(4, "Beam width of the search; 1 is greedy search.", minimum=1, maximum=200)
    length_penalty: float = option(1.0, "Exponent p of the score log P / length ** p of a text.", minimum=0, maximum=5)
    pairs: Kind = option("tabs", "Source of pairs: a table, or running text from which they are derived.")
    tokens: Literal["running", "whitespace"] = option("running", "Tokenize running text, or split at whitespace.")
    longest: int = option(
        100, "Maximum length of a source or a target, in words; the rest is cut off.", minimum=1, maximum=10_000
    )
    limit: int = option(0, "Maximum number of pairs to read from a file; 0 reads all.", minimum=0)

    def read(self, path: Name) -> list[Seq2SeqExample]:
        """The pairs of a file."""
        return read_pairs(path, self.pairs, Tokenizer(mode=self.tokens), self.longest, self.limit)

    def learn_labels(self, examples: Sequence[Seq2SeqExample]) -> Labels:
        """The vocabulary of the decoder, by falling frequency."""
        counts = Counter(word for example in examples for word in example.gold if word not in MARKS)
        return {"words": list(Vocabulary.from_counts(counts).cut(self.min_count).top(self.vocabulary))}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The encoder and the decoder."""
        return EncoderDecoder(self, sizes, labels["words"])

    def score(self, examples: Sequence[Seq2SeqExample], answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """BLEU, and the share of answers that equal their target."""
        return score_texts(examples, [answer["text"] for answer in answers])

    def ask(self, *texts: TextLike) -> list[Seq2SeqExample]:
        """An example for each text, its source."""
        tokenizer = Tokenizer(mode=self.tokens)
        located = [LocatedText.of(text, tokenizer, input) for input, text in enumerate(texts)]
        return [Seq2SeqExample(text.words[: self.longest], origin=text) for text in located]

    def describe(self, example: Seq2SeqExample, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The number and the text of the source, its tokens, the output, and P(output | source)."""
        located = example.origin or LocatedText.of_tokens(example.source)
        record = {**located.record, "tokens": list(example.source)}
        return record | {"output": answer["text"], "probability": answer["probability"]}

    def rows(self, described: Mapping[str, Any]) -> list[list[Any]]:
        """One row: the number of the source, the output, its probability, and the source."""
        return [[described[name] for name in self.columns]]


def generate(model: TaskModel, source: str, count: int = 1) -> list[tuple[str, float]]:
    """The `count` best texts for a source with their scores, the best first. The beam is at least `count` wide."""
    task, network = _require_seq2seq(model)
    examples = task.ask(source)
    with evaluation_mode(model):
        (texts,) = network.search(model.texts(examples)[0], examples, max(count, task.beam))
    return texts[:count]


def perplexity(model: TaskModel, examples: Sequence[Seq2SeqExample]) -> float:
    """exp of the mean of -log P over the words of the targets and their ends."""
    _, network = _require_seq2seq(model)
    total = words = 0.0
    with evaluation_mode(model):
        for places in model.batches(examples):
            batch = [examples[place] for place in places]
            size = sum(len(example.gold) + 1 for example in batch)
            total += size * float(network.loss(model.texts(batch), batch))
            words += size
    return math.exp(total / words) if words else math.nan


def _require_seq2seq(model: TaskModel) -> tuple[Seq2Seq, EncoderDecoder]:
    if not isinstance(model.task, Seq2Seq) or not isinstance(model.network, EncoderDecoder):
        raise OptionError(f"a model of the task {model.task.name} cannot generate text. Train one: firth task seq2seq")
    return model.task, model.network
