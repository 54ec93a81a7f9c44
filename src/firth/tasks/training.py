"""How a task is learnt from examples: the options, and the one function that does it. The loop is in `fitting.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from firth.errors import OptionError
from firth.files import Name
from firth.neural.training.checkpoints import Checkpoints
from firth.neural.training.record import Watch
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding, build_inputs
from firth.tasks.model import TaskModel, seed_torch
from firth.tasks.sources import Sources
from firth.tasks.task import Task
from firth.tasks.training_loop import TaskTraining
from firth.training.checkpoints import interrupted_error, stopping

NEVER_COUNTED = ("epochs", "patience", "cache", "log_every", "save_every")  # they do not change a step
NAMES = ("static", "elmo")  # what lies there counts, not where it lies


@dataclass(frozen=True)
class Training(Recipe):
    """How a task is learnt."""

    epochs: int = option(30, "times that the examples are learnt from, at most", minimum=1)
    batch: int = option(32, "examples of a step; a task of documents has one document", minimum=1)
    optimizer: Literal["adam", "adadelta", "adagrad", "sgd"] = option("adam", "how weights follow their gradients")
    learning_rate: float = option(1e-3, "step size", minimum=0)
    halve_after: int | None = option(None, "halve the step size after so many epochs without progress", minimum=1)
    decay: float = option(0.0, "weight decay (L2) of all weights", minimum=0)
    clip: float = option(5.0, "bound of the gradient's length; 0: none", minimum=0)
    average: float = option(
        0.0, "judge and keep a running mean of the weights, which keeps so much", minimum=0, maximum=1
    )
    patience: int | None = option(5, "stop after so many epochs without progress on the dev set", minimum=1)
    share: float = option(1.0, "learn from this share of the examples, drawn by the seed", minimum=0, maximum=1)
    cache: float = option(2.0, "gigabytes for what a frozen biLM has said of sentences", minimum=0)
    log_every: int = option(20, "steps between lines of the log", minimum=1)
    save_every: int = option(0, "steps between checkpoints; 0: every epoch, and every ten minutes", minimum=0)
    seed: int = option(1, "where the random numbers start", minimum=0, maximum=2**32)


def apply_defaults(task: type[Task], recipe: type[Recipe], given: dict[str, Any]) -> dict[str, Any]:
    """Options of an `Embedding` or of a `Training`: those that are given, and those that the task is used to."""
    names = recipe.__dataclass_fields__
    return {name: value for name, value in task.defaults.items() if name in names} | given


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
) -> TaskModel:
    """The model that learns a task from examples; with `dev`, the weights with the best score there are kept.

    With `checkpoint`, a folder, a run that was killed goes on where it was, unless `resume` is False. `log` is a file
    of JSON lines; with a checkpoint there is one in its folder. `sources` are the models that the embedding names,
    where they are open already.
    """
    training, runtime = training or Training(), runtime or Runtime.from_env()
    sources = sources or Sources.open(embedding.static, embedding.elmo)
    examples = task.training_examples(draw_share(train, training.share, training.seed))
    if not examples:
        raise OptionError("there is no example to learn from")
    labels = task.learn_labels(examples)
    with seed_torch(training.seed):
        sentences = [words for example in examples for words in example.sentences]
        inputs = build_inputs(embedding, sources, sentences, int(training.cache * 1e9))
        model = TaskModel(task, labels, inputs, task.network(inputs.sizes, labels))
    kept = None
    if checkpoint is not None:
        kept = Checkpoints(Path(checkpoint), identity_of(model, training, examples, dev), resume=resume)
        log = Path(checkpoint) / "log.jsonl" if log is None else log
    runtime.join()
    with limit_threads(runtime.threads), stopping(kept is not None) as is_asked_to_stop:
        watch = Watch(report, kept, None if log is None else Path(log), is_asked_to_stop)
        run = TaskTraining(model.to(runtime.place), examples, dev, training, runtime, watch)
        history = run.run()
    if run.stopped:
        raise interrupted_error(checkpoint)
    model.metadata = {"training": training.as_dict(), "examples": {"train": len(examples), "dev": len(dev)}}
    model.metadata |= {"dev": history.best, "epochs": history.epochs, "layer_shares": model.inputs.shares}
    model.metadata["words_per_second"] = round(history.words_per_second, 1)
    model.metadata["bilm_share"] = round(history.bilm_share, 4)
    return model.to("cpu").eval()


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """torch works with so many threads inside, and afterwards with as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def draw_share(examples: Sequence[Any], share: float, seed: int) -> Sequence[Any]:
    """A share of the examples, at least one, in their order; a larger share holds all of a smaller one.

    >>> draw_share("abcdefgh", 0.25, 1), draw_share("abcdefgh", 0.5, 1)
    (['c', 'g'], ['a', 'c', 'g', 'h'])
    """
    if share >= 1:
        return examples
    count = max(1, round(share * len(examples)))
    chosen = np.random.default_rng([seed, len(examples)]).permutation(len(examples))[:count]
    return [examples[place] for place in sorted(chosen.tolist())] if examples else examples


def identity_of(model: TaskModel, training: Training, train: Sequence[Any], dev: Sequence[Any]) -> dict[str, Any]:
    """What makes this training this one: a checkpoint of another is refused."""
    options = {name: value for name, value in training.as_dict().items() if name not in NEVER_COUNTED}
    texts = {"train": fingerprint_of(train), "dev": fingerprint_of(dev)}
    words = {"sources": model.inputs.sources.fingerprints()}
    words |= {f"embedding {name}": one for name, one in model.embedding.as_dict().items() if name not in NAMES}
    return {"recipe": model.task.name, **model.task.as_dict(), **options, **texts, **words}


def fingerprint_of(examples: Sequence[Any]) -> str:
    """A short name for exactly these examples."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr(example).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]
