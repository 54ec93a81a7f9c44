"""The paper that charts are drawn on: colors, letters, title and legend, one manner for all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firth.show.curves import HELD_OUT, INK, PALE, TRAINED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = TRAINED, HELD_OUT, "#efc35a", INK, "#94d2d9", "#6b3322", "#c9d59a"  # apart for color-blind eyes, too
MARKERS = "osD^vPX"
SMALL = 8.0  # points, the size of labels at bars and lines
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that a chart is laid out alike everywhere
    "font.size": 9.0,
    "grid.color": PALE,
    "grid.linewidth": 0.7,
    "hatch.color": "white",
    "hatch.linewidth": 1.0,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "firth",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


def paper(title: str, label: str, width: float, height: float) -> tuple[Figure, Axes]:
    """Paper with a title, and over its values what they are; width and height in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)  # measures text
    axes = figure.add_subplot()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0)
    axes.annotate(label, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=SMALL + 0.5)
    axes.set_title(
        textwrap.fill(title, int(11 * width)), loc="left", pad=24 if label else 10, fontsize=11, fontweight="bold"
    )
    return figure, axes


def legend(figure: Figure, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Says under the chart which name a color has; one name alone needs none."""
    if len(names) < 2:
        return
    wide = [0.55 + 0.08 * len(name) for name in names]  # inches, about
    room = figure.get_figwidth() - 0.3
    columns = len(names) if sum(wide) <= room else max(1, int(room / max(wide)))
    figure.legend(handles, names, loc="outside lower left", ncols=columns, frameon=False, handlelength=1.2)


def short(value: float) -> str:
    """A number for an axis.

    >>> short(16_000_000), short(2500), short(0.1), short(0)
    ('16M', '2.5k', '0.1', '0')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def mixed(color: str, strength: float, ground: int = 255) -> str:
    """A color mixed with white, or with black where the ground is 0.

    >>> mixed("#ff0000", 0.5), mixed("#ff0000", 0.5, ground=0)
    ('#ff8080', '#800000')
    """
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(strength * part + (1 - strength) * ground):02x}" for part in parts)


def dark(color: str) -> str:
    """A color in which small letters can be read on white."""
    return mixed(color, 0.7, ground=0) if lightness(color) > 0.6 else color


def lightness(color: str) -> float:
    """How light a color seems, from 0 to 1.

    >>> lightness("#000000"), round(lightness("#0000ff"), 2)
    (0.0, 0.11)
    """
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.3 * red + 0.59 * green + 0.11 * blue
