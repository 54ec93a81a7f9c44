"""Analogies in a browser: the answers are those of the library, and arrows are drawn."""

from __future__ import annotations

from tests.explorer.conftest import OpenTab, Tab, run_copied

import firth
from firth.explorer.models import Models
from firth.explorer.pages.analogy import data_address, make_examples, python_lines
from firth.explorer.visit import Visit

PLOT = "document.querySelector('.scatter').scatter"
ARROW = f"""() => {{  // whether the middle of the first arrow is drawn
  const plot = {PLOT}, context = plot.words.getContext('2d');
  const [[ax, ay], [bx, by]] = [plot.arrows[0].from, plot.arrows[0].to].map((id) => plot.toPixel(id));
  const [x, y] = [0.4 * ax + 0.6 * bx, 0.4 * ay + 0.6 * by].map((at) => at * plot.ratio - 3);
  const area = context.getImageData(x, y, 6, 6);
  return area.data.some((value, k) => k % 4 === 3 && value > 100);
}}"""


def test_the_state_becomes_an_address_and_python() -> None:
    visit = Visit(Models(), "en", "/analogy", {"model": "glove-en", "a": "x", "b": "y", "c": "z", "inputs": "kept"})
    assert data_address(visit).startswith("/data/analogy?model=glove-en")
    assert "similar_by_vector" in python_lines(visit)
    visit.state["relation"] = "gender"
    assert data_address(visit).startswith("/data/relation?")
    assert make_examples(visit)["gender"] == {"relation": "gender", "model": "glove-en"}


def test_the_answers_are_those_of_the_library(tab: Tab) -> None:
    page = tab.open("/analogy?model=word2vec-en&a=Italy&b=Rome&c=France")
    page.wait_for_function(f"document.querySelector('.scatter')?.scatter?.frames > 0 && {PLOT}.arrows.length === 5")
    expected = [word for word, _ in firth.load("word2vec-en").analogy("Italy", "Rome", "France")]
    assert page.locator(".bars th[scope=row]").all_inner_texts() == expected
    assert [word for word, _ in run_copied(page.locator(".python code").inner_text())] == expected
    assert page.evaluate(ARROW)
    page.get_by_label("a, b and c as answers").select_option("kept")
    page.wait_for_function("location.search.includes('inputs=kept')")
    page.wait_for_function("document.querySelector('.bars b') !== null")


def test_what_is_wrong_or_missing_is_said_once(tab: Tab) -> None:
    page = tab.open("/analogy?model=word2vec-en&relation=zz")
    assert "no relation is called 'zz'" in page.locator(".state.error").inner_text()
    page = tab.open("/analogy?model=word2vec-en&a=manx&b=king&c=womann")
    assert "manx" in page.locator(".state.error").inner_text()
    page = tab.open("/analogy?model=word2vec-en")
    page.get_by_label("a", exact=True).fill("")
    page.get_by_label("a", exact=True).press("Enter")
    page.locator(".state.empty", has_text="Give the words").wait_for()
    assert page.locator(".state").count() == 1


def test_a_relation_is_a_bundle_of_arrows_and_an_unknown_word_is_said(open_tab: OpenTab) -> None:
    tab = open_tab("fa", "dark", 400, 800)
    page = tab.open("/analogy?model=fasttext-fa&relation=gender")
    page.wait_for_function(f"document.querySelector('.scatter')?.scatter?.frames > 0 && {PLOT}.arrows.length >= 5")
    assert page.evaluate(ARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.locator(".sheet-button").click()
    page.get_by_label("a", exact=True).fill("برادر")  # a word asks for its parallelogram
    page.get_by_label("a", exact=True).press("Enter")
    page.wait_for_function("!location.search.includes('relation')")
    tab.settle()
    assert "analogy('برادر'" in page.locator(".python code").first.inner_text()
    page = tab.open("/analogy?model=word2vec-en&a=man&b=king&c=womann")
    assert "woman" in page.locator(".state.error").first.inner_text()
