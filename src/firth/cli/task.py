"""`firth task NAME`: trains a model for a task. `predict.py` has the commands that use such models.

The flags of a task come from three recipes: the task's network, its embedding (`--embedding-…`) and the training.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Group, RenderableType
from rich.text import Text

from firth.cli.flags import Checkpoint, Device, Force, Json, Log, Threads
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.cli.recipe_command import Command, lazy_group, recipe_command, recipe_flags
from firth.formats.registry import check_target, save
from firth.lazy import lazy_attributes
from firth.runtime import Runtime
from firth.show import terminal
from firth.show.cards import write_card
from firth.tasks.registry import TASKS
from firth.training.checkpoints import CONFIG

if TYPE_CHECKING:
    from firth.tasks.model import TaskModel

SOURCES = ("static", "elmo")  # fields of an embedding that the flag `--embedding` gives together
MEASURES = 2  # columns of scores in the table of epochs: more do not fit a narrow terminal
HELP = """Train a model for a task, on top of word vectors, ELMo or both.

For example:

    firth task sentiment --train sst5-train.txt --dev sst5-dev.txt --test sst5-test.txt --out model/
    firth task ner --train train.conll --dev dev.conll --embedding glove-en --out baseline/
    firth task NAME --help                         options and examples of a task
"""


def fit(
    *,
    train: Annotated[str, Parameter(help="Training examples.")],
    dev: Annotated[
        str | None, Parameter(help="Development examples. They select the best weights and stop the training early.")
    ] = None,
    test: Annotated[str | None, Parameter(help="Test examples. The trained model is scored on them.")] = None,
    embedding: Annotated[
        str, Parameter(help="Input of the network: word vectors, an ELMo model, both joined by +, or none.")
    ] = "glove-en+elmo-en",
    out: Annotated[str | None, Parameter(help="Output folder for the model.")] = None,
    network: Any,
    words: Any,
    training: Any,
    checkpoint: Checkpoint = None,
    log: Log = None,
    device: Device = "cpu",
    threads: Threads = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Trains a task's network on examples, scores it and writes the model and its card."""
    from firth.tasks import training as task_training
    from firth.tasks.inputs import Embedding

    if out is not None:
        check_target(out)
    sources = [] if embedding == "none" else embedding.split("+")
    check_outputs([out], [train, dev, test, *sources], force=force)
    check_outputs([log], [train, dev, test], force=True)  # a log is appended to
    options = {name: value for name, value in words.as_dict().items() if name not in SOURCES}
    inputs = Embedding(**options) if embedding == "none" else Embedding.of(embedding, **options)
    examples = {part: network.read(path) for part, path in (("train", train), ("dev", dev), ("test", test)) if path}
    runtime = Runtime.from_env(threads, device)
    is_resumed = checkpoint is not None and Path(checkpoint, CONFIG).is_file()
    with terminal.progress() as report:
        model = task_training.fit(
            network,
            inputs,
            examples["train"],
            examples.get("dev", ()),
            training,
            runtime=runtime,
            report=report,
            checkpoint=checkpoint,
            log=log,
        )
        if not runtime.is_main:
            return
        if "test" in examples:
            model.metadata["test"] = model.to(runtime.place).evaluate(examples["test"], report=report)
            model.to("cpu")
        if out is not None:
            save_with_card(model, Path(out))
    summary = {"out": out, **summarize(model), "resumed": is_resumed}
    values = {"out": out, "task": network.name, "training": summary, **describe(model)}
    ending = terminal.table("", ["", "value"], list(summary.items()))
    answer(values, Group(picture(model), ending), json, summary.items())


def summarize(model: "TaskModel") -> dict[str, Any]:
    """The loss, time and speed of the last epoch, and the scores of the best weights."""
    last = model.metadata["epochs"][-1]
    summary = {"loss": last["loss"], "seconds": last["seconds"], "words per second": last["words_per_second"]}
    parts = [(part, model.metadata[part]) for part in ("dev", "test") if model.metadata.get(part)]
    return summary | {f"{part} {name}": value for part, scores in parts for name, value in scores.items()}


def save_with_card(model: "TaskModel", folder: Path) -> None:
    """Writes a model and its card."""
    from firth.tasks.card import task_card

    save(model, folder)
    write_card(folder, task_card(folder.name, model))


def describe(model: "TaskModel") -> dict[str, Any]:
    """The options of a task's model, its size, and its metadata."""
    return {
        "options": model.task.as_dict(),
        "embedding": model.embedding.as_dict(),
        "parameters": model.learnt_numbers,
        **model.metadata,
    }


def picture(model: "TaskModel") -> RenderableType:
    """A training as tables: the epochs, the scores of the best weights, and the weights of ELMo's layers."""
    metadata = model.metadata
    names = list(metadata["epochs"][-1]["dev"])[:MEASURES]
    rows = [
        (
            epoch["epoch"],
            epoch["loss"],
            *(epoch["dev"][name] for name in names),
            f"{epoch['seconds']:.1f}",
            round(epoch["words_per_second"]),
        )
        for epoch in metadata["epochs"]
    ]
    parts: list[RenderableType] = [terminal.table("", ["epoch", "loss", *names, "seconds so far", "words/s"], rows)]
    scores = [(part, *metadata[part].values()) for part in ("dev", "test") if metadata.get(part)]
    if scores:
        measures = list(metadata["dev"] or metadata["test"])
        parts.append(terminal.table("best weights", ["examples", *measures], scores))
    for place, shares in metadata["layer_shares"].items():
        layers = [(f"layer {number}", share) for number, share in enumerate(shares)]
        parts.append(terminal.bars(f"ELMo at the {place}", layers, header=("", "share")))
    if metadata["layer_shares"]:
        parts.append(Text(f"{metadata['bilm_share']:.0%} of the time was spent in the biLM"))
    return Group(*parts)


def make_command(name: str) -> Command:
    """The command of one task."""
    from firth.tasks.inputs import Embedding
    from firth.tasks.training import Training, apply_defaults

    task = TASKS.find(name)
    embedding, training = (apply_defaults(task, recipe, {}) for recipe in (Embedding, Training))
    flags = {
        "network": recipe_flags(task, "Network", renamed={"letters": "language"}, aliases={"architecture": "network"}),
        "words": recipe_flags(Embedding, "Embedding", defaults=embedding, prefix="embedding-", hidden=SOURCES),
        "training": recipe_flags(Training, "Training", defaults=training),
    }
    return recipe_command(fit, flags)


task = lazy_group(__name__, HELP, TASKS)
__getattr__ = lazy_attributes(__name__, TASKS, make_command)
