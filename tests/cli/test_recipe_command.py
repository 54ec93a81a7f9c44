"""A recipe class becomes a command with its flags, its description and its examples."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from cyclopts import App

from firth.cli.main import main
from firth.cli.recipe_command import command_help, recipe_command, recipe_flags
from firth.options import Recipe, option


@dataclass(frozen=True)
class Tea(Recipe):
    """Make tea."""

    commands = ("tea --minutes 3", "tea --leaf green")

    minutes: int = option(4, "Brewing time.", minimum=1)
    leaf_kind: str = option("black", "Kind of tea, never <unk>.")


def make_app(**more: Any) -> tuple[App, list[Any]]:
    calls: list[Any] = []

    def brew(cup: str, /, *, tea: Any, sugar: bool = False, milk: bool = False) -> None:
        calls.append((cup, tea, sugar, milk))

    flags = recipe_flags(Tea, "Tea", **more)
    app = App(result_action="return_value")
    app.default(recipe_command(brew, {"tea": flags}, without=["milk"]))
    return app, calls


def test_the_body_gets_the_recipe_itself() -> None:
    app, calls = make_app()
    app(["mug", "--minutes", "3", "--sugar"])
    app(["glass"])
    assert calls == [("mug", Tea(minutes=3), True, False), ("glass", Tea(), False, False)]
    assert type(calls[0][1]) is Tea


def test_names_and_defaults_can_differ_from_the_recipes() -> None:
    app, calls = make_app(defaults={"minutes": 2}, prefix="tea-", aliases={"leaf_kind": "leaf"})
    app(["mug", "--leaf", "green"])
    app(["mug", "--tea-leaf-kind", "white", "--tea-minutes", "9"])
    assert [tea for _, tea, _, _ in calls] == [Tea(2, "green"), Tea(9, "white")]


def test_a_parameter_that_is_left_out_is_no_flag() -> None:
    command = recipe_command(lambda *, milk=False: None, {}, without=["milk"])
    assert list(inspect.signature(command).parameters) == []


def test_help_has_the_prose_of_the_class_and_its_commands() -> None:
    shown = command_help("firth.models.phrases:Phrases")
    assert ">>>" not in shown
    assert shown.endswith("    firth train phrases corpus.txt --threshold 100 --passes 2 --out phrases/")


def test_angle_brackets_survive_in_help(capsys: Any) -> None:
    app, _ = make_app()
    app(["--help"])
    assert "<unk>" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("train glove", "Add the word <unk>,"),
        ("train ngram", "by <unk>."),
        ("task seq2seq", "or keep <unk>."),
        ("neighbors", "one [word] in brackets"),
        ("study play", "the word in [brackets];"),
    ],
)
def test_help_texts_keep_what_stands_in_brackets(
    command: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if command.startswith(("task", "study")):
        pytest.importorskip("torch")
    monkeypatch.setenv("COLUMNS", "200")
    with suppress(SystemExit):
        main([*command.split(), "--help"])
    assert shown in " ".join(capsys.readouterr().out.split())
