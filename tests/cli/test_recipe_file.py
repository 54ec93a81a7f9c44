"""A recipe in TOML stands in for flags, and never silently for the wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import firth
from firth.cli.main import main
from firth.cli.recipe_file import expand_recipe_file
from firth.errors import FirthError, FormatError


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    path = tmp_path / "svd.toml"
    path.write_text('name = "counts"\nkind = "svd"\ndim = 3\npunctuation = false\nstop_words = ["the", "a"]\n')
    return str(path)


def test_the_file_becomes_flags_and_flags_given_by_hand_win(recipe: str) -> None:
    expanded = expand_recipe_file(["train", "--recipe", recipe, "text.txt", "--dim=5"])
    assert expanded[:4] == ["train", "counts", "text.txt", "--dim=5"]
    assert expanded[4:] == ["--kind=svd", "--no-punctuation", "--stop-words=the", "--stop-words=a"]


def test_the_recipe_is_kept_with_the_model_and_told_on_its_card(
    recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("tea and milk\ntea and sugar\ncoffee and milk\ncoffee and sugar\n")
    main(["train", "--recipe", recipe, str(text), "--out", str(tmp_path / "model"), "--json"])
    values = json.loads(capsys.readouterr().out)
    kept = firth.load(tmp_path / "model").metadata["recipe"]
    assert (values["dim"], kept["dim"], kept["stop_words"]) == (3, 3, ["the", "a"])
    assert "| dim | `3` |" in Path(values["card"]).read_text()


@pytest.mark.parametrize(
    "content, message",
    [
        ('name = "counts"\nwindw = 3', "Did you mean 'window'"),
        ("dim = 3", "names no recipe"),
        ('name = ["counts"]', "names no recipe"),
        (
            f'name = "counts"\nwindow{".a" * 2000} = 1',
            "nested too deeply|must be a whole number|has more than the allowed",
        ),
        ('name = "ngram"', "is a recipe for ngram, but the command is counts"),
    ],
)
def test_a_wrong_recipe_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(content)
    said = ["counts"] if "ngram" in content else []
    with pytest.raises(FirthError, match=message):  # Python 3.14 itself refuses such keys
        expand_recipe_file(["train", *said, "--recipe", str(path), "text.txt"])


def test_a_broken_recipe_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("dim = = 3")
    with pytest.raises(FormatError, match=r"bad\.toml: not a recipe in TOML"):
        expand_recipe_file(["train", "--recipe", str(path)])
