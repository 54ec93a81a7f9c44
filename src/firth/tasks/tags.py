"""Spans of words, and the tags that tell them word by word.

    words    Elon    Musk    founded  SpaceX
    BIO      B-PER   I-PER   O        B-ORG      B begins a span, I is inside it
    BIOES    B-PER   E-PER   O        S-ORG      E ends it, S is a span of one word
    IOB1     I-PER   I-PER   O        I-ORG      B only where a span follows another of its kind at once

All three are read by one rule, that of the `conlleval` script: a span begins at B or S, after O, after E or S, and
where the label changes. So a sequence that no scheme allows still has a meaning, the one by which results are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NamedTuple

from firth.errors import OptionError

OUTSIDE = "O"
PREFIXES = {"B": "B", "I": "I", "E": "E", "S": "S", "M": "I", "L": "E", "U": "S", "W": "S"}  # also BMES and BILOU
Scheme = Literal["BIO", "BIOES"]


class Span(NamedTuple):
    """words[start:end] and what they are."""

    label: str
    start: int
    end: int


def split_tag(tag: str) -> tuple[str, str]:
    """A tag's place in its span, one of B I E S O, and its label.

    >>> split_tag("B-PER"), split_tag("U-LOC"), split_tag("O")
    (('B', 'PER'), ('S', 'LOC'), ('O', ''))
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    prefix, dash, label = tag.partition("-")
    if not dash or not label or prefix not in PREFIXES:
        raise OptionError(f"{tag!r} is no tag: a tag is O, or B-, I-, E- or S- and a label")
    return PREFIXES[prefix], label


def decode_spans(tags: Iterable[str]) -> list[Span]:
    """The spans that tags tell, in any of the schemes.

    >>> decode_spans(["B-PER", "E-PER", "O", "S-ORG"]) == decode_spans(["I-PER", "I-PER", "O", "I-ORG"])
    True
    >>> decode_spans(["I-PER", "B-PER", "I-LOC"])
    [Span(label='PER', start=0, end=1), Span(label='PER', start=1, end=2), Span(label='LOC', start=2, end=3)]
    """
    found: list[Span] = []
    label, start = "", 0
    before = OUTSIDE
    place = -1
    for place, tag in enumerate(tags):
        now, its_label = split_tag(tag)
        begins = now in "BS" or before in "OES" or its_label != label
        if before != OUTSIDE and (now == OUTSIDE or begins):
            found.append(Span(label, start, place))
        if now != OUTSIDE and begins:
            label, start = its_label, place
        before = now
    if before != OUTSIDE:
        found.append(Span(label, start, place + 1))
    return found


def encode_tags(found: Iterable[Span], length: int, scheme: Scheme = "BIO") -> list[str]:
    """The tags of a sentence of so many words, for spans that do not overlap.

    >>> encode_tags([Span("PER", 0, 2), Span("ORG", 3, 4)], 4, "BIOES")
    ['B-PER', 'E-PER', 'O', 'S-ORG']
    """
    tags = [OUTSIDE] * length
    for label, start, end in found:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
        if scheme == "BIOES":
            tags[end - 1] = f"S-{label}" if end - start == 1 else f"E-{label}"
    return tags


def tag_list(labels: Iterable[str], scheme: Scheme = "BIO") -> list[str]:
    """Every tag that labels can have, O first; an id of a tag is its place here.

    >>> tag_list(["LOC", "PER"])
    ['O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER']
    """
    return [OUTSIDE] + [f"{place}-{label}" for label in labels for place in scheme if place != OUTSIDE]


def may_follow(before: str | None, after: str | None, scheme: Scheme = "BIO") -> bool:
    """Whether a tag may stand after another; None is the border of a sentence, on either side.

    >>> may_follow("B-PER", "I-PER"), may_follow("B-PER", "I-LOC"), may_follow(None, "I-PER")
    (True, False, False)
    >>> may_follow("B-PER", None), may_follow("B-PER", None, "BIOES")
    (True, False)
    """
    (first, its_label), (second, label) = split_tag(before or OUTSIDE), split_tag(after or OUTSIDE)
    goes_on = second in "IE"  # "IE" stand inside what B or I began
    if goes_on:
        return first in "BI" and its_label == label
    return scheme == "BIO" or first not in "BI"


def allowed_transitions(tags: Sequence[str], scheme: Scheme = "BIO") -> tuple[list[bool], list[list[bool]], list[bool]]:
    """Which tags may begin a sentence, which may follow which, [before][after], and which may end it."""
    begin = [may_follow(None, tag, scheme) for tag in tags]
    follow = [[may_follow(before, after, scheme) for after in tags] for before in tags]
    return begin, follow, [may_follow(tag, None, scheme) for tag in tags]


def tag_ids(tags: Iterable[str], ids: Mapping[str, int]) -> list[int]:
    """The numbers of tags; one that training never saw is an error."""
    try:
        return [ids[tag] for tag in tags]
    except KeyError as error:
        known = sorted({split_tag(tag)[1] for tag in ids} - {""})
        problem = f"no training example has the label {split_tag(error.args[0])[1]!r}"
        raise OptionError(f"{problem}: the network knows {', '.join(known)}") from error


def precision_recall_f1(right: float, found: float, true: float) -> dict[str, float]:
    """F1, precision and recall of spans; 0 where there is nothing to divide by.

    >>> precision_recall_f1(right=3, found=4, true=6)
    {'f1': 0.6, 'precision': 0.75, 'recall': 0.5}
    """
    return {
        "f1": 2 * right / (found + true) if right else 0.0,
        "precision": right / found if right else 0.0,
        "recall": right / true if right else 0.0,
    }


class SpanCounts:
    """How many spans were right, found and true, in all and by label. A span is any tuple that begins with its label.

    >>> tally = SpanCounts()
    >>> tally.add(said={Span("PER", 0, 2), Span("LOC", 3, 4)}, meant={Span("PER", 0, 2), Span("LOC", 3, 5)})
    >>> tally.rates()["f1"], tally.by_label()["PER"]
    (0.5, {'f1': 1.0, 'precision': 1.0, 'recall': 1.0, 'true': 1, 'found': 1})
    """

    def __init__(self) -> None:
        self.right, self.found, self.true = Counter[str](), Counter[str](), Counter[str]()

    def add(self, said: AbstractSet[tuple[Any, ...]], meant: AbstractSet[tuple[Any, ...]]) -> None:
        """Counts the spans of one sentence."""
        self.right.update(span[0] for span in said & meant)
        self.found.update(span[0] for span in said)
        self.true.update(span[0] for span in meant)

    def rates(self) -> dict[str, float]:
        """F1, precision and recall of all spans."""
        return precision_recall_f1(self.right.total(), self.found.total(), self.true.total())

    def by_label(self) -> dict[str, dict[str, float]]:
        """F1, precision and recall of each label, and how many spans have it and were said to have it."""
        return {
            label: precision_recall_f1(self.right[label], self.found[label], self.true[label])
            | {"true": self.true[label], "found": self.found[label]}
            for label in sorted(self.found | self.true)
        }


def bracket_spans(words: Sequence[str], found: Iterable[Span]) -> str:
    """A sentence with its spans in it.

    >>> bracket_spans(["Ann", "Lee", "left", "."], [Span("PER", 0, 2)])
    '[PER: Ann Lee] left .'
    """
    told, place = [], 0
    for label, start, end in found:
        told += [*words[place:start], f"[{label}: {' '.join(words[start:end])}]"]
        place = end
    return " ".join([*told, *words[place:]])


def describe_spans(words: Sequence[str], found: Iterable[Span]) -> list[dict[str, Any]]:
    """Spans with their text, ready for JSON.

    >>> describe_spans(["Ann", "Lee", "left", "."], [Span("PER", 0, 2)])
    [{'text': 'Ann Lee', 'label': 'PER', 'start': 0, 'end': 2}]
    """
    return [
        {"text": " ".join(words[start:end]), "label": label, "start": start, "end": end} for label, start, end in found
    ]
