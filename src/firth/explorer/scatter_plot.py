"""The scatter plot as an element of a page."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from nicegui.element import Element

from firth.explorer.visit import Visit
from firth.maps.scatter import SCRIPT

ADDRESS = "/maps"  # where the folder of the script is served
TEXTS = {
    "zoomIn": "plot-zoom-in",
    "zoomOut": "plot-zoom-out",
    "fit": "plot-fit",
    "lasso": "plot-lasso",
    "download": "plot-download",
    "clear": "plot-clear",
    "selected": "plot-selected",
    "keys": "plot-keys",
    "rank": "plot-rank",
    "kept": "plot-kept",
    "legend": "plot-legend",
    "of": "plot-of",
    "word": "word",
    "noWebgl": "plot-no-webgl",
    "layer": "plot-layer",
    "unit": "plot-unit",
    "equal": "plot-equal",
    "second": "plot-context",
}


class ScatterPlot(Element, component="scatter_plot.js"):
    """A scatter plot that fetches its data from `source`. Two plots of one group move together.

    Events: "pick" {id, name}, "select" {count, ids}, "view" {x, y, k}, "mix" {mixing, gamma, unit, second}, "ready".
    """

    def __init__(
        self,
        visit: Visit,
        source: str,
        label: str,
        *,
        unit: bool = False,
        point_size: float = 4,
        view: Mapping[str, float] | None = None,
        mixer: str = "",
        group: str = "",
    ) -> None:
        super().__init__()
        version = sha256(SCRIPT.read_bytes()).hexdigest()[:8]
        self.props["script"] = f"{ADDRESS}/{SCRIPT.name}?{version}"
        self.props["source"], self.props["label"] = source, label
        self.props["texts"] = make_texts(visit)
        self.props["unit"], self.props["point-size"] = unit, point_size
        self.props["view"], self.props["mixer"], self.props["group"] = view, mixer, group


def make_texts(visit: Visit) -> dict[str, str]:
    """The texts of the plot in the language of the visit; {placeholders} are filled in the browser.

    >>> from firth.explorer.models import Models
    >>> make_texts(Visit(Models(), "en", "/map"))["selected"]
    '{count} selected'
    """
    keep: dict[str, Any] = {name: f"{{{name}}}" for name in ("count", "shown", "layer", "rank")}
    return {name: visit.t(key, **keep) for name, key in TEXTS.items()}
