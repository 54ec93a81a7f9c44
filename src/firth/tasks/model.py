"""A trained model of a task: a network and its inputs.

Its folder has the trained tensors. Word vectors and a frozen biLM are stored as names and fingerprints, and are opened
from their own files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firth.arguments import checked
from firth.errors import OptionError
from firth.files import Name
from firth.formats import native
from firth.neural.inference.sentence_arrays import Floats
from firth.pretrained.shipped import locate_task
from firth.progress import Progress, Report, silent
from firth.remote.addresses import refuse_stored
from firth.serialization import Parts
from firth.show import notebook
from firth.tasks.answers import TextAnswers
from firth.tasks.inputs import Embedding, Inputs, Sizes, Text
from firth.tasks.registry import find_task
from firth.tasks.scripts import common_scripts, warn_of_script
from firth.tasks.sources import Sources
from firth.tasks.task import Answer, Labels, Task, TaskNetwork
from firth.tasks.truecase import Truecaser, has_case
from firth.text.coverage import Coverage, join_warnings, measure
from firth.text.model_tokenizer import Sentences, TextLike
from firth.text.vocabulary import match_case

BATCH = 64  # examples of a batch in prediction
FREQUENT = 1000  # words of a vocabulary that show its script


class TaskModel(nn.Module, notebook.FactSheet):
    """A trained model: `fit` trains one, `open_task` opens one. `labels` is the result of `Task.learn_labels`."""

    kind = "task"

    def __init__(
        self,
        task: Task,
        labels: Labels,
        inputs: Inputs,
        network: nn.Module,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.task, self.labels, self.inputs, self.network = task, labels, inputs, network
        self.metadata: dict[str, Any] = dict(metadata or {})

    @property
    def embedding(self) -> Embedding:
        """The options of the input vectors."""
        return self.inputs.embedding

    def texts(self, examples: Sequence[Any]) -> tuple[Text, ...]:
        """The vectors of a batch: a `Text` for each input, or one with all sentences of one document."""
        if self.task.documents:
            return (self.inputs([words for example in examples for words in example.sentences]),)
        return tuple(self.inputs(batch) for batch in zip(*(example.sentences for example in examples)))

    def loss(self, examples: Sequence[Any]) -> Tensor:
        """The mean loss of a batch, plus the penalty on the layer weights."""
        return cast(TaskNetwork, self.network).loss(self.texts(examples), examples) + self.inputs.penalty

    def predict(self, examples: Sequence[Any], *, report: Report = silent) -> list[Answer]:
        """The answer to each example, in order. An answer does not depend on the other examples."""
        answers: list[Answer] = [None] * len(examples)
        done = 0
        with evaluation_mode(self):
            for places in self.batches(examples):
                batch = [examples[place] for place in places]
                for place, answer in zip(places, cast(TaskNetwork, self.network).answers(self.texts(batch), batch)):
                    answers[place] = answer
                done += len(batch)
                report(Progress("answering", done, len(examples), "examples"))
        return answers

    def batches(self, examples: Sequence[Any]) -> Iterator[list[int]]:
        """Indices of examples in batches of similar length, the longest first."""
        order = sorted(range(len(examples)), key=lambda place: -longest_sentence(examples[place]))
        size = 1 if self.task.documents else BATCH
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def evaluate(self, examples: Sequence[Any], *, report: Report = silent) -> dict[str, float]:
        """The metrics of the answers to examples with gold labels."""
        if not examples:
            raise OptionError("there are no examples to evaluate on")
        return self.task.score(examples, self.predict(examples, report=report))

    def ask(self, *texts: TextLike) -> TextAnswers:
        """Answers to texts, ready for JSON, each with the number of its text (`input`). A notebook draws them.

        A text is a string, a `Path`, or a list of the tokens of a sentence. Every text has at least one answer, also
        one without words.
        """
        pairs = self.answer_texts(*texts)
        return TextAnswers((self.describe(example, answer) for example, answer in pairs), self.task, pairs)

    def answer_texts(self, *texts: TextLike) -> list[tuple[Any, Answer]]:
        """The examples of texts with their answers."""
        examples = self.task.ask(*texts)
        return list(zip(examples, self.answer(examples)))

    def answer(self, examples: Sequence[Any], *, report: Report = silent) -> list[Answer]:
        """The answers to examples of users, as `predict` gives them, with three differences.

        An example without words has the answer `Task.no_answer`. The task decides what an answer is worth: a passage
        may hold none. Text in capitals, in lower case or of headlines is
        truecased for the network, which was trained on edited text; the answer has the words of the user.
        """
        are_asked = [(any if self.task.documents else all)(example.sentences) for example in examples]
        asked = [self.truecase(example) for example, is_asked in zip(examples, are_asked) if is_asked]
        vocabularies = [vectors.vocabulary for vectors in self.inputs.sources.static]
        answers = iter(self.task.decide(asked, self.predict(asked, report=report), self.metadata, vocabularies))
        return [next(answers) if is_asked else self.task.no_answer for is_asked in are_asked]

    def truecase(self, example: Any) -> Any:
        """An example with the usual case of its words; of a document, that of all its sentences together."""
        if not self.task.truecased or self.metadata.get("case", "mixed") != "mixed":
            return example
        truecaser, sentences = self.truecaser, example.sentences
        if self.task.documents:
            return example.with_sentences(truecaser.restore(sentences))
        return example.with_sentences([truecaser.restore([words])[0] for words in sentences])

    @cached_property
    def truecaser(self) -> Truecaser:
        """By the frequencies of words in the vocabularies of its word vectors, where these have case."""
        vocabularies = (vectors.vocabulary for vectors in self.inputs.sources.static)
        return Truecaser(tuple(words for words in vocabularies if has_case(words[:FREQUENT])))

    def describe(self, example: Any, answer: Answer) -> dict[str, Any]:
        """An answer ready for JSON, with a `warning` if its words are not those the model was made for (`warn_of`)."""
        described = self.task.describe(example, answer)
        warning = self.warn_of(example.sentences)
        return described if warning is None else described | {"warning": warning}

    def warn_of(self, sentences: Sequence[Sequence[str]]) -> str | None:
        """A warning if most words are in another script or unknown, or if some are cut; None if all is well."""
        warnings = self.coverage(sentences).warnings()
        script = warn_of_script((word for words in sentences for word in words), self.scripts)
        if script is not None:  # says more than that the words are unknown
            warnings = [script, *(one for one in warnings if "unknown" not in one)]
        return join_warnings(warnings)

    def coverage(self, sentences: Sequence[Sequence[str]]) -> Coverage:
        """How many words have no vector of their own among its word vectors, and how many its biLM cuts.

        A model without word vectors knows the words of its biLM's vocabulary, if that has one.
        """
        bilm, sources = self.inputs.bilm, self.inputs.sources.static
        learned = self.inputs.vocabulary
        cut = Coverage() if bilm is None else bilm.measure(sentences)
        if not sources and not len(learned):
            return cut

        def find(words: list[str]) -> NDArray[np.int64]:
            ids = [vectors.ids(match_case(words, vectors.vocabulary)) for vectors in sources]
            best: NDArray[np.int64] = np.max([*ids, learned.ids(words)], axis=0)
            return best

        return replace(measure(sentences, find), cut=cut.cut, longest=cut.longest, unit=cut.unit)

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts of the most frequent words that it has vectors for; empty if it has only characters."""
        vocabularies = [self.inputs.vocabulary, *(vectors.vocabulary for vectors in self.inputs.sources.static)]
        return common_scripts(word for vocabulary in vocabularies for word in vocabulary[:FREQUENT])

    def embed(self, sentences: Sentences, **choices: Any) -> list[Floats]:
        """Contextual vectors from the encoder of a `seq2seq` model, with the options of `Cove.embed`."""
        from firth.tasks.seq2seq.cove import Cove  # cove.py imports this module

        return Cove(self).embed(sentences, **choices)

    def state(self) -> dict[str, Tensor]:
        """The trained tensors by name."""
        inputs = {f"inputs.{name}": tensor for name, tensor in self.inputs.state().items()}
        return inputs | {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}

    @property
    def learnt_numbers(self) -> int:
        """The number of trained parameters, without those of word vectors and a frozen biLM."""
        return sum(tensor.numel() for tensor in self.state().values())

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Sets the tensors of `state`."""
        parts: dict[str, dict[str, Tensor]] = {"inputs": {}, "network": {}}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            if part not in parts:
                raise OptionError(f"the tensor {name!r} belongs to no part of this model")
            parts[part][rest] = tensor
        try:
            self.inputs.load_state(parts["inputs"])
            self.network.load_state_dict(parts["network"])
        except RuntimeError as error:  # names the tensors
            raise OptionError(f"the tensors of the network do not fit: {error}") from error

    def to_parts(self) -> Parts:
        """The parts of the model, for a file."""
        config = {
            "task": self.task.name,
            "options": self.task.as_dict(),
            "labels": self.labels,
            "embedding": self.embedding.as_dict(),
            "fingerprints": self.inputs.sources.fingerprints(),
            "metadata": self.metadata,
        }
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self.state().items()}
        vocabularies = {"words": self.inputs.vocabulary} if self.embedding.learns_words() else {}
        return Parts(self.kind, config, arrays, vocabularies)

    @classmethod
    def from_parts(cls, parts: Parts, sources: Sources | None = None) -> TaskModel:
        """The model of `to_parts`. Its sources are opened unless they are passed."""
        config = parts.config
        for name, array in parts.arrays.items():
            parts.array(name, "f", *array.shape)
        if not isinstance(config.get("task"), str):
            raise OptionError(f"task is {config.get('task')!r:.60}, but must be the name of a task")
        task = find_task(config["task"]).from_dict(parts.table("options"))
        embedding = Embedding.from_dict(parts.table("embedding"))
        labels = check_labels(parts.table("labels"))
        check_sizes(task, embedding, parts.arrays)
        if sources is None:
            refuse_stored(embedding.static)
            refuse_stored(embedding.elmo)
        sources = sources or Sources.open(embedding.static, embedding.elmo)
        if sources.fingerprints() != config["fingerprints"]:
            names = " and ".join(name for name in (embedding.static, embedding.elmo) if name)
            problem = f"the model was trained on other vectors than {names} has now"
            raise OptionError(f"{problem}. Name those it was trained on: --embedding PATH")
        with seed_torch(0):  # the initial values are replaced below
            inputs = Inputs(embedding, sources, parts.vocabularies.get("words"))
            check_network(task, inputs.sizes, labels, parts.arrays)
            model = cls(task, labels, inputs, task.network(inputs.sizes, labels))
        model.metadata = parts.metadata
        model.load_state({name: torch.from_numpy(np.array(array)) for name, array in parts.arrays.items()})
        for name, tensor in model.state().items():
            if not torch.isfinite(tensor).all():
                raise OptionError(f"the tensor {name!r} has numbers that are NaN or infinite")
        return model.eval()

    def _facts(self) -> list[notebook.Fact]:
        embedding = self.embedding
        characters = f"{embedding.characters} filters over characters" if embedding.characters else ""
        scores = self.metadata.get("dev") or {}
        return [
            ("task", self.task.name),
            ("parameters", f"{self.learnt_numbers:,}"),
            ("words from", ", ".join(filter(None, (embedding.static, embedding.elmo, characters)))),
            ("dev", ", ".join(f"{name} {value:.4f}" for name, value in scores.items())),
        ]

    def _repr_html_(self) -> str:
        """The facts, the epochs of the training, and the weights of ELMo's layers."""
        parts = [super()._repr_html_()]
        epochs = self.metadata.get("epochs")
        if isinstance(epochs, list) and epochs and all(isinstance(one, dict) and "loss" in one for one in epochs):
            names = list(epochs[-1].get("dev", {}))
            rows = [[n, one["loss"], *(one["dev"].get(name) for name in names)] for n, one in enumerate(epochs, 1)]
            parts.append(notebook.html_training(["epoch", "loss", *names], rows))
        for place, shares in self.inputs.shares.items():
            parts.append(notebook.html_layers(f"ELMo at the {place}", shares))
        return "".join(parts)

    def __repr__(self) -> str:
        return f"TaskModel({', '.join(f'{name}: {value}' for name, value in self.facts())})"


def check_labels(labels: Mapping[str, Any]) -> Labels:
    """The labels of a stored model, if they are lists of texts."""
    for name, values in labels.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise OptionError(f"labels.{name} is not a list of texts")
    return dict(labels)


def check_sizes(task: Task, embedding: Embedding, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuses sizes and depths that the stored tensors cannot have, before anything is built."""
    largest = max((size for array in arrays.values() for size in array.shape), default=0)
    options = task.as_dict()
    for name, value, most in (
        ("words", embedding.words, largest),
        ("characters", embedding.characters, largest),
        ("layers", options.get("layers", 0), len(arrays)),
        ("hidden", len(options["hidden"]) if isinstance(options.get("hidden"), tuple) else 0, len(arrays)),
    ):
        if isinstance(value, int) and value > most:
            raise OptionError(f"{name} is {value:,}, which does not fit the {len(arrays):,} tensors of the model")


def check_network(task: Task, sizes: Sizes, labels: Labels, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Compares the shapes of the network's tensors with the stored ones, without memory for the network."""
    try:
        with torch.device("meta"):
            network = task.network(sizes, labels)
    except RuntimeError as error:  # sizes beyond those of any tensor
        raise OptionError(f"the network cannot be built: {error}") from error
    for name, tensor in network.state_dict().items():
        stored = arrays.get(f"network.{name}")
        if stored is None or stored.shape != tuple(tensor.shape):
            found = "is missing" if stored is None else f"has the shape {stored.shape}"
            raise OptionError(f"the tensor {name!r} {found}, but the options make it {tuple(tensor.shape)}")


@checked
def open_task(name: Name, embedding: str | None = None, *, sources: Sources | None = None) -> TaskModel:
    """The model in a folder, or the one that ships for a task: `open_task("ner")`.

    `embedding` names its word vectors and its biLM if they have moved; `sources` are these if they are already open.
    """
    path = locate_task(name)
    parts = native.read_parts(path)
    if parts.kind != TaskModel.kind:
        raise OptionError(f"{path}: holds a {parts.kind}, but a task's model is needed")
    if embedding is not None:
        named = Embedding.of(embedding)
        sources = Sources.open(named.static, named.elmo)
    return cast(TaskModel, native.build_artifact(parts, path, sources=sources))


def longest_sentence(example: Any) -> int:
    """The number of words of an example's longest sentence."""
    return max(map(len, example.sentences), default=0)


@contextmanager
def evaluation_mode(module: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients; the previous mode is restored afterwards."""
    before = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        module.train(before)


@contextmanager
def seed_torch(seed: int) -> Iterator[None]:
    """Seeds torch's generators; their previous state is restored afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
