"""Words with labeled spans, nested or not, as HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from unicodedata import bidirectional

from firth.explorer.markup import Markup, join, tag

TONES = 10  # colors of theme.css
CLOSING = frozenset(".,;:!?)]}%»”’…'،؛؟")
OPENING = frozenset("([{«“‘$#")


class LabeledSpan(NamedTuple):
    """words[start:end], their label, and its probability where it is known."""

    start: int
    end: int
    label: str
    probability: float | None = None


def tone(number: int) -> str:
    """The color of a number, as CSS.

    >>> tone(0), tone(10)
    ('var(--tone-1)', 'var(--tone-1)')
    """
    return f"var(--tone-{number % TONES + 1})"


def direction_of(words: Sequence[str]) -> str:
    """The direction of a text, as browsers find it: that of its first letter.

    >>> direction_of(["«", "چای", "tea"]), direction_of(["1", "tea"]), direction_of([])
    ('rtl', 'ltr', 'ltr')
    """
    for character in "".join(words):
        kind = bidirectional(character)
        if kind in ("L", "R", "AL"):
            return "ltr" if kind == "L" else "rtl"
    return "ltr"


def has_space(before: str, word: str) -> bool:
    """Whether a space stands between two tokens in print.

    >>> has_space("tea", "."), has_space("(", "tea"), has_space("tea", "is"), has_space("do", "n't")
    (False, False, True, False)
    """
    return word[:1] not in CLOSING and before not in OPENING and word != "n't"


def draw_words(
    words: Sequence[str], spans: Sequence[LabeledSpan], wrap: Callable[[LabeledSpan, Markup], Markup]
) -> Markup:
    """Words in running text; `wrap` makes the element of a span from its content. Spans that cross are cut.

    >>> draw_words(["Ann", "left", "."], [LabeledSpan(0, 1, "PER")], lambda span, inside: tag("b", inside))
    '<b>Ann</b> left.'
    """
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    content, place = _draw(words, ordered, 0, 0, len(words), wrap)
    assert place == len(ordered)
    return content


def _draw(
    words: Sequence[str],
    spans: Sequence[LabeledSpan],
    next_span: int,
    start: int,
    end: int,
    wrap: Callable[[LabeledSpan, Markup], Markup],
) -> tuple[Markup, int]:
    """The words from start to end with the spans that begin there, and the index of the next span."""
    parts: list[object] = []
    place = start
    while place < end:
        if place > start and has_space(words[place - 1], words[place]):
            parts.append(" ")
        if next_span < len(spans) and spans[next_span].start == place:
            span = spans[next_span]
            last = min(span.end, end)
            inside, next_span = _draw(words, spans, next_span + 1, place, last, wrap)
            parts.append(wrap(span, inside))
            place = last
        else:
            parts.append(words[place])
            place += 1
    return join(*parts), next_span


def chip(span: LabeledSpan, content: Markup, color: str, title: str = "") -> Markup:
    """A span as colored text with its label.

    >>> chip(LabeledSpan(0, 1, "PER"), Markup("Ann"), "red")
    '<span class="span" style="--tone:red">Ann<span class="span-label" dir="ltr">PER</span></span>'
    """
    label = tag("span", span.label, class_="span-label", dir="ltr")
    return tag("span", content, label, class_="span", style=f"--tone:{color}", title=title or None)
