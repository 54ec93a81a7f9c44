"""Every page in both languages, wide and narrow, light and dark: someone uses it, and what it shows is the library's.

A page is opened once in each language. The window and the colors of the system then change under it, and in each of the
four views a control is used, the numbers are compared with those of the line that the page offers to copy, the names
that screen readers read are looked at, and the picture must not be blank. After that, a reload must restore everything.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.explorer.conftest import Tab, run_code, run_copied

from firth.explorer.answers.curves import read_curves
from firth.explorer.answers.language import format_probability
from firth.explorer.chart import format_level
from firth.explorer.registry import PAGES, PageEntry
from firth.explorer.translations import LANGUAGES, Language, translate

VIEWS = tuple(product((1400, 400), ("light", "dark")))
SILENT = ("RootWebArea", "generic")  # the page itself, and a frame of NiceGUI that only scripts can focus
BRIGHT = {"light": (128, 255), "dark": (0, 127)}  # of the background
PLOT = "document.querySelector('.scatter')?.scatter"
SNAPSHOT = """() => ({
  text: document.querySelector('#content').textContent.replace(/\\s+/g, ' '),
  values: [...document.querySelectorAll('#content :is(input, select, textarea)')].map((one) => one.value),
  points: document.querySelector('.scatter') ? document.querySelector('.scatter').scatter.size : 0,
})"""
CHANGED = "(before) => (document.querySelector('.python code')?.textContent ?? before) !== before"
FOCUS = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const frame = one.closest('.q-field')?.querySelector('.q-field__control') ?? one;
  const drawn = (style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  const visible = drawn(getComputedStyle(one)) || drawn(getComputedStyle(frame));
  one.number ??= window.counter = (window.counter ?? 0) + 1;
  return { html: one.outerHTML.slice(0, 120), visible, number: one.number };
}"""
CONTROLS = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && !one.number)
  .map((one) => one.outerHTML.slice(0, 120))"""


class Reader:
    """Someone who reads a page in one language."""

    def __init__(self, tab: Tab, language: Language) -> None:
        self.tab, self.language, self.page = tab, language, tab.page

    def t(self, key: str, **values: Any) -> str:
        return translate(key, self.language, **values)

    def type(self, key: str, text: str) -> str:
        """Types a text into the field of a label, and gives the Python of the page when it shows the answer."""
        before = self.page.locator(".python code").first.text_content()
        field = self.page.get_by_label(self.t(key), exact=True)
        field.fill(text)
        field.press("Enter")
        self.page.wait_for_function(CHANGED, arg=before)
        return self.wait(text.split()[-1])

    def wait(self, text: str) -> str:
        """The Python of the page when it has a text."""
        line = self.page.locator(".python code", has_text=text).first
        line.wait_for(state="attached")
        self.tab.settle()
        return str(line.text_content())

    def rows(self) -> list[tuple[str, str]]:
        """The first table with bars."""
        return self.page.locator(".bars").first.evaluate(
            """(table) => [...table.querySelectorAll('tr')].slice(1)
              .map((row) => [row.querySelector('bdi').textContent, row.querySelector('.number').textContent])"""
        )

    def numbers(self, image: Any) -> Any:
        """The numbers of a strip."""
        return json.loads(image.get_attribute("data-numbers"))


def near_rows(near: list[tuple[str, float]]) -> list[list[str]]:
    return [[word, f"{cosine:.3f}"] for word, cosine in near]


def use_home(reader: Reader, turn: int) -> None:
    links = reader.page.locator(".gallery-card").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert set(links) == {page.address for page in PAGES} - {"/"}
    menu = reader.page.get_by_role("button", name=reader.t("menu"))
    if menu.is_visible():
        menu.click()
        reader.page.locator("nav.side a").nth(3).wait_for(state="visible")
        reader.page.keyboard.press("Escape")
        reader.page.locator("nav.side a").nth(3).wait_for(state="hidden")


def use_map(reader: Reader, turn: int) -> None:
    near = run_copied(reader.type("map-search", ("چای", "کتاب", "شهر", "آب")[turn]))
    assert reader.rows() == near_rows(near)
    reader.page.wait_for_function(f"{PLOT}.lit.length === {len(near)}")
    assert reader.page.evaluate(f"{PLOT}.lit.map((id) => {PLOT}.names[id])") == [word for word, _ in near]


def use_neighbors(reader: Reader, turn: int) -> None:
    words = {"en": ("ship", "king", "music", "river"), "fa": ("کتاب", "شهر", "آب", "پدر")}[reader.language]
    near = run_copied(reader.type("neighbors-word", words[turn]))
    assert reader.rows() == near_rows(near)


def use_analogy(reader: Reader, turn: int) -> None:
    words = {"en": ("boy", "prince", "man", "father"), "fa": ("برادر", "پسر", "عمو", "مرد")}[reader.language]
    code = reader.type("analogy-c", words[turn])
    assert reader.rows() == near_rows(run_copied(code))
    reader.page.wait_for_function(f"{PLOT}?.frames > 0 && {PLOT}.names[2] === {words[turn]!r}")


def use_odd(reader: Reader, turn: int) -> None:
    words = {"en": ("king", "queen", "prince", "tea", "river"), "fa": ("شهر", "کشور", "روستا", "چای", "رود")}
    odd, matrix = run_code(reader.type("odd-words", " ".join(words[reader.language][: turn + 2])))[1]
    assert reader.page.locator(".verdict").inner_text() == odd
    cells = reader.page.locator(".matrix td[style]").all_inner_texts()
    assert cells == [f"{value:.2f}" for value in matrix.ravel().tolist()]


def use_subwords(reader: Reader, turn: int) -> None:
    words = {"en": ("teacups", "unseeing", "riverside", "kings"), "fa": ("کتابی", "شهرها", "آبی", "پدران")}
    shares = run_copied(reader.type("neighbors-word", words[reader.language][turn]))
    ranked = sorted(shares, key=lambda share: -share.share)
    assert [number for _, number in reader.rows()] == [f"{round(share.share, 3) + 0:.3f}" for share in ranked]


def use_senses(reader: Reader, turn: int) -> None:
    button = reader.t("plot-layer", layer=turn) if turn < 3 else reader.t("plot-equal")
    reader.page.locator("#mixer").get_by_role("button", name=button, exact=True).click()
    weights = "(1 / 3, 1 / 3, 1 / 3)" if turn == 3 else str(tuple(float(layer == turn) for layer in range(3)))
    names, values = run_code(reader.wait(weights))
    shown = np.reshape(reader.page.evaluate(f"[...{PLOT}.locate()]"), (-1, 2))[: len(values[0])]
    np.testing.assert_allclose(shown, values[0] @ names["senses"].axes(), atol=1e-3)


def use_inside(reader: Reader, turn: int) -> None:
    sentences = {
        "en": ("They swim", "She reads it", "A river", "We see a ship"),
        "fa": ("او شنا کرد", "کتاب", "یک رود", "ما کشتی"),
    }
    layers = run_copied(reader.type("lm-sentence", sentences[reader.language][turn]))
    shown = reader.numbers(reader.page.locator(".steps img").last)
    np.testing.assert_allclose(shown, layers, rtol=6e-3, atol=1e-5)  # three digits; the page runs the network by steps


def use_language(reader: Reader, turn: int) -> None:
    words = {"en": ("coffee", "it", "bread", "money"), "fa": ("رفت", "آمد", "دید", "شنید")}
    sentence = {"en": "She made ", "fa": "او دیروز "}[reader.language] + words[reader.language][turn]
    forward, _ = run_code(reader.type("lm-sentence", sentence))[1][0]
    cells = reader.page.locator(".heat").first.locator("tr").nth(1).locator(".heat-value").all_inner_texts()
    assert cells == [format_probability(float(np.exp(value))) for value in forward]


def use_tasks(reader: Reader, turn: int) -> None:
    tasks = {"en": ("srl", "coref", "qa", "ner"), "fa": ("sentiment", "entailment", "ner", "qa")}[reader.language]
    task = tasks[turn]
    reader.page.get_by_role("link", name=reader.t(f"task-{task}"), exact=True).click()
    [answer] = run_copied(reader.wait(f"task-{task}"))
    page = reader.page
    if task == "ner":
        shown = page.locator(".span").evaluate_all("all => all.map((one) => one.firstChild.textContent)")
        assert shown == [entity["text"] for entity in answer["entities"]]
    elif task == "srl":
        shown = page.locator(".role").evaluate_all("all => all.map((one) => one.dataset.role)")
        assert sorted(shown) == sorted(role["label"] for frame in answer["frames"] for role in frame["roles"])
    elif task == "coref":
        shown = page.locator(".clusters li").all_inner_texts()
        assert shown == [" = ".join(one["text"] for one in cluster["mentions"]) for cluster in answer["clusters"]]
    elif task == "qa":
        assert page.locator("mark").all_inner_texts() == ([answer["answer"]] if answer["answer"] else [])
    else:
        best = max(answer["labels"], key=answer["labels"].get)
        assert page.locator(".verdict").inner_text() == reader.t(f"label-{best}")


def use_counts(reader: Reader, turn: int) -> None:
    last = ("cold", "sweet", "green", "black")[turn]
    reader.page.get_by_label(reader.t("counts-text")).fill(f"tea is hot\ntea is {last}")
    values = run_copied(reader.wait(last))
    shown = reader.page.locator(".matrix tr:not(:first-child) td").all_inner_texts()
    assert [float(one) for one in shown] == values.ravel().tolist()


def use_ratio(reader: Reader, turn: int) -> None:
    ratios = run_copied(reader.type("ratio-probes", "the " + ("cup", "sugar", "morning", "black")[turn]))
    shown = reader.page.locator(".ratios tr:not(:first-child)").all_inner_texts()
    assert [row.split()[1] for row in shown] == [f"{line.first:.3g}" for line in ratios.lines]


def use_training(reader: Reader, turn: int) -> None:
    reader.page.get_by_role("button", name="+10", exact=True).click()
    lesson = run_copied(reader.wait(f", {11 + 10 * turn}, window"))
    assert reader.t("training-loss", loss=f"{lesson.last.loss:.4f}") == reader.page.locator(".verdict").inner_text()
    assert reader.numbers(reader.page.locator(".rows img").first) == [
        [float(f"{one:.3g}") for one in lesson.first[0].tolist()]
    ]


def use_curves(reader: Reader, turn: int) -> None:
    name = ("task-ner", "glove-en", "fasttext-en", "word2vec-en")[turn]
    reader.page.get_by_label(reader.t("curves-training")).select_option(name)
    curves = run_copied(reader.wait(name))
    assert curves == read_curves(name).curves
    shown = reader.page.locator(".card .shape").all_inner_texts()
    assert shown == [format_level(points[-1][1]) for points in curves.values() if len(points) > 1]
    assert shown


USES: dict[str, tuple[str, Callable[[Reader, int], None]]] = {
    "home": ("", use_home),
    "map": ("?model=fasttext-fa", use_map),
    "neighbors": ("", use_neighbors),
    "analogy": ("", use_analogy),
    "odd": ("", use_odd),
    "subwords": ("", use_subwords),
    "senses": ("", use_senses),
    "inside": ("", use_inside),
    "language-model": ("", use_language),
    "tasks": ("?task=ner", use_tasks),
    "counts": ("", use_counts),
    "ratio": ("", use_ratio),
    "training": ("", use_training),
    "curves": ("", use_curves),
}


@pytest.fixture(scope="module")
def readers(chromium: Any, explorer: str) -> Iterator[dict[str, Reader]]:
    """A reader of each language, whose browser follows the colors of the system."""
    contexts = {language: chromium.new_context(locale=language) for language in LANGUAGES}
    yield {language: Reader(Tab(context, explorer), language) for language, context in contexts.items()}
    for context in contexts.values():
        context.close()


def open_sheet(page: Any, is_open: bool) -> None:
    """Opens or closes the sheet of controls of a narrow screen."""
    button = page.locator(".sheet-button")
    if button.count() and button.is_visible() and (button.get_attribute("aria-expanded") == "true") != is_open:
        button.click()


def list_nameless(reader: Reader) -> list[str]:
    """What can be focused, and every picture, without a name in the accessibility tree."""
    session = reader.tab.context.new_cdp_session(reader.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    found = []
    for node in nodes:
        role = node.get("role", {}).get("value", "")
        focusable = any(one["name"] == "focusable" and one["value"]["value"] for one in node.get("properties", ()))
        named = node.get("name", {}).get("value", "").strip()
        if not (node["ignored"] or named or role in SILENT) and (focusable or role in ("image", "img")):
            html = session.send("DOM.getOuterHTML", {"backendNodeId": node["backendDOMNodeId"]})["outerHTML"]
            found.append(f"{role}: {html[:200]}")
    session.detach()
    return found


def check_view(reader: Reader, page: PageEntry, width: int, theme: str) -> None:
    """What holds for every page in every view."""
    image = pytest.importorskip("PIL.Image")
    shown = reader.page
    assert shown.evaluate("document.documentElement.lang") == reader.language
    assert shown.locator("h1").inner_text() == ("firth" if page.address == "/" else reader.t(page.title))
    assert shown.locator(".state.error").count() == 0
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert list_nameless(reader) == []
    shot = shown.screenshot(clip={"x": 0, "y": 52, "width": width, "height": 700}, animations="disabled")
    pixels = image.open(io.BytesIO(shot)).convert("L")
    shades = sorted(pixels.getcolors(), reverse=True)
    least, most = BRIGHT[theme]
    assert least <= shades[0][1] <= most
    assert sum(count for count, _ in shades[1:]) > 0.02 * pixels.width * pixels.height
    assert len(shades) > 20


def walk(page: Any) -> None:
    """Every control is reached by Tab, and shows that it has the focus."""
    seen: set[int] = set()
    for _ in range(300):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus is None:  # between the last control and the first
            continue
        if focus["number"] in seen:
            break
        assert focus["visible"], focus["html"]
        seen.add(focus["number"])
    assert page.evaluate(CONTROLS) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_is_used_in_every_view(readers: dict[str, Reader], page: PageEntry, language: Language) -> None:
    reader = readers[language]
    state, use = USES[page.title]
    reader.tab.look(*VIEWS[0])
    shown = reader.tab.open(page.address + state)
    for turn, (width, theme) in enumerate(VIEWS):
        reader.tab.look(width, theme)
        open_sheet(shown, True)
        use(reader, turn)
        open_sheet(shown, False)
        check_view(reader, page, width, theme)
    if language == "en":
        open_sheet(shown, True)
        walk(shown)
    stop = shown.get_by_role("button", name=reader.t("map-stop"), exact=True)
    stop.wait_for(state="hidden")  # while a layout runs, the page says how far it is
    before = shown.evaluate(SNAPSHOT)
    shown.reload()
    reader.tab.settle()
    if before["points"]:
        shown.wait_for_function(f"{PLOT}?.frames > 0")
    shown.wait_for_function(f"({SNAPSHOT})().text.length === {len(before['text'])}")
    assert shown.evaluate(SNAPSHOT) == before
    reader.tab.check()
