"""Home: a card for each page, and the models."""

from __future__ import annotations

from tests.explorer.conftest import Tab

from firth.explorer.registry import PAGES


def test_home_leads_to_every_page_and_names_the_models(tab: Tab) -> None:
    page = tab.open("/")
    cards = page.locator(".gallery-card")
    assert {card.get_attribute("href") for card in cards.all()} == {one.address for one in PAGES} - {"/"}
    assert "word2vec-en" in page.locator(".models").inner_text()
    page.locator(".gallery-card", has_text="Neighbors").click()
    page.locator("h1", has_text="Neighbors").wait_for()
