"""Inside ELMo: pixels where the numbers are, and a mix that follows its sliders."""

from __future__ import annotations

import json

import numpy as np
from tests.explorer.conftest import Tab, run_copied

from firth.explorer.answers.inside import Step, Trace
from firth.explorer.models import Models
from firth.explorer.pages.inside import draw_picture, draw_step
from firth.explorer.visit import Visit

VISIT = Visit(Models(), "fa", "/inside", {"text": "a b"})


def test_steps_and_the_picture_are_drawn_from_a_trace() -> None:
    step = Step("forward-2", "4", np.ones((1, 4), np.float32))
    assert "LSTM 2" in draw_step(VISIT, 7, step, ())
    letters = draw_step(VISIT, 1, Step("characters", "3 × 4", np.ones((3, 4), np.float32)), ("⟨", "<", "⟩"))
    assert "&lt;" in letters
    trace = Trace(("چای", "خوب"), 1, (), (step,), np.ones((3, 2, 4), np.float32))
    shown = draw_picture(VISIT, trace)
    assert 'dir="rtl"' in shown
    assert shown.count("<img") == 6
    assert "place=0" in shown


def test_the_page_shows_the_numbers_of_embed_and_the_mix_follows_a_slider(tab: Tab) -> None:
    page = tab.open("/inside?text=They+play+.&place=1")
    shown = json.loads(page.locator(".steps img").last.get_attribute("data-numbers"))
    layers = run_copied(page.locator(".python code").first.inner_text())
    assert shown == [[float(f"{one:.3g}") for one in row] for row in layers.tolist()]
    size = page.locator(".steps img").last.evaluate("image => [image.naturalWidth, image.naturalHeight]")
    assert size == [layers.shape[1], layers.shape[0]]
    slider = page.get_by_label("s₂")
    slider.focus()
    slider.press("Home")
    page.wait_for_function("location.search.includes('s2=0')")
    tab.settle()
    mixed = json.loads(page.locator(".panel .panel .strip img").get_attribute("data-numbers"))
    np.testing.assert_allclose(mixed[0], layers[:2].mean(0), atol=0.01)
    copied = run_copied(page.locator(".python code").last.inner_text())
    assert mixed[0] == [float(f"{one:.3g}") for one in copied.tolist()]
    page.locator(".network a", has_text="They").click()
    page.wait_for_function("location.search.includes('place=0')")
