"""Live curves: the losses and scores of a training, running or finished."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from nicegui import ui

from firth.explorer.answers.curves import TrainingCurves, read_curves
from firth.explorer.chart import draw_chart, format_level
from firth.explorer.markup import Markup, tag
from firth.explorer.models import TRAINING
from firth.explorer.problems import NoModel, NoSuchModel
from firth.explorer.visit import Visit
from firth.explorer.widgets import Panel, html, model_choice, notice, python_line, remembering, with_code
from firth.pretrained import shipped

EVERY = 2.0  # seconds between two looks at a folder


def draw_curves(visit: Visit, training: TrainingCurves) -> Markup:
    """A chart for each curve of at least two points, and the last value of each.

    >>> from firth.explorer.models import Models
    >>> draw_curves(Visit(Models(), "en", "/curves"), read_curves("word2vec-en")).count("<svg") > 0
    True
    """
    charts = []
    for name, points in training.curves.items():
        if len(points) < 2:
            continue
        head = tag(
            "div",
            tag("h2", name.replace("_", " "), dir="ltr"),
            tag("code", format_level(points[-1][1]), class_="shape"),
            class_="step-head",
        )
        charts.append(tag("div", head, draw_chart(points, name, training.axis), class_="card"))
    if not charts:
        return notice(visit.t("curves-none"), kind="empty")
    return tag("div", *charts, class_="columns charts")


def find_stamp(name: str) -> float:
    """When a training last wrote something.

    >>> find_stamp("word2vec-en") > 0
    True
    """
    path = Path(shipped.locate(name))
    files = [path, *path.iterdir()] if path.is_dir() else [path]
    return max(file.stat().st_mtime for file in files)


def list_trainings(visit: Visit) -> tuple[str, ...]:
    """The trainings given on the command line, then the models whose metadata has curves.

    >>> from firth.explorer.models import Models
    >>> list_trainings(Visit(Models(), "en", "/curves"))[0]
    'task-sentiment'
    """
    models = visit.models
    finished = [*models.of("task"), *models.of("word-vectors", "subword-vectors")]
    return (*models.of(TRAINING), *filter(has_curves, finished))


def has_curves(name: str) -> bool:
    """Whether a model of firth's own format tells how its training went.

    >>> has_curves("word2vec-en"), has_curves("elmo-en")
    (True, False)
    """
    config = Path(shipped.locate(name), "config.json")
    if not config.is_file():
        return False
    try:
        metadata = json.loads(config.read_bytes())["config"]["metadata"]
        return any(len(metadata.get(key) or ()) > 1 for key in ("loss", "epochs"))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):  # opening the model tells what is wrong
        return False


def choose_training(visit: Visit, names: Sequence[str]) -> str:
    """The training that the address names, or the first.

    >>> from firth.explorer.models import Models
    >>> choose_training(Visit(Models(), "en", "/curves"), ["word2vec-en"])
    'word2vec-en'
    """
    name = visit.get("model") or names[0]
    if name not in names:
        raise NoSuchModel(name, names, known=name in visit.models.names)
    return name


async def show(visit: Visit) -> None:
    """Draws the page."""
    names = list_trainings(visit)
    if not names:
        raise NoModel(("training",))
    name = choose_training(visit, names)

    async def refresh() -> None:
        await panel.fill(draw)

    with ui.element("div").classes("controls"):
        model_choice(visit, names, name, remembering(visit, "model", refresh), "curves-training")
    html(tag("p", with_code(visit.t("curves-how")), class_="note"))
    panel = Panel(visit)
    seen = [0.0]

    async def draw() -> None:
        chosen = choose_training(visit, names)
        seen[0] = find_stamp(chosen)
        training = await visit.compute(read_curves, chosen)
        if training.seconds:
            html(tag("p", visit.t("curves-seconds", seconds=f"{training.seconds:,.1f}"), class_="note"))
        html(draw_curves(visit, training))
        python_line(visit, "from firth.explorer.answers.curves import read_curves", f"read_curves({chosen!r}).curves")

    async def look() -> None:
        if find_stamp(choose_training(visit, names)) > seen[0]:
            await refresh()

    await panel.fill(draw)
    ui.timer(EVERY, look)
