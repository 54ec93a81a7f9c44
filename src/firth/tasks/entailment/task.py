"""Textual entailment: whether a premise entails a hypothesis, contradicts it, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.entailment.data import SNLI_LABELS, EntailmentExample, read_examples
from firth.tasks.entailment.network import DecomposableAttention, Esim
from firth.tasks.entailment.score import score_entailment
from firth.tasks.inputs import Sizes
from firth.tasks.labels import LabelTask
from firth.tasks.located_text import LocatedText
from firth.tasks.task import Labels
from firth.tasks.tokenization import LETTERS, SEGMENT, Letters, make_tokenizer
from firth.text.model_tokenizer import TextLike


@dataclass(frozen=True)
class Entailment(LabelTask):
    """Textual entailment: decide whether a premise entails a hypothesis, contradicts it, or neither.

    The files of SNLI, MultiNLI, SICK and FarsTail are read. An answer is the probability of each label.

    >>> Entailment().ask("A woman plays a guitar.", "A woman makes music.")[0].hypothesis
    ('A', 'woman', 'makes', 'music', '.')
    >>> Entailment().learn_labels([EntailmentExample((), (), "neutral"), EntailmentExample((), (), "entailment")])
    {'labels': ['entailment', 'neutral']}
    """

    name: ClassVar[str] = "entailment"
    question: ClassVar[str] = "does the second follow from the first?"
    sample: ClassVar[tuple[str, ...]] = ("A woman plays a guitar.", "A woman makes music.")
    commands: ClassVar[tuple[str, ...]] = (
        "firth task entailment --train snli-train.jsonl --dev snli-dev.jsonl --out model/",
        "firth task entailment --train train.tsv --dev dev.tsv --architecture decomposable --embedding glove-en",
    )
    ordered: ClassVar[tuple[str, ...]] = SNLI_LABELS
    columns: ClassVar[tuple[str, ...]] = ("input", "label", "probability", "premise", "hypothesis")
    defaults: ClassVar[dict[str, Any]] = {
        "at": "both",
        "mix_decay": 0.001,
        "dropout": 0.0,  # the network has dropout on its input; twice would keep only a quarter of ELMo's vectors
        "learning_rate": 4e-4,
        "halve_after": 1,
    }

    architecture: Literal["esim", "decomposable"] = option("esim", "ESIM, or the smaller decomposable attention.")
    hidden: int | None = option(
        None, "Units of layers and of LSTM directions; 300 in ESIM and 200 in decomposable attention.", minimum=1
    )
    dropout: float | None = option(
        None, "Dropout; 0.5 in ESIM and 0.2 in decomposable attention.", minimum=0, maximum=0.99
    )
    variational: bool = option(True, "Dropout before an LSTM uses one mask for all words of a sentence.")
    letters: Letters = option("keep", LETTERS)
    segment: str | None = option(None, SEGMENT)

    def read(self, path: Name) -> list[EntailmentExample]:
        """The pairs of a file; see `entailment/data.py` for its formats."""
        return read_examples(path, make_tokenizer(self.letters, self.segment))

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """ESIM or decomposable attention."""
        if self.architecture == "decomposable":
            dropout = 0.2 if self.dropout is None else self.dropout
            return DecomposableAttention(sizes, labels["labels"], self.hidden or 200, dropout)
        dropout = 0.5 if self.dropout is None else self.dropout
        return Esim(sizes, labels["labels"], self.hidden or 300, dropout, variational=self.variational)

    def score(self, examples: Sequence[EntailmentExample], answers: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """The share of right labels, the mean F1 of the labels, and the F1 of each label."""
        return score_entailment(examples, answers)

    def ask(self, *texts: TextLike) -> list[EntailmentExample]:
        """One example from two texts, the premise and the hypothesis."""
        if len(texts) != 2:
            raise OptionError(f"entailment takes two texts, a premise and a hypothesis, but {len(texts)} were given")
        tokenizer = make_tokenizer(self.letters, self.segment)
        premise, hypothesis = (LocatedText.of(text, tokenizer, input) for input, text in enumerate(texts))
        if not premise.words or not hypothesis.words:
            raise OptionError(f"the {'hypothesis' if premise.words else 'premise'} has no words")
        return [EntailmentExample(premise.words, hypothesis.words, origins=(premise, hypothesis))]

    def describe_input(self, example: EntailmentExample) -> dict[str, Any]:
        """The number of the pair, which is 0, and both texts."""
        premise, hypothesis = example.origins or map(LocatedText.of_tokens, (example.premise, example.hypothesis))
        return {"input": 0, "premise": premise.text, "hypothesis": hypothesis.text}
