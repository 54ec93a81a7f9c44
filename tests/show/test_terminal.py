"""Tables, bars and maps for the terminal."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console, RenderableType

from firth.progress import Progress
from firth.show import terminal
from firth.show.terminal import Bar, bar, bars, heat, progress, scatter, table


def render(picture: RenderableType) -> str:
    console = Console(width=80, color_system=None, file=io.StringIO())
    with console.capture() as capture:
        console.print(picture)
    return capture.get()


def test_a_bar_grows_with_its_share_and_stays_in_its_width() -> None:
    lengths = [len(bar(share, 8)) for share in (-1, 0, 0.01, 0.5, 1, 2)]
    assert lengths == [0, 0, 1, 4, 8, 8]
    assert bar(1, 3, ascii=True) == "###"


def test_a_bar_is_shorter_in_a_narrow_terminal_and_never_takes_two_lines() -> None:
    console = Console(file=io.StringIO(), width=40, color_system=None)
    console.print(terminal.bars("", [("کتاب خوب", 1.0), ("tea", 0.5)], header=("a long name of words", "value")))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    long, short = (line.count("█") for line in lines if "█" in line)
    assert long in (2 * short, 2 * short + 1)
    assert 4 <= long < 24
    assert sum("█" in line for line in lines) == 2


def test_numbers_are_right_aligned_and_none_is_a_dash() -> None:
    lines = render(table("", ["word", "count"], [("tea", 5), ("coffee", 12_345)])).splitlines()
    tea, coffee = (next(line.rstrip() for line in lines if word in line) for word in ("tea", "coffee"))
    assert len(tea) == len(coffee)
    assert coffee.endswith("12,345")
    assert "–" in render(table("", ["x"], [(None,)]))


def test_the_largest_value_has_the_longest_bar() -> None:
    shown = render(bars("", [("tea", 2.0), ("milk", -4.0)], width=8))
    tea, milk = (next(line for line in shown.splitlines() if word in line) for word in ("tea", "milk"))
    assert tea.count("█") == 4
    assert milk.count("█") == 8


def test_a_heat_map_names_rows_and_columns() -> None:
    shown = render(heat("", np.array([[1.0, 0.0], [0.25, 3.0]]), ["a", "b"], ["x", "y"]))
    assert "0.25" in shown
    assert "." in shown
    assert all(name in shown for name in "abxy")


def test_words_at_one_point_of_a_map_do_not_cover_each_other() -> None:
    drawn = scatter(["tea", "milk", "rain"], np.zeros((3, 2)), width=20, height=4)
    assert all(word in drawn for word in ("tea", "milk", "rain"))


def test_progress_is_silent_outside_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as report:
        report(Progress("reading", 1, 2))
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_bar_object_prints_its_bar() -> None:
    assert "████" in render(Bar(1.0, 4))


def test_progress_in_a_pipe_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 20.0, 21.0, 40.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    report = terminal.ProgressLog()
    for done in (0, 1900, 2000, 3900):
        report(Progress("training", done, 4000, "words", {"loss": 2.5}))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["training 48%  100 words/s  loss 2.5", "training 98%  100 words/s  loss 2.5"]


def test_brackets_in_titles_heads_and_cells_are_text_and_no_markup() -> None:
    shown = render(table("[title] <t>", ["[a]", "<b>"], [("[bold]x[/bold]", "<unk>"), ("[/x]", ":tea:")]))
    for text in ("[title] <t>", "[a]", "<b>", "[bold]x[/bold]", "<unk>", "[/x]", ":tea:"):
        assert text in shown
    assert "[q] text" in render(bars("[q] text", [("[b]", 0.3)]))
