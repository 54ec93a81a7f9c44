"""Charts: what may be drawn, that every kind is, and that the same chart is the same file."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import MissingExtra, OptionError
from firth.show.chart_style import COLORS
from firth.show.charts import BarChart, Chart, LineChart, StackedBarChart, draw, spread_apart

BARS = BarChart("Tasks & scores", "F1", ("ner", "srl"), {"GloVe": [70.0, (60.5, 0.5)], "ELMo": [None, 80.25]})
LINES = LineChart("Reading", "words", "score", {"a": [(1e6, 1, 0.1), (2e6, 2)], "b": [(1e6, 3), (2e6, 4)]}, log_x=True)
STACKS = StackedBarChart("Layers", ("ner", "srl"), {"words": [0.2, 0.9], "layer 1": [0.8, 0.1]})


def svg(chart: Chart, path: Path) -> str:
    draw(chart, path)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("chart", [BARS, LINES, STACKS])
def test_the_same_chart_is_the_same_bytes(chart: Chart, tmp_path: Path) -> None:
    for suffix in ("svg", "png"):
        first, second = tmp_path / f"first.{suffix}", tmp_path / f"second.{suffix}"
        draw(chart, first)
        draw(chart, second)
        assert first.read_bytes() == second.read_bytes()
    assert (tmp_path / "first.png").read_bytes().startswith(b"\x89PNG")


def test_a_persons_own_style_changes_neither_the_chart_nor_is_it_changed(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    plain = svg(BARS, tmp_path / "plain.svg")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black"}):
        assert svg(BARS, tmp_path / "styled.svg") == plain
        assert matplotlib.rcParams["font.size"] == 30


def test_bars_say_their_values_and_where_there_is_none(tmp_path: Path) -> None:
    picture = svg(BARS, tmp_path / "bars.svg")
    for text in ("70.0", "60.5", "80.2", "–", "ner", "srl", "GloVe", "ELMo", "Tasks &amp; scores"):
        assert f">{text}</text>" in picture, text


def test_lines_have_their_names_at_their_ends_where_these_are_apart(tmp_path: Path) -> None:
    apart = svg(LINES, tmp_path / "apart.svg")
    near = {name: [(1.0, 1.0), (2.0, 2.0)] for name in "abcdef"}
    together = svg(LineChart("t", "x", "y", near), tmp_path / "together.svg")
    assert "legend" not in apart
    assert "legend" in together
    assert ">1M</text>" in apart


@given(st.lists(st.floats(0, 300), min_size=1, max_size=9), st.floats(0.5, 20))
def test_labels_are_a_step_apart_in_the_order_of_their_lines(heights: list[float], step: float) -> None:
    laid = spread_apart(heights, step)
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    assert all(laid[b] - laid[a] >= step - 1e-6 for a, b in itertools.pairwise(order))
    assert sum(laid) == pytest.approx(sum(heights), abs=1e-6)


def test_parts_of_a_stack_are_pale_below_a_third_and_strong_above_two(tmp_path: Path) -> None:
    picture = svg(STACKS, tmp_path / "stacks.svg")
    assert picture.count(f"fill: {COLORS[0]}") == 2  # in the legend, and 0.9 of srl; 0.2 of ner is paler
    for text in ("0.20", "0.90", "0.80", "0.10"):
        assert f">{text}</text>" in picture


@pytest.mark.parametrize(
    "chart",
    [
        BarChart("nothing", "y", (), {}),
        BarChart("many", "y", tuple("abcdefghij"), {str(i): [float(i)] * 10 for i in range(12)}),
        BarChart("below", "y", ("a",), {"x": [-3.0], "y": [float("nan")]}),
        LineChart("nothing", "x", "y", {}),
        LineChart("gaps", "x", "y", {"a": [], "b": [(1.0, float("nan")), (2.0, 3.0)]}),
        StackedBarChart("nothing", ("a",), {"x": [0.0]}),
        BarChart("a <b> $c", "100 %", ("$x_1$ and a very long name",), {"_hidden": [1.0], "y & z": [2.0]}),
    ],
    ids=lambda chart: chart.title,
)
def test_odd_charts_are_drawn_too(chart: Chart, tmp_path: Path) -> None:
    picture = svg(chart, tmp_path / "chart.svg")
    assert picture.rstrip().endswith("</svg>")
    if chart.title.startswith("a"):
        assert ">a &lt;b&gt; $c</text>" in picture
        assert ">_hidden</text>" in picture


def test_what_cannot_be_drawn_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"chart\.pdf: a chart is written as \.svg or \.png, not as '\.pdf'"):
        draw(BARS, tmp_path / "chart.pdf")
    with pytest.raises(OptionError, match="at least 0"):
        StackedBarChart("Layers", ("ner",), {"words": [-0.2]})
    with pytest.raises(OptionError, match="'a' must have 1 values, one per group, but has 0"):
        StackedBarChart("Layers", ("ner",), {"a": []})


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"drawing charts needs an extra: pip install 'firth\[study\]'"):
        draw(BARS, tmp_path / "chart.svg")
    assert not list(tmp_path.iterdir())
