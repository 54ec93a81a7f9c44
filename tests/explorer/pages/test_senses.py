"""Senses in a browser: the points are the vectors of the library, and sliders ask nothing of the server."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.explorer.conftest import OpenTab, Tab, run_copied

import firth
from firth.explorer.models import Models
from firth.explorer.pages.senses import data_address, list_sentences, python_lines
from firth.explorer.translations import translate
from firth.explorer.visit import Visit
from firth.maps.senses import SenseMap, example_sentences

PLOT = "document.querySelector('.scatter').scatter"


FREE = """() => {  // the place on the screen of a point that nothing covers
  const plot = document.querySelector('.scatter').scatter, box = plot.words.getBoundingClientRect();
  const place = (id) => plot.toPixel(id).map((at, k) => at + [box.x, box.y][k]);
  const places = Array.from({ length: plot.size - 1 }, (_, id) => place(id));
  return places.find(([x, y]) => document.elementFromPoint(x, y) === plot.words);
}"""


def open_senses(tab: Tab, path: str) -> Any:
    page = tab.open(path)
    page.wait_for_function("document.querySelector('.scatter')?.scatter?.frames > 0")
    page.locator("#mixer input").first.wait_for(state="attached")
    return page


def read_points(page: Any) -> np.ndarray:
    return np.reshape(page.evaluate(f"[...{PLOT}.locate()]"), (-1, 2))


def test_the_address_and_the_python_follow_the_state() -> None:
    state = {"model": "elmo-en", "word": "bank bat", "senses": "3", "mix": "0,1,0", "gamma": "2", "unit": "0"}
    visit = Visit(Models(), "en", "/senses", state)
    assert "word=bank+bat" in data_address(visit)
    lines = python_lines(visit)
    assert "senses=3)" in lines
    assert lines.endswith("senses.mixed((0.0, 1.0, 0.0), 2, unit=False)")
    visit.state["text"] = "a bank\n\na bat"
    assert "sentences = ['a bank', 'a bat']" in python_lines(visit)
    visit.state |= {"text": "", "source": "places/"}
    assert "find_sentences(Models(['places/']), ['bank', 'bat'], 'places/')" in python_lines(visit)


def test_points_are_the_vectors_of_the_library_and_sliders_stay_in_the_browser(tab: Tab) -> None:
    page = open_senses(tab, "/senses?word=rock&model=elmo-en")
    table = example_sentences()["rock"]
    senses = SenseMap.of(firth.load("elmo-en"), [sentence for _, sentence in table], ["rock"])
    np.testing.assert_allclose(read_points(page), senses.scatter().second, atol=1e-4)
    np.testing.assert_allclose(run_copied(page.locator(".python code").inner_text()), senses.contexts, atol=1e-4)
    assert page.get_by_role("button", name="context", pressed=True).count() == 1
    page.get_by_role("button", name="equal weights").click()
    page.wait_for_function("location.search.includes('mix=')")
    assert page.get_by_role("button", name="context", pressed=True).count() == 0
    page.locator(".python code", has_text="mixed").wait_for()
    axes = senses.axes()
    np.testing.assert_allclose(read_points(page)[:-1], senses.mixed(unit=True) @ axes, atol=1e-4)
    assert set(page.locator(".scatter-legend button b").all_inner_texts()) == {*senses.names, "mean"}
    copied = run_copied(page.locator(".python code").inner_text())
    np.testing.assert_allclose(copied, senses.mixed((0.33, 0.33, 0.33), unit=True), atol=1e-4)

    page.mouse.move(*page.evaluate(FREE))
    page.wait_for_function("!document.querySelector('.scatter-tip').hidden")
    shown = page.locator(".scatter-tip").inner_text()
    assert any(" ".join(one.words[:4]) in shown for one in senses.occurrences)

    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.get_by_label("s₁").fill("0.9")
    page.get_by_label("γ").fill("2")
    page.get_by_label("scale vectors to unit length").uncheck()
    expected = senses.mixed((0.33, 0.9, 0.33), 2.0) @ axes
    np.testing.assert_allclose(read_points(page)[:-1], expected, atol=0.02 * np.abs(expected).max())
    assert [url for url in requests if "/data/" in url] == []
    page.get_by_role("button", name="context").click()
    page.wait_for_function("!location.search.includes('mix=')")
    page.wait_for_function(f"{PLOT}.mixing[1] === 1")  # the points have arrived
    np.testing.assert_allclose(read_points(page), senses.scatter().second, atol=1e-4)
    page.get_by_role("button", name="layer 0").click()
    points = read_points(page)[:-1]
    np.testing.assert_allclose(points, np.broadcast_to(points[0], points.shape), atol=1e-4)
    page.wait_for_function("location.search.includes('mix=1%2C0%2C0')")
    page.reload()
    tab.settle()
    page.wait_for_function("document.querySelector('#mixer input')?.value === '1'")
    assert page.evaluate(f"{PLOT}.mixing") == [1, 0, 0]
    assert "<mark>rock</mark>" in list_sentences(Visit(Models(), "en", "/senses"), senses)


def test_pasted_sentences_and_a_word_that_they_do_not_have(open_tab: OpenTab) -> None:
    tab = open_tab("fa", "dark", 400, 800)
    page = open_senses(tab, "/senses?word=bank")
    assert page.locator(".scatter").bounding_box()["y"] < 180  # below the bar and, while a model opens, its notice
    page.get_by_role("button", name="تنظیم‌ها").click()
    text = "the river bank\na green bank\nthe bank lends money\nanother bank"
    page.get_by_label("جمله‌های خودتان، هر سطر یکی").fill(text)
    page.get_by_role("button", name="این جمله‌ها را به کار ببر").click()
    page.wait_for_function("location.search.includes('text=')")
    tab.settle()
    page.wait_for_function(f"document.querySelector('.scatter')?.scatter?.size === 5 && {PLOT}.frames > 0")
    field = page.get_by_label("یک یا دو واژه")
    field.fill("rivr")
    field.press("Enter")
    page.locator(".state.error").wait_for()
    assert "river" in page.locator(".state.error").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_word_without_sentences_asks_for_some(tab: Tab) -> None:
    page = tab.open("/senses?word=run")
    state = page.locator(".state.error").inner_text()
    assert "No sentence here has “run”" in state
    assert "Paste sentences" in state
    page.get_by_label(translate("senses-paste", "en")).fill("They run fast .\nWe run a shop .\nI run home .")
    page.get_by_role("button", name=translate("senses-use", "en")).click()
    page.wait_for_function("document.querySelector('.scatter')?.scatter.size === 4")  # three points and their mean
    assert page.locator(".state.error").count() == 0


def test_a_persian_visitor_gets_persian_sentences_and_the_persian_model(open_tab: OpenTab) -> None:
    tab = open_tab("fa")
    for path in ("/senses", "/inside", "/language-model"):
        page = tab.open(path)
        assert page.locator(".warning").count() == 0, path
        assert "elmo-fa" in page.locator(".python code").first.text_content()
        hrefs = page.locator(".chips a").evaluate_all("all => all.map((one) => [one.textContent, one.search])")
        assert hrefs
        for text, search in hrefs:
            language = "fa" if "\u0600" <= text[0] <= "\u06ff" else "en"
            assert f"model=elmo-{language}" in search, (path, text)
    assert tab.open("/language-model?text=She+made+tea&model=elmo-fa").locator(".warning").count() == 1
