"""Spans: nested, adjacent and at the ends; nothing typed becomes HTML."""

from __future__ import annotations

from firth.explorer.markup import Markup, tag
from firth.explorer.spans import LabeledSpan, chip, draw_words, has_space, tone


def bracket(span: LabeledSpan, inside: Markup) -> Markup:
    return Markup(f"[{inside}]{span.label}")


def test_nested_spans_keep_their_order_and_crossing_ones_are_cut() -> None:
    words = ["his", "sister", "saw", "him"]
    spans = [LabeledSpan(0, 1, "1"), LabeledSpan(3, 4, "1"), LabeledSpan(0, 2, "2")]
    assert draw_words(words, spans, bracket) == "[[his]1 sister]2 saw [him]1"
    assert draw_words(words, [LabeledSpan(0, 2, "1"), LabeledSpan(1, 4, "2")], bracket) == "[his [sister]2]1 saw him"
    assert draw_words([], [], bracket) == ""


def test_punctuation_stands_where_print_has_it() -> None:
    assert draw_words(["(", "tea", ")", "is", "it", "?"], [], bracket) == "(tea) is it?"
    assert not has_space("چای", "،")


def test_a_chip_has_its_label_its_color_and_escaped_text() -> None:
    shown = draw_words(["<b>"], [LabeledSpan(0, 1, "PER")], lambda span, inside: chip(span, inside, tone(2), "person"))
    assert "&lt;b&gt;" in shown
    assert 'title="person"' in shown
    assert "--tone:var(--tone-3)" in shown
    assert chip(LabeledSpan(0, 1, "X"), tag("i"), tone(0)).count("title") == 0
