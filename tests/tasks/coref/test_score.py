"""MUC, B³ and CEAF against the examples of the papers that proposed them, and of the one that settled how to count."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.tasks.coref.score import (
    METRICS,
    b_cubed,
    ceaf,
    deduplicate,
    mention_agreement,
    muc,
    score_clusters,
    sum_agreement,
)

TWELVE = ["12345", "67", "89ABC"]  # the gold of Bagga and Baldwin (1998)


def rounded(measure, gold, answer):  # type: ignore[no-untyped-def]
    found = measure(gold, answer)
    return round(found.recall, 3), round(found.precision, 3)


def test_the_example_of_the_reference_scorer() -> None:
    """Pradhan et al. (2014): key {a, b, c}, {d, e, f, g}; response {a, b}, {c, d}, {f, g, h, i}."""
    key, response = ["abc", "defg"], ["ab", "cd", "fghi"]
    assert rounded(muc, key, response) == (0.4, 0.4)  # 2 of 5 links, both ways
    assert rounded(b_cubed, key, response) == (0.417, 0.5)  # (4/3 + 1/3 + 1/4 + 4/4) / 7 and (4/2 + 1 + 4/4) / 8
    assert rounded(ceaf, key, response) == (0.65, 0.433)  # (4/5 + 4/8) of 2 and of 3
    assert rounded(mention_agreement, key, response) == (0.857, 0.75)


@pytest.mark.parametrize(
    ("gold", "answer", "recall", "precision"),
    [
        (["ABCD"], ["AB", "CD"], 2 / 3, 1),
        (["AB", "CD"], ["ABCD"], 1, 2 / 3),
        (["ABCD"], ["ABCD"], 1, 1),
        (["ABCD"], ["AB", "C", "D"], 1 / 3, 1),
        (["ABC"], ["AC"], 1 / 2, 1),
        (["BCDE FGH".replace(" ", "")], ["ABCDEFGHI"], 1, 6 / 8),
    ],
)
def test_links_are_counted_as_muc_does(gold: list[str], answer: list[str], recall: float, precision: float) -> None:
    """Vilain et al. (1995): a cluster that falls into p parts lacks p - 1 of its links."""
    found = muc(gold, answer)
    assert (found.recall, found.precision) == pytest.approx((recall, precision))


def test_two_answers_that_muc_cannot_tell_apart() -> None:
    """Bagga and Baldwin (1998): to join a small cluster to a large one is the lesser mistake, unseen by MUC."""
    small, large = ["12345", "6789ABC"], ["1234589ABC", "67"]
    assert rounded(muc, TWELVE, small) == rounded(muc, TWELVE, large) == (1.0, 0.9)
    assert rounded(b_cubed, TWELVE, small) == (1.0, 0.762)
    assert rounded(b_cubed, TWELVE, large) == (1.0, 0.583)


@pytest.mark.parametrize(
    ("answer", "muc_f1", "b_cubed_f1", "ceaf_f1"),
    [
        (["12345", "6789ABC"], 0.947, 0.865, 0.733),
        (["1234589ABC", "67"], 0.947, 0.737, 0.667),
        (["123456789ABC"], 0.900, 0.545, 0.294),
        (list("123456789ABC"), 0.0, 0.400, 0.178),
    ],
)
def test_the_table_of_ceaf(answer: list[str], muc_f1: float, b_cubed_f1: float, ceaf_f1: float) -> None:
    """Luo (2005), table 2: four answers to the gold of twelve mentions."""
    found = muc(TWELVE, answer).f1, b_cubed(TWELVE, answer).f1, ceaf(TWELVE, answer).f1
    assert found == pytest.approx((muc_f1, b_cubed_f1, ceaf_f1), abs=5e-4)


def test_nothing_found_and_nothing_to_find_are_zero() -> None:
    for gold, answer in ((["ab"], []), ([], ["ab"]), ([], [])):
        assert set(score_clusters([gold], [answer]).values()) == {0.0}


def test_mentions_that_stand_alone_count_in_all_but_muc() -> None:
    """A singleton has no link: a gold of singletons gives MUC 0 of 0, which is 0."""
    found = score_clusters([["a", "b"]], [["a", "b"]])
    assert (found["muc"], found["b3"], found["ceaf"]) == (0.0, 1.0, 1.0)
    # One that was made up costs precision: 2 of 3 mentions, 1 of 2 clusters, no link.
    made_up = [measure(["ab"], ["ab", "x"]).precision for measure in (muc, b_cubed, ceaf)]
    assert made_up == pytest.approx([1, 2 / 3, 1 / 2])


def test_sums_go_over_documents_before_they_are_divided() -> None:
    """One link of one, and one of three: 2 of 4, not the mean of 1 and 1/3."""
    found = sum_agreement(muc, [["ab"], ["cdef"]], [["ab"], ["cd"]])
    assert found.recall == 0.5


def test_a_mention_named_twice_stays_where_it_was_named_first() -> None:
    assert deduplicate([[1, 2, 1], [2, 3], [3]]) == [[1, 2], [3]]
    assert muc(deduplicate(["aab"]), ["ab"]).f1 == 1.0


def brute_force_ceaf(gold: list[list[int]], answer: list[list[int]]) -> float:
    fewer, more = sorted([gold, answer], key=len)
    phi = lambda one, other: 2 * len({*one} & {*other}) / (len(one) + len(other))  # noqa: E731
    return max(sum(map(phi, fewer, chosen)) for chosen in permutations(more, len(fewer)))


@st.composite
def clusterings(draw: st.DrawFn) -> list[list[int]]:
    cluster_ids = draw(st.dictionaries(st.integers(0, 8), st.integers(0, 3), min_size=1))
    return [
        [mention for mention in cluster_ids if cluster_ids[mention] == number]
        for number in sorted({*cluster_ids.values()})
    ]


@given(clusterings(), clusterings())
def test_laws_of_agreement(gold: list[list[int]], answer: list[list[int]]) -> None:
    """Turning gold and answer round swaps precision and recall; the best match is that of trying them all."""
    for measure in METRICS.values():
        found, turned = measure(gold, answer), measure(answer, gold)
        assert (found.recall, found.precision) == pytest.approx((turned.precision, turned.recall))
        assert 0 <= found.f1 <= 1
        perfect = measure(gold, gold).f1
        assert perfect == pytest.approx(1.0) or (measure is muc and max(map(len, gold)) == 1)
    assert ceaf(gold, answer).found == pytest.approx(brute_force_ceaf(gold, answer))
