"""Answers to analogy questions, thousands at once.

Questions share few words, so the cosines of those words with the whole vocabulary are computed once, block by block.
Both ways to answer are then a sum of three rows of a table: with x a unit vector and cos = x·w,

    3CosAdd   cos(b, x) + cos(c, x) - cos(a, x)
    3CosMul   log s(b, x) + log s(c, x) - log(s(a, x) + 0.000001)   where s = (1 + cos) / 2

(the second is the logarithm of Levy and Goldberg's product, so that its best answer is the same).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.evaluation.lookup import Floats, Lookup
from firth.evaluation.questions import Question
from firth.runtime import Runtime
from firth.vectors.neighbors import ANALOGY_METHODS, AnalogyMethod

Ids = NDArray[np.int64]

CELLS = 1 << 22  # cosines that a thread holds at once
TILE = 1 << 18  # sums that a thread forms at once: they stay in its cache
NEVER = np.float32(-1e4)  # far below any sum, yet finite, so that two of them can be added


@dataclass(frozen=True)
class Answers:
    """For each question: whether it could be asked, the id it expects, and the id each method found (-1 for none).

    Ids are those of the spelling that stands for all spellings of a word (see `Lookup`).
    """

    asked: NDArray[np.bool_]
    expected: Ids
    found: Mapping[AnalogyMethod, Ids]

    def right(self, method: AnalogyMethod) -> NDArray[np.bool_]:
        """Which questions were answered as expected."""
        return np.asarray(self.asked & (self.found[method] == self.expected), bool)


def solve(
    lookup: Lookup,
    questions: Sequence[Question],
    methods: Sequence[AnalogyMethod] = tuple(ANALOGY_METHODS),
    runtime: Runtime | None = None,
) -> Answers:
    """The best answer to every question, by each method; no spelling of a question's own words is an answer.

    >>> from firth.vectors.words import WordVectors
    >>> vectors = WordVectors(["king", "man", "woman", "queen", "tea"], [[1, 1], [1, 0], [-1, 0], [-1, 1], [0, -1]])
    >>> solve(Lookup(vectors), [Question("man", "woman", "king", "queen")]).right("3cosadd")
    array([ True])
    """
    words = list(dict.fromkeys(word for question in questions for word in question[:3]))
    vectors = [lookup.vector(word) for word in words]
    known = [i for i, vector in enumerate(vectors) if vector is not None]
    row_of = {words[i]: row for row, i in enumerate(known)}
    rows = np.array([[row_of.get(word, -1) for word in question[:3]] for question in questions], np.int64)
    expected = np.array([lookup.find(question.expected) for question in questions], np.int64)
    asked = (rows >= 0).all(axis=1) & (expected >= 0)
    found = {method: np.full(len(questions), -1, np.int64) for method in methods}
    if asked.any():
        inputs = np.stack([vector for vector in vectors if vector is not None])
        own = np.array([lookup.find(words[i]) for i in known], np.int64)
        best = _search(lookup, inputs, own, rows[asked], methods, runtime or Runtime.from_env())
        for method in methods:
            found[method][asked] = best[method]
    return Answers(asked, expected, found)


def _search(
    lookup: Lookup, inputs: Floats, own: Ids, rows: Ids, methods: Sequence[AnalogyMethod], runtime: Runtime
) -> dict[AnalogyMethod, Ids]:
    """The best spelling for each row (a, b, c) of numbers of inputs; `own` are the inputs' ids."""
    width = max(256, min(8192, CELLS // len(inputs)))
    blocks = [slice(start, min(start + width, lookup.size)) for start in range(0, lookup.size, width)]
    best = {method: np.full(len(rows), NEVER / 2, np.float32) for method in methods}
    found = {method: np.full(len(rows), -1, np.int64) for method in methods}

    def look_at(block: slice) -> list[tuple[Floats, Ids]]:
        cosines = inputs @ lookup.unit[block].T  # (inputs, width)
        barred = np.nonzero(own[:, None] == lookup.spellings[block])
        return [_best_in_block(*_tables(method, cosines, barred), rows) for method in methods]

    for block, results in zip(blocks, runtime.stream(look_at, blocks)):
        for method, (sums, places) in zip(methods, results):
            better = sums > best[method]
            best[method][better] = sums[better]
            found[method][better] = lookup.spellings[block][places[better]]
    return found


def _tables(method: AnalogyMethod, cosines: Floats, barred: tuple[Ids, ...]) -> tuple[Floats, Floats]:
    """What b and c add to a sum, and what a adds; a word's own spellings are never an answer."""
    if method == "3cosadd":
        plus, minus = cosines.copy(), -cosines
    else:
        shifted = np.maximum((1 + cosines) / 2, np.float32(1e-12))
        plus, minus = np.log(shifted), -np.log(shifted + np.float32(1e-6))
    plus[barred] = minus[barred] = NEVER
    return plus, minus


def _best_in_block(plus: Floats, minus: Floats, rows: Ids) -> tuple[Floats, Ids]:
    """The largest plus[b] + plus[c] + minus[a] of each row (a, b, c) and its place in the block."""
    sums, places = np.empty(len(rows), np.float32), np.empty(len(rows), np.int64)
    height = max(1, TILE // plus.shape[1])
    tile, more = (np.empty((height, plus.shape[1]), np.float32) for _ in range(2))
    for start in range(0, len(rows), height):
        some = slice(start, min(start + height, len(rows)))
        size = some.stop - start
        np.take(plus, rows[some, 1], axis=0, out=tile[:size], mode="clip")
        for table, column in ((plus, 2), (minus, 0)):
            np.take(table, rows[some, column], axis=0, out=more[:size], mode="clip")
            tile[:size] += more[:size]
        places[some] = tile[:size].argmax(axis=1)
        sums[some] = tile[np.arange(size), places[some]]
    return sums, places
