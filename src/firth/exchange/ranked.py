"""Words and rows from elsewhere as a vocabulary: unique words, by falling count where there are counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.text.vocabulary import Vocabulary

Floats = NDArray[np.float32]


def rank_words(
    vocabulary: Vocabulary, counts: NDArray[Any] | None, rows: Floats, what: str
) -> tuple[Vocabulary, Floats]:
    """A vocabulary with counts and the rows of its words. Where the counts are not falling, both are reordered.

    An id of firth is a rank by count. `what` names the source in errors. Rows that are in order are not copied.

    >>> words, rows = rank_words(Vocabulary(["tea", "the"]), np.array([2, 9]), np.eye(2, dtype=np.float32), "here")
    >>> words.words, words.counts.tolist(), rows[0].tolist()
    (('the', 'tea'), [9, 2], [0.0, 1.0])
    """
    check_unique(vocabulary, what)
    if counts is None:
        return vocabulary, rows
    numbers = np.ascontiguousarray(counts, np.int64)
    if len(numbers) and int(numbers.min()) < 0:
        raise OptionError(f"{what}: a count is {int(numbers.min())}, but counts must be at least 0")
    if (np.diff(numbers) > 0).any():
        order = np.argsort(-numbers, kind="stable")
        vocabulary, numbers, rows = vocabulary.take(order), numbers[order], rows[order]
    arrays = vocabulary.blob, vocabulary.starts, vocabulary.ends
    return Vocabulary.from_arrays(*arrays, numbers), rows


def check_unique(vocabulary: Vocabulary, what: str) -> None:
    """Raises an error if a word stands twice."""
    ids = vocabulary.ids(list(vocabulary))
    twice = np.flatnonzero(ids != np.arange(len(vocabulary)))
    if len(twice):
        raise OptionError(f"{what}: the word {vocabulary[int(twice[0])]!r} stands twice. Words must be unique")
