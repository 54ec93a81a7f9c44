"""The contract of a task: how its files are read, which network learns it, and how its answers are scored.

Each task is a folder with four files: `task.py` (options and methods), `data.py` (examples and their file readers),
`network.py` (modules) and `score.py` (metrics). What tasks share is in this folder: `inputs.py` embeds words,
`layers.py` has the layers, `training.py` trains any task, and `model.py` is the trained model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

from torch import Tensor, nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import Recipe
from firth.tasks.inputs import Sizes, Text
from firth.tasks.located_text import LocatedText
from firth.text.model_tokenizer import TextLike
from firth.text.vocabulary import Vocabulary

Answer = Any  # a value that JSON can hold: a label, a list of tags, spans, a string
Labels = dict[str, Any]  # what a network must know before training, ready for JSON
Gold = TypeVar("Gold")


class Example(Protocol):
    """One example: words and, where they are known, gold labels.

    Each task has its own frozen dataclass. `sentences` has one sequence of words for each input of the network: one in
    sentiment, two in entailment (premise, hypothesis) and in question answering (passage, question), and every sentence
    of a document in coreference.
    """

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]: ...

    @property
    def gold(self) -> Any:
        """The gold labels; an OptionError where they are not known."""

    def with_sentences(self, sentences: Sequence[tuple[str, ...]]) -> Self:
        """The example with other spellings of its words; their number does not change."""


@dataclass(frozen=True)
class SentenceExample:
    """Base of examples whose one input is a sentence or a text."""

    words: tuple[str, ...]
    origin: LocatedText | None = field(default=None, kw_only=True, compare=False, repr=False)  # of words of a user

    @property
    def located(self) -> LocatedText:
        """The words with their places: in the text of the user, or in the words joined by single blanks."""
        return self.origin or LocatedText.of_tokens(self.words)

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The one input: the words."""
        return (self.words,)

    def with_sentences(self, sentences: Sequence[tuple[str, ...]]) -> Self:
        """The example with other spellings of its words."""
        return replace(self, words=sentences[0])


class TaskNetwork(Protocol):
    """The methods of the `nn.Module` that `Task.network` returns.

    `texts` has one `Text` for each input: a batch of premises, a batch of hypotheses. For a task of documents it has
    one, whose batch is the sentences of the one document in `examples`.
    """

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Any]) -> Tensor:
        """The mean loss of a batch, a scalar with a gradient."""

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Any]) -> list[Answer]:
        """The answer to each example. Called without gradients, in evaluation mode."""


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
    truecased: ClassVar[bool] = True  # whether texts of users without usual case are truecased for the network
    no_answer: ClassVar[Answer]  # to a text without words, which the network does not see
    columns: ClassVar[tuple[str, ...]]  # names of the values of a row

    @abstractmethod
    def read(self, path: Name) -> list[Any]:
        """The examples of a file, compressed or not. An invalid line is a FormatError with its number."""

    def training_examples(self, examples: Sequence[Any]) -> Sequence[Any]:
        """The examples to train on: those that were read, or others derived from them."""
        return examples

    def learn_labels(self, examples: Sequence[Any]) -> Labels:
        """What the network must know of the training examples before training, such as the tag set."""
        return {}

    @abstractmethod
    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """An untrained network with the methods of `TaskNetwork`.

        Initial values come from torch's global generator, which the caller has seeded.
        """

    @abstractmethod
    def score(self, examples: Sequence[Any], answers: Sequence[Answer]) -> dict[str, float]:
        """The metrics of answers, each between 0 and 1. Early stopping watches the first one."""

    @abstractmethod
    def ask(self, *texts: TextLike) -> list[Any]:
        """Examples without gold labels, from running text or lists of tokens. Each text has at least one."""

    def decide(
        self,
        examples: Sequence[Any],
        answers: Sequence[Answer],
        metadata: Mapping[str, Any],
        vocabularies: Sequence[Vocabulary],
    ) -> list[Answer]:
        """The answers that users get, from those of the network.

        `metadata` is that of the model, and `vocabularies` are those of its word vectors, the frequent words first.
        """
        return list(answers)

    @abstractmethod
    def describe(self, example: Any, answer: Answer) -> dict[str, Any]:
        """An answer ready for JSON: the number and the text of its input, spans with their places, probabilities."""

    @abstractmethod
    def rows(self, described: Mapping[str, Any]) -> list[list[Any]]:
        """A described answer as rows of a table, at least one."""


def require_gold(gold: Gold | None, words: Sequence[str]) -> Gold:
    """Gold labels, which training and scoring need; None is an error that quotes the words of the example.

    >>> require_gold(None, ["Tea", "?"])
    Traceback (most recent call last):
    firth.errors.OptionError: 'Tea ?' has no gold labels. Training and scoring need examples from a labeled file
    """
    if gold is None:
        text = " ".join(words)
        raise OptionError(f"{text!r:.80} has no gold labels. Training and scoring need examples from a labeled file")
    return gold
