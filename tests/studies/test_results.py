"""Stored results."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.errors import OptionError
from firth.studies.results import data_file, load_or_compute


def test_a_stored_result_is_used_for_the_same_identity_only(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert load_or_compute(path, {"sizes": (1, 2)}, lambda: {"score": 1}) == {"score": 1}
    assert load_or_compute(path, {"sizes": (1, 2)}, lambda: {"score": 2}) == {"score": 1}
    assert load_or_compute(path, {"sizes": (1, 3)}, lambda: {"score": 3}) == {"score": 3}


@pytest.mark.parametrize("text", ["{", "[1]", '{"of": {}}'])
def test_a_file_without_a_result_is_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    assert load_or_compute(path, {}, lambda: [1, 2]) == [1, 2]
    assert load_or_compute(path, {}, lambda: [3]) == [1, 2]


def test_a_missing_data_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    with pytest.raises(OptionError, match=r"the data folder .* has no tea\.txt"):
        data_file("tea.txt")
