"""The server: on this machine only, behind the guard, with errors that help."""

from __future__ import annotations

import socket
import urllib.request
from urllib.error import HTTPError
from urllib.parse import urlsplit

import numpy as np
import pytest

from firth.errors import OptionError, UnknownWord
from firth.explorer.guard import LOOPBACK
from firth.explorer.models import Models
from firth.explorer.question import Question
from firth.explorer.server import Explorer, bind, prepare, search_first
from firth.vectors.words import WordVectors


def test_a_port_in_use_is_an_error_with_a_cure_unless_none_was_asked_for() -> None:
    with bind(0) as first:
        port = first.getsockname()[1]
        assert first.getsockname()[0] == LOOPBACK
        with pytest.raises(OptionError, match=rf"--port {port}: .*in use.*--port 0"):
            bind(port)
    with pytest.raises(OptionError, match="0 to 65535"):
        bind(70_000)
    with bind(None) as usual, bind(None) as another:
        assert usual.getsockname() != another.getsockname()


def test_the_language_is_the_visitors_choice_then_the_command_lines_then_the_browsers() -> None:
    assert Explorer(Models(), "en").find_language("fa", "en") == "fa"
    assert Explorer(Models(), "fa").find_language("", "en") == "fa"
    assert Explorer(Models()).find_language("xx", "fa-IR") == "fa"


def test_the_warm_up_opens_the_first_word_vectors_and_the_first_bilm() -> None:
    opened: list[str] = []
    work = prepare(Models(opener=lambda name: opened.append(name) or 1 / 0))  # type: ignore[func-returns-value]
    assert list(work.steps) == ["elmo", "words", "counts", "ngram"]
    with pytest.raises(ZeroDivisionError):
        work.steps["words"]()
    assert opened == ["word2vec-en"]


def test_a_model_without_words_stops_neither_the_warm_up_nor_a_page() -> None:
    models = Models(opener=lambda name: WordVectors([], np.zeros((0, 3), np.float32)))
    search_first(models, "glove-en")
    with pytest.raises(UnknownWord):
        Question("glove-en", "most_similar", ("tea",)).ask(models)


def test_without_the_token_nothing_is_served(explorer: str) -> None:
    root = explorer.partition("/?")[0]
    for path in ("/", "/neighbors", "/static/theme.css", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(root + path)
        assert refused.value.code == 403


def test_a_head_without_end_is_refused(explorer: str) -> None:
    place = urlsplit(explorer)
    with socket.create_connection((str(place.hostname), place.port or 80), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nA: " + b"x" * 70_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def test_the_server_cannot_be_reached_from_other_machines(explorer: str) -> None:
    port = int(explorer.partition("/?")[0].rpartition(":")[2])
    with socket.socket() as outside:
        outside.settimeout(2)
        assert outside.connect_ex(("127.0.0.2", port)) != 0
