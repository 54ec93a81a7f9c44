"""Where data is found: named by FIRTH_DATA, beside the current folder, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth import data as places
from firth.errors import OptionError


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    assert places.folder() == tmp_path


def test_a_folder_that_is_not_there_is_an_error_that_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(OptionError, match=r"FIRTH_DATA is .*nowhere.*not a folder"):
        places.folder()


def test_without_the_variable_shared_beside_the_current_folder_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIRTH_DATA", raising=False)
    (tmp_path / "shared").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert places.folder() == tmp_path / "shared"


def test_a_named_set_is_found_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    file = tmp_path / places.SETS["men"].file
    file.parent.mkdir(parents=True)
    file.write_text("sun sunlight 50\n")
    assert places.find("men") == file
    assert places.available() == ["men"]


def test_a_named_set_without_its_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    with pytest.raises(OptionError, match=r"men: the data folder .* has no .*men\.txt"):
        places.find("men")


def test_any_file_is_found_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text("a\tb\t1\n")
    assert places.find(file) == places.find(str(file)) == file


def test_an_unknown_name_without_a_neighbor_lists_the_sets() -> None:
    with pytest.raises(OptionError, match=r"no such test set or file\. There are: wordsim353, "):
        places.find("zzzz")


def test_every_named_set_is_in_the_data_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(data))
    assert places.available() == list(places.SETS)
