"""Facts about a model as tables."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firth.show.notebook import (
    Fact,
    FactSheet,
    describe_origin,
    html_layers,
    html_losses,
    html_picture,
    html_table,
)


def test_facts_are_shown_in_the_terminal_and_escaped_in_html() -> None:
    class Tea(FactSheet):
        def _facts(self) -> list[Fact]:
            return [("words", "<unk>, tea"), ("dim", "3"), ("from", "")]

    console = Console(width=60, color_system=None)
    with console.capture() as capture:
        console.print(Tea())
    assert "<unk>, tea" in capture.get()
    assert "from" not in capture.get()
    assert "&lt;unk&gt;, tea" in Tea()._repr_html_()


def test_the_origin_names_the_recipe() -> None:
    assert describe_origin({"recipe": {"name": "word2vec"}, "path": "v.bin", "loss": [1]}) == "v.bin, word2vec"
    assert describe_origin({}) == ""


def test_text_of_users_is_escaped_in_tables() -> None:
    table = html_table("<a>", ["<b>"], [["<script>"], [None], [1234]])
    assert "<script>" not in table
    assert "<caption>&lt;a&gt;</caption>" in table
    assert "1,234" in table
    assert html_layers("mix", [0.25, 0.75]).count("<div") == 2


def test_pictures_of_the_terminal_keep_their_colors() -> None:
    page = html_picture(Text.assemble(("tea & <milk>", "bold green")))
    assert "tea &amp; &lt;milk&gt;" in page
    assert "color:" in page
    assert page.startswith("<pre")


def test_losses_are_shown_only_where_they_are_numbers() -> None:
    assert "held out" in html_losses({"loss": [2.0, 1.0], "held_out_loss": [2.5, 1.5]})
    assert "held out" not in html_losses({"loss": [2.0, 1.0], "held_out_loss": [2.5]})
    assert html_losses({"loss": ["x"]}) == html_losses({"loss": 3}) == html_losses({"loss": []}) == ""
