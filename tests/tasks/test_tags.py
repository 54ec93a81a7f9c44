"""Spans and their tags."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from firth.errors import OptionError
from firth.tasks.tags import (
    Scheme,
    Span,
    allowed_transitions,
    decode_spans,
    encode_tags,
    precision_recall_f1,
    split_tag,
    tag_ids,
    tag_list,
)

TAGS = ["O", *(f"{place}-{label}" for place in "BIES" for label in ("PER", "LOC"))]


@some.composite
def separate_spans(draw: some.DrawFn) -> tuple[list[Span], int]:
    edges = sorted(draw(some.sets(some.integers(0, 12), max_size=9)))
    pairs = list(pairwise(edges))
    chosen = [pair for pair in pairs if draw(some.booleans())]
    return [Span(draw(some.sampled_from(["PER", "LOC"])), *pair) for pair in chosen], 12


@given(separate_spans(), some.sampled_from(["BIO", "BIOES"]))
def test_spans_come_back_from_their_tags(spans_and_length: tuple[list[Span], int], scheme: Scheme) -> None:
    found, length = spans_and_length
    tags = encode_tags(found, length, scheme)
    assert decode_spans(tags) == found
    begin, follow, end = allowed_transitions(tag_list(["LOC", "PER"], scheme), scheme)
    ids = tag_ids(tags, {tag: id for id, tag in enumerate(tag_list(["LOC", "PER"], scheme))})
    assert begin[ids[0]]
    assert end[ids[-1]]
    assert all(follow[before][after] for before, after in pairwise(ids))


@given(some.lists(some.sampled_from(tag_list(["A", "B"], "BIOES")), min_size=1, max_size=6))
def test_what_is_allowed_is_what_some_spans_give(tags: list[str]) -> None:
    begin, follow, end = allowed_transitions(tags, "BIOES")
    fits = begin[0] and end[-1] and all(follow[place][place + 1] for place in range(len(tags) - 1))
    assert fits == (encode_tags(decode_spans(tags), len(tags), "BIOES") == tags)


def test_the_schemes_of_the_shared_tasks_are_read_by_one_rule() -> None:
    expected = [Span("PER", 0, 2), Span("PER", 2, 3), Span("LOC", 4, 5)]
    assert decode_spans(["I-PER", "I-PER", "B-PER", "O", "I-LOC"]) == expected  # IOB1
    assert decode_spans(["B-PER", "I-PER", "B-PER", "O", "B-LOC"]) == expected  # BIO
    assert decode_spans(["B-PER", "E-PER", "S-PER", "O", "S-LOC"]) == expected  # BIOES
    assert decode_spans(["B-PER", "L-PER", "U-PER", "O", "U-LOC"]) == expected  # BILOU
    assert decode_spans(["B-PER", "M-PER", "B-PER", "O", "W-LOC"]) == expected


def test_a_sequence_that_no_scheme_allows_is_read_as_conlleval_reads_it() -> None:
    assert decode_spans(["O", "I-PER", "I-LOC", "I-LOC"]) == [Span("PER", 1, 2), Span("LOC", 2, 4)]
    assert decode_spans(["E-PER", "I-PER", "E-PER"]) == [Span("PER", 0, 1), Span("PER", 1, 3)]
    assert decode_spans(["B-PER", "O", "S-PER", "I-PER"]) == [Span("PER", 0, 1), Span("PER", 2, 3), Span("PER", 3, 4)]


def test_a_label_may_hold_a_dash() -> None:
    assert decode_spans(["B-creative-work", "I-creative-work"]) == [Span("creative-work", 0, 2)]


@pytest.mark.parametrize("tag", ["PER", "X-PER", "B-", "", "B"])
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(OptionError, match="is not a tag: a tag is O, or B-"):
        split_tag(tag)


def test_a_label_that_training_never_saw_is_named() -> None:
    with pytest.raises(OptionError, match="no training example has the label 'ORG': the network knows LOC, PER"):
        tag_ids(["O", "B-ORG"], {tag: id for id, tag in enumerate(tag_list(["LOC", "PER"]))})


def test_rates_of_nothing_are_zero() -> None:
    assert precision_recall_f1(0, 0, 0) == precision_recall_f1(0, 3, 0) == {"f1": 0.0, "precision": 0.0, "recall": 0.0}


@given(some.lists(some.sampled_from(TAGS), min_size=1, max_size=9))
def test_spans_are_those_that_seqeval_finds(tags: list[str]) -> None:
    labeling = pytest.importorskip("seqeval.metrics.sequence_labeling")
    assert sorted(decode_spans(tags)) == sorted(
        (label, start, last + 1) for label, start, last in labeling.get_entities(tags)
    )
