"""`firth train RECIPE`: one command per recipe, whose flags are the recipe's fields."""

import inspect
import time
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Group

from firth.cli.flags import (
    Checkpoint,
    ClusterOptions,
    CorpusOptions,
    Device,
    Force,
    Inputs,
    Json,
    LabeledLinesOptions,
    Log,
    OnCluster,
    Read,
    Target,
)
from firth.cli.glove_files import GloveFiles
from firth.cli.loading import is_bilm, load_vectors
from firth.cli.models import describe
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.cli.recipe_command import command_help, recipe_command, recipe_flags
from firth.errors import OptionError
from firth.files import atomic_file, is_folder
from firth.formats.registry import check_target, load, save
from firth.models.autotune import Autotune
from firth.models.classifier import FastTextClassifier
from firth.models.doc2vec import Doc2Vec
from firth.models.elmo import Elmo
from firth.models.glove import Glove
from firth.models.recipes import RECIPES
from firth.progress import Progress, Report
from firth.remote.addresses import address_of
from firth.runtime import Runtime
from firth.show import terminal
from firth.show.cards import card_of, is_card, model_card, write_card
from firth.show.curves import draw_curves
from firth.text.vocabulary import read_counts
from firth.training.checkpoints import CONFIG, SAVE_SECONDS

HELP = """Train a model on text.

For example:

    firth train word2vec corpus.txt --out vectors/
    firth train --recipe my.toml corpus.txt --out vectors/      # name = "word2vec", dim = 300, …
"""
EXTRAS = "checkpoint", "checkpoint_seconds", "start", "vocabulary", "held_out", "log"  # flags if fit() takes them
ON_CLUSTERS = "counts", "ngram", "word2vec", "glove", "fasttext", "phrases", "segmenter"
Start = Annotated[
    str | None,
    Parameter(
        name=["--start", "--pretrained-vectors"],
        help="Model or vectors to continue training from. Its words keep their vectors; new words are added.",
    ),
]
CheckpointSeconds = Annotated[
    float, Parameter(help="Seconds between checkpoints. Saving takes at most 5 % of the time, so it may be longer.")
]
WordCounts = Annotated[
    str | None,
    Parameter(help="Train only the words in this file: one per line, or a word, a tab and its count."),
]
HeldOut = Annotated[str | None, Parameter(help="Held-out text. Its loss is computed after every epoch.")]


def fit(
    inputs: Inputs,
    /,
    *,
    out: Target,
    recipe: Any,
    autotune: Any = None,
    raw: Any = None,
    reading: Read = CorpusOptions(),
    checkpoint: Checkpoint = None,
    checkpoint_seconds: CheckpointSeconds = SAVE_SECONDS,
    start: Start = None,
    vocabulary: WordCounts = None,
    held_out: HeldOut = None,
    log: Log = None,
    device: Device = "cpu",
    cluster: OnCluster = ClusterOptions(),
    force: Force = False,
    json: Json = False,
) -> None:
    """Trains a recipe on a corpus and writes the model, its card and its training curves."""
    check_target(out)
    validation = None if autotune is None else autotune.validation
    check_outputs([out], [*inputs, start, vocabulary, held_out, validation], force=force)
    if Path(out).suffix:  # a file has its card beside it
        beside = card_of(Path(out))
        check_outputs([beside], [*inputs, start, vocabulary, held_out], force=force or is_card(beside))
    if raw is not None:
        check_outputs(raw.outputs, [*inputs, *raw.inputs], force=force)
    check_outputs([log], [*inputs, start, vocabulary, held_out], force=True)  # a log is appended to
    if validation is not None and held_out is not None:
        raise OptionError("--held-out and --autotune-validation exclude each other. Score the model afterwards")
    load_start = load_bilm if isinstance(recipe, Elmo) else load_vectors
    extras = {
        "checkpoint": checkpoint,
        "checkpoint_seconds": checkpoint_seconds,
        "vocabulary": None if vocabulary is None else read_counts(vocabulary),
        "start": None if start is None else load_start(start),
        "held_out": None if held_out is None else reading.corpus([held_out]),
        "log": log,
    }
    extras = {name: value for name, value in extras.items() if name in inspect.signature(recipe.fit).parameters}
    is_resumed = checkpoint is not None and Path(checkpoint, CONFIG).is_file()
    with terminal.progress() as report:
        clock = TrainingClock(report)
        runtime = cluster.connect(reading.threads, device, inputs) or Runtime.from_env(reading.threads, device)
        if raw is not None and raw.is_used:
            artifact = raw.fit(recipe, reading.corpus(inputs), runtime, clock, checkpoint)
        elif validation is None:
            artifact = recipe.fit(reading.corpus(inputs), runtime=runtime, report=clock, **extras)
        else:
            kept = {name: extras[name] for name in ("checkpoint", "start")}
            artifact = autotune.fit(recipe, reading.corpus(inputs), runtime=runtime, report=clock, **kept)
            recipe = type(recipe).from_dict(without_name(artifact.metadata["recipe"]))
        if not runtime.is_main:
            return
        save(artifact, out)
        runtime.forget_results()
    words = len(artifact) if isinstance(artifact, Sized) else len(artifact.vocabulary)
    page = model_card(Path(out).name, words, getattr(artifact, "dim", None), artifact.metadata)
    card = write_card(Path(out), page)
    write_curves(Path(out), artifact.metadata)
    name = next(name for name, known in RECIPES.items() if type(recipe) is known)
    summary = {"loss": final_loss(artifact.metadata), **clock.summarize(is_resumed), "resumed": is_resumed}
    if validation is not None:
        summary |= {name: artifact.metadata["autotune"][name] for name in ("metric", "score")}
    values = {
        "out": out,
        "card": address_of(card) or str(card),
        "model": name,
        "training": summary,
        "recipe": recipe.as_dict(),
    }
    values |= describe(artifact)
    lines = {"out": out, **{name: value for name, value in summary.items() if value is not None}}
    answer(values, Group(artifact, terminal.table("", ["", "value"], list(lines.items()))), json, lines.items())


def without_name(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a recipe as metadata has them, without the name of the recipe.

    >>> without_name({"name": "word2vec", "dim": 100})
    {'dim': 100}
    """
    return {option: value for option, value in recipe.items() if option != "name"}


class TrainingClock:
    """Passes reports on, and measures the time and the speed of the training."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.begin = self.before = time.perf_counter()  # of everything, and of the training
        self.reports: list[tuple[float, Progress]] = []  # the first and the last of the training, with their times

    def __call__(self, now: Progress) -> None:
        """Passes a report on."""
        clock = time.perf_counter()
        if now.step == "training":
            self.reports = [*self.reports[:1], (clock, now)]
        elif not self.reports:
            self.before = clock
        self.report(now)

    def summarize(self, is_resumed: bool) -> dict[str, Any]:
        """The seconds of everything, and the words, tokens or pairs per second of the training."""
        summary: dict[str, Any] = {"seconds": round(time.perf_counter() - self.begin, 3)}
        if not self.reports:
            return summary
        (start, first), (end, last) = self.reports[0], self.reports[-1]
        done = last.done
        if is_resumed:  # what was done before the first report is unknown
            done -= first.done
        else:
            start = self.before
        if done > 0 and end > start:
            summary[f"{last.unit} per second"] = round(done / (end - start))
        return summary


def final_loss(metadata: Mapping[str, Any]) -> float | None:
    """The training loss at the end, or None if the model has none.

    >>> final_loss({"loss": [3.5, 2.5]}), final_loss({"curve": [{"loss": 4.0}]}), final_loss({})
    (2.5, 4.0, None)
    """
    if metadata.get("loss"):
        return float(metadata["loss"][-1])
    curve = metadata.get("curve")
    return float(curve[-1]["loss"]) if curve else None


def load_bilm(path: str) -> Any:
    """The biLM in a file or folder; another kind of model is an error."""
    model = load(path)
    if not is_bilm(model):
        raise OptionError(f"{path}: contains a {type(model).__name__}, but ELMo training continues from an ELMo model")
    return model


def write_curves(out: Path, metadata: Mapping[str, Any]) -> None:
    """Draws the training curves into a model's folder, if the model has them."""
    if metadata.get("curve") and is_folder(out):
        evaluations = metadata.get("held_out", {}).get("looks", ())
        with atomic_file(out / "curves.svg") as draft:
            draft.write_text(draw_curves(metadata["curve"], evaluations), encoding="utf-8")


def build() -> App:
    """`firth train` with a command per recipe."""
    app = App(name="train", help=HELP, help_format="markdown")
    for name, recipe in RECIPES.items():
        known = inspect.signature(recipe.fit).parameters  # type: ignore[attr-defined]
        without = [extra for extra in EXTRAS if extra not in known] + ([] if recipe.on_gpu else ["device"])
        without += [] if getattr(recipe, "has_word_choice", False) else ["vocabulary"]
        without += [] if name in ON_CLUSTERS else ["cluster"]
        flags = {"recipe": recipe_flags(recipe, "Recipe")}
        if recipe is Doc2Vec:
            flags["reading"] = recipe_flags(CorpusOptions, "Text", defaults={"documents": "line"})
        if recipe is FastTextClassifier:
            flags["reading"] = recipe_flags(LabeledLinesOptions, "Text")
            flags["autotune"] = recipe_flags(Autotune, "Autotune", prefix="autotune-")
        else:
            without.append("autotune")
        if recipe is Glove:
            flags["raw"] = recipe_flags(GloveFiles, "Files of the original GloVe")
        else:
            without.append("raw")
        place = f"{recipe.__module__}:{recipe.__name__}"
        command = recipe_command(fit, flags, without=without)
        app.command(command, name=name, help=command_help(place))
    return app


train = build()
