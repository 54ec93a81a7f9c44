"""`firth task NAME` learns a task from examples; `asking.py` has the commands that use what comes out of it.

The flags of a task are made of three recipes: its network's, its words' (`--embedding-…`) and its training's.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from rich.console import Group, RenderableType
from rich.text import Text

from firth.cli.flags import Device, Json, Threads
from firth.cli.output import answer
from firth.cli.recipe_flags import flags_of, plain
from firth.formats.registry import check_target, save
from firth.options import Recipe
from firth.runtime import Runtime
from firth.show import terminal
from firth.show.cards import write_card

if TYPE_CHECKING:
    from firth.tasks.inputs import Embedding
    from firth.tasks.model import TaskModel

USUAL_WORDS = "glove-en+elmo-en"
SOURCES = ("static", "elmo")  # fields of an embedding that are given together, as `--embedding`
MEASURES = 2  # that have a column in the table of epochs: more leave no room on a narrow screen
ANNOTATIONS: dict[str, Any] = {
    "train": Annotated[str, Parameter(help="the examples to learn from")],
    "dev": Annotated[str | None, Parameter(help="examples that tell when to stop and which weights are the best")],
    "test": Annotated[str | None, Parameter(help="examples that the result is judged by")],
    "embedding": Annotated[
        str, Parameter(help="what words become: word vectors, an ELMo model, or both joined by +; or none")
    ],
    "out": Annotated[str | None, Parameter(help="the folder that the model goes to")],
    "checkpoint": Annotated[
        str | None, Parameter(help="a folder that keeps the state: a run that was stopped goes on where it was")
    ],
    "log": Annotated[str | None, Parameter(help="a file that grows with the training, a line of JSON now and then")],
    "device": Device,
    "threads": Threads,
    "json": Json,
    "return": None,
}
OPTIONAL = "dev", "test", "out", "checkpoint", "log", "threads"
DEFAULTS: dict[str, Any] = dict.fromkeys(OPTIONAL) | {"embedding": USUAL_WORDS, "device": "cpu", "json": False}
HELP = """Learn a task from examples, on top of word vectors, ELMo or both.

For example:

    firth task sentiment --train sst5-train.txt --dev sst5-dev.txt --test sst5-test.txt --out model/
    firth task ner --train train.conll --dev dev.conll --embedding glove-en --out baseline/
    firth task NAME --help                         examples and options of a task
"""
EXAMPLES = {
    "sentiment": """Good or bad, and how much: texts with labels, or the trees of the Stanford Sentiment Treebank.

    For example:

        firth task sentiment --train sst5-train.txt --dev sst5-dev.txt --test sst5-test.txt --out model/
        firth task sentiment --train train.txt --dev dev.txt --classes 2 --network plain --embedding glove-en
        firth task sentiment --train train.txt --dev dev.txt --embedding-at output --embedding-layers top
    """,
    "entailment": """Does one sentence follow from another, contradict it, or neither: pairs as in SNLI.

    For example:

        firth task entailment --train snli-train.jsonl --dev snli-dev.jsonl --out model/
        firth task entailment --train train.tsv --dev dev.tsv --network decomposable --embedding glove-en
    """,
    "ner": """The names of people, places and other things: words and tags in columns, as in CoNLL-2003.

    For example:

        firth task ner --train train.conll --dev dev.conll --test test.conll --out model/
        firth task ner --train train.conll --dev dev.conll --embedding glove-en --embedding-characters 128
    """,
    "srl": """Who did what to whom: the arguments of predicates, in the columns of CoNLL-2005 and CoNLL-2012.

    For example:

        firth task srl --train ewt-train.conll.xz --dev ewt-dev.conll.xz --out model/
        firth task srl --train train.conll --dev dev.conll --layers 4 --hidden 100 --patience 10
    """,
    "coref": """Which words speak of the same thing: documents in the columns of CoNLL-2012.

    For example:

        firth task coref --train train.conll --dev dev.conll --out model/
        firth task coref --train litbank-conll.tar.xz:train --dev litbank-conll.tar.xz:dev --device cuda
    """,
    "qa": """Where in a passage stands the answer to a question: SQuAD 1.1.

    For example:

        firth task qa --train squad-train.json.xz --dev squad-dev.json.xz --device cuda --out model/
    """,
    "seq2seq": """One text from another, word by word, by an encoder and a decoder that attends to it.

    For example:

        firth task seq2seq --train pairs.tsv --dev dev.tsv --out model/
    """,
}


def recipes(name: str) -> dict[str, type[Recipe]]:
    """The recipes whose fields are a task's flags, with the defaults that the task is used to."""
    from firth.tasks.inputs import Embedding
    from firth.tasks.registry import find_task
    from firth.tasks.training import Training, apply_defaults

    kind = find_task(name)
    return {
        "network": flags_of(kind, {}, "", "Network"),
        "words": flags_of(Embedding, apply_defaults(kind, Embedding, {}), "embedding-", "Words", hidden=SOURCES),
        "training": flags_of(Training, apply_defaults(kind, Training, {}), "", "Training"),
    }


def trainer(name: str) -> Callable[..., None]:
    """The command that learns one task."""
    flags = recipes(name)

    def learn(
        *,
        train: Any,
        dev: Any,
        test: Any,
        embedding: Any,
        out: Any,
        network: Any,
        words: Any,
        training: Any,
        checkpoint: Any,
        log: Any,
        device: Any,
        threads: Any,
        json: Any,
    ) -> None:
        from firth.tasks.training import fit

        if out is not None:
            check_target(out)
        chosen = chosen_words(embedding, words)
        given = {part: network.read(path) for part, path in (("train", train), ("dev", dev), ("test", test)) if path}
        runtime = Runtime.from_env(threads, device)
        with terminal.progress() as report:
            model = fit(
                plain(network),
                chosen,
                given["train"],
                given.get("dev", ()),
                plain(training),
                runtime=runtime,
                report=report,
                checkpoint=checkpoint,
                log=log,
            )
            if "test" in given:
                model.metadata["test"] = model.to(runtime.place).evaluate(given["test"], report=report)
                model.to("cpu")
            if out is not None:
                keep(model, Path(out))
        answer({"out": out, "task": name, **describe(model)}, picture(model), json)

    learn.__name__ = name
    learn.__doc__ = EXAMPLES[name]
    learn.__annotations__ = {
        **ANNOTATIONS,
        **{part: Annotated[recipe, Parameter(name="*")] for part, recipe in flags.items()},
    }
    learn.__kwdefaults__ = DEFAULTS | {part: recipe() for part, recipe in flags.items()}
    return learn


def chosen_words(name: str, words: Any) -> "Embedding":
    """The embedding that `--embedding` names, with the options of the other flags; `none` has no model."""
    from firth.tasks.inputs import Embedding

    options = {key: value for key, value in words.as_dict().items() if key not in SOURCES}
    return Embedding(**options) if name == "none" else Embedding.of(name, **options)


def keep(model: "TaskModel", folder: Path) -> None:
    """Writes a model with its card."""
    from firth.tasks.card import task_card

    save(model, folder)
    write_card(folder, task_card(folder.name, model))


def describe(model: "TaskModel") -> dict[str, Any]:
    """What a task's model is and how well it did, in a few values."""
    return {
        "options": model.task.as_dict(),
        "embedding": model.embedding.as_dict(),
        "parameters": model.learnt_numbers,
        **model.metadata,
    }


def picture(model: "TaskModel") -> RenderableType:
    """How a training went: a line an epoch, the scores, the layers of ELMo, and the speed."""
    told = model.metadata
    names = list(told["epochs"][-1]["dev"])[:MEASURES]
    rows = [
        (
            line["epoch"],
            line["loss"],
            *(line["dev"][name] for name in names),
            f"{line['seconds']:.1f}",
            round(line["words_per_second"]),
        )
        for line in told["epochs"]
    ]
    parts: list[RenderableType] = [terminal.table("", ["epoch", "loss", *names, "seconds so far", "words/s"], rows)]
    scores = [(part, *told[part].values()) for part in ("dev", "test") if told.get(part)]
    if scores:
        measures = list(told["dev"] or told["test"])
        parts.append(terminal.table("best weights", ["examples", *measures], scores))
    for place, shares in told["layer_shares"].items():
        layers = [(f"layer {number}", share) for number, share in enumerate(shares)]
        parts.append(terminal.bars(f"ELMo at the {place}", layers, header=("", "share")))
    if told["layer_shares"]:
        parts.append(Text(f"{told['bilm_share']:.0%} of the time was spent in the biLM"))
    return Group(*parts)


def build() -> App:
    """`firth task` with a command for each task; a task's file is imported when its command is called."""
    from firth.tasks.registry import TASKS

    app = App(name="task", help=HELP, help_format="markdown")
    for name in TASKS:
        app.command(f"{__name__}:{name}", name=name)
    return app


def __getattr__(name: str) -> Callable[..., None]:
    from firth.tasks.registry import TASKS

    if name not in TASKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return trainer(name)


task = build()
