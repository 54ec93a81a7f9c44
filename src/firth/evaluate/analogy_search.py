"""The best answers to many analogy questions at once.

The questions share few words, so the cosines of these words with the whole vocabulary are computed once, block by
block. For both methods, the score of a candidate x is then a sum of three rows of a table:

    3CosAdd   cos(b, x) + cos(c, x) - cos(a, x)
    3CosMul   log s(b, x) + log s(c, x) - log(s(a, x) + 0.000001)   where s = (1 + cos) / 2

3CosMul is the logarithm of Levy and Goldberg's product, which has the same best answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.evaluate.lookup import Floats, Lookup
from firth.evaluate.questions import AnalogyQuestion
from firth.runtime import Runtime
from firth.vectors.neighbors import ANALOGY_METHODS, AnalogyMethod

Ids = NDArray[np.int64]

CELLS = 1 << 22  # cosines per thread at a time
TILE = 1 << 18  # sums per thread at a time; they fit into the CPU cache
EXCLUDED = np.float32(-1e4)  # far below any score, but finite, so that two of them can be added


@dataclass(frozen=True)
class Answers:
    """For each question: whether all its words are known, the expected id, and the id that each method predicts or -1.

    Where case is ignored, all spellings of a word share the id of the first one (see `Lookup`).
    """

    known: NDArray[np.bool_]
    expected: Ids
    predicted: Mapping[AnalogyMethod, Ids]

    def correct(self, method: AnalogyMethod) -> NDArray[np.bool_]:
        """Which questions are answered correctly."""
        return np.asarray(self.known & (self.predicted[method] == self.expected), bool)


def solve(
    lookup: Lookup,
    questions: Sequence[AnalogyQuestion],
    methods: Sequence[AnalogyMethod] = tuple(ANALOGY_METHODS),
    runtime: Runtime | None = None,
) -> Answers:
    """The best answer to every question by each method; the words of a question are never its answer.

    >>> from firth.vectors.words import WordVectors
    >>> vectors = WordVectors(["king", "man", "woman", "queen", "tea"], [[1, 1], [1, 0], [-1, 0], [-1, 1], [0, -1]])
    >>> solve(Lookup(vectors), [AnalogyQuestion("man", "woman", "king", "queen")]).correct("3cosadd")
    array([ True])
    """
    words = list(dict.fromkeys(word for question in questions for word in question[:3]))
    vectors = [lookup.vector(word) for word in words]
    inputs = [(word, vector) for word, vector in zip(words, vectors) if vector is not None]
    row_of = {word: row for row, (word, _) in enumerate(inputs)}
    rows = np.array([[row_of.get(word, -1) for word in question[:3]] for question in questions], np.int64)
    expected = np.array([lookup.find(question.expected) for question in questions], np.int64)
    known = (rows >= 0).all(axis=1) & (expected >= 0)
    predicted = {method: np.full(len(questions), -1, np.int64) for method in methods}
    if known.any():
        matrix = np.stack([vector for _, vector in inputs])
        input_ids = np.array([lookup.find(word) for word, _ in inputs], np.int64)
        best = _search(lookup, matrix, input_ids, rows[known], methods, runtime or Runtime.from_env())
        for method in methods:
            predicted[method][known] = best[method]
    return Answers(known, expected, predicted)


def _search(
    lookup: Lookup, inputs: Floats, input_ids: Ids, rows: Ids, methods: Sequence[AnalogyMethod], runtime: Runtime
) -> dict[AnalogyMethod, Ids]:
    """The best id for each question; rows are the places of a, b and c in `inputs`, whose ids are `input_ids`."""
    width = max(256, min(8192, CELLS // len(inputs)))
    blocks = [slice(start, min(start + width, lookup.size)) for start in range(0, lookup.size, width)]
    best = {method: np.full(len(rows), EXCLUDED / 2, np.float32) for method in methods}
    predicted = {method: np.full(len(rows), -1, np.int64) for method in methods}

    def search_block(block: slice) -> list[tuple[Floats, Ids]]:
        cosines = inputs @ lookup.unit[block].T  # (inputs, width)
        excluded = np.nonzero(input_ids[:, None] == lookup.spellings[block])
        return [_best_in_block(*_tables(method, cosines, excluded), rows) for method in methods]

    for block, results in zip(blocks, runtime.stream(search_block, blocks)):
        for method, (sums, places) in zip(methods, results):
            better = sums > best[method]
            best[method][better] = sums[better]
            predicted[method][better] = lookup.spellings[block][places[better]]
    return predicted


def _tables(method: AnalogyMethod, cosines: Floats, excluded: tuple[Ids, ...]) -> tuple[Floats, Floats]:
    """The terms of b and c, and the terms of a, for each input and candidate; `excluded` candidates cannot win."""
    if method == "3cosadd":
        plus, minus = cosines.copy(), -cosines
    else:
        shifted = np.maximum((1 + cosines) / 2, np.float32(1e-12))
        plus, minus = np.log(shifted), -np.log(shifted + np.float32(1e-6))
    plus[excluded] = minus[excluded] = EXCLUDED
    return plus, minus


def _best_in_block(plus: Floats, minus: Floats, rows: Ids) -> tuple[Floats, Ids]:
    """The maximum of plus[b] + plus[c] + minus[a] for each row (a, b, c), and its place in the block."""
    sums, places = np.empty(len(rows), np.float32), np.empty(len(rows), np.int64)
    height = max(1, TILE // plus.shape[1])
    tile, terms = (np.empty((height, plus.shape[1]), np.float32) for _ in range(2))
    for start in range(0, len(rows), height):
        some = slice(start, min(start + height, len(rows)))
        size = some.stop - start
        np.take(plus, rows[some, 1], axis=0, out=tile[:size], mode="clip")
        for table, column in ((plus, 2), (minus, 0)):
            np.take(table, rows[some, column], axis=0, out=terms[:size], mode="clip")
            tile[:size] += terms[:size]
        places[some] = tile[:size].argmax(axis=1)
        sums[some] = tile[np.arange(size), places[some]]
    return sums, places
