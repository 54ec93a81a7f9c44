"""Subwords: the shares that the library gives, seen and unseen."""

from __future__ import annotations

from tests.explorer.conftest import Tab, run_copied

from firth.explorer.models import Models
from firth.explorer.pages.subwords import draw_word
from firth.explorer.visit import Visit
from firth.vectors.subwords import Share


def test_a_word_says_whether_it_was_seen() -> None:
    visit = Visit(Models(), "en", "/subwords", {"word": "tea"})
    own = Share("tea", 0, 0.7, True)
    piece = Share("<te", 5, -0.1, False)
    assert "in the vocabulary" in draw_word(visit, "tea", [piece, own], [("cup", 0.5)])
    unseen = draw_word(visit, "tea", [piece], [])
    assert "only its pieces" in unseen
    assert "bar minus" in unseen


def test_the_page_shows_the_shares_of_the_copied_line(tab: Tab) -> None:
    page = tab.open("/subwords?word=teapots&model=fasttext-en")
    shares = sorted((share.share for share in run_copied(page.locator(".python code").inner_text())), reverse=True)
    assert page.locator(".bars .number").all_inner_texts() == [f"{share:.3f}" for share in shares]
