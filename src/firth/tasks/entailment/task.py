"""Entailment: given a premise, is a hypothesis true, false, or neither?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.entailment.data import read_pairs
from firth.tasks.entailment.network import DecomposableAttention, Esim
from firth.tasks.inputs import Sizes
from firth.tasks.task import Labels, Task
from firth.tasks.tokenization import Letters, make_tokenizer

USUAL_ORDER = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class EntailmentExample:
    """Two texts, and what the first says about the second."""

    premise: tuple[str, ...]
    hypothesis: tuple[str, ...]
    label: str | None = None

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The words to embed: the premise, then the hypothesis."""
        return self.premise, self.hypothesis


@dataclass(frozen=True)
class Entailment(Task):
    """Textual entailment: decide whether a premise entails a hypothesis, contradicts it, or neither.

    The files of SNLI, MultiNLI, SICK and FarsTail are read. An answer is the probability of each label.

    >>> Entailment().ask("All birds can fly.", "Penguins can fly.")[0].hypothesis
    ('Penguins', 'can', 'fly', '.')
    """

    name: ClassVar[str] = "entailment"
    question: ClassVar[str] = "does the second follow from the first?"
    sample: ClassVar[tuple[str, ...]] = ("All birds can fly.", "Penguins can fly.")
    commands: ClassVar[tuple[str, ...]] = (
        "firth task entailment --train snli-train.jsonl --dev snli-dev.jsonl --out model/",
        "firth task entailment --train train.tsv --dev dev.tsv --architecture decomposable --embedding glove-en",
    )
    defaults: ClassVar[dict[str, Any]] = {
        "at": "both",
        "mix_decay": 0.001,
        "dropout": 0.0,  # the network drops its input itself: dropped twice, a quarter of ELMo's numbers is left
        "learning_rate": 4e-4,
        "halve_after": 1,
    }

    architecture: Literal["esim", "decomposable"] = option("esim", "ESIM, or decomposable attention, small and quick")
    hidden: int | None = option(None, "size of layers and LSTM directions; 300 in ESIM, else 200", minimum=1)
    dropout: float | None = option(
        None, "share of the numbers that training leaves out; 0.5 in ESIM, else 0.2", minimum=0, maximum=0.99
    )
    variational: bool = option(True, "dropout before an LSTM leaves out the same numbers at every word")
    letters: Letters = option("keep", "unify letters and digits as Persian or Arabic needs")  # noqa: RUF009

    def read(self, path: Name) -> list[EntailmentExample]:
        """The pairs of a file; see `entailment_pairs.py` for its forms.

        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.tsv"
        >>> _ = file.write_text("premise\\thypothesis\\tlabel\\nA dog runs.\\tNo dog runs.\\tc\\n")
        >>> Entailment().read(file)[0].label
        'contradiction'
        """
        words = cache(make_tokenizer(self.letters).words)  # a premise stands in several pairs
        return [
            EntailmentExample(tuple(words(raw.premise)), tuple(words(raw.hypothesis)), raw.label)
            for raw in read_pairs(path)
        ]

    def training_examples(self, examples: Sequence[EntailmentExample]) -> Sequence[EntailmentExample]:
        """The pairs, each of which must have a label."""
        if any(example.label is None for example in examples):
            raise OptionError("some pairs have no label to learn from. Train on a file with labels")
        return examples

    def learn_labels(self, examples: Sequence[EntailmentExample]) -> Labels:
        """The labels that the examples have.

        >>> Entailment().learn_labels([EntailmentExample((), (), "neutral"), EntailmentExample((), (), "entailment")])
        {'labels': ['entailment', 'neutral']}
        """
        found = {example.label for example in examples if example.label is not None}
        usual = [label for label in USUAL_ORDER if label in found]
        return {"labels": usual + sorted(found.difference(usual))}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """ESIM or decomposable attention."""
        if self.architecture == "decomposable":
            return DecomposableAttention(sizes, labels["labels"], self.hidden or 200, _or(self.dropout, 0.2))
        dropout = _or(self.dropout, 0.5)
        return Esim(sizes, labels["labels"], self.hidden or 300, dropout, variational=self.variational)

    def score(self, examples: Sequence[EntailmentExample], answers: Sequence[dict[str, float]]) -> dict[str, float]:
        """The share of right labels, the mean of the labels' F1, and the F1 of each.

        >>> pairs = [
        ...     EntailmentExample(("All",), ("Some",), "entailment"),
        ...     EntailmentExample(("Some",), ("All",), "neutral"),
        ... ]
        >>> Entailment().score(pairs, [{"neutral": 0.9, "entailment": 0.1}] * 2)["accuracy"]
        0.5
        """
        gold = [example.label for example in examples]
        given = [likeliest(answer) for answer in answers]
        if None in gold:
            raise OptionError("some pairs have no label, so answers cannot be judged. Choose a file with labels")
        return score_labels([label for label in gold if label is not None], given)

    def ask(self, *texts: str) -> list[EntailmentExample]:
        """The pair that two texts are."""
        if len(texts) != 2:
            raise OptionError(f"entailment takes two texts, a premise and a hypothesis, but {len(texts)} were given")
        premise, hypothesis = (tuple(make_tokenizer(self.letters).words(text)) for text in texts)
        if not premise or not hypothesis:
            raise OptionError(f"the {'hypothesis' if premise else 'premise'} has no words")
        return [EntailmentExample(premise, hypothesis)]

    def describe(self, example: EntailmentExample, answer: dict[str, float]) -> dict[str, Any]:
        """The label, how sure it is, and all labels by falling probability.

        >>> task = Entailment()
        >>> task.describe(task.ask("A dog runs.", "It is late.")[0], {"entailment": 0.2, "neutral": 0.8})
        {'label': 'neutral', 'probability': 0.8, 'labels': {'neutral': 0.8, 'entailment': 0.2}}
        """
        ranked = dict(sorted(answer.items(), key=itemgetter(1), reverse=True))
        return {"label": likeliest(answer), "probability": answer[likeliest(answer)], "labels": ranked}


def _or(dropout: float | None, usual: float) -> float:
    return usual if dropout is None else dropout


def likeliest(answer: Mapping[str, float]) -> str:
    """The label with the highest probability."""
    return max(answer, key=lambda label: answer[label])


def score_labels(gold: Sequence[str], given: Sequence[str]) -> dict[str, float]:
    """The share of right labels, the mean of the gold labels' F1, and the F1 of each.

    >>> score_labels(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    {'accuracy': 0.75, 'macro_f1': 0.7333333333333334, 'no_f1': 0.8, 'yes_f1': 0.6666666666666666}
    """
    right = Counter(label for label, other in zip(gold, given) if label == other)
    wanted, said = Counter(gold), Counter(given)
    labels = sorted(wanted, key=lambda label: (label not in USUAL_ORDER, label))
    each = {label: 2 * right[label] / (said[label] + wanted[label]) for label in labels}
    means = {"accuracy": right.total() / max(len(gold), 1), "macro_f1": sum(each.values()) / max(len(each), 1)}
    return means | {f"{label}_f1": value for label, value in each.items()}
