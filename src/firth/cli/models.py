"""Commands that make, change, judge and use whole models."""

from collections.abc import Sized
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Group
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from firth.cli.flags import Json, Model, Target
from firth.cli.output import answer, load_vectors
from firth.errors import OptionError
from firth.evaluate.intrinsic import evaluate as evaluate_vectors
from firth.evaluate.score import Score
from firth.formats.native import TASK
from firth.formats.precision import reduce_vectors
from firth.formats.registry import FORMATS, load, save
from firth.pretrained import shipped
from firth.show import terminal
from firth.show.cards import card_of, model_card
from firth.show.notebook import format_bytes
from firth.vectors.words import WordVectors


def describe(model: Any) -> dict[str, Any]:
    """What a model is, in a few values."""
    values: dict[str, Any] = {"kind": type(model).__name__}
    if isinstance(model, Sized):
        values["words"] = len(model)
    if is_bilm(model):
        values |= {"dim": 2 * model.architecture.dim, "layers": model.architecture.layers + 1}
        values |= {"architecture": model.architecture.as_dict()}
    if isinstance(model, WordVectors):
        values |= {"dim": model.dim, "dtype": model.rows.dtype_name, "bytes": model.rows.nbytes}
    return values | {"metadata": dict(model.metadata)}


def models(*, json: Json = False) -> None:
    """The models that come with firth: each opens by its name, wherever a model is asked for.

    For example:

        firth models
        firth neighbors word2vec-en king
        firth predict ner "Elon Musk founded SpaceX."
        firth card elmo-en
    """
    columns = "name", "kind", "bytes", "about"
    found = [(name, shipped.kind(name), shipped.size(name), shipped.SHIPPED[name]) for name in shipped.available()]
    rows = [(name, kind, format_bytes(size), about) for name, kind, size, about in found]
    values = [dict(zip(columns, one)) for one in found]
    answer(values, terminal.table("", ["name", "kind", "size", "what it is"], rows), json)


def card(model: Model, /, *, json: Json = False) -> None:
    """The card of a model: what it was made from and how, how good it is, what may be done with it.

    For example:

        firth card word2vec-en
        firth card vectors/
    """
    written = card_of(Path(shipped.locate(model)))
    page = written.read_text(encoding="utf-8") if written.is_file() else made_card(model)
    answer({"model": model, "card": page}, Markdown(page.removeprefix("---\n").split("\n---\n", 1)[-1]), json)


def made_card(path: str) -> str:
    """The card of a model that has none written: what the model itself knows."""
    model = load(path)
    if getattr(model, "kind", None) == TASK:
        from firth.tasks.card import task_card

        return task_card(path, model)
    words = model.vocabulary or () if is_bilm(model) else model
    return model_card(path, len(words) if isinstance(words, Sized) else 0, getattr(model, "dim", None), model.metadata)


def info(model: Model, /, *, json: Json = False) -> None:
    """What a file is and what it holds.

    For example:

        firth info cc.fa.300.bin
        firth info vectors/ --json
    """
    loaded = load(model)
    answer(describe(loaded), loaded, json)


def convert(
    source: Model,
    target: Target,
    /,
    *,
    format: Annotated[str | None, Parameter(help=f"what to write: {', '.join(FORMATS)}; else by the name")] = None,
    limit: Annotated[int | None, Parameter(help="only the first so many words")] = None,
    vocabulary: Annotated[str | None, Parameter(help="only the words of this file, one a line")] = None,
    precision: Annotated[
        Literal["float16", "int8"] | None,
        Parameter(name=["--precision", "--dtype"], help="store the numbers of vectors or of a biLM smaller"),
    ] = None,
    json: Json = False,
) -> None:
    """One format into another.

    For example:

        firth convert GoogleNews-vectors-negative300.bin.gz vectors/
        firth convert glove.840B.300d.txt small.bin --format word2vec-binary --limit 100000
        firth convert vectors/ vectors-int8/ --precision int8
        firth convert bilm/ small-bilm/ --precision int8
    """
    with terminal.progress():
        model = load(source, limit=limit, vocabulary=vocabulary)
        if precision is not None and isinstance(model, WordVectors):
            model = reduce_vectors(model, precision)
        save(model, target, format=format, precision=precision)
    answer({"from": source, "to": target, **describe(model)}, Text(f"{target}: {model!r}"), json)


def is_bilm(model: object) -> bool:
    """Whether a model reads sentences in both directions; asked by its kind, so that torch stays away."""
    return getattr(model, "kind", None) == "bilm"


def evaluate(
    model: Model,
    sets: Annotated[
        list[str] | None, Parameter(help="names of test sets, or files of the same form; all if none")
    ] = None,
    /,
    *,
    case_sensitive: Annotated[bool, Parameter(negative="", help="do not treat Paris and paris as one word")] = False,
    restrict: Annotated[int, Parameter(help="answer analogies among the so many first words")] = 300_000,
    json: Json = False,
) -> None:
    """How good word vectors are: similarity, analogies, categories, each with its coverage.

    For example:

        firth evaluate vectors/
        firth evaluate vectors/ wordsim353 google my-pairs.tsv --json
    """
    vectors = load_vectors(model)
    with terminal.progress() as report:
        scores = evaluate_vectors(
            vectors, sets, case_insensitive=not case_sensitive, restrict_vocab=restrict, report=report
        )
    if not scores:
        raise OptionError(
            f"{model}: no test set has words of this vocabulary. Name a set, or a file of pairs or analogies"
        )
    columns = ["task", "set", "measure", "value", "95 % interval", "used", "of"]
    rows = [(one.task, one.name, one.metric, one.value, interval(one.interval), one.used, one.total) for one in scores]
    sections = [section_table(one) for one in scores if one.details.get("sections")]
    answer([one.as_dict() for one in scores], Group(terminal.table("", columns, rows), *sections), json)


def section_table(score: Score) -> Table:
    """The accuracy of analogies by section and group."""
    parts = {**score.details["sections"], **{f"all {name}": one for name, one in score.details["groups"].items()}}
    rows = [
        (name, one["accuracy"], terminal.Bar(one["accuracy"] or 0.0), one["used"], one["total"])
        for name, one in parts.items()
    ]
    return terminal.table(f"{score.name}, {score.metric}", ["section", "accuracy", "", "used", "of"], rows)


def interval(bounds: tuple[float, float] | None) -> str:
    """An interval as text."""
    return "–" if bounds is None else f"{bounds[0]:.3f} … {bounds[1]:.3f}"
