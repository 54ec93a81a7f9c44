"""Facts about a model as tables."""

from __future__ import annotations

from rich.console import Console

from firth.show.notebook import Fact, FactSheet, describe_origin


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
