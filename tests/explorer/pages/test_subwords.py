"""Subwords: the shares that the library gives, seen and unseen, with half spaces visible on demand."""

from __future__ import annotations

from tests.explorer.conftest import OpenTab, Tab, run_copied

from firth.explorer.models import Models
from firth.explorer.pages.subwords import draw_word, show_joiners
from firth.explorer.visit import Visit
from firth.vectors.subwords import Share


def test_half_spaces_are_marks_on_demand_and_text_is_escaped() -> None:
    assert show_joiners("می\u200cخورم", False) == "می\u200cخورم"
    assert show_joiners("<\u200c>", True).startswith("&lt;<span")


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


def test_persian_pieces_show_their_half_spaces(open_tab: OpenTab) -> None:
    page = open_tab("fa", "dark", 400, 800).open("/subwords?zwnj=1")
    assert page.locator(".zwnj").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
