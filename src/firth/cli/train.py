"""`firth train RECIPE`: one command per recipe, whose flags are the recipe's fields."""

import inspect
from collections.abc import Mapping, Sized
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from firth.cli.flags import Checkpoint, CorpusOptions, Device, Force, Inputs, Json, Log, Read, Target
from firth.cli.loading import is_bilm, load_vectors
from firth.cli.models import describe
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.cli.recipe_command import command_help, recipe_command, recipe_flags
from firth.errors import OptionError
from firth.formats.registry import check_target, load, save
from firth.models.classifier import FastTextClassifier
from firth.models.elmo import Elmo
from firth.models.recipes import RECIPES
from firth.runtime import Runtime
from firth.show import terminal
from firth.show.cards import model_card, write_card
from firth.show.curves import draw_curves

HELP = """Train a model on text.

For example:

    firth train word2vec corpus.txt --out vectors/
    firth train --recipe my.toml corpus.txt --out vectors/      # name = "word2vec", dim = 300, …
"""
EXTRAS = "checkpoint", "start", "held_out", "log"  # flags of the recipes whose fit() takes them
Start = Annotated[
    str | None,
    Parameter(help="Model to continue training from. Its words keep their vectors; new words are added."),
]
HeldOut = Annotated[str | None, Parameter(help="Held-out text. Its loss is computed after every epoch.")]


def fit(
    inputs: Inputs,
    /,
    *,
    out: Target,
    recipe: Any,
    reading: Read = CorpusOptions(),
    checkpoint: Checkpoint = None,
    start: Start = None,
    held_out: HeldOut = None,
    log: Log = None,
    device: Device = "cpu",
    force: Force = False,
    json: Json = False,
) -> None:
    """Trains a recipe on a corpus and writes the model, its card and its training curves."""
    check_target(out)
    check_outputs([out], [*inputs, start, held_out], force=force)
    check_outputs([log], [*inputs, start, held_out], force=True)  # a log is appended to
    if isinstance(recipe, FastTextClassifier):
        reading = replace(reading, tokens="whitespace")  # labeled lines are split at white space, as fastText does
    load_start = load_bilm if isinstance(recipe, Elmo) else load_vectors
    extras = {
        "checkpoint": checkpoint,
        "start": None if start is None else load_start(start),
        "held_out": None if held_out is None else reading.corpus([held_out]),
        "log": log,
    }
    extras = {name: value for name, value in extras.items() if name in inspect.signature(recipe.fit).parameters}
    with terminal.progress() as report:
        runtime = Runtime.from_env(reading.threads, device)
        artifact = recipe.fit(reading.corpus(inputs), runtime=runtime, report=report, **extras)
        if not runtime.is_main:
            return
        save(artifact, out)
    words = len(artifact) if isinstance(artifact, Sized) else len(artifact.vocabulary)
    page = model_card(Path(out).name, words, getattr(artifact, "dim", None), artifact.metadata)
    card = write_card(Path(out), page)
    write_curves(Path(out), artifact.metadata)
    name = next(name for name, known in RECIPES.items() if type(recipe) is known)
    values = {"out": out, "card": str(card), "model": name, "recipe": recipe.as_dict(), **describe(artifact)}
    answer(values, artifact, json)


def load_bilm(path: str) -> Any:
    """The biLM in a file or folder; another kind of model is an error."""
    model = load(path)
    if not is_bilm(model):
        raise OptionError(f"{path}: contains a {type(model).__name__}, but ELMo training continues from an ELMo model")
    return model


def write_curves(out: Path, metadata: Mapping[str, Any]) -> None:
    """Draws the training curves into a model's folder, if the model has them."""
    if out.is_dir() and metadata.get("curve"):
        evaluations = metadata.get("held_out", {}).get("looks", ())
        (out / "curves.svg").write_text(draw_curves(metadata["curve"], evaluations), encoding="utf-8")


def build() -> App:
    """`firth train` with a command per recipe."""
    app = App(name="train", help=HELP, help_format="markdown")
    for name, recipe in RECIPES.items():
        known = inspect.signature(recipe.fit).parameters  # type: ignore[attr-defined]
        without = [extra for extra in EXTRAS if extra not in known] + ([] if recipe.on_gpu else ["device"])
        flags = recipe_flags(recipe, "Recipe")
        place = f"{recipe.__module__}:{recipe.__name__}"
        command = recipe_command(fit, {"recipe": flags}, without=without)
        app.command(command, name=name, help=command_help(place))
    return app


train = build()
