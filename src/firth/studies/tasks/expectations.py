"""Expectations of behavioral cases: how an answer of each task is compared with what is expected of it.

Answers are those of `TaskModel.ask` for one input: one dict for each sentence, pair or document.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from firth.tasks.qa.score import normalize_answer
from firth.tasks.sentiment.data import GRADES

Answers = Sequence[Mapping[str, Any]]
SAME, WARNING, ARROW = "same", "warning", " -> "


class AnswerChecker(ABC):
    """Compares answers of one task with expectations.

    `state` is a pattern of what one answer must be, `shift` of how the second of two differs from the first.
    """

    inputs: ClassVar[int] = 1  # texts of one input
    state: ClassVar[str]
    shift: ClassVar[str] = r"(?!)"  # matches nothing
    grammar: ClassVar[str]  # the same in words, for errors

    def understands(self, type: str, expected: str) -> bool:
        """Whether an expectation is well-formed for a type of test: MFT, INV or DIR."""
        if type == "INV":
            return expected == SAME
        if type == "MFT":
            return re.fullmatch(f"{WARNING}|{self.state}", expected) is not None
        return re.fullmatch(f"{self.shift}|(?:{self.state}){ARROW}(?:{self.state})", expected) is not None

    def passes(self, expected: str, before: Answers, after: Answers | None = None) -> bool:
        """Whether an answer, or two answers to an input and the changed one, are as expected."""
        if after is None:
            return any("warning" in answer for answer in before) if expected == WARNING else self.is_(expected, before)
        if expected == SAME:
            return bool(self.outline(before) == self.outline(after))
        first, arrow, second = expected.partition(ARROW)
        if arrow:
            return self.is_(first, before) and self.is_(second, after)
        direction, _, label = expected.partition(" ")
        return self.shifts(direction, label, before, after)

    @abstractmethod
    def is_(self, expected: str, answers: Answers) -> bool:
        """Whether an answer is in the expected state."""

    def shifts(self, direction: str, label: str, before: Answers, after: Answers) -> bool:
        """Whether the second answer differs from the first in a direction: `gains PER`, `more positive`."""
        return False  # a task without a pattern of shifts writes a change as two states

    @abstractmethod
    def outline(self, answers: Answers) -> object:
        """What must not change under invariance."""

    @abstractmethod
    def show(self, answers: Answers) -> str:
        """The answer as a short text."""


class SpanChecker(AnswerChecker):
    """A checker of labeled spans, which an answer may gain."""

    @abstractmethod
    def spans(self, answers: Answers) -> list[Mapping[str, Any]]:
        """All spans of an answer, each with its label, its text and its place."""

    def shifts(self, direction: str, label: str, before: Answers, after: Answers) -> bool:
        """gains LABEL: the second answer has more spans with this label."""
        counts = [sum(span["label"] == label for span in self.spans(answers)) for answers in (before, after)]
        return bool(counts[1] > counts[0])

    def outline(self, answers: Answers) -> object:
        """The labels and places of the spans; their words may differ."""
        return [(span["label"], span["token_start"], span["token_end"]) for span in self.spans(answers)]


class NerChecker(SpanChecker):
    """Expectations: `none`, or all entities, `PER Maria Lopez; LOC Paris`.

    >>> answers = [{"entities": [{"label": "PER", "text": "Ann", "start": 0, "end": 1}]}]
    >>> [NerChecker().passes(expected, answers) for expected in ("PER Ann", "PER Ann; LOC Rome", "none", "warning")]
    [True, False, False, False]
    """

    state = r"none|[A-Z]+ [^;>]+(?:; [A-Z]+ [^;>]+)*"
    shift = r"gains [A-Z]+"
    grammar = "MFT: 'none', 'warning' or 'PER Ann; LOC Rome'. INV: 'same'. DIR: 'gains PER' or 'none -> PER Ann'"

    def spans(self, answers: Answers) -> list[Mapping[str, Any]]:
        """The entities of all sentences."""
        return [entity for answer in answers for entity in answer["entities"]]

    def is_(self, expected: str, answers: Answers) -> bool:
        """Whether exactly the expected entities were found."""
        return sorted(expected.split("; ")) == sorted(self.show(answers).split("; "))

    def show(self, answers: Answers) -> str:
        """The entities in the form of an expectation."""
        return "; ".join(f"{span['label']} {span['text']}" for span in self.spans(answers)) or "none"


class SrlChecker(SpanChecker):
    """Expectations: `frames ate, slept` are all predicates; `ate: ARG0 He; ARG1 the soup` are roles that must be there.

    >>> roles = [{"label": "ARG0", "text": "He", "start": 0, "end": 1}]
    >>> answers = [{"frames": [{"predicate": {"text": "ate"}, "roles": roles}]}]
    >>> [SrlChecker().passes(expected, answers) for expected in ("frames ate", "ate: ARG0 He", "ate: ARG1 He")]
    [True, True, False]
    """

    state = r"frames \w+(?:, \w+)*|\w+: [A-Z\d-]+ [^;>]+(?:; [A-Z\d-]+ [^;>]+)*"
    shift = r"gains [A-Z\d-]+"
    grammar = "MFT: 'frames ate', 'frames none', 'warning' or 'ate: ARG0 He'. INV: 'same'. DIR: 'gains ARGM-NEG'"

    def spans(self, answers: Answers) -> list[Mapping[str, Any]]:
        """The roles of all frames, with their predicates."""
        return [role for answer in answers for frame in answer["frames"] for role in frame["roles"]]

    def is_(self, expected: str, answers: Answers) -> bool:
        """Whether exactly these predicates were found, or whether a frame has these roles."""
        frames = [frame for answer in answers for frame in answer["frames"]]
        predicate, colon, roles = expected.partition(": ")
        if not colon:
            return expected == f"frames {', '.join(frame['predicate']['text'] for frame in frames) or 'none'}"
        found = [
            {f"{role['label']} {role['text']}" for role in one["roles"]}
            for one in frames
            if one["predicate"]["text"] == predicate
        ]
        return any(set(roles.split("; ")) <= one for one in found)

    def show(self, answers: Answers) -> str:
        """The sentence with its roles in brackets, once for each frame."""
        return " / ".join(frame["bracketed"] for answer in answers for frame in answer["frames"]) or "no frame"


class LabelChecker(AnswerChecker):
    """A checker of the likeliest label."""

    def is_(self, expected: str, answers: Answers) -> bool:
        """Whether the label is the expected one, or is not the one after `not`."""
        negation, _, label = expected.rpartition(" ")
        return (self.outline(answers) == label) != bool(negation)

    def outline(self, answers: Answers) -> object:
        """The likeliest label."""
        return self.show(answers)

    def show(self, answers: Answers) -> str:
        """The likeliest label."""
        return str(max(answers[0]["labels"], key=answers[0]["labels"].__getitem__))


class SentimentChecker(LabelChecker):
    """Expectations: `positive`, `neutral` or `negative`, whatever the strength, or `not negative`.

    `more positive` and `more negative` compare the mean grades of the two answers.

    >>> answers = [{"labels": {"very positive": 0.7, "neutral": 0.3}}]
    >>> [SentimentChecker().passes(expected, answers) for expected in ("positive", "neutral", "not negative")]
    [True, False, True]
    >>> SentimentChecker().passes("more negative", answers, [{"labels": {"positive": 0.8, "neutral": 0.2}}])
    True
    """

    state = r"(?:not )?(?:positive|neutral|negative)"
    shift = r"more (?:positive|negative)"
    grammar = "MFT: 'positive', 'not negative', 'warning'. INV: 'same'. DIR: 'more negative', 'positive -> negative'"

    def outline(self, answers: Answers) -> object:
        """The likeliest label without its strength."""
        return self.show(answers).split()[-1]

    def shifts(self, direction: str, label: str, before: Answers, after: Answers) -> bool:
        """more positive, more negative: the mean grade of the second answer is higher, or lower."""
        first, second = (
            sum(GRADES.index(grade) * share for grade, share in one[0]["labels"].items()) for one in (before, after)
        )
        return bool(second > first if label == "positive" else second < first)


class EntailmentChecker(LabelChecker):
    """Expectations: a label, or `not entailment`. `less entailment` compares the probabilities of two answers.

    >>> answers = [{"labels": {"entailment": 0.5, "neutral": 0.4, "contradiction": 0.1}}]
    >>> [EntailmentChecker().passes(expected, answers) for expected in ("entailment", "not entailment")]
    [True, False]
    """

    inputs = 2
    state = r"(?:not )?(?:entailment|neutral|contradiction)"
    shift = r"(?:more|less) (?:entailment|neutral|contradiction)"
    grammar = "MFT: 'neutral', 'not neutral', 'warning'. INV: 'same'. DIR: 'less neutral', 'neutral -> entailment'"

    def shifts(self, direction: str, label: str, before: Answers, after: Answers) -> bool:
        """more LABEL, less LABEL: its probability is higher or lower in the second answer."""
        first, second = (one[0]["labels"][label] for one in (before, after))
        return bool(second > first if direction == "more" else second < first)


class QaChecker(AnswerChecker):
    """Expectations: `Rome / in Rome` are accepted answers, compared as SQuAD does. `no answer` is an empty answer.

    >>> answers = [{"answer": "In Rome", "probability": 0.8}]
    >>> [QaChecker().passes(expected, answers) for expected in ("Rome / in Rome", "Rome", "no answer")]
    [True, False, False]
    """

    inputs = 2
    state = r"[^>]+"
    shift = r"less sure"
    grammar = "MFT: 'Rome / in Rome', 'no answer', 'warning'. INV: 'same'. DIR: 'less sure', 'Rome -> Oslo'"

    def is_(self, expected: str, answers: Answers) -> bool:
        """Whether the answer is one of those accepted."""
        accepted = [""] if expected == "no answer" else map(normalize_answer, expected.split(" / "))
        return self.outline(answers) in accepted

    def shifts(self, direction: str, label: str, before: Answers, after: Answers) -> bool:
        """less sure: the probability of the second answer is lower, or there is no answer any more."""
        if after[0]["answer"] is None:
            return before[0]["answer"] is not None
        return bool(after[0]["probability"] < before[0]["probability"])

    def outline(self, answers: Answers) -> object:
        """The answer without case, articles and punctuation."""
        return normalize_answer(answers[0]["answer"] or "")

    def show(self, answers: Answers) -> str:
        """The answer and its probability."""
        return f"{answers[0]['answer'] or 'no answer'} ({answers[0]['probability']:.0%})"


class CorefChecker(AnswerChecker):
    """Expectations: `together Ann, She; apart Ann, He` name mentions of one cluster, or of different ones; or `none`.

    Case is ignored, since the same mention may begin a sentence.

    >>> answers = [{"clusters": [{"mentions": [{"text": "Ann"}, {"text": "She"}]}]}]
    >>> [CorefChecker().passes(expected, answers) for expected in ("together Ann, she", "apart Ann, him", "none")]
    [True, True, False]
    """

    state = r"none|(?:together|apart) [^;>]+, [^;>]+(?:; (?:together|apart) [^;>]+, [^;>]+)*"
    grammar = "MFT: 'none', 'warning', 'together Ann, She; apart Ann, He'. INV: 'same'. DIR: 'together … -> apart …'"

    def is_(self, expected: str, answers: Answers) -> bool:
        """Whether each pair of mentions is in one cluster, or is in none."""
        clusters = [
            Counter(mention["text"].lower() for mention in cluster["mentions"])
            for answer in answers
            for cluster in answer["clusters"]
        ]
        if expected == "none":
            return not clusters
        for part in expected.lower().split("; "):
            kind, _, mentions = part.partition(" ")
            if any(Counter(mentions.split(", ")) <= cluster for cluster in clusters) != (kind == "together"):
                return False
        return True

    def outline(self, answers: Answers) -> object:
        """The brackets and their places; the words may differ."""
        return ["".join(re.findall(r"\[|\]\d+| ", answer["bracketed"])).rstrip() for answer in answers]

    def show(self, answers: Answers) -> str:
        """The text with its mentions in brackets."""
        return " ".join(answer["bracketed"] for answer in answers)


CHECKERS: dict[str, AnswerChecker] = {
    "ner": NerChecker(),
    "sentiment": SentimentChecker(),
    "entailment": EntailmentChecker(),
    "qa": QaChecker(),
    "srl": SrlChecker(),
    "coref": CorefChecker(),
}
