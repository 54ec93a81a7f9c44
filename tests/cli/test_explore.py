"""`firth explore`: errors in one line before anything starts."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

from firth.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-model"], "no-such-model: no such file"),
        (["--port", "70000"], "--port 70000: a port is a number"),
        (["--language", "de"], "language"),
    ],
)
def test_what_cannot_start_is_said_in_one_line(arguments: list[str], message: str, capsys: Any) -> None:
    pytest.importorskip("nicegui")
    with pytest.raises(SystemExit) as stop:
        main(["explore", "--no-browser", *arguments])
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_port_in_use_is_said_in_one_line_with_a_way_out(capsys: Any) -> None:
    pytest.importorskip("nicegui")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SystemExit) as stop:
            main(["explore", "--no-browser", "--port", str(taken.getsockname()[1])])
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "in use" in line
    assert "--port 0" in line


def test_an_address_is_not_cut_in_a_narrow_terminal(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nicegui")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("firth.explorer.server.serve", lambda *models, announce, **options: announce("x" * 63))
    main(["explore", "--no-browser"])
    assert f"at {'x' * 63}\n" in capsys.readouterr().out


def test_without_nicegui_the_command_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for name in [name for name in sys.modules if name.startswith("firth.explorer")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nicegui", None)
    with pytest.raises(SystemExit):
        main(["explore", "--no-browser"])
    assert "pip install 'firth[web]'" in capsys.readouterr().err
