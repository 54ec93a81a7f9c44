"""Visitors: each has a state of her own, a first visit is small, addresses restore it, and memory stays flat."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.explorer.conftest import OpenTab, Tab, start_explorer

MOST = 700_000  # bytes of a first visit
GROWTH = 12.0  # megabytes that the server may grow over 30 visits
LIGHT = ("/odd?model=svd-en", "/counts", "/training", "/")
PLOT = "document.querySelector('.scatter')?.scatter"
SHOWN = f"({{ mixing: {PLOT}.mixing, gamma: {PLOT}.gamma, unit: {PLOT}.unit, view: {PLOT}.view }})"


def test_two_visitors_of_a_page_have_their_own_words(open_tab: OpenTab) -> None:
    first, second = open_tab(), open_tab()
    pages = [one.open("/neighbors?model=svd-en") for one in (first, second)]
    for page, word in zip(pages, ("ship", "music")):
        page.get_by_label("Word or words").fill(word)
        page.get_by_label("Word or words").press("Enter")
    for page, word in zip(pages, ("ship", "music")):
        page.locator(".python code", has_text=word).wait_for()
        assert f"word={word}" in page.url


def test_a_link_of_another_page_opens_the_explorer_and_opens_it_again(
    chromium: Any, explorer: str, tmp_path: Path
) -> None:
    root = explorer.partition("/?")[0]
    links = {"first": f"{explorer}&word=tea", "again": f"{root}/odd?words=king+tea"}
    anchors = "".join(f'<a id="{name}" href="{address}">{name}</a> ' for name, address in links.items())
    (tmp_path / "other.html").write_text(anchors.replace("&", "&amp;"))
    context = chromium.new_context(locale="en")
    page = context.new_page()
    page.goto((tmp_path / "other.html").as_uri())
    page.locator("#again").click()
    page.get_by_text("Open the address that firth explore printed").wait_for()
    page.go_back()
    page.locator("#first").click()  # with the token
    page.locator(".hero").wait_for()
    assert page.url == f"{root}/?word=tea"
    page.go_back()
    page.locator("#again").click()  # the strict cookie is not sent along
    page.get_by_role("link", name="open this page").click()
    page.locator(".verdict").wait_for()
    page.reload()
    page.locator(".verdict").wait_for()
    context.close()


def count_bytes(context: Any, page: Any) -> list[float]:
    """A list that grows by the bytes of everything that the page receives."""
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    return received


@pytest.mark.parametrize("path", ["/", "/neighbors", "/senses"])
def test_a_first_visit_receives_at_most_700_kilobytes(open_tab: OpenTab, path: str) -> None:
    tab = open_tab()
    received = count_bytes(tab.context, tab.page)
    tab.open(path)
    tab.page.wait_for_load_state("networkidle")
    assert 50_000 < sum(received) <= MOST


def test_the_copy_button_copies_the_line(open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = tab.open("/odd?words=king+queen+tea&model=svd-en")
    page.get_by_role("button", name="Copy as Python").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator(".python code").text_content()


def test_a_copied_address_restores_word_model_weights_and_view_for_another_visitor(open_tab: OpenTab) -> None:
    page = open_tab().open("/senses?word=bat&model=elmo-en")
    page.wait_for_function(f"{PLOT}?.frames > 0")
    page.locator("#mixer").get_by_role("button", name="layer 2", exact=True).click()
    page.get_by_label("γ").fill("2")
    page.wait_for_function("location.search.includes('gamma=2')")
    page.locator(".scatter").focus()
    for key in ("+", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    page.wait_for_function("location.search.includes('view=')")
    page.wait_for_timeout(500)  # the address has the last view
    before, address = page.evaluate(SHOWN), page.url
    other_tab = open_tab("fa", "dark")
    other = other_tab.open(address.removeprefix(other_tab.root))
    other.wait_for_function(f"{PLOT}?.frames > 0 && document.querySelector('#mixer input')?.value === '0'")
    after = other.evaluate(SHOWN)
    assert other.locator(".controls input").first.input_value() == "bat"
    assert (after["mixing"], after["gamma"], after["unit"]) == (before["mixing"], before["gamma"], before["unit"])
    assert after["view"] == pytest.approx(before["view"], rel=1e-3, abs=1e-3)


def resident(process: int) -> float:
    """The resident set of a process in megabytes."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of the server is read from /proc")
def test_the_memory_of_the_server_stays_flat_over_visits(chromium: Any) -> None:
    process, address = start_explorer()
    context = chromium.new_context()
    tab = Tab(context, address)
    sizes = []
    for visit in range(110):
        tab.open(LIGHT[visit % len(LIGHT)])
        if visit in (79, 109):  # visits are kept for a while, in case that they come back: then as many go as come
            sizes.append(resident(process.pid))
    context.close()
    process.terminate()
    process.wait(20)
    assert sizes[1] - sizes[0] < GROWTH
