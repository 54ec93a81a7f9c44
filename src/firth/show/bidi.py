"""Right-to-left text among other text in the terminal."""

from __future__ import annotations

import unicodedata
from typing import Any

from rich.console import Console
from rich.containers import Lines
from rich.text import Text

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
RIGHT_TO_LEFT = frozenset(("R", "AL", "AN"))


def isolate(text: str) -> str:
    """A text that keeps to itself beside others: right-to-left letters do not move the columns of a table.

    Terminals that order text by the Unicode bidirectional algorithm would otherwise show a number that stands right of
    a Persian word to its left. The marks have no width; a text without such letters has none.

    >>> isolate("tea"), isolate("چای") == "\\u2068چای\\u2069"
    ('tea', True)
    """
    if text.isascii() or not any(unicodedata.bidirectional(letter) in RIGHT_TO_LEFT for letter in text):
        return text
    return f"{FIRST_STRONG_ISOLATE}{text}{POP_ISOLATE}"


class Cell(Text):
    """The text of a cell. Each of its lines is isolated: an isolate that ends in a later line would take in the rest.

    >>> [line.plain == isolate(word) for line, word in zip(Cell("چای داغ").wrap(Console(), 3), ["چای", "داغ"])]
    [True, True]
    """

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        """The lines of the text within a width."""
        return Lines(map(_isolate_line, super().wrap(console, width, **options)))


def _isolate_line(line: Text) -> Text:
    """A line with marks around its text, inside of the blanks that fill its width."""
    text = line.plain.strip()
    if isolate(text) == text:
        return line
    start = line.plain.index(text)
    before, inside, after = line.divide([start, start + len(text)])
    return Text.assemble(before, FIRST_STRONG_ISOLATE, inside, POP_ISOLATE, after)
