"""`firth pull`: the list, and models from a server on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from firth.hub import published, pull
from firth.hub.published import PublishedFile, PublishedModel


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server with one model, `tea`, which is the only one in the table."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "tea.vec").write_text("2 2\ntea 1 0\ncoffee 1 1\n")
    listening = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=tmp_path / "files"))
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    where = f"http://127.0.0.1:{listening.server_port}/tea.vec"
    files = (PublishedFile(where, "tea.vec"),)
    table = {"tea-vectors": PublishedModel("tea-vectors", "Two words", None, "https://page", files, None)}
    for module in (published, pull):
        monkeypatch.setattr(module, "published_models", lambda: table)
    monkeypatch.setenv("FIRTH_CACHE", str(tmp_path / "cache"))
    yield where
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_the_list_has_licences_sizes_and_checksums(
    answer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRTH_CACHE", str(tmp_path))
    listed = {one["name"]: one for one in answer("pull", "--list")}
    assert len(listed) > 300
    glove = listed["glove-6b-100d"]
    assert (glove["licence"], glove["bytes"], glove["here"]) == ("PDDL 1.0", 862182613, False)
    assert len(glove["sha256"][0]) == 64
    assert listed["fasttext-cc-fa"]["sha256"] == [None]
    assert listed == {one["name"]: one for one in answer("pull")}


def test_a_pulled_model_answers_by_its_name(answer: Callable[..., Any], address: str, tmp_path: Path) -> None:
    [done] = answer("pull", "tea-vectors")
    assert done["path"] == str(tmp_path / "cache" / "published" / "tea-vectors" / "tea.vec")
    assert not done["was_there"]
    assert answer("pull", "tea-vectors")[0]["was_there"]
    near = answer("neighbors", "tea-vectors", "tea")
    assert near[0]["neighbors"][0]["word"] == "coffee"


def test_mistakes_have_a_cure(mistake: Callable[..., str], address: str) -> None:
    assert "Did you mean 'tea-vectors'" in mistake("pull", "tea-vector")
    assert "Leave out tea" in mistake("pull", "tea", "--list")
    assert "Fetch it: firth pull tea-vectors" in mistake("info", "tea-vectors")
