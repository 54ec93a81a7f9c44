"""Steps of the tour on counts, on a text whose counts are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.errors import OptionError
from firth.tour.counting import compare_ratios, count_cooccurrence, count_words, find_distinctive_contexts
from firth.tour.materials import Materials


@pytest.fixture
def materials(tmp_path: Path) -> Materials:
    text = tmp_path / "text.txt"
    text.write_text("hot tea helps\nhot coffee helps\ncold milk helps\n")
    return Materials((str(text),), tmp_path)


def test_words_are_counted(materials: Materials) -> None:
    values = count_words(materials).values
    assert (values["tokens"], values["types"]) == (9, 6)
    assert values["words"][:2] == [("helps", 3), ("hot", 2)]


def test_cooccurrence_is_counted_for_words_and_contexts(materials: Materials) -> None:
    values = count_cooccurrence(materials).values
    assert values["rows"][:2] == ["helps", "hot"]
    assert all(len(row) == len(values["columns"]) for row in values["counts"])


def test_contexts_are_ranked_by_their_counts_and_are_none_of_the_words(materials: Materials) -> None:
    assert find_distinctive_contexts(materials, ["helps"], 2) == ["hot", "coffee"]
    assert "hot" not in find_distinctive_contexts(materials, ["helps", "hot"])


def test_ratios_compare_the_first_two_words(materials: Materials) -> None:
    step = compare_ratios(materials)
    assert step.command.startswith("firth ratio counts/ helps hot ")


def test_a_text_of_too_few_words_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("tea\n")
    with pytest.raises(OptionError, match="too small for a tour"):
        count_cooccurrence(Materials((str(tmp_path / "text.txt"),), tmp_path))
