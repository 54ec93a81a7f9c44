"""Counts lab: the table follows what one types."""

from __future__ import annotations

from tests.explorer.conftest import OpenTab, Tab, run_copied

from firth.explorer.answers.counts import count_text
from firth.explorer.models import Models
from firth.explorer.pages.counts import (
    LETTER,
    count_covered,
    draw_plane,
    draw_table,
    draw_value,
    frame_name,
    place_names,
)
from firth.explorer.visit import Visit


def test_zeros_are_quiet_and_large_values_dark() -> None:
    assert 'class="zero"' in draw_value(0.0, 2.0, True)
    assert ">2<" in draw_value(2.0, 2.0, True)
    assert "--share:50%;--heat:var(--minus)" in draw_value(-1.0, 2.0, False)
    shown = draw_table(
        Visit(Models(), "en", "/counts"), count_text(" ".join(f"w{one}" for one in range(50)), "one-hot")
    )
    assert "50 × 50" in shown
    assert "most frequent" in shown


def test_words_of_one_place_in_the_plane_share_a_label() -> None:
    table = count_text("he drinks tea\nhe drinks coffee\nwe see rain", "svd")
    assert "tea · coffee" in draw_plane(table) or "coffee · tea" in draw_plane(table)


def test_names_in_the_plane_do_not_cover_each_other() -> None:
    dots = [(300.0, 100.0), (304.0, 106.0), (310.0, 98.0), (620.0, 100.0), (70.0, 12.0), (70.0, 20.0)]
    names = ["drinks", "falls · snows", "tea", "a long name", "one", "two"]
    boxes = [frame_name(place, LETTER * len(name)) for place, name in zip(place_names(dots, names), names)]
    assert [count_covered(box, boxes[:row] + boxes[row + 1 :]) for row, box in enumerate(boxes)] == [0] * 6


def test_typing_changes_the_matrix_and_the_address(tab: Tab) -> None:
    page = tab.open("/counts")
    page.get_by_label("Sentences, one per line").fill("tea is hot\ntea is green")
    page.wait_for_function("location.search.includes('green')")
    tab.settle()
    shown = page.locator(".matrix td:not(:first-child), .matrix tr:not(:first-child) td").all_inner_texts()
    values = run_copied(page.locator(".python code").inner_text())
    assert [float(one) for one in shown] == values.ravel().tolist()
    page.get_by_role("link", name="TF-IDF").click()
    page.wait_for_function("location.search.includes('tf-idf')")
    tab.settle()
    assert page.get_by_label("Sentences, one per line").input_value() == "tea is hot\ntea is green"


def test_a_megabyte_of_pasted_text_is_cut_and_said(open_tab: OpenTab) -> None:
    tab = open_tab()
    page = tab.open("/counts")
    field = page.get_by_label("Sentences, one per line")
    field.fill("")
    field.focus()
    page.evaluate("text => document.execCommand('insertText', false, text)", "tea rain " * 120_000)
    page.get_by_text("20,000 characters were kept").wait_for()
    tab.settle()
    assert len(field.input_value()) == 20_000
    assert page.locator(".matrix").count() == 1
