"""Markdown: tables to write, and cards as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from html import escape


def markdown_table(columns: Sequence[str], rows: Iterable[Iterable[object]], *, right: Collection[int] = ()) -> str:
    r"""A table with a header line. Columns whose numbers are in `right` are right-aligned.

    >>> print(markdown_table(["leaf", "minutes"], [("black|green", 4)], right=[1]))
    | leaf | minutes |
    |---|---:|
    | black\|green | 4 |
    """
    rule = "".join("|---:" if place in right else "|---" for place in range(len(columns))) + "|"
    return "\n".join([_line(columns), rule, *map(_line, rows)])


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def render_markdown(text: str, *, level: int = 1) -> str:
    r"""The HTML of a model card: headings, paragraphs, lists, tables, fenced code, and marks within a line.

    Everything else is text, and text is escaped. A heading of one # becomes `<h{level}>`. Links are shown as text: only
    those with http, https or an anchor are links.

    >>> render_markdown("# Tea\n\nHot **and** `strong` <b>.", level=2)
    '<h2>Tea</h2>\n<p dir="auto">Hot <strong>and</strong> <code>strong</code> &lt;b&gt;.</p>'
    """
    lines, parts = text.splitlines(), []
    while lines:
        if not lines[0].strip():
            lines.pop(0)
        elif lines[0].startswith("```"):
            lines.pop(0)
            code = "\n".join(_take(lines, lambda line: not line.startswith("```")))
            del lines[:1]
            parts.append(f'<pre dir="ltr"><code>{escape(code)}</code></pre>')
        elif heading := re.match(r"(#{1,6})\s+(.*)", lines[0]):
            depth = min(6, level - 1 + len(heading[1]))
            parts.append(f"<h{depth}>{_render_line(heading[2])}</h{depth}>")
            lines.pop(0)
        elif lines[0].startswith("|"):
            parts.append(_render_table(_take(lines, lambda line: line.startswith("|"))))
        elif re.match(r"[-*] ", lines[0]):
            items = _take(lines, lambda line: re.match(r"[-*] |  ", line) is not None)
            joined = re.split(r"(?m)^[-*] ", "\n".join(items))[1:]
            rows = "".join(f'<li dir="auto">{_render_line(" ".join(one.split()))}</li>' for one in joined)
            parts.append(f"<ul>{rows}</ul>")
        else:
            block = [lines.pop(0), *_take(lines, lambda line: re.match(r"\s*$|\||#|```|[-*] ", line) is None)]
            parts.append(f'<p dir="auto">{_render_line(" ".join(block))}</p>')
    return "\n".join(parts)


def _take(lines: list[str], wanted: Callable[[str], bool]) -> list[str]:
    """Removes the first lines that are wanted, and gives them."""
    end = next((place for place, line in enumerate(lines) if not wanted(line)), len(lines))
    taken = lines[:end]
    del lines[:end]
    return taken


def _render_table(lines: Sequence[str]) -> str:
    """A table; the second line only separates the header."""
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:])] for line in lines]
    rows = [
        row[:-1] if row[-1] == "" else row for row in cells if not all(re.fullmatch(r":?-+:?|", one) for one in row)
    ]
    head, *body = rows or [[]]
    top = "".join(f"<th>{_render_line(cell)}</th>" for cell in head)
    below = ("".join(f'<td dir="auto">{_render_line(cell)}</td>' for cell in row) for row in body)
    inside = "".join(f"<tr>{row}</tr>" for row in below)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{inside}</tbody></table></div>'


def _render_line(text: str) -> str:
    """Code, bold and links within a line."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{escape(part[1:-1])}</code>" if place % 2 else _render_marks(escape(part))
        for place, part in enumerate(parts)
    )


def _render_marks(text: str) -> str:
    """Bold text and links of escaped text."""
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"\[([^\]]+)\]\(((?:https?://|#)[^)\s]+)\)", r'<a href="\2">\1</a>', text)
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
