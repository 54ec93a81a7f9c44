"""Widgets: what pages draw, as markup."""

from __future__ import annotations

from firth.errors import OptionError, UnknownWord
from firth.explorer.markup import tag
from firth.explorer.models import Models
from firth.explorer.problems import NoModel
from firth.explorer.visit import Visit
from firth.explorer.widgets import bars, describe_error, notice


def visit(**state: str) -> Visit:
    return Visit(Models(), "en", "/neighbors", dict(state))


def test_bars_have_the_length_of_their_values_and_negative_ones_another_color() -> None:
    table = bars([(tag("b", "tea"), 0.5), (tag("b", "rain"), -0.25)], ("word", "cosine"))
    assert "inline-size:50.00%" in table
    assert 'class="bar minus" style="inline-size:25.00%"' in table
    assert ">-0.250<" in table


def test_an_unknown_word_offers_near_spellings_as_links_to_the_same_page() -> None:
    page = visit(word="quen woman", model="glove-en")
    shown = describe_error(page, UnknownWord("quen", ["queen"]))
    assert 'href="/neighbors?word=queen+woman&amp;model=glove-en"' in shown
    assert "not in glove-en" in shown
    assert "Near spellings" not in describe_error(page, UnknownWord("qzx"))


def test_errors_say_what_to_do_and_unexpected_ones_say_so() -> None:
    assert "give a word" in describe_error(visit(), OptionError("give a word"))
    assert "a fastText model" in describe_error(visit(), NoModel(("subword-vectors",)))
    assert "ZeroDivisionError" in describe_error(visit(), ZeroDivisionError("division"))
    assert 'role="alert"' in notice("No", kind="error")
