"""The tasks that choose a label as scikit-learn knows classifiers: sentiment of texts, entailment of pairs of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.files import Name
from firth.models.estimator import (
    THREADS,
    not_fitted,
    option_base,
    read_column,
    read_labels,
    recipe_of,
    tag_text,
)
from firth.options import document_options, option
from firth.runtime import Runtime
from firth.tasks.entailment.data import EntailmentExample
from firth.tasks.entailment.task import Entailment
from firth.tasks.inputs import Embedding
from firth.tasks.labels import LabelTask
from firth.tasks.located_text import LocatedText
from firth.tasks.model import TaskModel, open_task
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.tokenization import make_tokenizer
from firth.tasks.training import Training, apply_defaults, fit
from firth.text.model_tokenizer import TextLike

DEFAULT_EMBEDDING = "glove-en+elmo-en"
NOT_HERE = ["share", "log_every", "save_every"]  # of Training: a grid search has its own means
EMBEDDING = (
    "embedding",
    "str | Embedding",
    option(DEFAULT_EMBEDDING, "Input vectors: names or paths joined by +, or an `Embedding` with all its options."),
)
VALIDATION = (
    "validation",
    "float",
    option(0.1, "Fraction of the texts held out for early stopping and the best weights; 0 holds out none."),
)


def _options(task: type[LabelTask], without: Sequence[str] = ()) -> Any:
    defaults = apply_defaults(task, Training, {})
    defaults = {name: value for name, value in defaults.items() if name not in task.__dataclass_fields__}
    more = [EMBEDDING, VALIDATION, THREADS]
    return option_base([task, Training], more, kind="classifier", defaults=defaults, without=[*NOT_HERE, *without])


class TaskClassifier:
    """The methods of a classifier around a task that chooses a label. Its parameters are those of the subclass."""

    task: ClassVar[type[LabelTask]]
    model_: TaskModel
    classes_: NDArray[Any]
    names_: list[str]  # of the classes in the model
    priors_: NDArray[np.float64]
    n_features_in_: int

    @classmethod
    def of_model(cls, model: TaskModel | Name) -> Self:
        """A classifier that is fitted: with a trained model, its folder, or the name of a shipped one."""
        opened = model if isinstance(model, TaskModel) else open_task(model)
        if not isinstance(opened.task, cls.task):
            raise OptionError(f"the model is one of {opened.task.name}, but {cls.__name__} needs {cls.task.name}")
        classifier = cls()
        classifier.model_ = opened
        classifier.classes_ = np.array(opened.labels["labels"])
        classifier.names_ = list(opened.labels["labels"])
        classifier.priors_ = np.full(len(classifier.classes_), 1 / len(classifier.classes_))
        classifier.n_features_in_ = 1
        return classifier

    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Trains a network on texts and their labels. The numbers depend on `seed` alone."""
        options: Any = self
        examples = self._examples(X)
        self.classes_, numbers = read_labels(y, len(examples))
        self.names_ = [str(label) for label in self.classes_.tolist()]
        if len(set(self.names_)) < len(self.names_) or "" in self.names_:
            self.names_ = [str(number) for number in range(len(self.classes_))]
        self.priors_ = np.bincount(numbers, minlength=len(self.classes_)) / len(numbers)
        task, training = recipe_of(self, self.task), recipe_of(self, Training)
        labeled = [replace(one, label=self.names_[number]) for one, number in zip(examples, numbers.tolist())]
        train, dev = self._split([one for one in labeled if all(one.sentences)], options.validation, training.seed)
        runtime = Runtime.from_env(options.threads)
        self.model_ = fit(task, self._embedding(), train, dev, training, runtime=runtime)
        self.n_features_in_ = 1
        return self

    def _embedding(self) -> Embedding:
        chosen = getattr(self, "embedding", None)
        if isinstance(chosen, Embedding):
            return chosen
        if not isinstance(chosen, str):
            raise OptionError(f"embedding is {chosen!r:.80}, but must be names of models, or an Embedding")
        return Embedding.of(chosen, **apply_defaults(self.task, Embedding, {}))

    def _split(self, examples: list[Any], validation: float, seed: int) -> tuple[list[Any], list[Any]]:
        """Examples to train on, and those held out; every class stays among the former."""
        if not 0 <= validation < 1:
            raise OptionError(f"validation is {validation}, but must be from 0 to below 1")
        order = np.random.default_rng(seed).permutation(len(examples)).tolist()
        count, known = int(validation * len(examples)), set[str]()
        train: list[Any] = []
        dev: list[Any] = []
        for place in order:
            example = examples[place]
            is_held_out = len(dev) < count and example.label in known
            known.add(example.label)
            (dev if is_held_out else train).append(example)
        return train, dev

    def predict_proba(self, X: Iterable[Any]) -> NDArray[np.float64]:
        """The probability of each class, (texts, classes), in the order of `classes_`.

        A text without words has the shares of the classes in the training texts.
        """
        if not hasattr(self, "model_"):
            raise not_fitted(self)
        answers = self.model_.answer(self._examples(X))
        rows = [[one.get(name, 0.0) for name in self.names_] if one else self.priors_.tolist() for one in answers]
        return np.array(rows, np.float64).reshape(-1, len(self.classes_))

    def predict(self, X: Iterable[Any]) -> NDArray[Any]:
        """The likeliest class of each text."""
        best: NDArray[Any] = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _examples(self, X: Iterable[Any]) -> list[Any]:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        return tag_text(super().__sklearn_tags__())  # type: ignore[misc]


_SentimentOptions: Any = _options(Sentiment, without=["classes", "phrases", "shortest"])


@checked
class SentimentClassifier(TaskClassifier, _SentimentOptions):  # type: ignore[misc]
    """A classifier of texts: the networks of the task `sentiment` on word vectors and ELMo, for labels of any kind.

    >>> texts, labels = ["hot tea", "hot sun", "cold milk", "cold rain"] * 4, ["drink", "sky"] * 8
    >>> classifier = SentimentClassifier(embedding="svd-en", architecture="plain", hidden=32, learning_rate=0.02)
    >>> classifier.fit(texts, labels).predict(["some tea", "the sun"]).tolist()
    ['drink', 'sky']
    >>> shipped = SentimentClassifier.of_model("sentiment")
    >>> shipped.predict(["The movie was fantastic!"]).tolist(), len(shipped.classes_)
    (['very positive'], 5)

    A text is a string, or a list of words. The trained model is `model_`, as `firth task sentiment` trains it.
    """

    task = Sentiment

    def _examples(self, X: Iterable[TextLike]) -> list[Any]:
        return self.task().ask(*read_column(X))


_EntailmentOptions: Any = _options(Entailment)


@checked
class EntailmentClassifier(TaskClassifier, _EntailmentOptions):  # type: ignore[misc]
    """A classifier of pairs of texts: the networks of the task `entailment`, for labels of any kind.

    >>> shipped = EntailmentClassifier.of_model("entailment")
    >>> pairs = [("A man plays a guitar.", "A man sleeps."), ("Two dogs run on a beach.", "Animals run.")]
    >>> shipped.predict(pairs).tolist()
    ['contradiction', 'entailment']

    A pair is two strings, or two lists of words: a row of a list, of an array, or of a table with two columns. The
    trained model is `model_`, as `firth task entailment` trains it.
    """

    task = Entailment

    def _examples(self, X: Iterable[Sequence[TextLike]]) -> list[Any]:
        if getattr(X, "shape", (0, 2))[1:] != (2,):
            raise OptionError("expected two columns, the first and the second text of each pair")
        rows: Any = np.asarray(X) if hasattr(X, "columns") else X
        tokenizer, examples = make_tokenizer(getattr(self, "letters", "keep")), []
        for place, pair in enumerate(rows):
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise OptionError(f"pair {place} is {pair!r:.60}, but must be two texts")
            first, second = (LocatedText.of(text, tokenizer, input) for input, text in enumerate(pair))
            examples.append(EntailmentExample(first.words, second.words, origins=(first, second)))
        return examples


for _classifier in (SentimentClassifier, EntailmentClassifier):
    _classifier.__doc__ = document_options(_classifier)
