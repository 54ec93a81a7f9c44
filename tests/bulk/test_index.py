"""An index of occurrences after any kill, and what stops one. What can be asked of it is in test_occurrences.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.bulk import index
from firth.bulk.index import IndexWriter, index_file
from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock
from firth.errors import FormatError, OptionError
from firth.text.tokenize import Tokenizer
from firth.vectors.occurrences import Occurrences
from firth.vectors.words import WordVectors

WHITESPACE = Tokenizer(mode="whitespace")
LINES = ["they play ball", "", "a play on stage", "ball on stage", "they play on"]


class Counted:
    """A stand-in for a contextual model, which is stopped at a call: a word's vector is its length and its place."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.calls, self.stop_at = 0, stop_at

    def embed(self, sentences: Any, **_: Any) -> list[Any]:
        self.calls += 1
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        return [np.array([[len(w), i] for i, w in enumerate(words)], np.float32).reshape(-1, 2) for words in sentences]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def made(model: Any, text: Path, out: Path, **choices: Any) -> Occurrences:
    return index_file(model, text, out, tokenizer=WHITESPACE, block_tokens=3, **choices)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# The first call only asks for the shape; there are four blocks.
@pytest.mark.parametrize("words, stop_at", [(None, 2), (None, 4), (["play", "on"], 3), (["play", "on"], 5)])
def test_a_stopped_index_goes_on_and_ends_with_the_same_bytes(
    tmp_path: Path, text: Path, words: list[str] | None, stop_at: int
) -> None:
    made(Counted(), text, tmp_path / "whole", words=words)
    with pytest.raises(KeyboardInterrupt):
        made(Counted(stop_at), text, tmp_path / "parts", words=words)
    assert not (tmp_path / "parts").exists()
    model = Counted()
    made(model, text, tmp_path / "parts", words=words)
    assert model.calls == 1 + 4 - (stop_at - 2)
    assert files_of(tmp_path / "parts") == files_of(tmp_path / "whole")
    assert not (tmp_path / "parts.part").exists()


def test_a_kill_while_it_is_saved_costs_no_work_of_the_model(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(index.native, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            made(Counted(), text, tmp_path / "out")
    model = Counted()
    found = made(model, text, tmp_path / "out")
    assert (model.calls, len(found)) == (1, 13)


def test_words_that_were_not_committed_are_forgotten(tmp_path: Path) -> None:
    tea, rain = (LineBlock([line], [line.split()], "", 0) for line in ("hot tea", "hot rain"))
    rows = [np.ones((2, 2), np.float16)]
    with Journal(tmp_path / "out", {}) as journal:
        writer = IndexWriter(journal, "float16")
        writer.append(tea, rows)
        journal.commit(writer.state)
        writer.append(rain, rows)
    with Journal(tmp_path / "out", {}) as journal:
        writer = IndexWriter(journal, "float16")
        writer.append(LineBlock(["cold rain"], [["cold", "rain"]], "", 0), rows)
        journal.commit(writer.state)
        found = writer.occurrences(2, {})
        assert [found.occurrence(row).marked() for row in (1, 3)] == ["hot [tea]", "cold [rain]"]
        assert dict(found.vocabulary.most_common(4)) == {"hot": 1, "tea": 1, "cold": 1, "rain": 1}


def test_an_unfinished_index_is_not_taken_up_with_other_words_or_another_text(tmp_path: Path, text: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        made(Counted(3), text, out, words=["play"])
    with pytest.raises(OptionError, match=r'out.part: .*words was \["play"\] and is \["ball"\] now.* --restart'):
        made(Counted(), text, out, words=["ball"])
    text.write_text("we " + text.read_text())
    with pytest.raises(OptionError, match=r"text.txt: is not the text .* Start over with --restart"):
        made(Counted(), text, out, words=["play"])
    found = made(Counted(), text, out, words=["ball"], restart=True)
    assert [found.occurrence(row).marked() for row in (0, 1)] == ["we they play [ball]", "[ball] on stage"]


def test_an_index_says_how_it_was_made_so_that_it_can_be_asked(tmp_path: Path, text: Path) -> None:
    found = made(Counted(), text, tmp_path / "out", layers="1", model_path="elmo/", batch=8, memory=None)
    about = found.metadata
    assert (about["model"], about["layers"], about["files"]) == ("elmo/", "1", [str(text)])
    assert about["settings"] == {"batch": 8}
    assert Tokenizer.from_dict(about["tokenizer"]) == WHITESPACE


def test_a_place_that_is_taken_is_refused_before_any_work(tmp_path: Path, text: Path) -> None:
    model = Counted()
    with pytest.raises(OptionError, match=r"text.txt: is a file, but a folder is to be written there. Choose another"):
        made(model, text, text)
    assert model.calls == 1
    assert text.read_text().startswith("they play")


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_numbers_and_bytes_that_do_not_fit_have_a_place_or_a_cure(tmp_path: Path, text: Path) -> None:
    large = WordVectors(["ball"], np.array([[1e6]], np.float32))
    with pytest.raises(OptionError, match=r"too large for float16. Use float32"):
        made(large, text, tmp_path / "large")
    assert made(large, text, tmp_path / "wide", dtype="float32").rows.take([2]).tolist() == [[1e6]]
    text.write_bytes(b"tea\ncaf\xe9 tea\n")
    with pytest.raises(FormatError, match=r"text.txt:2: byte 0xe9 .* --errors replace"):
        made(Counted(), text, tmp_path / "bytes")
    assert made(Counted(), text, tmp_path / "bytes", errors="replace", restart=True).occurrence(1).word == "caf\ufffd"
