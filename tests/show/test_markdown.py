"""Markdown tables are read back cell by cell, and cards become HTML."""

from __future__ import annotations

import re

from firth.show.markdown import markdown_table, render_markdown


def test_cells_are_read_back_although_they_hold_borders_and_line_ends() -> None:
    rows = [("a|b", "first\nsecond"), ("", 3)]
    header, rule, *lines = markdown_table(["left", "right"], rows, right=[1]).splitlines()
    assert (header, rule) == ("| left | right |", "|---|---:|")
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert cells == [["a|b", "first second"], ["", "3"]]


def test_a_table_without_rows_has_a_header() -> None:
    assert markdown_table(["a"], []) == "| a |\n|---|"


def test_a_card_becomes_html() -> None:
    text = "# Tea\n\nOne line\n`and` more.\n\n- hot\n  water\n- leaves\n\n```sh\necho <b>\n```\n\n"
    card = text + "| a | b |\n|---|---:|\n| چای | x\\|y |"
    assert render_markdown(card).splitlines() == [
        "<h1>Tea</h1>",
        '<p dir="auto">One line <code>and</code> more.</p>',
        '<ul><li dir="auto">hot water</li><li dir="auto">leaves</li></ul>',
        '<pre dir="ltr"><code>echo &lt;b&gt;</code></pre>',
        '<div class="scroll"><table><thead><tr><th>a</th><th>b</th></tr></thead>'
        '<tbody><tr><td dir="auto">چای</td><td dir="auto">x|y</td></tr></tbody></table></div>',
    ]


def test_a_card_cannot_bring_markup_or_scripts() -> None:
    page = render_markdown('<script>x</script> [a](javascript:x) [b](https://example.org/?a="b) **<i>**\n\n```\nopen')
    assert "<script" not in page
    assert "javascript" not in page
    assert "<i>" not in page
    assert '<a href="https://example.org/?a=&quot;b">b</a>' in page
    assert page.endswith('<pre dir="ltr"><code>open</code></pre>')


def test_nothing_is_nothing() -> None:
    assert render_markdown("") == ""
    assert render_markdown("|") == '<div class="scroll"><table><thead><tr></tr></thead><tbody></tbody></table></div>'
