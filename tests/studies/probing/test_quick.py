"""The quick versions of the probes on the real data, with the models that ship: small, and already true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from firth.runtime import Runtime
from firth.studies.findings import Findings
from firth.studies.study import Study


def found(study: Study, work: Path, **options: Any) -> Findings:
    return replace(study, **options).make_quick().run(work, Runtime(1))


def column(findings: Findings, title: str, name: str) -> dict[Any, Any]:
    """A column of the table whose title begins so, by the first column."""
    table = next(table for table in findings.tables if table.title.startswith(title))
    return {row[0]: row[table.columns.index(name)] for row in table.rows}


def test_layers_with_context_know_more_about_senses_than_the_word_alone(data: Path, tmp_path: Path) -> None:
    from firth.studies.probing.senses import Senses

    scores = column(found(Senses(), tmp_path, wordnet="none"), "F1 by set", "ambiguous")
    assert scores["biLM layer 2"] > scores["biLM layer 0"]
    assert scores["biLM layer 2"] > scores["glove-en"]


def test_parts_of_speech_are_told_from_the_first_layer(data: Path, tmp_path: Path) -> None:
    from firth.studies.probing.pos import PartsOfSpeech

    scores = column(found(PartsOfSpeech(), tmp_path), "Accuracy in % on the test part, UPOS", "all")
    assert scores["biLM layer 1"] > scores["biLM layer 0"]
    assert scores["biLM layer 1"] > scores["most frequent tag of the word"]


def test_nearest_occurrences_have_the_same_part_of_speech(data: Path, tmp_path: Path) -> None:
    from firth.studies.probing.play import Play

    shares = column(found(Play(), tmp_path), "Share of nearest neighbours", "same part of speech")
    assert shares["biLM layer 1"] > shares["chance"] + 10
    assert shares["glove-en"] == pytest.approx(shares["chance"])


def test_context_changes_similarity_as_people_say(data: Path, tmp_path: Path) -> None:
    from firth.studies.probing.contexts import Contexts

    scores = column(found(Contexts(), tmp_path), "Words in context", "CoSimLex, change")
    assert scores["biLM layer 2"] > scores["glove-en"]


def test_families_are_compared_on_a_little_text(data: Path, tmp_path: Path) -> None:
    from firth.studies.families.study import Families

    findings = found(Families(), tmp_path)
    assert {"intrinsic", "time", "memory"} <= set(findings.charts)
