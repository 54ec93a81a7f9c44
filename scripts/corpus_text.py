"""Paragraphs to tokenized sentences."""

from __future__ import annotations

import re

from corpus_readers import GAP
from firth.text.tokenize import Tokenizer

TOKENIZER = Tokenizer()
PARAGRAPH = "¶"  # a line of its own between paragraphs while a batch is tokenized
QUOTES = (
    ("“", '"'),
    ("”", '"'),
    ("„", '"'),
    ("‘", "'"),
    ("’", "'"),
    ("\u00a0", " "),
    ("\u2028", " "),
    (PARAGRAPH, " "),
)
PRIVATE = re.compile("[\ue001-\uf8ff\ufffd]+")  # glyphs of somebody's font, and broken bytes
LINK = re.compile(r"(?:https?://|www\.)\S+")
NOT_LETTERS = re.compile(r"[^a-z0-9]+")


def clean(text: str) -> str:
    """A batch of paragraphs with plain quotes and spaces; links become gaps.

    >>> clean("“It’s here”: see http://a.b/c")
    '"It\\'s here": see \\ue000'
    """
    if not text.isascii():
        for old, new in QUOTES:
            text = text.replace(old, new)
        text = PRIVATE.sub("", text)
    if "http" in text or "www." in text:
        text = LINK.sub(GAP, text)
    return text


def tokenize(paragraphs: list[str]) -> bytes:
    """One tokenized sentence a line and a blank line after each paragraph.

    >>> tokenize(["He left. Why?", "It's late."])
    b"He left .\\nWhy ?\\n\\nIt 's late .\\n\\n"
    """
    text = f"\n{PARAGRAPH}\n".join(clean(paragraph.replace("\n", " ")) for paragraph in paragraphs)
    lines = TOKENIZER.to_lines(f"{text}\n{PARAGRAPH}\n")
    return lines.replace(f"{PARAGRAPH}\n".encode(), b"\n")


def key_of_title(title: str) -> str:
    """The letters and digits of a title, lower-cased."""
    return NOT_LETTERS.sub("", title.lower())
