"""Visitors: each has a state of her own, a first visit is small, and what is copied is what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from tests.explorer.conftest import OpenTab

MOST = 700_000  # bytes of a first visit


def test_two_visitors_of_a_page_have_their_own_words(open_tab: OpenTab) -> None:
    first, second = open_tab(), open_tab()
    pages = [one.open("/neighbors?model=svd-en") for one in (first, second)]
    for page, word in zip(pages, ("ship", "music")):
        page.get_by_label("Word or words").fill(word)
        page.get_by_label("Word or words").press("Enter")
    for page, word in zip(pages, ("ship", "music")):
        page.locator(".python code", has_text=word).wait_for()
        assert f"word={word}" in page.url


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
