"""Training, seen: steps forward, the same numbers after a reload."""

from __future__ import annotations

import json

from tests.explorer.conftest import Tab, run_copied

from firth.explorer.answers.lesson import take_lesson
from firth.explorer.models import Models
from firth.explorer.pages.training import draw_losses, draw_matrix, draw_predictions, draw_text
from firth.explorer.visit import Visit

VISIT = Visit(Models(), "en", "/training")


def test_the_text_marks_center_and_contexts_and_the_table_says_what_was_predicted() -> None:
    lesson = take_lesson("cbow", "tea is hot", 5)
    assert lesson.last is not None
    assert draw_text(lesson).count('class="center"') == 1
    assert "1 (true)" in draw_predictions(VISIT, "cbow", lesson.last)
    shown = draw_matrix("W", lesson.names, lesson.first, {"tea"})
    assert shown.count("<tr") == 3
    assert shown.count('class="changed"') == 1
    assert "polyline" in draw_losses(VISIT, lesson.losses)


def test_a_step_forward_changes_the_numbers_and_the_address(tab: Tab) -> None:
    page = tab.open("/training?algorithm=cbow&step=4")
    page.get_by_role("button", name="+10", exact=True).click()
    page.wait_for_function("location.search.includes('step=14')")
    tab.settle()
    lesson = run_copied(page.locator(".python code").inner_text())
    assert f"{lesson.last.loss:.4f}" in page.locator(".verdict").inner_text()
    first = json.loads(page.locator(".rows img").first.get_attribute("data-numbers"))
    assert first == [[float(f"{one:.3g}") for one in lesson.first[0].tolist()]]
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("location.search.includes('step=15')")
    page.get_by_role("button", name="Stop").click()
