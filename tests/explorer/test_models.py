"""Models: opened once, however many ask; no other files than those offered."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from firth.errors import FirthError, FormatError, OptionError
from firth.explorer.models import TRAINING, Models, WarmUp, find_kind


def test_a_model_is_opened_once_when_many_ask_at_the_same_time() -> None:
    started, opened = threading.Barrier(4), []

    def open_slowly(name: str) -> object:
        opened.append(name)
        return object()

    models = Models(opener=open_slowly)
    found: list[object] = []

    def ask() -> None:
        started.wait()
        found.append(models.load("glove-en"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == ["glove-en"]
    assert len(set(map(id, found))) == 1
    assert models.is_loaded("glove-en")
    assert not models.is_loaded("svd-en")


def test_an_address_cannot_open_a_file_that_was_not_offered(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("tea 1 2\n")
    with pytest.raises(OptionError, match="has no model"):
        Models().load(str(secret))


def test_given_models_come_first_and_their_kind_is_known_before_they_are_opened(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("tea 1 2\nrain 3 4\n")
    models = Models([str(mine)])
    assert models.of("word-vectors")[0] == str(mine)
    assert find_kind(str(mine)) == "word-vectors"


def test_a_folder_of_checkpoints_or_a_log_is_a_training(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"kind": "checkpoint"}')
    assert find_kind(str(tmp_path)) == TRAINING
    log = tmp_path / "mine.jsonl"
    log.write_text("{}")
    assert find_kind(str(log)) == TRAINING


def test_a_model_that_is_not_there_or_says_not_what_it_is_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no such file"):
        Models(["no-such-model.txt"])
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(FormatError, match="kind"):
        find_kind(str(tmp_path))


def test_a_warm_up_says_what_it_does_and_survives_a_step_that_fails() -> None:
    seen: list[str] = []

    def fail() -> None:
        raise FirthError("no")

    work = WarmUp({"words": fail, "elmo": lambda: seen.append(work.now)})
    assert work.now == "words"
    work.start().join()
    assert seen == ["elmo"]
    assert work.now == ""
