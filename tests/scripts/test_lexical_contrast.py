"""scripts/lexical_contrast.py: the test is balanced, is what the script writes, and shares no word with training."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import lexical_contrast as script
from firth.tasks.entailment.task import Entailment

FIELDS = ("kinds", "synonyms", "antonyms", "colors", "numbers", "details", "plurals")
TEMPLATES = ("things", "states", "colored", "counted")


def exchanged(words: script.WordList) -> set[str]:
    return {word for name in FIELDS for word in re.findall(r"\w+", getattr(words, name))}


def test_the_file_is_what_the_script_writes() -> None:
    lines = script.FILE.read_text(encoding="utf-8").splitlines()
    assert lines == ["\t".join(row) for row in (script.HEADER, *script.write_pairs(script.TEST))]


def test_each_label_has_a_third_and_no_pair_stands_twice() -> None:
    pairs = script.write_pairs(script.TEST)
    assert Counter(label for label, *_ in pairs) == dict.fromkeys(("entailment", "neutral", "contradiction"), 120)
    assert len({pair[1:3] for pair in pairs}) == len(pairs) == 360


def test_training_has_other_words_and_templates() -> None:
    assert not exchanged(script.TEST) & exchanged(script.TRAIN)
    test, train = ({one for name in TEMPLATES for one in getattr(each, name)} for each in (script.TEST, script.TRAIN))
    assert not test & train


def test_only_words_that_are_exchanged_differ() -> None:
    for label, premise, hypothesis, change in script.write_pairs(script.TEST):
        before, after = (Counter(re.findall(r"\w+", text.lower())) for text in (premise, hypothesis))
        differing = ((before - after) + (after - before)).keys() - {"a", "an"}
        assert label == script.LABELS[change]
        assert differing <= exchanged(script.TEST)
        assert sum(((after - before) - Counter(("a", "an"))).values()) == 1


def test_the_task_reads_the_file() -> None:
    examples = Entailment().read(script.FILE)
    assert [example.label for example in examples] == [label for label, *_ in script.write_pairs(script.TEST)]
