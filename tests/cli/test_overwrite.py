"""Outputs that would destroy an input or a file that is not a model are refused before any work."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import firth
from firth.cli.main import main
from firth.cli.overwrite import check_outputs
from firth.errors import OptionError
from firth.vectors.words import WordVectors

BOOK = "strong tea and strong coffee\n" * 30
SMALL = ("--dim", "4", "--min-count", "1", "--epochs", "1")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "books" / "book.txt"
    path.parent.mkdir()
    path.write_text(BOOK)
    return path


WRITERS: dict[str, tuple[str, ...]] = {
    "train": ("train", "word2vec", "{book}", *SMALL, "--out"),
    "tokens": ("tokens", "{book}", "--out"),
    "vocab": ("vocab", "{book}", "--out"),
    "phrases": ("phrases", "{book}", "{book}", "--out"),
    "embed": ("embed", "word2vec-en", "{book}", "--format", "hdf5", "--out"),
    "index": ("index", "word2vec-en", "{book}", "--out"),
    "convert": ("convert", "{book}"),
    "quantize": ("quantize", "{book}"),
    "task": ("task", "sentiment", "--train", "{book}", "--embedding", "none", "--out"),
    "log": ("train", "elmo", "{book}", "--out", "elmo", "--log"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_no_command_overwrites_its_input(mistake: Callable[..., str], book: Path, name: str) -> None:
    if name == "task":
        pytest.importorskip("torch")
    arguments = [part.format(book=book) for part in WRITERS[name]]
    message = mistake(*arguments, str(book), "--force")
    assert "is an input" in message or (name == "task" and "is a file" in message)
    assert book.read_text() == BOOK


@pytest.mark.parametrize("name", ["tokens", "vocab", "train", "convert"])
def test_an_existing_text_is_replaced_only_with_force(mistake: Callable[..., str], book: Path, name: str) -> None:
    other = book.with_name("other.txt")
    other.write_text("4 2\nsome notes\n")
    source = book if name != "convert" else book.with_name("vectors.txt")
    if name == "convert":
        firth.save(WordVectors(["tea"], [[1.0, 2.0]]), source)
    arguments = [part.format(book=source) for part in WRITERS[name]]
    assert "--force" in mistake(*arguments, str(other))
    assert other.read_text() == "4 2\nsome notes\n"
    main([*arguments, str(other), "--force"])
    assert other.read_text() != "4 2\nsome notes\n"


def test_an_output_that_contains_an_input_is_refused(mistake: Callable[..., str], book: Path) -> None:
    (book.parent / "config.json").write_text('{"library": "firth"}')
    assert "contains the input" in mistake("train", "counts", str(book), "--out", str(book.parent))
    assert "contains the input" in mistake("train", "counts", f"{book.parent}/*.txt", "--out", str(book.parent))
    assert book.read_text() == BOOK


@pytest.mark.parametrize("out", ["model", "new/deep/model", "vectors.txt"])
def test_an_output_inside_of_a_folder_of_texts_is_refused(mistake: Callable[..., str], book: Path, out: str) -> None:
    """The next run would read it as text."""
    out = str(book.parent / out)
    assert "lies in the input" in mistake("train", "word2vec", str(book.parent), *SMALL, "--out", out)
    assert "lies in the input" in mistake("tokens", str(book.parent), "--out", out)
    assert os.listdir(book.parent) == ["book.txt"]


def test_a_report_may_lie_in_the_folder_of_its_model(book: Path) -> None:
    firth.save(WordVectors(["tea", "rain"], [[1.0, 2.0], [2.0, 1.0]]), book.parent / "model")
    check_outputs([book.parent / "model" / "report.html"], [str(book.parent / "model")])


def test_another_name_of_an_input_is_that_input(book: Path) -> None:
    link, hard = book.with_name("link.txt"), book.with_name("hard.txt")
    link.symlink_to(book)
    os.link(book, hard)
    for name in (link, hard, book.parent / "." / "book.txt"):
        with pytest.raises(OptionError, match="is an input"):
            check_outputs([str(name)], [str(book)], force=True)


def test_a_binary_model_is_replaced_and_a_folder_of_firth_too(answer: Callable[..., Any], book: Path) -> None:
    for name in ("vectors.bin", "vectors"):
        out = str(book.with_name(name))
        for dim in (4, 6):
            answer("train", "word2vec", str(book), "--min-count", "1", "--dim", str(dim), "--out", out)
            assert answer("info", out)["dim"] == dim


def test_the_folder_of_another_library_is_never_replaced(mistake: Callable[..., str], book: Path) -> None:
    other = book.parent / "bert"
    other.mkdir()
    (other / "config.json").write_text(json.dumps({"model_type": "bert"}))
    message = mistake("train", "word2vec", str(book), *SMALL, "--out", str(other), "--force")
    assert "contains other files" in message
    assert [path.name for path in other.iterdir()] == ["config.json"]


def test_a_study_replaces_its_own_page_only(mistake: Callable[..., str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    page = tmp_path / "senses.md"
    page.write_text("my notes")
    assert "senses.md: the file exists" in mistake("study", "senses", "--quick", "--out", str(tmp_path))
    (tmp_path / "senses.json").write_text('{"study": "overlap"}')
    assert "the file exists" in mistake("study", "senses", "--quick", "--out", str(tmp_path))


def test_a_pipe_is_no_output(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OptionError, match="neither a file nor a folder"):
        check_outputs([tmp_path / "pipe"], [], force=True)


def test_a_card_beside_a_file_replaces_no_notes(mistake: Callable[..., str], book: Path) -> None:
    out, notes = book.with_name("vectors.bin"), book.with_name("vectors.bin.md")
    notes.write_text("my notes")
    assert "vectors.bin.md: the file exists" in mistake("train", "word2vec", str(book), *SMALL, "--out", str(out))
    assert notes.read_text() == "my notes"
