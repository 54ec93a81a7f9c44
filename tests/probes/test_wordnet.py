"""WordNet's sense index."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.probes.wordnet import Lexeme, WordNet, find_wordnet, lexeme_of


def test_wordnet_is_read_from_its_index(tmp_path: Path) -> None:
    (tmp_path / "index.sense").write_text("play%1:04:05:: 00558008 2 1\nplay%1:10:01:: 07007945 1 9\n")
    found = find_wordnet(str(tmp_path))
    assert found is not None
    assert found.first == {Lexeme("play", "NOUN"): "play%1:10:01::"}
    assert find_wordnet("none") is None
    (tmp_path / "index.sense").write_text("play\n")
    with pytest.raises(FormatError, match=":1: expected a sense key"):
        WordNet.read(tmp_path)


def test_a_missing_wordnet_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_WORDNET", str(tmp_path))
    with pytest.raises(OptionError, match="apt install wordnet-base wordnet-sense-index"):
        find_wordnet("auto")


def test_what_is_no_sense_key_is_named() -> None:
    with pytest.raises(OptionError, match="not a sense key"):
        lexeme_of("play")


def test_a_sense_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.sense").write_text(f"play%1:10:01:: 07007945 {'9' * 5000} 10\n")
    with pytest.raises(FormatError, match=r"index\.sense:1: expected a sense key"):
        WordNet.read(tmp_path)
