"""What a task is: how its files are read, which network learns it, and how its answers are judged.

One file of this package holds one task. What they share lies beside it: `inputs.py` turns words into vectors,
`layers.py` has the bricks of networks, `training.py` trains any task and `model.py` is what comes out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from torch import Tensor, nn

from firth.files import Name
from firth.options import Recipe
from firth.tasks.inputs import Sizes, Text

Answer = Any  # a value that JSON can hold: a label, a list of tags, spans, a string
Labels = dict[str, Any]  # what must be known before training, ready for JSON


class Example(Protocol):
    """One thing to learn from or to answer: words, and what is true of them where that is known.

    Each task has its own frozen dataclass. `sentences` has one sequence of words for each place: one in sentiment, two
    in entailment (premise, hypothesis) and in questions (passage, question), and every sentence of a document.
    """

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]: ...


class TaskNetwork(Protocol):
    """What `Task.network` returns is an `nn.Module` that has these two.

    `texts` has one `Text` for each place of `sentences`: a batch of premises, a batch of hypotheses. For a task of
    documents it has one, whose batch is the sentences of the one document in `examples`.
    """

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Any]) -> Tensor:
        """The mean loss of a batch, a number with a gradient."""

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Any]) -> list[Answer]:
        """The answer to each example; it is called without gradients, in the mode of evaluation."""


@dataclass(frozen=True)
class Task(Recipe, ABC):
    """A task. Its fields are the options of its network.

    The first line of a task's docstring is its description on the command line. `defaults` names options of `Embedding`
    and `Training` whose best value for the task differs from the default there. With `documents` an example is a whole
    document, and a batch holds the sentences of one document.
    """

    name: ClassVar[str]
    question: ClassVar[str]  # what a model of the task answers
    sample: ClassVar[tuple[str, ...]]  # texts to try a model on
    commands: ClassVar[tuple[str, ...]]  # examples of `firth task NAME`
    defaults: ClassVar[Mapping[str, Any]] = {}
    documents: ClassVar[bool] = False

    @abstractmethod
    def read(self, path: Name) -> list[Any]:
        """The examples of a file, which may be packed; a mistake in it is a FormatError that names the line."""

    def training_examples(self, examples: Sequence[Any]) -> Sequence[Any]:
        """What training learns from: the examples that were read, or what can be made of them."""
        return examples

    @abstractmethod
    def learn_labels(self, examples: Sequence[Any]) -> Labels:
        """What the network must know of the training examples beforehand, such as the list of tags."""

    @abstractmethod
    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """A network that has not learnt anything yet; see `TaskNetwork` for what it must be able to do.

        Initial values come from torch's own generator, which whoever calls this has seeded.
        """

    @abstractmethod
    def score(self, examples: Sequence[Any], answers: Sequence[Answer]) -> dict[str, float]:
        """How good answers are, every measure between 0 and 1; the first is the one that early stopping watches."""

    @abstractmethod
    def ask(self, *texts: str) -> list[Any]:
        """Examples, without what is true of them, from text as people write it."""

    @abstractmethod
    def describe(self, example: Any, answer: Answer) -> str | dict[str, Any]:
        """An answer as people want to read it."""
