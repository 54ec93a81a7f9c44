"""No such page: the address is named as text, and pages of a similar address are near."""

from __future__ import annotations

from firth.explorer.models import Models
from firth.explorer.pages.missing import draw_near, find_near
from firth.explorer.visit import Visit


def test_pages_with_a_similar_address_are_offered_and_others_are_not() -> None:
    assert find_near("/Senses/") == ("/senses",)
    assert find_near("/admin") == ()
    shown = draw_near(Visit(Models(), "fa", "/<b>odd"))
    assert "&lt;b&gt;" in shown
    assert "شاید این را می‌خواستید" in draw_near(Visit(Models(), "fa", "/neighbor"))
