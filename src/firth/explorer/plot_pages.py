"""What pages with a plot share: the sheet of controls, and the view in the address."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from nicegui import ui

from firth.explorer.markup import join, tag
from firth.explorer.visit import Visit
from firth.explorer.widgets import html


@contextmanager
def draw_sheet(visit: Visit) -> Iterator[None]:
    """A column beside the plot; on a narrow screen a sheet at the bottom that opens over it."""
    with ui.element("aside").classes("sheet"):
        toggle = tag("span", class_="sheet-grip", aria_hidden="true")
        button = html(join(toggle, visit.t("plot-controls")), "button").classes("sheet-button")
        button.props('type=button aria-expanded=false onclick="firth.sheet(this)"')
        with ui.element("div").classes("sheet-content"):
            yield


def read_view(visit: Visit) -> dict[str, float] | None:
    """The view in the address, "x,y,k"; None if there is none.

    >>> from firth.explorer.models import Models
    >>> read_view(Visit(Models(), "en", "/map", {"view": "1.5,-2,0.25"}))
    {'x': 1.5, 'y': -2.0, 'k': 0.25}
    """
    try:
        x, y, k = map(float, visit.get("view").split(","))
    except ValueError:
        return None
    return {"x": x, "y": y, "k": k} if k > 0 and all(map(math.isfinite, (x, y, k))) else None


def write_view(view: Mapping[str, float]) -> str:
    """A view as text.

    >>> write_view({"x": 1.23456789, "y": 0, "k": 2})
    '1.2346,0,2'
    """
    return ",".join(f"{view[name]:.5g}" for name in "xyk")
