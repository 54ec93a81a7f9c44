"""The command line as a whole: mistakes in one line, and help."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from firth.cli.main import COMMANDS, GROUPS, main


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("neighbors", "no-such-file.bin", "tea"), "no-such-file.bin"),
        (("neighbors", "x"), "neighbors"),
        (("train", "counts", "no-such-corpus", "--out", "x"), "no such file, folder or pattern"),
        (("train", "counts", "-", "--out", "x", "--window", "0"), "window is 0, but must be at least 1"),
        (("train", "counts", "-", "--out", "x", "--windw", "3"), "--windw"),
    ],
)
def test_a_mistake_is_one_line(mistake: Callable[..., str], arguments: tuple[str, ...], message: str) -> None:
    assert message in mistake(*arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_example(capsys: pytest.CaptureFixture[str], name: str) -> None:
    main([name, "--help"])
    shown = capsys.readouterr().out
    assert f"firth {name}" in shown.split("For example:")[1]
    assert "--json" in shown


def test_the_list_of_commands_describes_each_in_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    main(["--help"])
    lines = [line.strip("│ ").split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    described = {words[0]: words[1] for words in lines if len(words) == 2}
    assert all(described[name].endswith((".", "?")) for name in (*COMMANDS, *GROUPS))
