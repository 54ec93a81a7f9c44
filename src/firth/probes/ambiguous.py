"""Words of a text that are used in several ways, as noun and verb or in several senses, and where they are so."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from firth.probes.readers import Place
from firth.probes.sense_files import AnnotatedSentence

Kind = Literal["pos", "sense"]
OPEN = "NOUN", "VERB"  # the tags of others are less sure, and their senses finer
AUXILIARIES = "be%", "have%", "do%"  # begin the senses of verbs that mostly serve others


class Use(NamedTuple):
    """An occurrence: its place, its part of speech, its sense (empty if not told) and its document."""

    place: Place
    pos: str
    sense: str
    document: str

    @property
    def word(self) -> str:
        """The word as it is written."""
        return self.place.words[self.place.start]


def find_uses(sentences: Iterable[AnnotatedSentence]) -> Iterator[Use]:
    """Every marked word of one part, in the order of the text.

    >>> from firth.probes.sense_files import Annotation
    >>> sentence = AnnotatedSentence(("We", "play"), (Annotation(1, 2, "play", "VERB", ("play%2:33:00::",)),), "a01")
    >>> [(use.word, use.sense) for use in find_uses([sentence])]
    [('play', 'play%2:33:00::')]
    """
    for sentence in sentences:
        for mark in sentence.marks:
            if mark.stop - mark.start == 1:
                sense = mark.keys[0] if len(mark.keys) == 1 else ""
                yield Use(sentence.place(mark), mark.pos, sense, sentence.document)


Group = tuple[str, str]  # a written word, and its part of speech where the senses of that are meant


def group_and_label(use: Use, kind: Kind) -> tuple[Group, str] | None:
    """Among which others a use is looked at, and what tells it from them; None if nothing does.

    Senses are those of one part of speech, so that grammar alone does not tell them apart; auxiliaries are left out,
    and so is all that is neither noun nor verb.
    """
    if use.pos not in OPEN:
        return None
    if kind == "pos":
        return (use.word, ""), use.pos
    return ((use.word, use.pos), use.sense) if use.sense and not use.sense.startswith(AUXILIARIES) else None


def count_labels(found: Iterable[Use], kind: Kind) -> dict[Group, Counter[str]]:
    """How often each label occurs in each group.

    >>> uses = [Use(Place(["play"], 0, 1), pos, "", "") for pos in ("NOUN", "VERB", "NOUN", "ADV")]
    >>> count_labels(uses, "pos")["play", ""]
    Counter({'NOUN': 2, 'VERB': 1})
    """
    counts: dict[Group, Counter[str]] = defaultdict(Counter)
    for use in found:
        named = group_and_label(use, kind)
        if named is not None:
            counts[named[0]][named[1]] += 1
    return counts


def most_ambiguous(counts: Mapping[Group, Counter[str]], most: int, least: int = 10) -> list[Group]:
    """The groups whose second label is the most frequent; it must occur `least` times.

    >>> most_ambiguous({("run", ""): Counter(a=90, b=9), ("play", ""): Counter(a=20, b=15)}, 5)
    [('play', '')]
    """
    second = {group: found.most_common(2)[1][1] for group, found in counts.items() if len(found) > 1}
    kept = [group for group, count in second.items() if count >= least]
    return sorted(kept, key=lambda group: (-second[group], group))[:most]


def sample_uses(found: Iterable[Use], kind: Kind, sizes: Mapping[Group, int], most: int) -> dict[Group, list[Use]]:
    """The uses of some groups, at most so many of each, spread evenly over all of a group's uses."""
    groups: dict[Group, list[Use]] = {group: [] for group in sizes}
    met = dict.fromkeys(sizes, 0)
    for use in found:
        named = group_and_label(use, kind)
        if named is None or named[0] not in groups:
            continue
        group = named[0]
        wanted = min(most, sizes[group])
        if len(groups[group]) * sizes[group] <= met[group] * wanted and len(groups[group]) < wanted:
            groups[group].append(use)
        met[group] += 1
    return groups
