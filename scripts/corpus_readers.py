"""Readers: one file of a source in, its documents out. A document is a title and paragraphs of running text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import NamedTuple
from xml.etree import ElementTree

GAP = "\ue000"  # stands where a formula or a link was: a sentence that holds it is dropped
BLANK_LINES = re.compile(r"\n\s*\n")


class Document(NamedTuple):
    """A title (empty where the file has none) and the paragraphs below it."""

    title: str
    paragraphs: list[str]


class Unreadable(Exception):
    """A file that a reader refuses. The message is the reason, and the report counts it."""


Reader = Callable[[bytes], Iterator[Document]]


def decode(raw: bytes) -> str:
    """The text of UTF-8 bytes, or of Windows-1252 where they are not UTF-8; line ends are single.

    >>> decode(b"caf\\xe9\\r\\n")
    'café\\n'
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


DOC = re.compile(r'<doc [^>]*?title="([^"]*)"[^>]*>\n(.*?)</doc>', re.S)
TAG = re.compile(r"<[^<>]{1,200}>")
WIKI_GAP = re.compile(r"formula_\d+|\bcodice_\d+")
OPEN_BRACKET = re.compile(r"\(\s*(?:[;,/:–-]\s*)+")
EMPTY_BRACKETS = re.compile(r"\s*\(\s*\)|\s*\[\s*\]|\[\d+\]")
MARKUP = ("[[", "]]", "{{", "}}", "{|", "|}", "||", "BULLET::", "File:", "Category:")
SHORTEST_WIKI_LINE = 8  # words; shorter lines are headings and items of lists


def read_wikiextractor(raw: bytes) -> Iterator[Document]:
    """The articles of a wikiextractor file: `<doc title="...">`, the title, one paragraph a line, `</doc>`."""
    for title, body in DOC.findall(decode(raw)):
        lines = body.split("\n")
        yield Document(html.unescape(title), [clean for line in lines if (clean := clean_wiki_line(line))])


def clean_wiki_line(line: str) -> str:
    """A line without what is left of templates, or nothing for a heading, a list item or markup.

    >>> clean_wiki_line("Belgrade ( ; ) is the capital and the largest city of Serbia.")
    'Belgrade is the capital and the largest city of Serbia.'
    >>> clean_wiki_line("Etymology and terminology.")
    ''
    """
    if line.count(" ") + 1 < SHORTEST_WIKI_LINE or line[0] in "*#:;|!-" or any(mark in line for mark in MARKUP):
        return ""
    if "&" in line:
        line = html.unescape(html.unescape(line))
    if "<" in line:
        line = TAG.sub(" ", line)
    if "formula_" in line or "codice_" in line:
        line = WIKI_GAP.sub(GAP, line)
    if "(" in line or "[" in line:
        line = EMPTY_BRACKETS.sub("", OPEN_BRACKET.sub("(", line))
    return line


GUTENBERG_START = re.compile(r"^\*\*\* ?START OF .*$|^\*END.{0,3}THE SMALL PRINT.*$", re.M | re.I)
GUTENBERG_END = re.compile(
    r"^\W*(?:END OF (?:THE |THIS )?(?:PROJECT GUTENBERG|ETEXT)|\*\*\* ?START: FULL LICENSE).*", re.M | re.I
)
LANGUAGE = re.compile(r"^Language:\s*(.+?)\s*$", re.M)
NOTICES = ("gutenberg", "transcriber", "transcribed by", "proofread", "produced by", "[illustration", "etext", "e-text")
TABULAR = ("|", ".....", ". . . . .", "* *")
NOTE_MARK = re.compile(r"\[(?:\d+|[A-Z]|Footnote[^\]]*|Sidenote[^\]]*|Pg \d+)\]|\{\d+\}")
DASHES = re.compile(r"\s*--+\s*")
WIDE_GAP = re.compile(r"\S {3,}\S")


def read_gutenberg(raw: bytes) -> Iterator[Document]:
    """The book between the header and the licence of Project Gutenberg; verse, tables and notices are left out."""
    text = decode(raw)
    starts = list(GUTENBERG_START.finditer(text))
    if not starts:
        raise Unreadable("no Gutenberg header")
    header = text[: starts[-1].end()]
    if "COPYRIGHTED Project Gutenberg" in text:
        raise Unreadable("copyrighted")
    language = LANGUAGE.search(header)
    if language and language[1] != "English":
        raise Unreadable("not English")
    body = text[starts[-1].end() :]
    end = GUTENBERG_END.search(body)
    body = body[: end.start()] if end else body
    yield Document("", [clean for block in BLANK_LINES.split(body) if (clean := clean_book_block(block))])


def clean_book_block(block: str) -> str:
    """The running text of a block of wrapped lines, or nothing for verse, tables, notices and front matter.

    >>> clean_book_block("It was _late_,\\nand he left--alone.[1]")
    'It was late, and he left — alone.'
    >>> clean_book_block("    Tiger, tiger, burning bright\\n      In the forests of the night")
    ''
    """
    block = block.strip("\n")
    lines = block.split("\n")
    indented = sum(line.startswith("   ") for line in lines)
    if 2 * indented > len(lines) or any(mark in block for mark in TABULAR):
        return ""
    if "   " in block and WIDE_GAP.search(block):
        return ""
    lowered = block.lower()
    if any(notice in lowered for notice in NOTICES):
        return ""
    if "[" in block or "{" in block:
        block = NOTE_MARK.sub("", block)
    if "--" in block:
        block = DASHES.sub(" — ", block)
    return block.replace("_", "").replace("\n", " ")


SKIPPED = frozenset(
    [
        *("table-wrap", "table-wrap-foot", "fig", "fig-group", "graphic", "media", "supplementary-material", "array"),
        *("ref-list", "boxed-text", "code", "preformat", "object-id", "label", "fn", "ack", "app-group", "def-list"),
    ]
)
MATHML = "{http://www.w3.org/1998/Math/MathML}math"
FORMULAS = frozenset(["inline-formula", "disp-formula", "tex-math", "inline-graphic", MATHML])
BRACKETED_REFERENCES = re.compile("\\s*[(\\[](?:[^()\\[\\]\x02]{0,40}\x02[^\x03]*\x03)+[^()\\[\\]\x02]{0,40}[)\\]]")
REFERENCE_NUMBERS = re.compile("\x02[\\d,–\\s-]*\x03")


def read_jats(raw: bytes) -> Iterator[Document]:
    """Abstract, digest and body of an article in JATS XML, with citations in brackets, figures and tables left out."""
    try:
        root = ElementTree.fromstring(raw)
    except ElementTree.ParseError as error:
        raise Unreadable("broken XML") from error
    article = root if root.tag == "article" else root.find("article")
    if article is None:
        raise Unreadable("no article")
    parts = [*article.iterfind("front/article-meta/abstract"), *article.iterfind("body")]
    paragraphs = [clean_article_paragraph(text) for part in parts for text in paragraphs_of(part)]
    yield Document(article.findtext("front/article-meta/title-group/article-title", ""), paragraphs)


def paragraphs_of(element: ElementTree.Element) -> Iterator[str]:
    """The text of every paragraph below an element, in order, less the parts in SKIPPED."""
    for child in element:
        if child.tag in SKIPPED:
            continue
        if child.tag == "p":
            pieces: list[str] = []
            collect_text(child, pieces)
            yield "".join(pieces)
        else:
            yield from paragraphs_of(child)


def collect_text(element: ElementTree.Element, pieces: list[str]) -> None:
    """Appends the text inside an element; references stand between \\x02 and \\x03, formulas become GAP."""
    pieces.append(element.text or "")
    for child in element:
        if child.tag == "xref":
            pieces.append("\x02" + "".join(child.itertext()) + "\x03")
        elif child.tag in FORMULAS:
            pieces.append(GAP)
        elif child.tag not in SKIPPED:
            collect_text(child, pieces)
        pieces.append(child.tail or "")


def clean_article_paragraph(text: str) -> str:
    """A paragraph without references in brackets and reference numbers.

    >>> clean_article_paragraph("Mice sleep (see \\x02Li, 2001\\x03; \\x02Figure 1\\x03). So do \\x02Ray (1999)\\x03.")
    'Mice sleep. So do Ray (1999).'
    """
    if "\x02" in text:
        text = REFERENCE_NUMBERS.sub("", BRACKETED_REFERENCES.sub("", text))
        text = text.replace("\x02", "").replace("\x03", "")
    return text.replace("\n", " ")


CREDIT = re.compile(r"All Content by Mehr News Agency.*", re.S)
DATELINE = re.compile(r"^\s*[A-Z][A-Z ,.]{2,40}(?:\([A-Za-z ]{2,20}\))?\s*[-–—_]+\s*")
PHOTO = re.compile(r"\bPHOTO: [^.]*\.|\b[A-Z]{2,4}/[A-Z]{2,4}\s*$")
JOINED = re.compile(r"(?<=[a-z]{2})([.?!]['”\"]?)(?=[A-Z][a-z])")


def read_news(raw: bytes) -> Iterator[Document]:
    """One news article a file; two spaces end a paragraph. Date line, photo caption and licence line are left out."""
    text = DATELINE.sub("", CREDIT.sub("", decode(raw)).strip())
    paragraphs = re.split(r"\n|  +", PHOTO.sub("", text))
    yield Document("", [JOINED.sub(r"\1 ", paragraph) for paragraph in paragraphs])


PARAGRAPH_NUMBER = re.compile(r"^\s*\d{1,3}\s*\.\s*")
WRAPPED = 90  # characters; the median line of a wrapped text is shorter


def read_speech(raw: bytes) -> Iterator[Document]:
    """One speech a file, with numbered paragraphs on a line each or wrapped at the width of a column."""
    lines = [line.rstrip() for line in decode(raw).split("\n") if line.strip()]
    if not lines:
        return
    if median(map(len, lines)) < WRAPPED:
        lines = join_wrapped(lines)
    yield Document("", [PARAGRAPH_NUMBER.sub("", line) for line in lines])


def join_wrapped(lines: list[str]) -> list[str]:
    """Paragraphs of wrapped lines: one begins at an indented line, or after a short line that ends a sentence.

    >>> join_wrapped(["We shall be a part of this", "Assembly.", "Peace is what all are for,", "and non-", "violence."])
    ['We shall be a part of this Assembly.', 'Peace is what all are for, and non-violence.']
    """
    width = max(map(len, lines))
    paragraphs = [lines[0]]
    for previous, line in pairwise(lines):
        if line[0] in " \t" or (previous[-1] in ".?!" and len(previous) < 0.75 * width):
            paragraphs.append(line)
        elif paragraphs[-1].endswith("-"):
            paragraphs[-1] += line
        else:
            paragraphs[-1] += " " + line
    return paragraphs


BRITANNICA_RULE = re.compile(r"^\+=+\+$", re.M)
PAGE_MARK = re.compile(r"\[\d+:\d+:\d+\]")


def read_britannica(raw: bytes) -> Iterator[Document]:
    """One entry of the encyclopaedia: the text below the box with title and licence."""
    text = decode(raw)
    body = BRITANNICA_RULE.split(text)[-1]
    blocks = BLANK_LINES.split(PAGE_MARK.sub("", body))
    yield Document("", [block.replace("\n", " ") for block in blocks if "|" not in block])


def read_sentences(raw: bytes) -> Iterator[Document]:
    """Tokenized sentences, one a line; each is a paragraph, because the file keeps no others."""
    yield Document("", decode(raw).split("\n"))
