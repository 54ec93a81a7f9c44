"""Language model: probabilities under words, a gap, samples; all as the library answers."""

from __future__ import annotations

import numpy as np
from tests.explorer.conftest import Tab, run_code, run_copied

import firth
from firth.explorer.answers.language import Reading, format_probability
from firth.explorer.models import Models
from firth.explorer.pages.language import compare_readings, draw_completions, draw_reading
from firth.explorer.visit import Visit

VISIT = Visit(Models(), "en", "/language-model", {"text": "چای خوب"})


def test_a_reading_has_a_column_for_each_word_in_the_direction_of_the_sentence() -> None:
    reading = Reading(("چای", "خوب"), np.full(3, -1.0), np.full(3, -2.0), np.full(3, -3.0), (True, False), 0.5)
    shown = draw_reading(VISIT, reading, 1, "text")
    assert 'dir="rtl"' in shown
    assert shown.count("<td") == 3 * 4
    assert shown.count("unknown") == 1
    assert shown.count('aria-current="true"') == 1
    better = Reading(("a",), reading.forward, reading.backward, None, (True,), 1.0)
    assert "second sentence is 2.00 times" in compare_readings(VISIT, reading, better)
    assert "first sentence is 2.00 times" in compare_readings(VISIT, better, reading)
    assert draw_completions(VISIT, [("lm-from-left", [("tea", 0.5)]), ("lm-from-right", [])]).count("card") == 2


def test_the_page_shows_the_numbers_of_the_library_and_a_click_opens_a_gap(tab: Tab) -> None:
    page = tab.open("/language-model?text=She+made+strong+tea+.&second=She+made+powerful+tea+.&gap=2")
    bilm = firth.load("elmo-en")
    forward, _ = bilm.log_probs("She made strong tea .")
    cells = page.locator(".heat").first.locator("tr").nth(1).locator(".heat-value").all_inner_texts()
    assert cells == [format_probability(float(np.exp(value))) for value in forward]
    first, second = bilm.score(["She made strong tea .", "She made powerful tea ."])
    assert f"{first.per_word / second.per_word:.2f}" in page.locator(".verdict").inner_text()
    code = page.locator(".python code").first.inner_text()
    assert run_copied(code).both[0][0] == page.locator(".columns .card").nth(2).locator("bdi").first.inner_text()
    page.locator(".heat th a", has_text="tea").first.click()
    page.wait_for_function("location.search.includes('gap=3')")
    tab.settle()
    assert "She made strong ? ." in " ".join(page.locator(".running").inner_text().split())
    samples = run_code(page.locator(".python code").last.inner_text())[1]
    shown = page.locator(".samples li").all_inner_texts()
    assert ["".join(text.split()) for text in shown] == ["Theriver" + "".join(words) for words in samples]
    assert not any(" ." in text or " ," in text for text in shown)
    page.get_by_role("button", name="Draw again").click()
    page.wait_for_function("location.search.includes('seed=5')")
    tab.settle()


def test_an_empty_and_a_too_long_sentence_are_said(tab: Tab) -> None:
    page = tab.open("/language-model?text=" + "word+" * 130)
    assert "at most 120" in page.locator(".state.error").inner_text()
