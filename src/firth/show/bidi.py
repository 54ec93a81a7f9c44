"""Right-to-left text among other text in the terminal."""

from __future__ import annotations

import unicodedata

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
