"""Work that survives a crash."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firth.bulk import journal as journal_module
from firth.bulk.journal import Journal
from firth.errors import FormatError, OptionError


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
    with Journal(tmp_path / "out", {}), pytest.raises(OptionError, match=r"another run .*is writing there"):
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


def begin(path: Path) -> None:
    """An unfinished run with one committed file."""
    with Journal(path, {"job": 1}) as journal:
        journal.append("numbers", b"one two")
        journal.commit({"count": 2})


@pytest.mark.parametrize("damage", ["missing", "cut", "journal", "nested", "outside"])
def test_a_damaged_unfinished_output_is_an_error_and_restart_helps(tmp_path: Path, damage: str) -> None:
    begin(tmp_path / "out")
    part = tmp_path / "out.part"
    if damage == "missing":
        (part / "numbers").unlink()
    elif damage == "cut":
        (part / "numbers").write_bytes(b"one")
    elif damage == "journal":
        text = (part / "journal.json").read_text()
        (part / "journal.json").write_text(text.replace('"count": 2', '"count": 3'))
    elif damage == "nested":
        (part / "journal.json").write_text("[" * 100_000)
    else:
        text = (part / "journal.json").read_text()
        (part / "journal.json").write_text(text.replace('"numbers"', '"../../numbers"'))
    with pytest.raises(FormatError, match=r"--restart|not JSON"):
        Journal(tmp_path / "out", {"job": 1})
    with Journal(tmp_path / "out", {"job": 1}, restart=True) as journal:
        assert journal.state == {}
        assert not journal.path("numbers").exists()


def test_a_restart_asks_for_the_lock_before_it_removes_anything(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with Journal(tmp_path / "out", {}) as journal:
        journal.append("numbers", b"one")
        journal.commit({"count": 1})
        with pytest.raises(OptionError, match=r"another run .*is writing there"):
            Journal(tmp_path / "out", {}, restart=True)
        journal.append("numbers", b" two")
        journal.publish("numbers", {"count": 2})
    assert (tmp_path / "out").read_bytes() == b"one two"


class Killed(BaseException):
    """Stands for the end of the process: nothing after it happens."""


CHANGES = "os.replace", "os.truncate", "shutil.rmtree", "exchange", "Path.unlink", "Path.rmdir"


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("is_folder", [True, False])
@pytest.mark.parametrize("place", range(9))
def test_a_kill_between_any_two_changes_of_the_disk_loses_no_finished_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int, is_folder: bool, can_exchange: bool
) -> None:
    out = tmp_path / "out"
    name = "result/data" if is_folder else "data"
    if is_folder:
        out.mkdir()
    (out / "data" if is_folder else out).write_bytes(b"old")
    with monkeypatch.context() as patch:
        calls = [0]

        def count(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **more: Any) -> Any:
                if calls[0] == place:
                    calls[0] += 1
                    raise Killed
                calls[0] += 1
                return real(*arguments, **more)

            return call

        for change in CHANGES:
            module, _, function = change.rpartition(".")
            owner = {"os": os, "shutil": shutil, "Path": Path, "": journal_module}[module]
            real = getattr(owner, function)
            if function == "exchange" and not can_exchange:
                real = lambda *_: False  # noqa: E731
            patch.setattr(owner, function, count(real))
        with contextlib.suppress(Killed), Journal(out, {"job": 1}) as journal:
            journal.append(name, b"new")
            journal.publish(name.split("/")[0], {"count": 1})
    path = tmp_path / "out.part" / "journal.json"
    said_finished = path.exists() and bool(json.loads(path.read_text())["finished"])
    with Journal(out, {"job": 1}) as journal:
        assert journal.published == said_finished
        if journal.published:
            assert out_is_new(out, is_folder)  # completed, not thrown away
            journal.discard()
        elif not out_is_new(out, is_folder):
            if not journal.size(name):
                journal.append(name, b"new")
            journal.publish(name.split("/")[0], {"count": 1})
    assert out_is_new(out, is_folder)


def out_is_new(out: Path, is_folder: bool) -> bool:
    path = out / "data" if is_folder else out
    return path.is_file() and path.read_bytes() == b"new"


@pytest.mark.parametrize(
    "finished", [{"inode": 3}, {"name": 7, "inode": "x"}, {"name": "../../x", "inode": 3}], ids=str
)
def test_a_forged_journal_that_names_no_output_is_refused(tmp_path: Path, finished: dict[str, Any]) -> None:
    begin(tmp_path / "out")
    path = tmp_path / "out.part" / "journal.json"
    journal = json.loads(path.read_text())
    del journal["checksum"]
    journal["finished"] = finished
    path.write_text(json.dumps({**journal, "checksum": journal_module._checksum(journal)}))
    with pytest.raises(FormatError, match="does not name the finished output"):
        Journal(tmp_path / "out", {"job": 1})


@pytest.mark.parametrize("value", [-1, 10**20, "7", None, True], ids=str)
def test_a_count_of_the_state_that_cannot_be_is_refused(tmp_path: Path, value: Any) -> None:
    with Journal(tmp_path / "out", {}) as journal:
        assert journal.number("sentences") == 0
        journal.commit({"sentences": value})
        with pytest.raises(FormatError, match=r"journal\.json: sentences is .* --restart"):
            journal.number("sentences")
