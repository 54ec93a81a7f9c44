"""The style of charts: colors, fonts, title and legend."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from firth.show.curves import HELD_OUT, INK, PALE, TRAINED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = TRAINED, HELD_OUT, "#efc35a", INK, "#94d2d9", "#6b3322", "#c9d59a"  # distinct for color-blind readers, too
MARKERS = "osD^vPX"
RESOLUTION = 110  # dots per inch of a figure in a notebook
SMALL = 8.0  # points, the size of labels at bars and lines
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that the layout is the same everywhere
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


@cache
def figure_class() -> Any:
    """The class of figures, made when it is first needed, because matplotlib is an extra."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class PlotFigure(Figure):
        """A figure of matplotlib that a notebook shows by itself, also where pyplot was never imported."""

        def __init__(self, *values: Any, **options: Any) -> None:
            super().__init__(*values, **options)
            FigureCanvasAgg(self)  # measures text

        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=RESOLUTION, facecolor="white")
            return buffer.getvalue()

    return PlotFigure


def new_figure(title: str, label: str, width: float, height: float) -> tuple[Figure, Axes]:
    """A figure with a title and a label above its y axis; width and height are in inches."""
    figure = figure_class()(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0)
    axes.annotate(label, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=SMALL + 0.5)
    axes.set_title(
        textwrap.fill(title, int(11 * width)), loc="left", pad=24 if label else 10, fontsize=11, fontweight="bold"
    )
    return figure, axes


def add_legend(figure: Figure, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Adds a legend below the chart, if there is more than one name."""
    if len(names) < 2:
        return
    widths = [0.55 + 0.08 * len(name) for name in names]  # inches, about
    available = figure.get_figwidth() - 0.3
    columns = len(names) if sum(widths) <= available else max(1, int(available / max(widths)))
    figure.legend(handles, names, loc="outside lower left", ncols=columns, frameon=False, handlelength=1.2)


def mix(color: str, strength: float, ground: int = 255) -> str:
    """A color mixed with white, or with black if the ground is 0.

    >>> mix("#ff0000", 0.5), mix("#ff0000", 0.5, ground=0)
    ('#ff8080', '#800000')
    """
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(strength * part + (1 - strength) * ground):02x}" for part in parts)


def darken(color: str) -> str:
    """A color that is dark enough for small letters on white."""
    return mix(color, 0.7, ground=0) if lightness(color) > 0.6 else color


def lightness(color: str) -> float:
    """The perceived lightness of a color, from 0 to 1.

    >>> lightness("#000000"), round(lightness("#0000ff"), 2)
    (0.0, 0.11)
    """
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.3 * red + 0.59 * green + 0.11 * blue
