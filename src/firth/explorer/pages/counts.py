"""Counts lab: a few sentences, and how each way of counting turns them into vectors, as one types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from nicegui import ui

from firth.explorer.answers.counts import COUNT_KINDS, WINDOWED, CountTable, count_text
from firth.explorer.markup import Markup, tag
from firth.explorer.spans import direction_of
from firth.explorer.visit import ADDRESS, Visit
from firth.explorer.widgets import (
    Panel,
    example_links,
    html,
    notice,
    python_line,
    remembering,
    scrolling,
    slider,
    tabs,
    text_area,
)

WIDTH, HEIGHT = 640, 320  # of the picture of the plane
LETTER, LINE = 10, 22  # width of a letter and height of a line in it, at most
Box = tuple[float, float, float, float]
EXAMPLES = {
    "I like deep learning": "I like deep learning .\nI like NLP .\nI enjoy flying .",
    "tea and rain": "She drinks hot tea .\nHe drinks hot coffee .\nCold rain falls .\nCold snow falls .",
    "چای و باران": "او چای داغ می‌نوشد .\nاو قهوه داغ می‌نوشد .\nباران سرد می‌بارد .\nبرف سرد می‌بارد .",
}


def draw_table(visit: Visit, table: CountTable) -> Markup:
    """A matrix as a table, the darker the larger.

    >>> from firth.explorer.models import Models
    >>> draw_table(Visit(Models(), "en", "/counts"), count_text("hot tea", "co-occurrence")).count("<tr>")
    3
    """
    most = float(np.abs(table.values).max(initial=0.0)) or 1.0
    whole = bool(np.all(table.values == np.round(table.values)))
    head = [tag("td"), *(tag("th", tag("bdi", name), scope="col") for name in table.columns)]
    rows = [tag("tr", *head)]
    for name, values in zip(table.rows, table.values):
        cells = [draw_value(value, most, whole) for value in values.tolist()]
        rows.append(tag("tr", tag("th", tag("bdi", name), scope="row"), *cells))
    matrix = tag("table", *rows, class_="heat matrix")
    shape = tag("code", f"{table.shape[0]} × {table.shape[1]}", class_="shape", dir="ltr")
    cut = table.shape != (len(table.rows), len(table.columns))
    note = tag("p", visit.t("counts-cut"), class_="note") if cut else ""
    scroll = scrolling(visit.t("counts"), matrix, direction=direction_of(table.rows))
    return tag("div", shape, scroll, note, class_="card")


def draw_value(value: float, most: float, whole: bool) -> Markup:
    """One cell; a zero is empty.

    >>> draw_value(0.0, 3.0, True)
    '<td class="zero" dir="ltr">0</td>'
    """
    if value == 0:
        return tag("td", "0", class_="zero", dir="ltr")
    text = f"{value:.0f}" if whole else f"{value:.2f}"
    color = "var(--minus)" if value < 0 else "var(--accent)"
    return tag("td", text, style=f"--share:{abs(value) / most:.0%};--heat:{color}", dir="ltr")


def draw_plane(table: CountTable) -> Markup:
    """Words in the plane of two dimensions.

    >>> draw_plane(count_text("hot tea\\ncold rain", "svd")).count("<circle") > 1
    True
    """
    points = table.values[:, :2]
    span = np.ptp(points, axis=0)
    placed = (points - points.min(axis=0)) / np.where(span > 0, span, 1)
    groups: dict[tuple[float, float], list[str]] = {}
    for word, (x, y) in zip(table.rows, placed.round(2).tolist()):
        groups.setdefault((x, y), []).append(word)
    dots = [(70 + 460 * x, 290 - 260 * y) for x, y in groups]
    names = [" · ".join(words) for words in groups.values()]
    parts = [tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=4) for x, y in dots]
    for name, (x, y, anchor) in zip(names, place_names(dots, names)):
        parts.append(tag("text", name, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor))
    picture = tag(
        "svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="plane", role="img", aria_label=" ".join(table.rows)
    )
    return tag("div", picture, class_="card")


def place_names(dots: list[tuple[float, float]], names: list[str]) -> list[tuple[float, float, str]]:
    """Where each name stands, x, y and its anchor: beside its dot, on other dots and names only if there is no room.

    >>> place_names([(300, 100), (302, 104)], ["hot", "cold"])
    [(309, 100, 'start'), (293, 104, 'end')]
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in dots]
    found = []
    for own, ((x, y), name) in enumerate(zip(dots, names)):
        wide = LETTER * len(name)
        shifts = [(across, down) for down in (-20, 20, -34, 34) for across in (0, 0.4 * wide, -0.4 * wide)]
        places = [
            (x + 9, y, "start"),
            (x - 9, y, "end"),
            *((x + across, y + down, "middle") for across, down in shifts),
        ]
        others = taken[:own] + taken[own + 1 :]
        costs = [count_covered(frame_name(place, wide), others) for place in places]
        best = places[costs.index(min(costs))]
        taken.append(frame_name(best, wide))
        found.append(best)
    return found


def frame_name(place: tuple[float, float, str], wide: float) -> Box:
    """The box of a name at a place: left, top, right and bottom.

    >>> frame_name((100, 50, "middle"), 40)
    (80.0, 39.0, 120.0, 61.0)
    """
    x, y, anchor = place
    left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
    return left, y - LINE / 2, left + wide, y + LINE / 2


def count_covered(box: Box, others: Sequence[Box]) -> int:
    """How many boxes a box covers; beyond the edge of the picture counts most.

    >>> count_covered((10, 10, 30, 20), [(20, 15, 40, 25), (50, 10, 60, 20)]), count_covered((-5, 10, 30, 20), [])
    (1, 9)
    """
    left, top, right, bottom = box
    covered = sum(left < one[2] and right > one[0] and top < one[3] and bottom > one[1] for one in others)
    return covered + 9 * (left < 0 or top < 0 or right > WIDTH or bottom > HEIGHT)


async def show(visit: Visit) -> None:
    """Draws the page."""
    first = EXAMPLES["چای و باران" if visit.language == "fa" else "I like deep learning"]
    visit.state.setdefault("text", first)
    kind = visit.get("kind") if visit.get("kind") in COUNT_KINDS else "co-occurrence"
    names: dict[str, str] = {one: visit.t(f"counts-{one}") for one in COUNT_KINDS}
    tabs(visit, visit.t("counts"), "kind", names, kind, merge=True)
    html(tag("p", visit.t(f"counts-{kind}-about"), class_="note"))

    async def refresh() -> None:
        await panel.fill(partial(draw, field.value or ""))

    async def typed() -> None:
        text = field.value or ""
        visit.remember(text=text if len(text) <= ADDRESS else "")
        await refresh()

    field = text_area(visit, visit.t("counts-text"), visit.get("text"), 4).props("debounce=300")
    field.on_value_change(typed)
    if kind in WINDOWED:
        with ui.element("div").classes("controls"):
            window = visit.get_number("window", 1, 1, 10)
            slider(visit.t("window"), window, (1, 10, 1), remembering(visit, "window", refresh))
    example_links(visit, {name: {"kind": kind, "text": text} for name, text in EXAMPLES.items()})
    panel = Panel(visit)

    async def draw(text: str) -> None:
        if not text.strip():
            html(notice(visit.t("counts-empty"), kind="empty"))
            return
        table = await visit.compute(count_text, text, kind, int(visit.get_number("window", 1, 1, 10)))
        if kind == "svd" and table.values.shape[1] > 1:
            html(tag("div", draw_plane(table), draw_table(visit, table), class_="columns"))
        else:
            html(draw_table(visit, table))
        python_line(visit, table.python)

    await panel.fill(partial(draw, visit.get("text")))
