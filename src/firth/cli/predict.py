"""`firth predict` and `firth test`: what a task's model says, and how good it is; fastText's classifiers as well."""

import json as json_module
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Group, RenderableType

from firth.cli.classifier import K, Threshold
from firth.cli.classifier import examine as examine_classifier
from firth.cli.classifier import predict as predict_labels
from firth.cli.flags import Device, Json, read_texts
from firth.cli.output import answer
from firth.errors import OptionError
from firth.formats import native
from firth.pretrained.shipped import locate_task
from firth.runtime import Runtime
from firth.show import terminal

if TYPE_CHECKING:
    from firth.tasks.model import TaskModel

MANY = 64  # texts that are worth more than one thread
PARTED = {"by_kind": "kind", "by_role": "role"}  # methods of tasks whose scores can be told apart
Model = Annotated[str, Parameter(help="the name of a task, the folder of a task's model, or a fastText classifier")]
Moved = Annotated[str | None, Parameter(help="where the vectors and the biLM of a task's model lie now")]


def is_task(name: str) -> bool:
    """Whether a name stands for a task's model, and not for a classifier of fastText; torch is not needed for it."""
    from firth.tasks.registry import TASKS

    config = Path(locate_task(name), native.CONFIG)
    if config.is_file():
        try:
            told = json_module.loads(config.read_bytes())
        except ValueError:  # whoever opens it says what is wrong
            return False
        return isinstance(told, dict) and told.get("kind") == native.TASK
    if Path(name).exists() or name not in TASKS:
        return False
    cure = f"Learn it: firth task {name} --train … --dev … --out DIR, and name DIR"
    raise OptionError(f"{name}: no model of this task comes with firth. {cure}")


def opened(name: str, embedding: str | None, device: str) -> "TaskModel":
    """The model of a task, where it is to run."""
    from firth.tasks.model import open_task

    return open_task(name, embedding).to(Runtime.from_env(device=device).place)


def predict(
    model: Model,
    texts: Annotated[list[str], Parameter(allow_leading_hyphen=True, help="texts; - reads them from lines")],
    /,
    *,
    embedding: Moved = None,
    device: Device = "cpu",
    k: K = 1,
    threshold: Threshold = 0.0,
    json: Json = False,
) -> None:
    """What a task's model says about texts, or the labels that a fastText classifier gives them.

    For example:

        firth predict ner "Elon Musk founded SpaceX."
        firth predict srl "John broke the vase."
        firth predict coref "Mary went to the store. She bought some milk."
        firth predict qa "The cat sat on the mat." "Where did the cat sit?"
        firth predict entailment "All birds can fly." "Penguins can fly."
        firth predict sentiment - < reviews.txt
        firth predict classifier.bin "a warm cup of tea"
    """
    if not is_task(model):
        predict_labels(model, texts, k=k, threshold=threshold, json=json)
        return
    from firth.tasks.pictures import draw_answer
    from firth.tasks.training import limit_threads

    lines = read_texts(texts)
    with limit_threads(1 if len(lines) < MANY else Runtime.from_env().threads):  # a few texts are no work to share
        answering = opened(model, embedding, device)
        task, examples = answering.task, answering.task.ask(*lines)
        pairs = list(zip(examples, answering.predict(examples)))
    picture = () if json else (draw_answer(task, *pair) for pair in pairs)
    answer([task.describe(*pair) for pair in pairs], Group(*picture), json)


def examine(
    model: Model,
    file: Annotated[str, Parameter(help="examples of the task, or labeled lines")],
    /,
    *,
    embedding: Moved = None,
    device: Device = "cpu",
    k: K = 1,
    threshold: Threshold = 0.0,
    json: Json = False,
) -> None:
    """How good a task's model is on examples, or a fastText classifier on labeled lines.

    For example:

        firth test ner test.conll
        firth test classifier.bin held-out.txt -k 5 --json
    """
    if not is_task(model):
        examine_classifier(model, file, k=k, threshold=threshold, json=json)
        return
    judged = opened(model, embedding, device)
    examples = judged.task.read(file)
    if not examples:
        raise OptionError(f"{file}: there is no example to judge the model by")
    with terminal.progress() as report:
        answers = judged.predict(examples, report=report)
    scores = judged.task.score(examples, answers)
    parts = {name: getattr(judged.task, name)(examples, answers) for name in PARTED if hasattr(judged.task, name)}
    values = {"task": judged.task.name, "examples": len(examples), "scores": scores, **parts}
    tables = [terminal.table(f"{len(examples):,} examples", ["measure", "value"], list(scores.items()))]
    answer(values, Group(*tables, *(parts_table(PARTED[name], found) for name, found in parts.items())), json)


def parts_table(what: str, found: Mapping[str, Mapping[str, float]]) -> RenderableType:
    """The scores of each kind or role, the most frequent first."""
    ranked = sorted(found.items(), key=lambda pair: -pair[1]["true"])
    columns = list(ranked[0][1]) if ranked else []
    rows = [(name, *values.values(), terminal.Bar(values[columns[0]], 12)) for name, values in ranked]
    return terminal.table("", [what, *columns, ""], rows)
