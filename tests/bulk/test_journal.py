"""Work that survives a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.bulk.journal import Journal
from firth.errors import OptionError


def test_what_was_not_committed_is_cut_off(tmp_path: Path) -> None:
    with Journal(tmp_path / "out", {}) as journal:
        journal.append("numbers", b"one")
        journal.commit({"count": 1})
        journal.append("numbers", b" and half of two")
        journal.append("letters", b"never committed")
    with Journal(tmp_path / "out", {}) as journal:
        assert journal.state == {"count": 1}
        assert journal.path("numbers").read_bytes() == b"one"
        assert not journal.path("letters").exists()


def test_a_published_file_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    with Journal(tmp_path / "out", {}) as journal:
        journal.append("new", b"new")
        journal.publish("new", {})
    assert (tmp_path / "out").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_published_folder_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").touch()
    with Journal(tmp_path / "out", {}) as journal:
        journal.append("result/new", b"new")
        journal.publish("result", {})
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["new"]


def test_other_settings_do_not_go_on_with_an_unfinished_run(tmp_path: Path) -> None:
    with Journal(tmp_path / "out", {"layers": "all"}) as journal:
        journal.commit({"count": 1})
    with pytest.raises(OptionError, match='layers was "all" and is "top" now'):
        Journal(tmp_path / "out", {"layers": "top"})
    with Journal(tmp_path / "out", {"layers": "top"}, restart=True) as journal:
        assert journal.state == {}


def test_two_runs_do_not_write_to_one_place(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with Journal(tmp_path / "out", {}), pytest.raises(OptionError, match="another run is writing there"):
        Journal(tmp_path / "out", {})


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out.part").mkdir()
    (tmp_path / "out.part" / "diary.txt").write_text("mine")
    for restart in (False, True):
        with pytest.raises(OptionError, match="contains other files"):
            Journal(tmp_path / "out", {}, restart=restart)
    assert (tmp_path / "out.part" / "diary.txt").read_text() == "mine"


def test_what_comes_before_a_mark_is_settled_does_not_change_it(tmp_path: Path) -> None:
    state: dict[str, list[int]] = {"rows": [1]}
    with Journal(tmp_path / "out", {}) as journal:
        journal.append("data", b"one")
        mark = journal.snapshot(state)
        journal.append("data", b"two")
        journal.close_file("data")
        state["rows"].append(2)
        journal.sync(mark)
    with Journal(tmp_path / "out", {}) as journal:
        assert journal.state == {"rows": [1]}
        assert journal.path("data").read_bytes() == b"one"
