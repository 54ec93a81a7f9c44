"""Sentences of a text that comes as words alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

STOPS, CLOSING = (".", "!", "?", "...", "…"), (")", "]", "”", "’", "''")
LONGEST = 100  # words of a sentence that has no full stop


def find_sentence_ends(words: Sequence[str], clusters: Iterable[Sequence[tuple[int, int]]]) -> list[int]:
    """Where sentences end in a text that has words and mentions alone: behind a full stop, never within a mention.

    Quotation marks and brackets that close behind the stop belong to its sentence. One that finds no stop is cut when
    it has LONGEST words.

    >>> find_sentence_ends('" Go ! " he said . So be it'.split(), [])
    [4, 7, 10]
    """
    inside = [0] * (len(words) + 1)
    for spans in clusters:
        for start, end in spans:
            inside[start + 1] += 1
            inside[end] -= 1
    ends, last, depth, quoted, stopped = [], 0, 0, False, False
    for at, word in enumerate(words):
        depth += inside[at]
        closes = word in CLOSING or (word == '"' and quoted)
        if (stopped and not closes and depth == 0) or (at - last >= LONGEST and depth == 0):
            ends.append(at)
            last, stopped = at, False
        quoted ^= word == '"'
        stopped = word in STOPS or (stopped and closes)
    return [*ends, len(words)]
