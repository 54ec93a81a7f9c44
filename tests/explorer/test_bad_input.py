"""Bad input: what a page says when something is not there, and how one gets on from there."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from tests.explorer.conftest import SECONDS, OpenTab, Tab, start_explorer

import firth
from firth.explorer.translations import translate

WITH_MODELS = (
    "map",
    "neighbors",
    "analogy",
    "odd",
    "subwords",
    "senses",
    "inside",
    "language-model",
    "ratio",
    "curves",
)
WITH_WORDS = ("map", "neighbors", "analogy", "odd")


def test_every_page_without_its_model_names_the_models_to_choose_from(open_tab: OpenTab) -> None:
    tab = open_tab("fa")
    for name in WITH_MODELS:
        shown = tab.open(f"/{name}?model=glov-en").locator(".state.error").first
        assert "کاوشگر مدلی به نام «glov-en» ندارد" in shown.inner_text()
        assert shown.locator("a.chip").count() > 0
    tab.open("/neighbors?model=glov-en").locator("a.chip", has_text="glove-en").click()
    tab.page.locator(".bars").wait_for()


def test_a_model_of_another_kind_is_not_asked(tab: Tab) -> None:
    page = tab.open("/neighbors?model=elmo-en")
    assert "The model elmo-en is not of the kind that this page needs" in page.locator(".state.error").inner_text()
    page = tab.open("/neighbors?word=tea&other=task-ner")
    page.locator(".state.error a", has_text="glove-en").click()
    page.locator(".bars").nth(1).wait_for()


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/map?model=word2vec-en&word=cofffee", "coffee"),
        ("/map?model=word2vec-en&color=direction&low=womann", "woman"),
        ("/neighbors?model=word2vec-en&word=tea&minus=cofffee", "coffee"),
        ("/analogy?model=word2vec-en&a=man&b=king&c=womann", "woman"),
        ("/odd?model=word2vec-en&words=tea+cofffee", "coffee"),
        ("/ratio?first=teaa&second=coffee&probes=the", "tea"),
        ("/senses?word=bankk", "bank"),
    ],
)
def test_an_unknown_word_offers_near_spellings(tab: Tab, path: str, near: str) -> None:
    page = tab.open(path)
    error = page.locator(".state.error").first
    error.wait_for()
    error.get_by_role("link", name=near, exact=True).click()
    page.wait_for_function(f"location.search.includes({near!r}) && !document.querySelector('.state.error')")


@pytest.mark.parametrize("path", ["/map?model=fasttext-fa", "/analogy?model=word2vec-en", "/senses?word=bank"])
def test_a_browser_without_webgl_shows_a_message_and_a_table(open_tab: OpenTab, path: str) -> None:
    tab = open_tab("fa")
    tab.context.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        "  return kind === 'webgl2' ? null : get.call(this, kind, ...rest); };"
    )
    page = tab.open(path)
    page.locator(".scatter-plain tr").first.wait_for()
    assert page.locator(".scatter [role=alert]").inner_text() == translate("plot-no-webgl", "fa")
    assert page.locator(".scatter-plain tr").count() > 3
    assert page.locator(".state.error").count() == 0


def test_an_address_without_a_page_is_a_page_of_the_explorer(open_tab: OpenTab, explorer: str) -> None:
    tab = open_tab("fa", width=400, height=800)
    answer = tab.page.goto(f"{tab.root}/neighbours?word=tea")
    tab.settle()
    assert answer.status == 404
    tab.errors.clear()  # the browser reports the status
    assert tab.page.locator("h1").inner_text() == translate("missing", "fa")
    assert tab.page.locator(".state").inner_text().split()[0] == "/neighbours"
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 400
    tab.page.locator(".state a").click()
    tab.page.locator("h1", has_text=translate("neighbors", "fa")).wait_for()


@pytest.mark.parametrize(("name", "key"), [("tasks", "text"), ("training", "counts-text"), ("senses", "senses-paste")])
def test_a_megabyte_of_pasted_text_is_cut_and_said(tab: Tab, name: str, key: str) -> None:
    page = tab.open(f"/{name}")
    field = page.get_by_label(translate(key, "en"), exact=True)  # type: ignore[arg-type]
    field.fill("")
    field.focus()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", "tea rain\n" * 120_000)
    page.keyboard.press("Control+V")
    page.get_by_text("20,000 characters were kept").wait_for()
    assert len(field.input_value()) == 20_000
    tab.settle()


def test_a_long_text_is_an_error_in_the_language_of_the_page(open_tab: OpenTab) -> None:
    tab = open_tab("fa")
    page = tab.open("/language-model?text=" + "word+" * 130)
    assert "جمله 130 واژه دارد. دست‌بالا 120 واژه بدهید" in page.locator(".state.error").inner_text()
    page = tab.open("/training?text=" + quote("tea\nrain"))
    assert "هیچ سطری" in page.locator(".state.error").inner_text()
    page = tab.open("/neighbors?word=tea&pattern=" + quote("(ing"))
    assert "عبارت باقاعده نیست" in page.locator(".state.error").inner_text()


@pytest.fixture(scope="module")
def empty_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("empty") / "none"
    firth.save(firth.WordVectors([], np.zeros((0, 3), np.float32)), folder)
    return str(folder)


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_model_without_words_says_so_and_a_lost_server_comes_back(chromium: Any, empty_model: str, port: int) -> None:
    process, address = start_explorer(empty_model, port=port)
    context = chromium.new_context(locale="en")
    tab = Tab(context, address)
    for name in WITH_WORDS:
        page = tab.open(f"/{name}")
        assert "has no words. Choose another model" in page.locator(".state.error").first.inner_text()
    page = tab.open("/neighbors?word=ship&model=svd-en")
    tab.check()

    process.kill()
    process.wait()
    gone = page.locator(".gone:not([aria-hidden=true])")
    gone.wait_for(state="visible")
    assert "not running" in gone.inner_text()
    assert "firth explore" in gone.inner_text()
    process, address = start_explorer(empty_model, port=port)
    page.get_by_text("new token").wait_for()
    context.request.get(address)  # what the browser does that `firth explore` opens
    page.wait_for_function("!document.querySelector('.gone:not([aria-hidden=true])')", timeout=SECONDS)
    tab.settle()
    assert page.locator(".bars tr").count() == 11
    context.close()
    process.terminate()
    process.wait(20)
