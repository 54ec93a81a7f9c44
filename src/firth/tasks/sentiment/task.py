"""Sentiment classification: how positive or negative a text is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.files import Name
from firth.options import option
from firth.tasks.inputs import Sizes
from firth.tasks.labels import LabelTask
from firth.tasks.layers import RnnKind
from firth.tasks.located_text import LocatedText
from firth.tasks.sentiment.data import GRADES, SentimentExample, read_texts
from firth.tasks.sentiment.network import BiattentiveClassifier, FinalStateClassifier
from firth.tasks.sentiment.score import score_sentiment
from firth.tasks.task import Labels
from firth.tasks.tokenization import LETTERS, SEGMENT, Letters, make_tokenizer
from firth.text.model_tokenizer import TextLike


@dataclass(frozen=True)
class Sentiment(LabelTask):
    """Sentiment classification: label a text as positive or negative, in five grades or two.

    Files have the trees of the Stanford Sentiment Treebank, or a label and a text on each line. An answer is the
    probability of each label.

    >>> [example] = Sentiment().ask("The movie was fantastic!")
    >>> example.words
    ('The', 'movie', 'was', 'fantastic', '!')
    """

    name: ClassVar[str] = "sentiment"
    question: ClassVar[str] = "good or bad?"
    sample: ClassVar[tuple[str, ...]] = ("The movie was fantastic!",)
    commands: ClassVar[tuple[str, ...]] = (
        "firth task sentiment --train sst5-train.txt --dev sst5-dev.txt --test sst5-test.txt --out model/",
        "firth task sentiment --train train.txt --dev dev.txt --classes 2 --architecture plain --embedding glove-en",
        "firth task sentiment --train train.txt --dev dev.txt --embedding-at output --embedding-layers top",
    )
    ordered: ClassVar[tuple[str, ...]] = GRADES
    columns: ClassVar[tuple[str, ...]] = ("input", "label", "probability", "text")
    defaults: ClassVar[dict[str, Any]] = {"at": "both", "mix_decay": 0.001, "batch": 64}

    architecture: Literal["biattentive", "plain"] = option(
        "biattentive", "Biattentive classification network, or a plain classifier of the final RNN states."
    )
    classes: Literal[5, 2] = option(5, "Labels of trees: five grades, or positive and negative without neutral.")
    phrases: bool = option(True, "Train on the phrases of a tree too, not only on the whole text.")
    shortest: int = option(4, "Words of the shortest phrase to train on.", minimum=1)
    cell: RnnKind = option("lstm", "Kind of the recurrent layers.")
    hidden: int = option(300, "Units of each recurrent layer, in each direction.", minimum=1)
    dropout: float = option(0.25, "Dropout of the input and between layers.", minimum=0, maximum=0.99)
    letters: Letters = option("keep", LETTERS)
    segment: str | None = option(None, SEGMENT)

    def read(self, path: Name) -> list[SentimentExample]:
        """The texts of a file. With two classes, neutral trees are left out."""
        return read_texts(path, self.classes, make_tokenizer(self.letters, self.segment))

    def training_examples(self, examples: Sequence[SentimentExample]) -> list[SentimentExample]:
        """The whole texts and, with `phrases`, the phrases inside them that are long enough."""
        training = []
        for example in examples:
            training.append(SentimentExample(example.words, example.label))
            if self.phrases:
                training += [part for part in example.parts if len(part.words) >= self.shortest]
        return training

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The classifier that `architecture` names."""
        classifier = BiattentiveClassifier if self.architecture == "biattentive" else FinalStateClassifier
        return classifier(sizes, labels["labels"], self)

    def score(self, examples: Sequence[SentimentExample], answers: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """The share of texts whose likeliest label is right, and the mean F1 of the labels."""
        return score_sentiment(examples, answers)

    def ask(self, *texts: TextLike) -> list[SentimentExample]:
        """An example for each text."""
        tokenizer = make_tokenizer(self.letters, self.segment)
        located = [LocatedText.of(text, tokenizer, input) for input, text in enumerate(texts)]
        return [SentimentExample(text.words, origin=text) for text in located]

    def describe_input(self, example: SentimentExample) -> dict[str, Any]:
        """The number of the text, the text and its tokens."""
        return example.located.record
