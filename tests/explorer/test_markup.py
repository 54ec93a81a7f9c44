"""Markup: what users type never becomes HTML."""

from __future__ import annotations

from firth.explorer.markup import Markup, join, tag


def test_text_and_attributes_are_escaped_and_markup_is_not() -> None:
    hostile = "<script>alert('x')</script>"
    assert "<script" not in tag("p", hostile, title=hostile)
    assert tag("p", tag("b", hostile)).startswith("<p><b>&lt;script")
    assert join(Markup("<i>"), hostile, Markup("</i>")).startswith("<i>&lt;")


def test_void_elements_have_no_end() -> None:
    assert tag("input", type="text") == '<input type="text">'
