"""Training, seen: one window slides over a small text, and each step shows its words, its numbers and its loss."""

from __future__ import annotations

from functools import partial

import numpy as np
from nicegui import ui

from firth.explorer.answers.lesson import ALGORITHMS, MOST_STEPS, Lesson, LessonStep, take_lesson
from firth.explorer.chart import draw_chart
from firth.explorer.markup import Markup, join, tag
from firth.explorer.strips import draw_strip
from firth.explorer.visit import ADDRESS, Visit
from firth.explorer.widgets import Panel, button, html, notice, python_line, remembering, slider, tabs, text_area

ENGLISH = "The king drinks tea .\nThe queen drinks coffee .\nThe dog drinks water .\nThe cat drinks milk ."
PERSIAN = "شاه چای می‌نوشد .\nملکه قهوه می‌نوشد .\nسگ آب می‌نوشد .\nگربه شیر می‌نوشد ."
SMOOTH = 50  # steps of the mean in the curve of the loss
FASTEST = 0.5  # largest learning rate: at 1 the loss of skip-gram goes to infinity
ROWS = 40  # of a matrix that a page shows


def draw_text(lesson: Lesson) -> Markup:
    """The text with the center and the contexts of the last step.

    >>> draw_text(take_lesson("cbow", "tea is hot", 2)).count('class="context"')
    2
    """
    step = lesson.last
    parts: list[object] = []
    for place, word in enumerate(lesson.words):
        kind = None
        if step is not None:
            kind = "center" if place == step.center else "context" if place in step.contexts else None
        parts += [tag("span", word, class_=kind), " "]
    return tag("p", *parts, class_="running window", dir="auto")


def draw_predictions(visit: Visit, algorithm: str, step: LessonStep) -> Markup:
    """What the step predicted, what it should be, and the loss.

    >>> from firth.explorer.models import Models
    >>> step = take_lesson("cbow", "tea is hot", 1).last
    >>> assert step is not None
    >>> "σ = 0.500" in draw_predictions(Visit(Models(), "en", "/training"), "cbow", step)
    True
    """
    keys = ("word", "training-wanted", "training-score", "training-found")
    rows = [tag("tr", *(tag("th", visit.t(key), scope="col") for key in keys))]
    for one in step.predictions:
        wanted = (
            f"{one.wanted:.2f}" if algorithm == "glove" else visit.t("training-yes" if one.wanted else "training-no")
        )
        found = f"{one.found:.2f}" if algorithm == "glove" else f"σ = {one.found:.3f}"
        cells = [tag("td", text, dir="auto", class_="number") for text in (wanted, f"{one.score:.3f}", found)]
        rows.append(
            tag("tr", tag("th", tag("bdi", one.word), scope="row", class_="good" if one.wanted else None), *cells)
        )
    inputs = tag("p", visit.t("training-inputs"), ": ", *(tag("bdi", name, class_="chip") for name in step.inputs))
    loss = tag("p", visit.t("training-loss", loss=f"{step.loss:.4f}"), class_="verdict")
    return join(inputs, tag("table", *rows, class_="ratios narrow"), loss)


def draw_matrix(title: str, names: tuple[str, ...], values: np.ndarray, changed: set[str]) -> Markup:
    """A matrix as strips, one row for each name; rows that the last step changed are marked.

    >>> draw_matrix("W", ("tea",), np.ones((1, 2)), {"tea"}).count("<tr>")
    1
    """
    rows = [
        tag("tr", tag("th", tag("bdi", name), scope="row", class_="changed" if name in changed else None),
            tag("td", draw_strip(row, name, height=16)))
        for name, row in list(zip(names, values))[:ROWS]
    ]  # fmt: skip
    shape = tag("code", f"{len(names)} × {values.shape[1]}", class_="shape", dir="ltr")
    return tag(
        "div",
        tag("div", tag("h2", title), shape, class_="step-head"),
        tag("table", *rows, class_="rows"),
        class_="card",
    )


def draw_losses(visit: Visit, losses: list[float]) -> Markup:
    """The mean loss of the last steps, by step.

    >>> from firth.explorer.models import Models
    >>> draw_losses(Visit(Models(), "en", "/training"), [3.0, 2.0]).count("<polyline")
    1
    """
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    starts = [max(0, end - SMOOTH) for end in range(1, len(sums))]
    means = [(sums[end] - sums[start]) / (end - start) for end, start in enumerate(starts, 1)]
    stride = max(1, len(means) // 300)
    points = [(float(step), float(mean)) for step, mean in list(enumerate(means, 1))[::stride]]
    title = tag("h2", visit.t("training-curve"))
    return tag("div", title, draw_chart(points, visit.t("training-curve")), class_="card")


async def show(visit: Visit) -> None:
    """Draws the page."""
    visit.state.setdefault("text", PERSIAN if visit.language == "fa" else ENGLISH)
    algorithm = visit.get("algorithm") if visit.get("algorithm") in ALGORITHMS else "skip-gram"
    names: dict[str, str] = {one: visit.t(f"training-{one}") for one in ALGORITHMS}
    tabs(visit, visit.t("training"), "algorithm", names, algorithm, merge=True)
    html(tag("p", visit.t(f"training-{algorithm}-about"), class_="note"))

    async def refresh() -> None:
        await panel.fill(draw)

    async def typed() -> None:
        text = field.value or ""
        visit.remember(text=text[:ADDRESS], step=0)
        await refresh()

    async def move(count: int) -> None:
        now = int(visit.get_number("step", 1, 0, MOST_STEPS))
        visit.remember(step=min(now + count, MOST_STEPS) if count else 0)
        await refresh()

    async def play() -> None:
        timer.active = not timer.active
        player.content = visit.t("training-stop" if timer.active else "training-play")

    field = text_area(visit, visit.t("counts-text"), visit.get("text"), 4).props("debounce=400")
    field.on_value_change(typed)
    with ui.element("div").classes("controls"):
        button(visit.t("training-start"), partial(move, 0))
        button("+1", partial(move, 1), primary=True).props("dir=ltr")
        button("+10", partial(move, 10)).props("dir=ltr")
        button("+100", partial(move, 100)).props("dir=ltr")
        player = button(visit.t("training-play"), play)
        rate = visit.get_number("rate", 0.2, 0.01, FASTEST)
        slider(visit.t("training-rate"), rate, (0.01, FASTEST, 0.01), remembering(visit, "rate", refresh))
        slider(visit.t("window"), visit.get_number("window", 2, 1, 5), (1, 5, 1), remembering(visit, "window", refresh))
    timer = ui.timer(0.7, partial(move, 1), active=False)
    panel = Panel(visit)

    async def draw() -> None:
        text, steps = visit.get("text"), int(visit.get_number("step", 1, 0, MOST_STEPS))
        if not text:
            html(notice(visit.t("counts-empty"), kind="empty"))
            return
        options = {
            "window": int(visit.get_number("window", 2, 1, 5)),
            "rate": visit.get_number("rate", 0.2, 0.01, FASTEST),
        }
        lesson = await visit.compute(take_lesson, algorithm, text, steps, **options)
        step = lesson.last
        first = tag("h2", visit.t("training-step", step=steps))
        middle = (
            draw_predictions(visit, algorithm, step) if step else tag("p", visit.t("training-before"), class_="note")
        )
        html(tag("div", first, draw_text(lesson), middle, class_="card"))
        changed = ({*step.inputs}, {one.word for one in step.predictions}) if step else (set(), set())
        matrices = [
            draw_matrix("W", lesson.names, lesson.first, changed[0]),
            draw_matrix("W′\u200e", lesson.outputs, lesson.second, changed[1]),
        ]
        curve = [draw_losses(visit, lesson.losses)] if len(lesson.losses) > 1 else []
        html(tag("div", *matrices, *curve, class_="columns thirds"))
        arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
        python_line(
            visit,
            "from firth.explorer.answers.lesson import take_lesson",
            f"take_lesson({algorithm!r}, {text!r}, {steps}, {arguments})",
        )

    await panel.fill(draw)
