"""Ambiguous words of an annotated text."""

from __future__ import annotations

from collections import Counter

from firth.probes.ambiguous import count_labels, find_uses, most_ambiguous, sample_uses
from firth.probes.sense_files import AnnotatedSentence, Annotation


def annotate(word: str, pos: str, key: str = "", document: str = "") -> AnnotatedSentence:
    return AnnotatedSentence(("to", word), (Annotation(1, 2, word, pos, (key,) if key else ()),), document)


def test_the_most_ambiguous_words_are_found_and_their_uses_spread() -> None:
    text = [annotate("play", "NOUN"), annotate("play", "VERB"), annotate("tea", "NOUN"), annotate("only", "ADV")] * 12
    counts = count_labels(find_uses(text), "pos")
    assert counts["play", ""] == Counter(NOUN=12, VERB=12)
    assert most_ambiguous(counts, 9) == [("play", "")]
    found = sample_uses(find_uses(text), "pos", {("play", ""): 24}, 6)["play", ""]
    assert len(found) == 6
    assert len(sample_uses(find_uses(text), "pos", {("play", ""): 24}, 100)["play", ""]) == 24


def test_senses_are_compared_within_one_part_of_speech_and_auxiliaries_not_at_all() -> None:
    text = [annotate("play", "NOUN", "play%1:10:01::"), annotate("play", "VERB", "play%2:33:00::")]
    text += [annotate("is", "VERB", "be%2:42:03::"), annotate("plays", "NOUN")]
    assert set(count_labels(find_uses(text), "sense")) == {("play", "NOUN"), ("play", "VERB")}
