"""The study of nearest neighbors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from firth.errors import OptionError
from firth.probes.readers import WordSpan
from firth.studies.findings import Findings
from firth.studies.probing.play import Play, format_bold
from firth.studies.study import Study


def test_the_neighbors_of_a_word_are_shown_and_counted(folder: Path, run_study: Callable[[Study], Findings]) -> None:
    found = run_study(Play(elmo=str(folder / "tiny"), static="glove-en", neighbours=2, uses=20))
    counts = found.values["counts"]
    assert found.values["occurrences"] == 37
    assert counts["glove-en"]["pos"]["same"] == counts["glove-en"]["pos"]["chance"]
    assert counts["biLM layer 1"]["pos"]["same"] == 100.0  # equal sentences in other documents
    titles = [table.title for table in found.tables]
    assert "glove-en: nearest to 'play'" in titles
    [shown] = [table for table in found.tables if table.title.startswith("biLM layer 2")]
    assert len(shown.rows) == 10
    assert "**play**" in str(shown.rows[0][1])


def test_a_word_without_sentences_asks_for_some(folder: Path, run_study: Callable[[Study], Findings]) -> None:
    with pytest.raises(OptionError, match="no sentence is known for 'bank'"):
        run_study(Play(elmo=str(folder / "tiny"), word="bank"))


def test_a_long_sentence_is_cut_around_the_word() -> None:
    words = [f"w{number}" for number in range(60)]
    assert format_bold(WordSpan(words, 30, 31)).split()[:2] == ["…", "w16"]
    assert format_bold(WordSpan(words, 30, 31)).endswith("w44 …")
