"""Words in two sentences: does a contextual model tell whether they have the same sense?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from firth import data
from firth.errors import FormatError
from firth.evaluate import statistics
from firth.evaluate.score import Score
from firth.files import Name, read_lines
from firth.vectors.neighbors import unit_rows

LONGEST = 1 << 16  # bytes of a line


class ContextualModel(Protocol):
    """A model with vectors of words in sentences, such as a biLM."""

    def embed(self, sentences: Sequence[Sequence[str]], /) -> Sequence[NDArray[np.float32]]:
        """A (length, dim) array for each sentence."""


class SensePair(NamedTuple):
    """A word in two sentences: the tokens, the position of the word in each, and whether the sense is the same."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    positions: tuple[int, int]
    is_same: bool


def read_senses(source: Name) -> list[SensePair]:
    """The pairs of a sense set, by name or path: word, T or F, and two sentences with the word in brackets, in tabs.

    >>> read_senses("firth-senses-en")[0].positions
    (6, 4)
    """
    path = data.find(source)
    pairs = []
    for number, line in read_lines(path, LONGEST, blank=False):
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or fields[1] not in ("T", "F"):
            problem = f"expected a word, T or F, and two sentences in tabs, found {len(fields)} fields"
            raise FormatError(path, problem, line=number)
        (first, one), (second, other) = (_find_word(path, number, text) for text in fields[2:])
        pairs.append(SensePair(first, second, (one, other), fields[1] == "T"))
    if not pairs:
        raise FormatError(path, "contains no questions")
    return pairs


def _find_word(path: Name, number: int, text: str) -> tuple[tuple[str, ...], int]:
    words = text.split()
    marked = [place for place, word in enumerate(words) if word.startswith("[") and word.endswith("]") and word != "[]"]
    if len(marked) != 1:
        raise FormatError(path, f"expected one [word] in brackets in {text!r}", line=number)
    words[marked[0]] = words[marked[0]][1:-1]
    return tuple(words), marked[0]


def fits_senses(vocabulary: Collection[str] | None, source: Name) -> bool:
    """Whether a vocabulary contains at least half of the words of a sense set; a model without one fits every set."""
    if vocabulary is None:
        return True
    words = {word for pair in read_senses(source) for sentence in pair[:2] for word in sentence}
    return 2 * sum(word in vocabulary for word in words) >= len(words)


def senses(model: ContextualModel, source: Name, *, resamples: int = 1000, seed: int = 0) -> Score:
    """How well the cosine of a word's two vectors separates pairs with the same sense from pairs with different senses.

    The score is the area under the ROC curve: the share of all pairs of questions, one with the same sense and one with
    different senses, in which the former has the larger cosine. Static vectors score 0.5. The interval is a bootstrap.
    """
    pairs = read_senses(source)
    vectors = model.embed([list(sentence) for pair in pairs for sentence in pair[:2]])
    cosines = []
    for number, pair in enumerate(pairs):
        rows = [vectors[2 * number + side][pair.positions[side]] for side in (0, 1)]
        first, second = unit_rows(np.stack(rows).astype(np.float32))
        cosines.append(float(first @ second))
    values, same = np.round(cosines, 6), np.array([pair.is_same for pair in pairs])
    value = statistics.area_under_curve(values, same)
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, len(pairs), len(pairs)) for _ in range(resamples)]
    areas = [area for rows in drawn if (area := statistics.area_under_curve(values[rows], same[rows])) is not None]
    interval = None if value is None else statistics.percentile_interval(np.array(areas))
    name = str(source) if str(source) in data.SETS else data.find(source).stem
    return Score("senses", name, "area under the ROC curve", value, interval, len(pairs), len(pairs))
