"""Ambiguous words of an annotated text: words that are both noun and verb, or have several senses, and their uses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from firth.probes.readers import WordSpan
from firth.probes.sense_files import AnnotatedSentence

Kind = Literal["pos", "sense"]
CONTENT = "NOUN", "VERB"  # other tags are less reliable, and their senses finer
AUXILIARIES = "be%", "have%", "do%"  # prefixes of the sense keys of auxiliary verbs


class AnnotatedUse(NamedTuple):
    """An occurrence of a word: its span, part of speech, sense (empty if unknown) and document."""

    span: WordSpan
    pos: str
    sense: str
    document: str

    @property
    def word(self) -> str:
        """The word as written."""
        return self.span.words[self.span.start]


def find_uses(sentences: Iterable[AnnotatedSentence]) -> Iterator[AnnotatedUse]:
    """Every annotated single word, in text order.

    >>> from firth.probes.sense_files import Annotation
    >>> sentence = AnnotatedSentence(("We", "play"), (Annotation(1, 2, "play", "VERB", ("play%2:33:00::",)),), "a01")
    >>> [(use.word, use.sense) for use in find_uses([sentence])]
    [('play', 'play%2:33:00::')]
    """
    for sentence in sentences:
        for annotation in sentence.annotations:
            if annotation.stop - annotation.start == 1:
                sense = annotation.keys[0] if len(annotation.keys) == 1 else ""
                yield AnnotatedUse(sentence.span(annotation), annotation.pos, sense, sentence.document)


Group = tuple[str, str]  # a word as written; its part of speech where senses are compared, else empty


def group_and_label(use: AnnotatedUse, kind: Kind) -> tuple[Group, str] | None:
    """The group that a use is compared within, and its label there: a part of speech or a sense. None: left out.

    Senses are compared within one part of speech, so that syntax alone does not separate them. Only nouns and verbs
    count, and no auxiliaries.
    """
    if use.pos not in CONTENT:
        return None
    if kind == "pos":
        return (use.word, ""), use.pos
    return ((use.word, use.pos), use.sense) if use.sense and not use.sense.startswith(AUXILIARIES) else None


def count_labels(uses: Iterable[AnnotatedUse], kind: Kind) -> dict[Group, Counter[str]]:
    """How often each label occurs in each group.

    >>> uses = [AnnotatedUse(WordSpan(["play"], 0, 1), pos, "", "") for pos in ("NOUN", "VERB", "NOUN", "ADV")]
    >>> count_labels(uses, "pos")["play", ""]
    Counter({'NOUN': 2, 'VERB': 1})
    """
    counts: dict[Group, Counter[str]] = defaultdict(Counter)
    for use in uses:
        if pair := group_and_label(use, kind):
            group, label = pair
            counts[group][label] += 1
    return counts


def most_ambiguous(counts: Mapping[Group, Counter[str]], most: int, least: int = 10) -> list[Group]:
    """At most `most` groups, sorted by the count of their second most frequent label, which is at least `least`.

    >>> most_ambiguous({("run", ""): Counter(a=90, b=9), ("play", ""): Counter(a=20, b=15)}, 5)
    [('play', '')]
    """
    second = {group: labels.most_common(2)[1][1] for group, labels in counts.items() if len(labels) > 1}
    frequent = [group for group, count in second.items() if count >= least]
    return sorted(frequent, key=lambda group: (-second[group], group))[:most]


def sample_uses(
    uses: Iterable[AnnotatedUse], kind: Kind, sizes: Mapping[Group, int], most: int
) -> dict[Group, list[AnnotatedUse]]:
    """At most `most` uses of each group of `sizes`, spread evenly over all uses of the group."""
    samples: dict[Group, list[AnnotatedUse]] = {group: [] for group in sizes}
    seen = dict.fromkeys(sizes, 0)
    for use in uses:
        pair = group_and_label(use, kind)
        if pair is None or pair[0] not in samples:
            continue
        group = pair[0]
        sample, wanted = samples[group], min(most, sizes[group])
        if len(sample) * sizes[group] <= seen[group] * wanted and len(sample) < wanted:
            sample.append(use)
        seen[group] += 1
    return samples
