"""The command line as a whole: mistakes in one line, and help."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firth.cli.main import COMMANDS, GROUPS, OPTION, main


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("neighbors", "no-such-file.bin", "tea"), "no-such-file.bin"),
        (("neighbors", "x"), "neighbors"),
        (("train", "counts", "no-such-corpus", "--out", "x"), "no such file, folder or pattern"),
        (("train", "counts", "-", "--out", "x", "--window", "0"), "window is 0, but must be at least 1"),
        (("train", "counts", "-", "--out", "x", "--windw", "3"), "--windw. Did you mean --window?"),
        (("train", "word2vec", "README.md", "--dimm", "50", "--out", "x"), "--dimm. Did you mean --dim?"),
        (("train", "word2vec", "README.md", "--dimm=50", "--out", "x"), "--dimm=50. Did you mean --dim?"),
        (("predict", "ner", "Hello", "--josn"), "--josn. Did you mean --json?"),
        (("score", "model.arpa", "strong tea", "--jsn"), "--jsn. Did you mean --json?"),
        (("info", "word2vec-en", "--jsn"), "--jsn. Did you mean --json?"),
        (("tokens", "-", "--out", "--json"), "--out needs a value, but the option --json follows it"),
        (("tokens", "-", "-x"), "Unknown option: -x"),
    ],
)
def test_a_mistake_is_one_line(mistake: Callable[..., str], arguments: tuple[str, ...], message: str) -> None:
    assert message in mistake(*arguments)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in GROUPS])
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
    shown = capsys.readouterr().out
    titles = ["Start", "Text", "Train", "Ask", "Tasks", "Evaluate", "Models", "Options"]
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("╭")] == titles
    lines = [line.strip("│ ").split(maxsplit=1) for line in shown.splitlines()]
    described = {words[0]: words[1] for words in lines if len(words) == 2}
    assert all(described[name].endswith((".", "?")) for name in COMMANDS)


def test_the_name_of_a_task_is_the_name_of_its_model(answer: Callable[..., Any], mistake: Callable[..., str]) -> None:
    assert "named entity recognition" in answer("card", "ner")["card"]
    for arguments in (("predict", "nerr", "Hello"), ("card", "nerr"), ("info", "nerr")):
        assert "Did you mean 'ner'?" in mistake(*arguments)
    assert 'Did you mean "neighbors"?' in mistake("neigbors", "word2vec-en", "tea")


@pytest.mark.parametrize("text", ["--json", "-x", "--no such option"])
def test_what_follows_two_hyphens_is_text(
    answer: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    model = str(tmp_path / "model.arpa")
    (tmp_path / "text.txt").write_text("strong tea\n" * 9)
    main(["train", "ngram", str(tmp_path / "text.txt"), "--order", "2", "--out", model])
    capsys.readouterr()
    main(["score", model, "--tokens", "whitespace", "--json", "--", text])
    assert json.loads(capsys.readouterr().out)[0]["words"] == text.split()


@pytest.mark.parametrize("text", ["-5", "- Yes, she said.", "-"])
def test_a_number_and_a_text_with_a_minus_sign_are_values(text: str) -> None:
    assert OPTION.fullmatch(text) is None
