from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest

from firth.distributed.tasks import NodeDescription, TaskFailure, describe_node, merge_parts, run_parts, run_task
from firth.errors import ClusterError, Diverged, FirthError, FormatError, MissingExtra, MissingFile, UnknownWord


@pytest.mark.parametrize(
    "error",
    [
        FormatError("a.txt", "is broken", line=3, cure="Mend it"),
        UnknownWord("tee", ["tea"]),
        Diverged(500, 0.5, float("nan")),
        ClusterError("here", "there is a problem"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_keep_their_class_and_message(error: FirthError) -> None:
    again = TaskFailure.of(error).error()
    assert type(again) is type(error)
    assert str(again) == str(error)


@pytest.mark.parametrize("error", [MissingFile("no/such.txt"), MissingExtra("reading .zst files", "zst")])
def test_what_a_node_lacks_is_told_with_its_name(error: FirthError) -> None:
    again = TaskFailure.of(error, node="b").error()
    assert type(again) is type(error)
    assert str(again) == f"node b: {error}"


def raise_this(error: BaseException, _: Any) -> Any:
    raise error


def test_errors_of_the_user_travel_as_values() -> None:
    failure = run_task(raise_this, FormatError("a", "b"), None)
    assert failure == TaskFailure("FormatError", "a: b")
    assert run_parts(raise_this, FormatError("a", "b"), None, 2) == [failure] * 3
    assert merge_parts(sum, 1, failure, 2) == failure
    assert merge_parts(sum, 1, 2) == 3
    told = str(run_task(raise_this, MemoryError(), None).error())
    assert told == f"node {platform.node()}: not enough memory for the task. Use fewer workers on a node"


def test_bugs_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        run_task(divmod, 1, 0)


def test_parts_end_with_a_mark_of_success() -> None:
    assert run_parts(divmod, 7, 2, 2) == [3, 1, None]


class TestNodes:
    def test_here(self, tmp_path: Path) -> None:
        found = describe_node([str(tmp_path), "/no/such/file"])
        assert found.missing == ("/no/such/file",)
        assert set(found.versions) == {"Python", "firth", "numpy"}
        NodeDescription.here().check(NodeDescription.here())

    def test_other_version(self) -> None:
        here = NodeDescription("a", {"Python": "3.11", "firth": "0.1"})
        with pytest.raises(ClusterError, match=r"node b: Python 3\.12 is installed there, but 3\.11 here"):
            NodeDescription("b", {"Python": "3.12", "firth": "0.1"}).check(here)

    def test_a_path_that_only_the_driver_sees(self) -> None:
        here = NodeDescription("a", {})
        with pytest.raises(ClusterError, match=r"node b: does not see /data/text\.txt\. Put it on a disk that all"):
            NodeDescription("b", {}, ("/data/text.txt",)).check(here)

    def test_shared_memory_that_is_smaller_than_the_object_store(self, monkeypatch: pytest.MonkeyPatch) -> None:
        here = NodeDescription("a", {})
        small = NodeDescription("b", {}, shared_memory=64 << 20)
        with pytest.raises(
            ClusterError, match=r"node b: /dev/shm has 0\.07 GB, but the object store of Ray 2\.00 GB\. G"
        ):
            small.check(here, 2_000_000_000)
        small.check(here, 60 << 20)
        monkeypatch.setenv("RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE", "1")
        NodeDescription.here().check(NodeDescription.here(), 1 << 60)
