"""Spans of words, and the tags that encode them word by word.

    words    Elon    Musk    founded  SpaceX
    BIO      B-PER   I-PER   O        B-ORG      B begins a span, I is inside it
    BIOES    B-PER   E-PER   O        S-ORG      E ends it, S is a span of one word
    IOB1     I-PER   I-PER   O        I-ORG      B only where a span directly follows another with its label

All three are decoded by one rule, that of the `conlleval` script: a span begins at B or S, after O, after E or S, and
where the label changes. A sequence that no scheme allows is decoded by the same rule, as in published results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NamedTuple

from firth.errors import OptionError
from firth.tasks.located_text import LocatedText

OUTSIDE = "O"
PREFIXES = {"B": "B", "I": "I", "E": "E", "S": "S", "M": "I", "L": "E", "U": "S", "W": "S"}  # also BMES and BILOU
Scheme = Literal["BIO", "BIOES"]


class Span(NamedTuple):
    """words[start:end] and their label."""

    label: str
    start: int
    end: int


def split_tag(tag: str) -> tuple[str, str]:
    """The prefix of a tag, one of B I E S O, and its label.

    >>> split_tag("B-PER"), split_tag("U-LOC"), split_tag("O")
    (('B', 'PER'), ('S', 'LOC'), ('O', ''))
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    prefix, dash, label = tag.partition("-")
    if not dash or not label or prefix not in PREFIXES:
        raise OptionError(f"{tag!r} is not a tag: a tag is O, or B-, I-, E- or S- and a label")
    return PREFIXES[prefix], label


def decode_spans(tags: Iterable[str]) -> list[Span]:
    """The spans that tags encode, in any of the schemes.

    >>> decode_spans(["B-PER", "E-PER", "O", "S-ORG"]) == decode_spans(["I-PER", "I-PER", "O", "I-ORG"])
    True
    >>> decode_spans(["I-PER", "B-PER", "I-LOC"])
    [Span(label='PER', start=0, end=1), Span(label='PER', start=1, end=2), Span(label='LOC', start=2, end=3)]
    """
    spans: list[Span] = []
    label, start = "", 0
    previous = OUTSIDE
    place = -1
    for place, tag in enumerate(tags):
        prefix, its_label = split_tag(tag)
        begins = prefix in "BS" or previous in "OES" or its_label != label
        if previous != OUTSIDE and (prefix == OUTSIDE or begins):
            spans.append(Span(label, start, place))
        if prefix != OUTSIDE and begins:
            label, start = its_label, place
        previous = prefix
    if previous != OUTSIDE:
        spans.append(Span(label, start, place + 1))
    return spans


def encode_tags(spans: Iterable[Span], length: int, scheme: Scheme = "BIO") -> list[str]:
    """The tags of a sentence with `length` words and spans that do not overlap.

    >>> encode_tags([Span("PER", 0, 2), Span("ORG", 3, 4)], 4, "BIOES")
    ['B-PER', 'E-PER', 'O', 'S-ORG']
    """
    tags = [OUTSIDE] * length
    for label, start, end in spans:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
        if scheme == "BIOES":
            tags[end - 1] = f"S-{label}" if end - start == 1 else f"E-{label}"
    return tags


def tag_list(labels: Iterable[str], scheme: Scheme = "BIO") -> list[str]:
    """The tag set of labels, O first. The id of a tag is its index here.

    >>> tag_list(["LOC", "PER"])
    ['O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER']
    """
    return [OUTSIDE] + [f"{prefix}-{label}" for label in labels for prefix in scheme if prefix != OUTSIDE]


def may_follow(before: str | None, after: str | None, scheme: Scheme = "BIO") -> bool:
    """Whether a tag may follow another; None is the start or the end of a sentence.

    >>> may_follow("B-PER", "I-PER"), may_follow("B-PER", "I-LOC"), may_follow(None, "I-PER")
    (True, False, False)
    >>> may_follow("B-PER", None), may_follow("B-PER", None, "BIOES")
    (True, False)
    """
    (first, first_label), (second, second_label) = split_tag(before or OUTSIDE), split_tag(after or OUTSIDE)
    if second in "IE":  # they continue a span
        return first in "BI" and first_label == second_label
    return scheme == "BIO" or first not in "BI"


def allowed_transitions(tags: Sequence[str], scheme: Scheme = "BIO") -> tuple[list[bool], list[list[bool]], list[bool]]:
    """Which tags may begin a sentence, which may follow each other, [before][after], and which may end it."""
    begin = [may_follow(None, tag, scheme) for tag in tags]
    follow = [[may_follow(before, after, scheme) for after in tags] for before in tags]
    return begin, follow, [may_follow(tag, None, scheme) for tag in tags]


def tag_ids(tags: Iterable[str], ids: Mapping[str, int]) -> list[int]:
    """The ids of tags; a tag that is not in the training examples is an error."""
    try:
        return [ids[tag] for tag in tags]
    except KeyError as error:
        labels = sorted({split_tag(tag)[1] for tag in ids} - {""})
        problem = f"no training example has the label {split_tag(error.args[0])[1]!r}"
        raise OptionError(f"{problem}: the network knows {', '.join(labels)}") from error


def precision_recall_f1(right: float, predicted: float, gold: float) -> dict[str, float]:
    """F1, precision and recall from counts; 0 where nothing is right.

    >>> precision_recall_f1(right=3, predicted=4, gold=6)
    {'f1': 0.6, 'precision': 0.75, 'recall': 0.5}
    """
    return {
        "f1": 2 * right / (predicted + gold) if right else 0.0,
        "precision": right / predicted if right else 0.0,
        "recall": right / gold if right else 0.0,
    }


class SpanCounts:
    """Right, predicted and gold spans, counted by label. A span is any tuple that begins with its label.

    >>> counts = SpanCounts()
    >>> counts.add(predicted={Span("PER", 0, 2), Span("LOC", 3, 4)}, gold={Span("PER", 0, 2), Span("LOC", 3, 5)})
    >>> counts.scores()["f1"], counts.by_label()["PER"]
    (0.5, {'f1': 1.0, 'precision': 1.0, 'recall': 1.0, 'true': 1, 'found': 1})
    """

    def __init__(self) -> None:
        self.right, self.predicted, self.gold = Counter[str](), Counter[str](), Counter[str]()

    def add(self, predicted: AbstractSet[tuple[Any, ...]], gold: AbstractSet[tuple[Any, ...]]) -> None:
        """Counts the spans of one sentence."""
        self.right.update(span[0] for span in predicted & gold)
        self.predicted.update(span[0] for span in predicted)
        self.gold.update(span[0] for span in gold)

    def scores(self) -> dict[str, float]:
        """F1, precision and recall of all spans."""
        return precision_recall_f1(self.right.total(), self.predicted.total(), self.gold.total())

    def by_label(self) -> dict[str, dict[str, float]]:
        """F1, precision and recall of each label, and the numbers of gold (`true`) and predicted (`found`) spans."""
        return {
            label: precision_recall_f1(self.right[label], self.predicted[label], self.gold[label])
            | {"true": self.gold[label], "found": self.predicted[label]}
            for label in sorted(self.predicted | self.gold)
        }


def bracket_spans(words: Sequence[str], spans: Iterable[Span]) -> str:
    """A sentence with its spans in brackets.

    >>> bracket_spans(["Ann", "Lee", "left", "."], [Span("PER", 0, 2)])
    '[PER: Ann Lee] left .'
    """
    pieces, place = [], 0
    for label, start, end in spans:
        pieces += [*words[place:start], f"[{label}: {' '.join(words[start:end])}]"]
        place = end
    return " ".join([*pieces, *words[place:]])


def describe_spans(text: LocatedText, spans: Sequence[Span], probabilities: Sequence[float]) -> list[dict[str, Any]]:
    """Spans with their labels, their places in the text and their probabilities, ready for JSON.

    >>> describe_spans(LocatedText.of_tokens(["Ann", "Lee", "left"]), [Span("PER", 0, 2)], [0.9])
    [{'label': 'PER', 'text': 'Ann Lee', 'start': 0, 'end': 7, 'token_start': 0, 'token_end': 2, 'probability': 0.9}]
    """
    return [
        {"label": label, **text.span(start, end, probability).as_dict()}
        for (label, start, end), probability in zip(spans, probabilities, strict=True)
    ]
