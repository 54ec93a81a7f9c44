"""The visible text of an HTML page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from firth.errors import FormatError
from firth.files import Name

UNSEEN = frozenset({"script", "style", "template", "noscript", "title", "textarea", "svg", "math"})
INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|q|s|samp|small|span|strong|"
    "sub|sup|time|tt|u|var|wbr"
)
BLANKS = re.compile(r"[ \t\r\n\f\v]+")
START = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)


def is_html(head: bytes) -> bool:
    """Whether the first bytes of a file are those of an HTML page.

    >>> is_html(b"<!DOCTYPE html><p>Tea"), is_html(b"1 < 2 and <html> is a tag")
    (True, False)
    """
    return START.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def visible_text(page: str, path: Name = "page") -> str:
    """The text that a reader of a page sees, one line per block: paragraph, heading, item, cell or line.

    Scripts, styles, templates, comments and the title are left out, and character references are replaced. White space
    is collapsed except in `pre`. A script or style without an end is an error, because it would hide the rest.

    >>> visible_text("<title>Menu</title><p>Tea &amp; <b>mil</b>k<br>Cake<script>x()</script></p><li>Rain")
    'Tea & milk\\nCake\\nRain'
    """
    parser = _TextParser()
    try:
        parser.feed(page)
        parser.close()
    except AssertionError as error:  # Python's parser has no other error for a marked section that it does not know
        problem = "a declaration that begins with <![ is malformed"
        raise FormatError(path, problem, line=parser.getpos()[0], cure="Remove it") from error
    if parser.unseen is not None:
        tag, line = parser.unseen, parser.hidden_from
        raise FormatError(path, f"the element <{tag}> has no end", line=line, cure=f"Add </{tag}>")
    return parser.text()


class _TextParser(HTMLParser):
    """Collects text outside of unseen elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.parts: list[str] = []
        self.unseen: str | None = None  # the unseen element that the parser is in
        self.hidden_from = 0
        self.depth = 0
        self.kept_blanks = 0  # depth of <pre>

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.unseen is not None:
            self.depth += tag == self.unseen
        elif tag in UNSEEN:
            self.unseen, self.depth, self.hidden_from = tag, 1, self.getpos()[0]
        else:
            self._break_line(tag)
            self.kept_blanks += tag == "pre"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.unseen is None:
            self._break_line(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.unseen is not None:
            self.depth -= tag == self.unseen
            if self.depth == 0:
                self.unseen = None
            return
        self._break_line(tag)
        self.kept_blanks = max(0, self.kept_blanks - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if self.unseen is None:
            self.parts.append(data if self.kept_blanks else BLANKS.sub(" ", data))

    def _break_line(self, tag: str) -> None:
        if INLINE.fullmatch(tag) is None:
            self._end_line()

    def _end_line(self) -> None:
        text = "".join(self.parts)
        self.parts = []
        lines = text.split("\n") if self.kept_blanks else [BLANKS.sub(" ", text)]
        self.lines += [line.strip() for line in lines if line.strip()]

    def text(self) -> str:
        """All lines."""
        self._end_line()
        return "\n".join(self.lines)
