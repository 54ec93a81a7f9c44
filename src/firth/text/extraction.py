"""Files that are not plain text: tables and HTML pages are recognized, and read as the caller says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from firth.errors import OptionError
from firth.files import LONGEST_LINE, STDIN, Name, decode, open_bytes, read_bytes
from firth.remote.addresses import address_of
from firth.text.html_text import is_html, visible_text
from firth.text.tables import read_column, read_names

Kind = Literal["text", "table", "html"]
COMPRESSED = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)
TABLE = re.compile(r"\.(csv|tsv|tab)$", re.IGNORECASE)
PAGE = re.compile(r"\.(html?|xhtml)$", re.IGNORECASE)
HEAD = 4096  # bytes that are looked at
CURE = 'Use errors="replace" to read such bytes as U+FFFD'


@dataclass(frozen=True)
class Extraction:
    """How to take the text from tables and HTML pages.

    `column` is the name or number of a column with the text; 0 reads tables as plain text. `html` takes the visible
    text of HTML pages, or reads them as plain text if it is False. Tables are known by the ending .csv, .tsv or .tab,
    pages by .html or .htm or by their first bytes. Without `column` or `html`, such a file is an error that says how
    to proceed; with `column`, all files but pages are tables.

    >>> Extraction().kind("reviews.csv.gz"), Extraction().kind("book.txt"), Extraction(column="text").kind("data.txt")
    ('table', 'text', 'table')
    """

    column: str | int | None = None
    html: bool | None = None

    def kind(self, path: Name, head: bytes = b"") -> Kind:
        """How a file is read. `head` are its first bytes."""
        name = COMPRESSED.sub("", str(path))
        if self.html is not False and (PAGE.search(name) or is_html(head)):
            return "html"
        if self.column is None:
            return "table" if TABLE.search(name) else "text"
        return "text" if str(self.column) == "0" else "table"

    def find_kind(self, path: Name) -> Kind:
        """As `kind`, after a look at the file. Standard input is not looked at."""
        if str(path) == STDIN:
            return self.kind(path)
        with open_bytes(path) as file:
            return self.kind(path, file.read(HEAD))

    def check(self, paths: Iterable[Name]) -> dict[str, Kind]:
        """How each file is read. A table or page for which nothing was said is an error that asks."""
        kinds = {str(path): self.find_kind(path) for path in paths if is_regular(path)}
        for path, kind in kinds.items():
            if kind == "html" and self.html is None:
                cure = "Use html=True for its visible text, or html=False to read it with its tags"
                raise OptionError(f"{path}: is an HTML page. {cure}")
            if kind == "table" and self.column is None:
                names = read_names(path)
                shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
                cure = 'Say which column has the text, by name or number, such as column="1"'
                problem = f"is a table with {len(names)} columns ({shown})"
                raise OptionError(f'{path}: {problem}. {cure}; column="0" reads it as plain text')
        return kinds

    def documents(
        self, path: Name, kind: Kind, errors: Literal["strict", "replace"] = "strict"
    ) -> Iterator[tuple[str, int]]:
        """The texts of a table, or the text of a page, each with its line number."""
        if kind == "table":
            for number, text in read_column(path, self.column or 1, errors=errors):
                yield text, number
        else:
            page = decode(read_bytes(path, LONGEST_LINE), path, errors=errors, cure=CURE)
            yield visible_text(page, path), 1


def is_regular(path: Name) -> bool:
    """Whether a file is no pipe; a named pipe is read as plain text."""
    return str(path) == STDIN or address_of(path) is not None or os.path.isfile(path)
