"""Maps from the vectors of one model into the space of another, such as from English to Persian.

Two models of the same meanings differ mostly by a rotation. Orthogonal Procrustes finds it from a dictionary of word
pairs (Xing et al., 2015; Smith et al., 2017). Refinement repeats it with the pairs of words that are mutual nearest
neighbors under the map (Conneau et al., 2018). Neighbors are ranked by CSLS, cross-domain similarity local scaling,
which lowers the scores of words that are near to everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError, UnknownWord
from firth.progress import Progress, Report, silent
from firth.serialization import Parts
from firth.vectors.neighbors import Near, unit_rows
from firth.vectors.procrustes import procrustes
from firth.vectors.words import WordVectors

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Pairs = Mapping[str, str] | Iterable[tuple[str, str]]
BLOCK = 1024  # rows of a table of similarities
NEIGHBORS = 10  # of CSLS
HUBS = 5000  # most frequent words of the source, which tell how near a word of the target is to everything


@dataclass(frozen=True)
class TranslationScore:
    """Precision at 1 and 5: the share of words whose translation is the first, or among the first five.

    `used` of `total` words of the test are in the source vocabulary and have a translation in that of the target.
    """

    at_1: float
    at_5: float
    used: int
    total: int

    def as_dict(self) -> dict[str, Any]:
        """The score as plain values."""
        return {"precision at 1": self.at_1, "precision at 5": self.at_5, "used": self.used, "total": self.total}


@checked
class VectorMap:
    """A map x ↦ (unit(x) - source_mean) · rotation + target_mean from the vectors of one model to those of another.

    >>> source = WordVectors(["tea", "rain", "sun"], [[1, 0], [0, 1], [-1, 0.5]])
    >>> target = WordVectors(["chai", "baran", "aftab"], [[0, 1], [-1, 0], [-0.5, -1]])
    >>> found = align(source, target, {"tea": "chai", "rain": "baran"}, refine=0)
    >>> found.translate(source, target, "sun", topn=1)[0][0]
    'aftab'
    """

    kind = "vector-map"

    def __init__(
        self,
        rotation: NDArray[Any],
        source_mean: NDArray[Any],
        target_mean: NDArray[Any],
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.rotation, self.source_mean, self.target_mean = rotation, source_mean, target_mean
        self.metadata: dict[str, Any] = dict(metadata or {})
        if rotation.shape != (len(source_mean), len(target_mean)):
            raise OptionError(
                f"a rotation of {rotation.shape} does not fit means of {len(source_mean)} and {len(target_mean)}"
            )

    @property
    def dim(self) -> int:
        """The length of the vectors that come out."""
        return len(self.target_mean)

    def __repr__(self) -> str:
        pairs = self.metadata.get("pairs")
        return f"VectorMap({len(self.source_mean)} to {self.dim} numbers" + (f", {pairs:,} pairs)" if pairs else ")")

    def apply(self, vectors: WordVectors) -> WordVectors:
        """The words of the source with vectors in the space of the target, comparable with the target's own."""
        self._check_dim(vectors, len(self.source_mean), "source")
        rows = self._turn(vectors.first_unit_rows(len(vectors))) + self.target_mean
        metadata = {"tokenizer": vectors.metadata.get("tokenizer"), "map": self.metadata}
        return WordVectors(vectors.vocabulary, np.asarray(rows, np.float32), metadata=metadata)

    def translate(self, source: WordVectors, target: WordVectors, word: str, topn: int = 5) -> Near:
        """The words of the target nearest to a word of the source, with their CSLS, the best first."""
        if int(source.ids([word])[0]) < 0:
            raise UnknownWord(word, source.vocabulary.near(word))
        return self.translate_all(source, target, [word], topn)[0]

    def translate_all(
        self, source: WordVectors, target: WordVectors, words: Sequence[str], topn: int = 5
    ) -> list[Near]:
        """The translations of many words, each as by `translate`."""
        self._check_dim(source, len(self.source_mean), "source")
        self._check_dim(target, self.dim, "target")
        if topn < 1:
            raise OptionError(f"topn is {topn}, but must be at least 1")
        known = _center(target.first_unit_rows(len(target)), self.target_mean)
        everything = _turned(source.first_unit_rows(min(len(source), HUBS)), self)
        queries = _turned(unit_rows(source.of(list(words))), self)
        hubness = _mean_similarity(known, everything)
        found: list[Near] = []
        for start in range(0, len(queries), BLOCK):
            scores = 2 * (queries[start : start + BLOCK] @ known.T) - hubness
            best = np.argsort(-scores, axis=1, kind="stable")[:, :topn]
            own = _mean_similarity(queries[start : start + BLOCK], known)
            for row, ids in enumerate(best.tolist()):
                found.append([(target.vocabulary[id], float(scores[row, id] - own[row])) for id in ids])
        return found

    def evaluate(self, source: WordVectors, target: WordVectors, pairs: Pairs) -> TranslationScore:
        """Precision at 1 and 5 on pairs of a word and its translation; a word may have several translations."""
        expected: dict[str, list[str]] = {}
        for word, translation in as_pairs(pairs):
            expected.setdefault(word, []).append(translation)
        # Words are compared by their rows: each model normalizes the spelling of its words.
        rows = {word: set(target.ids(translations).tolist()) - {-1} for word, translations in expected.items()}
        usable = [word for word in expected if rows[word] and int(source.ids([word])[0]) >= 0]
        if not usable:
            return TranslationScore(0.0, 0.0, 0, len(expected))
        answers = self.translate_all(source, target, usable, 5)
        found = [target.ids([word for word, _ in near]).tolist() for near in answers]
        hits = [[row in rows[query] for row in near] for query, near in zip(usable, found)]
        first, five = sum(one[0] for one in hits), sum(any(one) for one in hits)
        return TranslationScore(first / len(usable), five / len(usable), len(usable), len(expected))

    def _check_dim(self, vectors: WordVectors, dim: int, name: str) -> None:
        if vectors.dim != dim:
            raise OptionError(f"the {name} has vectors of {vectors.dim} numbers, but this map is for {dim}")

    def _turn(self, unit: Floats) -> NDArray[Any]:
        return np.asarray((unit - self.source_mean) @ self.rotation)

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        arrays = {"rotation": self.rotation, "source_mean": self.source_mean, "target_mean": self.target_mean}
        return Parts(self.kind, {"metadata": self.metadata}, arrays)

    @classmethod
    def from_parts(cls, parts: Parts) -> VectorMap:
        """The artifact that `to_parts` took apart."""
        means = [parts.numbers(name, None, low=-10, high=10) for name in ("source_mean", "target_mean")]
        rotation = parts.numbers("rotation", len(means[0]), len(means[1]), low=-10, high=10)
        return cls(rotation, means[0], means[1], metadata=parts.metadata)


def _center(unit: Floats, mean: NDArray[Any]) -> Floats:
    return unit_rows(unit - mean)


def _turned(unit: Floats, one: VectorMap) -> Floats:
    return unit_rows(one._turn(unit))


@checked
def align(
    source: WordVectors,
    target: WordVectors,
    pairs: Pairs | None = None,
    *,
    refine: int = 5,
    frequent: int = 10_000,
    report: Report = silent,
) -> VectorMap:
    """The map that turns the vectors of one model into the space of another.

    `pairs` is a dictionary: words of the source with their translations. Without it, words that both vocabularies have
    are the pairs. `refine` is the number of times that the map is computed again, from the dictionary and the mutual
    nearest neighbors among the `frequent` most frequent words of each model; it stops when these do not come nearer.
    """
    if refine < 0 or frequent < 2:
        raise OptionError(f"refine is {refine} and frequent is {frequent}, but must be at least 0 and 2")
    seeds = _known_pairs(source, target, pairs)
    if len(seeds) < 2:
        cure = "Pass pairs whose words are in both models" if pairs is not None else "Pass a dictionary of pairs"
        raise OptionError(f"{len(seeds)} pairs of words are in both vocabularies, but an alignment needs 2. {cure}")
    rows, columns = min(frequent, len(source)), min(frequent, len(target))
    first, second = source.first_unit_rows(rows), target.first_unit_rows(columns)
    source_mean, target_mean = first.mean(axis=0, dtype=np.float64), second.mean(axis=0, dtype=np.float64)
    seed_rows = unit_rows(source.take(seeds[:, 0])), unit_rows(target.take(seeds[:, 1]))
    left, right = _center(seed_rows[0], source_mean), _center(seed_rows[1], target_mean)
    first, second = _center(first, source_mean), _center(second, target_mean)
    rotation = procrustes(left, right)[0]
    best, used = -np.inf, len(seeds)
    for turn in range(refine):
        places, nearness = _mutual_neighbors(unit_rows(first @ rotation), second)
        if len(places) < 2 or nearness <= best:
            break
        best, used = nearness, len(seeds) + len(places)
        sides = np.concatenate([left, first[places[:, 0]]]), np.concatenate([right, second[places[:, 1]]])
        rotation = procrustes(*sides)[0]
        report(Progress("refining", turn + 1, refine, "rounds", {"pairs": used, "cosine": best}))
    metadata = {
        "pairs": len(seeds),
        "refined": used,
        "recipe": {"name": "align", "refine": refine, "frequent": frequent},
    }
    arrays = [np.asarray(one, np.float32) for one in (rotation, source_mean, target_mean)]
    return VectorMap(*arrays, metadata=metadata)


def as_pairs(pairs: Pairs) -> list[tuple[str, str]]:
    """Pairs of words, from a dictionary or a list of pairs.

    >>> as_pairs({"tea": "chai"}), as_pairs([("tea", "chai"), ("tea", "cha")])
    ([('tea', 'chai')], [('tea', 'chai'), ('tea', 'cha')])
    """
    items = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2 or not all(isinstance(word, str) for word in item):
            raise OptionError(f"a pair of the dictionary is {item!r:.60}, but must be two words")
    return [(first, second) for first, second in items]


def _known_pairs(source: WordVectors, target: WordVectors, pairs: Pairs | None) -> Ids:
    if pairs is None:
        ids = target.vocabulary.ids(source.vocabulary)
        known = np.flatnonzero(ids >= 0)
        return np.stack([known, ids[known]], axis=1)
    items = as_pairs(pairs)
    columns = [source.ids([first for first, _ in items]), target.ids([second for _, second in items])]
    table = np.stack(columns, axis=1).reshape(-1, 2)
    return np.asarray(table[(table >= 0).all(axis=1)], np.int64)


def _mean_similarity(rows: Floats, others: Floats, count: int = NEIGHBORS) -> Floats:
    """The mean cosine of each row with its nearest rows among the others."""
    count = min(count, len(others))
    means = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        table = rows[start : start + BLOCK] @ others.T
        means[start : start + BLOCK] = np.partition(table, len(others) - count, axis=1)[:, -count:].mean(axis=1)
    return means


def _mutual_neighbors(first: Floats, second: Floats) -> tuple[Ids, float]:
    """Pairs that are each other's nearest neighbors by CSLS, and their mean cosine."""
    row_means, column_means = _mean_similarity(first, second), _mean_similarity(second, first)
    forward = np.empty(len(first), np.int64)
    best = np.full(len(second), -np.inf, np.float32)
    backward = np.zeros(len(second), np.int64)
    for start in range(0, len(first), BLOCK):
        part = slice(start, start + BLOCK)
        table = 2 * (first[part] @ second.T) - column_means
        forward[part] = table.argmax(axis=1)
        table -= row_means[part, None]
        rows = table.argmax(axis=0)
        values = table[rows, np.arange(len(second))]
        better = values > best
        best[better], backward[better] = values[better], rows[better] + start
    mutual = np.flatnonzero(backward[forward] == np.arange(len(first)))
    pairs = np.stack([mutual, forward[mutual]], axis=1)
    nearness = float(np.mean(np.einsum("ij,ij->i", first[pairs[:, 0]], second[pairs[:, 1]]))) if len(pairs) else 0.0
    return pairs, nearness
