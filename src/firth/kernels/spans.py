"""Choose spans that do not cross each other, from the best downwards."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def accept_spans(starts, lasts, words, count, accepted):
    """The number of spans that are accepted, at most `count`; `accepted` has room for as many of their places.

    Spans are given the best first, by their first and last word, of `words` words. A span is accepted unless it
    crosses one that is: one begins inside the other and ends after it.
    """
    furthest = np.full(words, -1, np.int64)  # the last word of the accepted spans that start at a word
    earliest = np.full(words, words, np.int64)  # the first word of those that end at a word
    found = 0
    for place in range(len(starts)):
        if found == count:
            break
        start, last = starts[place], lasts[place]
        crosses = False
        for word in range(start, last):
            if earliest[word] < start or furthest[word + 1] > last:
                crosses = True
                break
        if crosses:
            continue
        furthest[start] = max(furthest[start], last)
        earliest[last] = min(earliest[last], start)
        accepted[found] = place
        found += 1
    return found
