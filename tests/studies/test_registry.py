"""The table of studies."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from firth.lazy import read_docstring
from firth.studies.registry import STUDIES, find_study


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_the_name_of_its_entry_and_a_sentence(name: str) -> None:
    study = find_study(name)
    assert study.name == name
    assert study.title
    assert read_docstring(STUDIES[name]).partition("\n")[0].endswith(".")
