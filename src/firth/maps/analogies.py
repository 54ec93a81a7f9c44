"""Pictures of analogies: the parallelogram of four words in its own plane, and a whole relation as parallel arrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError, suggest
from firth.maps.layout import principal_axes
from firth.maps.scatter import PlotField, ScatterData
from firth.vectors.neighbors import Near, unit_rows
from firth.vectors.words import WordVectors

Pair = tuple[str, str]


def make_pairs(text: str) -> tuple[Pair, ...]:
    """Pairs from "a b, c d".

    >>> make_pairs("man woman, king queen")
    (('man', 'woman'), ('king', 'queen'))
    """
    return tuple((first, second) for first, second in (pair.split() for pair in text.split(",")))


RELATIONS: dict[str, dict[str, tuple[Pair, ...]]] = {
    "en": {
        "capitals": make_pairs(
            "France Paris, Italy Rome, Spain Madrid, Russia Moscow, Japan Tokyo, China Beijing, Egypt Cairo, "
            "Greece Athens, Austria Vienna, England London, Cuba Havana, Portugal Lisbon, Iran Tehran, Poland Warsaw, "
            "Ireland Dublin, Hungary Budapest"
        ),
        "gender": make_pairs(
            "man woman, king queen, father mother, brother sister, son daughter, husband wife, uncle aunt, boy girl, "
            "prince princess, he she, grandfather grandmother, nephew niece"
        ),
        "tense": make_pairs(
            "go went, see saw, take took, write wrote, know knew, give gave, find found, begin began, speak spoke, "
            "bring brought, fall fell, hold held, make made, grow grew"
        ),
        "plural": make_pairs(
            "child children, man men, city cities, house houses, book books, year years, woman women, river rivers, "
            "tree trees, country countries, war wars, letter letters"
        ),
        "comparative": make_pairs(
            "large larger, small smaller, high higher, low lower, great greater, old older, young younger, "
            "strong stronger, long longer, short shorter, good better"
        ),
    },
    "fa": {
        "capitals": make_pairs(
            "ایران تهران, عراق بغداد, فرانسه پاریس, روسیه مسکو, انگلیس لندن, ژاپن توکیو, آلمان برلین"
        ),
        "gender": make_pairs("مرد زن, پدر مادر, برادر خواهر, پسر دختر, شاه ملکه, آقا خانم, عمو عمه"),
        "plural": make_pairs(
            "کتاب کتاب‌ها, خانه خانه‌ها, شهر شهرها, کشور کشورها, درخت درختان, زن زنان, مرد مردان, سال سال‌ها"
        ),
    },
}


def find_relation(name: str, language: str = "en") -> tuple[Pair, ...]:
    """The pairs of a relation.

    >>> find_relation("gender")[1]
    ('king', 'queen')
    """
    table = RELATIONS.get(language, {})
    if name not in table:
        raise OptionError(f"no relation is called {name!r}. {suggest(name, table)}")
    return table[name]


def solve(vectors: WordVectors, a: str, b: str, c: str, topn: int = 10, *, keep_inputs: bool = False) -> Near:
    """The words nearest to b - a + c. With `keep_inputs` the three words may be answers too, and often are.

    >>> rows = [[3, 0], [3, 2], [-3, 0.1], [-3, 2]]
    >>> vectors = WordVectors(["man", "king", "woman", "queen"], rows)
    >>> solve(vectors, "man", "king", "woman", 1)[0][0], solve(vectors, "man", "king", "man", 1, keep_inputs=True)[0][0]
    ('queen', 'king')
    """
    if not keep_inputs:
        return vectors.analogy(a, b, c, topn)
    return vectors.similar_by_vector(vectors.mean([(b, 1.0), (a, -1.0), (c, 1.0)]), topn)


def draw_parallelogram(
    vectors: WordVectors, a: str, b: str, c: str, answers: Sequence[str], target: str
) -> ScatterData:
    """a, b, c, the point b - a + c and the answers, in the plane of a, b and c; unit vectors, a at the origin.

    In this plane the parallelogram has its true shape. An answer is projected onto it.
    """
    unit = unit_rows(vectors.of([a, b, c, *answers])).astype(np.float64)
    rows = unit - unit[0]
    basis = plane_of(rows[1], rows[2])
    positions = np.vstack([rows @ basis, (rows[1] + rows[2]) @ basis])
    at = len(positions) - 1
    arrows = [{"from": 0, "to": 1, "tone": 0}, {"from": 2, "to": at, "tone": 0, "dashed": True}]
    arrows += [{"from": 0, "to": 2, "tone": 1}, {"from": 1, "to": at, "tone": 1, "dashed": True}]
    if answers:
        arrows.append({"from": 2, "to": 3, "tone": 2})
    kinds = np.array([0, 0, 0, *([1] * len(answers)), 2])
    return ScatterData(
        [positions],
        names=[a, b, c, *answers, f"{b} − {a} + {c}"],
        fields=[PlotField("kind", target, "category", kinds, ["a b c", target, "b − a + c"])],
        arrows=arrows,
    )


def plane_of(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """An orthonormal basis (dim, 2) of the plane of two vectors, the first axis along the first.

    >>> plane_of(np.array([2.0, 0, 0]), np.array([1.0, 1, 0])).T.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    along = first / (np.linalg.norm(first) or 1.0)
    rest = second - (second @ along) * along
    length = float(np.linalg.norm(rest))
    return np.stack([along, rest / length if length > 1e-9 else np.zeros_like(rest)], axis=1)


@dataclass(frozen=True, eq=False)
class RelationPlot:
    """Pairs of a relation in the plane: x is the mean offset, y the main direction in which the pairs differ.

    `parallel` is the mean cosine of the offsets with their mean: 1 if all arrows are parallel in the full space.
    """

    pairs: tuple[Pair, ...]
    positions: NDArray[np.float64]  # first words, then second words
    parallel: float

    @classmethod
    def of(cls, vectors: WordVectors, pairs: Sequence[Pair]) -> RelationPlot:
        """Draws the pairs whose words the vocabulary has; at least two."""
        known = tuple(pair for pair in pairs if (vectors.ids(pair) >= 0).all())
        if len(known) < 2:
            raise OptionError(f"the model knows {len(known)} of {len(pairs)} pairs. Choose another relation or model")
        first, second = (unit_rows(vectors.of([pair[side] for pair in known])).astype(np.float64) for side in (0, 1))
        offsets = second - first
        mean = offsets.mean(axis=0)
        along = mean / (np.linalg.norm(mean) or 1.0)
        middles = (first + second) / 2
        rest = middles - np.outer(middles @ along, along)
        across = principal_axes(rest, 1)[:, 0].astype(np.float64)
        basis = plane_of(along, across)
        center = middles.mean(axis=0)
        cosines = unit_rows(offsets) @ unit_rows(mean[None])[0]
        return cls(known, np.vstack([first, second] - center) @ basis, float(cosines.mean()))

    def scatter(self, first: str, second: str, label: str) -> ScatterData:
        """The plot, with an arrow from the first to the second word of each pair."""
        count = len(self.pairs)
        return ScatterData(
            [self.positions],
            names=[pair[side] for side in (0, 1) for pair in self.pairs],
            fields=[PlotField("side", label, "category", np.repeat([0, 1], count), [first, second])],
            arrows=[{"from": pair, "to": pair + count, "tone": 2} for pair in range(count)],
        )
