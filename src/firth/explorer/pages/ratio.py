"""Ratio: two words compared by the company they keep, P(k | first) / P(k | second), the table of the GloVe paper."""

from __future__ import annotations

import math
from typing import Any

from nicegui import ui

from firth.explorer.markup import Markup, tag
from firth.explorer.question import Question
from firth.explorer.visit import Visit
from firth.explorer.widgets import (
    Panel,
    example_links,
    html,
    model_choice,
    notice,
    python_line,
    remembering,
    scrolling,
    text_field,
    with_code,
)

EXAMPLE = {"first": "tea", "second": "coffee", "probes": "morning sugar black cup awake the"}
FARTHEST = 8.0  # a ratio of this size has a bar over half of the width


def draw_ratio(ratio: float | None) -> Markup:
    """A ratio as a bar from the middle: to the start for the first word, to the end for the second.

    >>> draw_ratio(8.0)
    '<td class="track"><span class="balance first" style="--share:50.0%"></span></td>'
    """
    if ratio is None:
        return tag("td", class_="track")
    share = 0.5 * min(abs(math.log(ratio)) / math.log(FARTHEST), 1.0) if ratio > 0 else 0.5
    side = "first" if ratio >= 1 else "second"
    return tag("td", tag("span", class_=f"balance {side}", style=f"--share:{share:.1%}"), class_="track")


def explain(visit: Visit, ratios: Any, line: Any) -> str:
    """Why a probe word has no bar, in the language of the visit.

    >>> from firth.explorer.models import Models
    >>> ratios = Question("tour-counts", "ratio", ("tea", "coffee", ["castle", "xyz"])).ask(Models())
    >>> [explain(Visit(Models(), "en", "/ratio"), ratios, line) == line.note for line in ratios.lines]
    [True, True]
    """
    if line.first is None:
        return visit.t("ratio-unknown")
    if not line.first and not line.second:
        return visit.t("ratio-neither", first=ratios.first, second=ratios.second)
    return visit.t("ratio-never", word=ratios.second if line.first else ratios.first)


def draw_ratios(visit: Visit, ratios: Any) -> Markup:
    """The table of a comparison.

    >>> from firth.explorer.models import Models
    >>> ratios = Question("tour-counts", "ratio", ("tea", "coffee", ["the"])).ask(Models())
    >>> "P(k | tea)" in draw_ratios(Visit(Models(), "en", "/ratio"), ratios)
    True
    """
    names = ("k", f"P(k | {ratios.first})", f"P(k | {ratios.second})", visit.t("ratio-ratio"))
    ends = tag("span", tag("bdi", ratios.first), tag("bdi", ratios.second), class_="ends")
    rows = [tag("tr", *(tag("th", tag("bdi", name), scope="col") for name in names), tag("th", ends, scope="col"))]
    for line in ratios.lines:
        numbers = [
            tag("td", "–" if one is None else f"{one:.3g}", dir="ltr", class_="number")
            for one in (line.first, line.second, line.ratio)
        ]
        bar = tag("td", explain(visit, ratios, line), class_="note") if line.note else draw_ratio(line.ratio)
        rows.append(tag("tr", tag("th", tag("bdi", line.probe), scope="row"), *numbers, bar))
    return tag("div", scrolling(visit.t("ratio"), tag("table", *rows, class_="ratios")), class_="card")


async def show(visit: Visit) -> None:
    """Draws the page."""
    model = visit.choose_model("count-matrix")
    if "first" not in visit.state and model == "tour-counts":
        visit.state |= EXAMPLE

    async def refresh() -> None:
        await panel.fill(draw)

    with ui.element("div").classes("controls"):
        text_field(visit.t("ratio-first"), visit.get("first"), remembering(visit, "first", refresh))
        text_field(visit.t("ratio-second"), visit.get("second"), remembering(visit, "second", refresh))
        text_field(visit.t("ratio-probes"), visit.get("probes"), remembering(visit, "probes", refresh), "grow")
        model_choice(visit, visit.models.of("count-matrix"), model, remembering(visit, "model", refresh))
    if "tour-counts" in visit.models.names:
        example_links(
            visit,
            {
                "tea | coffee": EXAMPLE,
                "king | queen": {"first": "king", "second": "queen", "probes": "crown gold silver castle the"},
                "dog | cat": {"first": "dog", "second": "cat", "probes": "barks chair sleeps fire the"},
            },
        )
    panel = Panel(visit)

    async def draw() -> None:
        words = visit.get("first"), visit.get("second"), visit.get("probes").split()
        if not all(words):
            html(notice(visit.t("ratio-empty"), kind="empty"))
            return
        question = Question(visit.choose_model("count-matrix"), "ratio", words)
        ratios = await visit.ask(question)
        html(draw_ratios(visit, ratios))
        if question.model == "tour-counts":
            html(tag("p", with_code(visit.t("ratio-small")), class_="note"))
        python_line(visit, question.python())

    await panel.fill(draw)
