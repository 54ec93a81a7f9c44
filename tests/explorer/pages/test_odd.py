"""Odd one out: the word of the library, the lowest bar, and the cosine of every pair."""

from __future__ import annotations

import numpy as np
from tests.explorer.conftest import Tab, run_copied

import firth
from firth.explorer.models import Models
from firth.explorer.pages.odd import draw_fit, draw_similarities
from firth.explorer.visit import Visit

VISIT = Visit(Models(), "en", "/odd")
MATRIX = np.array([[1.0, 0.5, -0.5], [0.5, 1.0, 0.1], [-0.5, 0.1, 1.0]])


def test_the_odd_word_has_the_lowest_mean_and_negative_cosines_another_color() -> None:
    shown = draw_fit(VISIT, ["tea", "cup", "war"], MATRIX, "war")
    assert shown.index("cup") < shown.rindex("war")
    assert 'class="odd"' in shown
    table = draw_similarities(VISIT, ["tea", "cup", "<b>"], MATRIX)
    assert "--heat:var(--minus)" in table
    assert "&lt;b&gt;" in table


def test_the_page_shows_the_odd_word_and_the_cosines(tab: Tab) -> None:
    page = tab.open("/odd?words=king+queen+prince+tea&model=svd-en")
    words = ["king", "queen", "prince", "tea"]
    assert page.locator(".verdict").inner_text() == firth.load("svd-en").doesnt_match(words)
    assert page.locator(".bars bdi").last.inner_text() == page.locator(".verdict").inner_text()
    matrix = run_copied(page.locator(".python code").inner_text())
    cells = page.locator(".matrix td[style]").all_inner_texts()
    assert cells == [f"{value:.2f}" for value in matrix.ravel().tolist()]
    assert "two words" in tab.open("/odd?words=tea").locator(".state").inner_text()
