"""Behavioral cases: the reader, and the sets in tests/behaviour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from firth.errors import FormatError
from firth.studies.tasks.behavior_cases import COLUMNS, BehaviorCase, read_cases
from firth.studies.tasks.expectations import ARROW, CHECKERS

SETS = Path(__file__).resolve().parents[2] / "behaviour"
STATELESS = re.compile(r"same|warning|none|no answer|less sure|frames none|(gains|more|less) \S+")


def write(folder: Path, *rows: str) -> Path:
    file = folder / "cases.tsv"
    file.write_text("\n".join(["\t".join(COLUMNS), *rows]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("task", CHECKERS)
def test_a_set_has_at_least_a_hundred_different_cases_of_all_types(task: str) -> None:
    cases = read_cases(SETS / f"{task}.tsv", task)
    assert len(set(cases)) == len(cases) >= 100
    assert {case.type for case in cases} == {"MFT", "INV", "DIR"}
    assert {case.expected for case in cases if case.capability == "another script"} == {"warning"}


@pytest.mark.parametrize("task", CHECKERS)
def test_a_change_changes_the_text(task: str) -> None:
    assert all(case.text != case.changed for case in read_cases(SETS / f"{task}.tsv", task))


@pytest.mark.parametrize("task", ["ner", "qa", "srl", "coref"])
def test_expected_words_stand_in_the_text(task: str) -> None:
    for case in read_cases(SETS / f"{task}.tsv", task):
        if STATELESS.fullmatch(case.expected):
            continue
        for expected, texts in zip(case.expected.split(ARROW), (case.text, case.changed)):
            assert texts is not None
            for words in expected_words(task, expected):
                assert words.lower() in texts[0].lower(), (words, case)


def expected_words(task: str, expected: str) -> list[str]:
    """The pieces of text that an expectation names."""
    if task == "qa":
        return expected.split(" / ")
    if expected == "none":
        return []
    if task == "srl" and expected.startswith("frames "):
        return expected.removeprefix("frames ").split(", ")
    if task == "coref":
        return [name for part in expected.split("; ") for name in part.split(" ", 1)[1].split(", ")]
    predicate, _, spans = expected.rpartition(": ")
    return [predicate, *(span.split(" ", 1)[1] for span in spans.split("; "))]


def test_a_pair_of_texts_is_split(tmp_path: Path) -> None:
    file = write(tmp_path, "negation\tDIR\ta b | c\ta b | not c\tless entailment")
    assert read_cases(file, "entailment") == [
        BehaviorCase("negation", "DIR", ("a b", "c"), ("a b", "not c"), "less entailment")
    ]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("greeting\tMFT\tHello\tnone", "expected 5 columns, found 4"),
        ("greeting\tmft\tHello\t\tnone", "unknown type 'mft'"),
        ("greeting\tMFT\tHello\tHi\tnone", "wrong number of texts for MFT"),
        ("greeting\tMFT\t\tHello\tnone", "wrong number of texts for MFT"),
        ("greeting\tINV\tHello\t\tsame", "wrong number of texts for INV"),
        ("greeting\tMFT\tHello | Hi\t\tnone", "wrong number of texts for MFT"),
        ("greeting\tMFT\tHello\t\tnobody", "unknown expectation 'nobody' for MFT"),
        ("greeting\tINV\tHello\tHi\tnone", "unknown expectation 'none' for INV"),
    ],
)
def test_a_case_that_is_not_well_formed_is_an_error_with_its_line(tmp_path: Path, row: str, problem: str) -> None:
    with pytest.raises(FormatError, match=re.escape(problem)) as raised:
        read_cases(write(tmp_path, row), "ner")
    assert "cases.tsv:2" in str(raised.value)


def test_a_file_needs_the_names_of_its_columns_and_a_case(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="has no cases"):
        read_cases(write(tmp_path), "ner")
    file = tmp_path / "cases.tsv"
    file.write_text("a\tMFT\tHello\t\tnone\n")
    with pytest.raises(FormatError, match="the first line names them"):
        read_cases(file, "ner")
