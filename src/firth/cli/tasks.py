"""`firth task NAME` learns a task from examples; `firth predict` and `firth test` use what came out of it.

The flags of a task are made of three recipes: its network's, its words' (`--embedding-…`) and its training's.
"""

import dataclasses
import json as json_module
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.console import Group, RenderableType
from rich.text import Text

from firth import show
from firth.card import write_card
from firth.cli.answer import answer
from firth.cli.flags import Json, given_lines
from firth.cli.labels import K, Threshold
from firth.cli.labels import examine as examine_classifier
from firth.cli.labels import predict as predict_labels
from firth.errors import OptionError
from firth.formats import native
from firth.formats.catalogue import check_target, save
from firth.options import Recipe
from firth.pretrained.shipped import of_task
from firth.runtime import Runtime

if TYPE_CHECKING:
    from firth.tasks.model import TaskModel

USUAL_WORDS = "glove-en+elmo-en"
MANY = 64  # texts that are worth more than one thread
PARTED = {"by_kind": "kind", "by_role": "role"}  # methods of tasks whose scores can be told apart
Model = Annotated[str, Parameter(help="the name of a task, the folder of a task's model, or a fastText classifier")]
Moved = Annotated[str | None, Parameter(help="where the vectors and the biLM of a task's model lie now")]
Device = Annotated[Literal["cpu", "cuda"], Parameter(help="where it runs; cuda is an NVIDIA GPU")]
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
    "threads": Annotated[int | None, Parameter(help="how many threads; as many as there are cores if not given")],
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
    from firth.tasks.catalogue import task_named
    from firth.tasks.inputs import Embedding
    from firth.tasks.training import Training, usual

    kind = task_named(name)
    return {
        "network": flags_of(kind, {}, "", "Network"),
        "words": flags_of(Embedding, usual(kind, Embedding, {}), "embedding-", "Words"),
        "training": flags_of(Training, usual(kind, Training, {}), "", "Training"),
    }


def flags_of(recipe: type[Recipe], defaults: Mapping[str, Any], prefix: str, group: str) -> type[Recipe]:
    """A recipe whose fields are flags with a prefix, and which has other defaults; the names of models are left out."""
    kinds = typing.get_type_hints(recipe)
    fields = []
    for field in dataclasses.fields(recipe):
        names = [prefix + field.name.replace("_", "-")]
        if field.name == "architecture":
            names.append("network")
        shown = field.name not in ("static", "elmo")
        parameter = Parameter(name=names, group=group, show=shown, parse=shown, consume_multiple=True)
        default = defaults.get(field.name, field.default)
        changed = dataclasses.field(default=default, metadata=field.metadata)
        fields.append((field.name, Annotated[kinds[field.name], parameter], changed))
    space = {"__module__": __name__, "__doc__": recipe.__doc__}
    return dataclasses.make_dataclass(recipe.__name__, fields, bases=(recipe,), frozen=True, namespace=space)


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
        from firth.tasks.card import task_card
        from firth.tasks.inputs import Embedding
        from firth.tasks.training import fit

        if out is not None:
            check_target(out)
        options = {key: value for key, value in words.as_dict().items() if key not in ("static", "elmo")}
        chosen = Embedding(**options) if embedding == "none" else Embedding.of(embedding, **options)
        given = {part: network.read(path) for part, path in (("train", train), ("dev", dev), ("test", test)) if path}
        runtime = Runtime.from_env(threads, device)
        with show.progress() as report:
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
                save(model, out)
                write_card(Path(out), task_card(Path(out).name, model))
        answer({"out": out, "task": name, **describe(model)}, picture(model), json)

    learn.__name__ = name
    learn.__doc__ = EXAMPLES[name]
    learn.__annotations__ = {
        **ANNOTATIONS,
        **{part: Annotated[recipe, Parameter(name="*")] for part, recipe in flags.items()},
    }
    learn.__kwdefaults__ = DEFAULTS | {part: recipe() for part, recipe in flags.items()}
    return learn


def plain(recipe: Any) -> Any:
    """The recipe itself, without what made flags of its fields."""
    made: Any = type(recipe).__bases__[0]
    return made.from_dict(recipe.as_dict())


def describe(model: "TaskModel") -> dict[str, Any]:
    """What a task's model is and how well it did, in a few values."""
    return {
        "options": model.task.as_dict(),
        "embedding": model.embedding.as_dict(),
        "parameters": sum(tensor.numel() for tensor in model.state().values()),
        **model.metadata,
    }


def picture(model: "TaskModel") -> RenderableType:
    """How a training went: a line an epoch, the scores, the layers of ELMo, and the speed."""
    told = model.metadata
    names = list(told["epochs"][-1]["dev"])
    rows = [
        (line["epoch"], line["loss"], *line["dev"].values(), round(line["seconds"], 1), round(line["words_per_second"]))
        for line in told["epochs"]
    ]
    parts: list[RenderableType] = [show.table("", ["epoch", "loss", *names, "seconds", "words/s"], rows)]
    scores = [(part, *told[part].values()) for part in ("dev", "test") if told.get(part)]
    if scores:
        measures = list(told["dev"] or told["test"])
        parts.append(show.table("best weights", ["examples", *measures], scores))
    for place, shares in told["layer_shares"].items():
        layers = [(f"layer {number}", share) for number, share in enumerate(shares)]
        parts.append(show.bars(f"ELMo at the {place}", layers, header=("", "share")))
    if told["layer_shares"]:
        parts.append(Text(f"{told['bilm_share']:.0%} of the time was spent in the biLM"))
    return Group(*parts)


def is_task(name: str) -> bool:
    """Whether a name stands for a task's model, and not for a classifier of fastText; torch is not needed for it."""
    from firth.tasks.catalogue import TASKS

    config = Path(of_task(name), native.CONFIG)
    if config.is_file():
        return bool(json_module.loads(config.read_bytes()).get("kind") == native.TASK)
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
    from firth.tasks.pictures import drawn
    from firth.tasks.training import threads

    lines = given_lines(texts)
    with threads(1 if len(lines) < MANY else Runtime.from_env().threads):  # a few texts are no work to share
        answering = opened(model, embedding, device)
        task, examples = answering.task, answering.task.ask(*lines)
        pairs = list(zip(examples, answering.predict(examples)))
    picture = () if json else (drawn(task, *pair) for pair in pairs)
    answer([task.tell(*pair) for pair in pairs], Group(*picture), json)


def examine(
    model: Model,
    file: Annotated[str, Parameter(help="examples of the task, or labelled lines")],
    /,
    *,
    embedding: Moved = None,
    device: Device = "cpu",
    k: K = 1,
    threshold: Threshold = 0.0,
    json: Json = False,
) -> None:
    """How good a task's model is on examples, or a fastText classifier on labelled lines.

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
    with show.progress() as report:
        answers = judged.predict(examples, report=report)
    scores = judged.task.score(examples, answers)
    parts = {name: getattr(judged.task, name)(examples, answers) for name in PARTED if hasattr(judged.task, name)}
    values = {"task": judged.task.name, "examples": len(examples), "scores": scores, **parts}
    tables = [show.table(f"{len(examples):,} examples", ["measure", "value"], list(scores.items()))]
    answer(values, Group(*tables, *(parts_table(PARTED[name], found) for name, found in parts.items())), json)


def parts_table(what: str, found: Mapping[str, Mapping[str, float]]) -> RenderableType:
    """The scores of each kind or role, the most frequent first."""
    ranked = sorted(found.items(), key=lambda pair: -pair[1]["true"])
    columns = list(ranked[0][1]) if ranked else []
    rows = [(name, *values.values(), show.Bar(values[columns[0]], 12)) for name, values in ranked]
    return show.table("", [what, *columns, ""], rows)


def build() -> App:
    """`firth task` with a command for each task; a task's file is imported when its command is called."""
    from firth.tasks.catalogue import TASKS

    app = App(name="task", help=HELP, help_format="markdown")
    for name in TASKS:
        app.command(f"{__name__}:{name}", name=name)
    return app


def __getattr__(name: str) -> Callable[..., None]:
    from firth.tasks.catalogue import TASKS

    if name not in TASKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return trainer(name)


task = build()
