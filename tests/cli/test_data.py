"""`firth data` and what evaluations answer without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firth import data as places
from firth.catalog import CATALOG


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder."""
    place = tmp_path / "data-folder"
    place.mkdir()
    monkeypatch.setenv("FIRTH_DATA", str(place))
    return place


def test_every_set_is_listed_with_licence_form_and_state(answer: Callable[..., Any], folder: Path) -> None:
    listed = {one["name"]: one for one in answer("data")}
    assert list(listed) == list(CATALOG)
    assert listed["firth-similarity-fa"]["state"] == "ships"
    assert listed["men"]["state"] == "missing"
    assert (listed["men"]["licence"], listed["men"]["form"], listed["men"]["size"]) == ("CC BY 2.0", "pairs", 3000)


def test_a_set_from_a_folder_is_there_afterwards(answer: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    (tmp_path / "wikigold.conll.txt").write_text("Ada I-PER\n\n")
    [done] = answer("data", "install", "wikigold", "--from", str(tmp_path))
    assert done["files"] == [str(folder / CATALOG["wikigold"].file)]
    assert {one["name"]: one["state"] for one in answer("data")}["wikigold"] == "installed"


def test_what_ships_need_not_be_installed(mistake: Callable[..., str], folder: Path) -> None:
    assert "comes with firth" in mistake("data", "install", "firth-analogy-en")


@pytest.mark.parametrize("model,language", [("word2vec-en", "en"), ("fasttext-fa", "fa")])
def test_evaluations_answer_on_a_fresh_install(
    answer: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    language: str,
) -> None:
    monkeypatch.delenv("FIRTH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(places, "_shared_folders", list)
    scores = answer("evaluate", model)
    names = [f"firth-{task}-{language}" for task in ("similarity", "analogy", "analogy", "categories")]
    assert [one["name"] for one in scores] == names
    assert all(one["used"] > 0.85 * one["total"] and one["value"] > 0.25 for one in scores)


def test_a_bilm_is_evaluated_on_words_in_context(answer: Callable[..., Any], bilm: str, folder: Path) -> None:
    [score] = answer("evaluate", bilm, "firth-senses-en")
    assert (score["task"], score["used"]) == ("senses", CATALOG["firth-senses-en"].size)


def test_a_wrong_folder_is_told_by_every_command_that_needs_it(
    mistake: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path / "nowhere"))
    for command in (("evaluate", "svd-en"), ("data",), ("data", "install", "men", "--from", str(tmp_path))):
        assert "which does not exist" in mistake(*command)
