"""Ratio: the table of the library, and bars from the middle."""

from __future__ import annotations

from types import SimpleNamespace

from tests.explorer.conftest import Tab, run_copied

from firth.explorer.models import Models
from firth.explorer.pages.ratio import draw_ratio, draw_ratios
from firth.explorer.visit import Visit


def test_a_ratio_leans_to_the_word_that_it_speaks_for() -> None:
    assert 'class="balance first" style="--share:50.0%"' in draw_ratio(8.0)
    assert 'class="balance second" style="--share:25.0%"' in draw_ratio(8**-0.5)
    assert "balance" not in draw_ratio(None)
    line = SimpleNamespace(probe="beans", first=None, second=0.1, ratio=None, note="not in the vocabulary")
    shown = draw_ratios(Visit(Models(), "en", "/ratio"), SimpleNamespace(first="a", second="b", lines=[line]))
    assert "not in the vocabulary" in shown
    assert "P(k | a)" in shown


def test_the_page_shows_the_ratios_that_the_copied_line_gives(tab: Tab) -> None:
    page = tab.open("/ratio?first=king&second=queen&probes=crown+silver+the")
    ratios = run_copied(page.locator(".python code").inner_text())
    shown = page.locator(".ratios tr:not(:first-child)").all_inner_texts()
    assert [row.split()[0] for row in shown] == ["crown", "silver", "the"]
    assert [row.split()[1] for row in shown] == [f"{line.first:.3g}" for line in ratios.lines]
    page = tab.open("/ratio?first=qzx&second=queen&probes=the")
    assert "qzx" in page.locator(".state.error").inner_text()
