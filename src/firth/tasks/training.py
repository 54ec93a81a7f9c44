"""The training of a task from examples: its options and `fit`. The loop is in `training_loop.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from firth.errors import OptionError
from firth.files import Name
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.bar import shows_progress
from firth.tasks.inputs import Embedding, build_inputs
from firth.tasks.model import TaskModel, seed_torch
from firth.tasks.sources import Sources
from firth.tasks.task import Task
from firth.tasks.training_loop import TaskTraining
from firth.tasks.truecase import find_case
from firth.training.monitor import Monitor

NOT_IN_IDENTITY = ("epochs", "patience", "minutes", "cache", "log_every", "save_every")  # they do not change a step
SAMPLE = 1000  # examples that show the case of a training text
SOURCES = ("static", "elmo")  # identified by their contents, not by their paths


@dataclass(frozen=True)
class Training(Recipe):
    """The options of training a task."""

    epochs: int = option(30, "Maximum number of passes over the training examples.", minimum=1, maximum=1_000_000)
    batch: int = option(32, "Batch size in examples. A task of documents always uses one document.", minimum=1)
    optimizer: Literal["adam", "adadelta", "adagrad", "sgd"] = option("adam", "Optimizer.")
    learning_rate: float = option(1e-3, "Learning rate.", minimum=0)
    halve_after: int | None = option(
        None, "Halve the learning rate after this many epochs without improvement. Default: never.", minimum=1
    )
    decay: float = option(0.0, "Weight decay (L2) of all weights.", minimum=0)
    clip: float = option(5.0, "Maximum gradient norm; 0 disables clipping.", minimum=0)
    average: float = option(
        0.0,
        "Evaluate and save an exponential moving average of the weights with this decay; 0 disables it.",
        minimum=0,
        maximum=1,
    )
    patience: int | None = option(
        5, "Stop after this many epochs in a row without improvement on the dev set.", minimum=1
    )
    minutes: float | None = option(
        None, "Stop training after this many minutes, in the middle of an epoch if need be. Default: never.", minimum=0
    )
    share: float = option(1.0, "Train on this fraction of the examples, drawn at random.", minimum=0, maximum=1)
    cache: float = option(2.0, "Gigabytes of memory for cached layers of a frozen biLM.", minimum=0)
    log_every: int = option(20, "Steps between lines of the log.", minimum=1)
    save_every: int = option(0, "Steps between checkpoints, and each epoch is saved; 0 saves every minute.", minimum=0)
    seed: int = option(1, "Seed of the random numbers.", minimum=0, maximum=2**32)


def apply_defaults(task: type[Task], recipe: type[Recipe], options: dict[str, Any]) -> dict[str, Any]:
    """The given options of an `Embedding` or a `Training`, and the task's own defaults for the others."""
    names = recipe.__dataclass_fields__
    return {name: value for name, value in task.defaults.items() if name in names} | options


@shows_progress
def fit(
    task: Task,
    embedding: Embedding,
    train: Sequence[Any],
    dev: Sequence[Any] = (),
    training: Training | None = None,
    *,
    runtime: Runtime | None = None,
    report: Report = silent,
    checkpoint: Name | None = None,
    resume: bool = True,
    log: Name | None = None,
    sources: Sources | None = None,
    progress: bool = False,
) -> TaskModel:
    """Trains a model for a task. With `dev` examples, the model has the weights with the best score on them.

    `checkpoint` names a folder: a killed training continues from there, unless `resume` is False. `log` is a file of
    JSON lines; with a checkpoint, it defaults to log.jsonl in that folder. `sources` are the models that the embedding
    names, if they are already open. `progress` shows a bar, in a terminal or a notebook.
    """
    training, runtime = training or Training(), runtime or Runtime.from_env()
    sources = sources or Sources.open(embedding.static, embedding.elmo)
    examples = task.training_examples(draw_share(train, training.share, training.seed))
    if not examples:
        raise OptionError("there are no training examples")
    labels = task.learn_labels(examples)
    with seed_torch(training.seed):
        sentences = [words for example in examples for words in example.sentences]
        inputs = build_inputs(embedding, sources, sentences, int(training.cache * 1e9))
        model = TaskModel(task, labels, inputs, task.network(inputs.sizes, labels))
    identity = describe_training(model, training, examples, dev) if checkpoint is not None else {}
    runtime.join()
    watching = Monitor.open(
        identity, report=report, checkpoint=checkpoint, resume=resume, log=log, is_main=runtime.is_main
    )
    with limit_threads(runtime.threads), watching as monitor:
        loop = TaskTraining(model.to(runtime.place), examples, dev, training, runtime, monitor)
        history = loop.run()
        if loop.stopped:
            raise monitor.interruption()
    model.metadata = {"training": training.as_dict(), "examples": {"train": len(examples), "dev": len(dev)}}
    model.metadata |= {"dev": history.best, "epochs": history.epochs, "layer_shares": model.inputs.shares}
    sample = [words for example in examples[:SAMPLE] for words in example.sentences]
    model.metadata["case"] = find_case(sample)  # text of users is not truecased for a model of lower-case text
    model.metadata["words_per_second"] = round(history.words_per_second, 1)
    model.metadata["bilm_share"] = round(history.bilm_share, 4)
    return model.to("cpu").eval()


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Sets the number of torch threads for the `with` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def draw_share(examples: Sequence[Any], share: float, seed: int) -> Sequence[Any]:
    """A random fraction of the examples, at least one, in order. A larger share contains all of a smaller one.

    >>> draw_share("abcdefgh", 0.25, 1), draw_share("abcdefgh", 0.5, 1)
    (['c', 'g'], ['a', 'c', 'g', 'h'])
    """
    if share >= 1:
        return examples
    count = max(1, round(share * len(examples)))
    chosen = np.random.default_rng([seed, len(examples)]).permutation(len(examples))[:count]
    return [examples[index] for index in sorted(chosen.tolist())] if examples else examples


def describe_training(model: TaskModel, training: Training, train: Sequence[Any], dev: Sequence[Any]) -> dict[str, Any]:
    """What a checkpoint of this training must agree with."""
    options = {name: value for name, value in training.as_dict().items() if name not in NOT_IN_IDENTITY}
    texts = {"train": fingerprint_examples(train), "dev": fingerprint_examples(dev)}
    words = {"sources": model.inputs.sources.fingerprints()}
    words |= {f"embedding {name}": one for name, one in model.embedding.as_dict().items() if name not in SOURCES}
    return {"recipe": model.task.name, **model.task.as_dict(), **options, **texts, **words}


def fingerprint_examples(examples: Sequence[Any]) -> str:
    """A hash of the examples."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr(example).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]
