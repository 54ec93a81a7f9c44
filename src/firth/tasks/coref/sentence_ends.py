"""Sentence boundaries of a document that has words and mentions, but no sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

STOPS, CLOSING = (".", "!", "?", "...", "…"), (")", "]", "”", "’", "''")
LONGEST = 100  # words of a sentence without a full stop


def find_sentence_ends(words: Sequence[str], clusters: Iterable[Sequence[tuple[int, int]]]) -> list[int]:
    """Where sentences end: after a full stop, never within a mention.

    Quotation marks and brackets that close after the stop belong to its sentence. A sentence without a stop is cut
    after LONGEST words.

    >>> find_sentence_ends('" Go ! " he said . So be it'.split(), [])
    [4, 7, 10]
    """
    depth_change = [0] * (len(words) + 1)
    for spans in clusters:
        for start, end in spans:
            depth_change[start + 1] += 1
            depth_change[end] -= 1
    ends, last, depth, is_quoted, has_stopped = [], 0, 0, False, False
    for at, word in enumerate(words):
        depth += depth_change[at]
        closes = word in CLOSING or (word == '"' and is_quoted)
        if (has_stopped and not closes and depth == 0) or (at - last >= LONGEST and depth == 0):
            ends.append(at)
            last, has_stopped = at, False
        is_quoted ^= word == '"'
        has_stopped = word in STOPS or (has_stopped and closes)
    return [*ends, len(words)]
