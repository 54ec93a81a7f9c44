"""Words in two sentences: the files and the measure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.data import SETS
from firth.errors import FormatError
from firth.evaluate.questions import task_of
from firth.evaluate.senses import fits_senses, read_senses, senses
from firth.vectors.words import WordVectors

TEXT = "bank\tF\tThe [bank] pays .\tThe river [bank] .\nbank\tT\tA [bank] pays .\tThe [bank] pays well .\n"


class Neighborhood:
    """A contextual model: the vector of a word has a one for itself and for each word beside it."""

    words = ("The", "A", "bank", "pays", "river", "well", ".")

    def embed(self, sentences: list[list[str]]) -> list[np.ndarray]:
        one_hot = [np.eye(len(self.words), dtype=np.float32)[[self.words.index(w) for w in s]] for s in sentences]
        return [np.stack([rows[max(i - 1, 0) : i + 2].sum(axis=0) for i in range(len(rows))]) for rows in one_hot]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "senses.txt"
    path.write_text("# a comment\n" + TEXT)
    return path


def test_the_word_is_found_in_both_sentences(file: Path) -> None:
    first, second = read_senses(file)
    assert (first.positions, first.is_same, second.is_same) == ((1, 2), False, True)
    assert first.second == ("The", "river", "bank", ".")


def test_the_area_is_one_if_same_senses_have_the_larger_cosine(file: Path) -> None:
    score = senses(Neighborhood(), file)
    assert (score.value, score.used, score.metric) == (1.0, 2, "area under the ROC curve")


def test_static_vectors_cannot_tell_senses(file: Path) -> None:
    vectors = WordVectors(["bank", "The"], np.array([[0.3, 0.1], [1, 1]], np.float32))
    assert senses(vectors, file).value == 0.5


def test_the_format_is_recognized(file: Path) -> None:
    assert task_of(file) == "senses"


@pytest.mark.parametrize("line", ["bank\tF\tno brackets\tthe [bank]", "bank\tmaybe\t[bank]\t[bank]", "[a] [b]"])
def test_a_line_of_another_form_is_an_error_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "senses.txt"
    path.write_text(TEXT + line + "\n")
    with pytest.raises(FormatError, match=r"senses\.txt:3: expected"):
        read_senses(path)


@pytest.mark.parametrize("language", ["en", "fa"])
def test_the_sets_that_ship_have_both_answers_and_mark_the_word(language: str) -> None:
    pairs = read_senses(f"firth-senses-{language}")
    assert len(pairs) == SETS[f"firth-senses-{language}"].size
    assert 0.4 < np.mean([pair.is_same for pair in pairs]) < 0.6
    for pair in pairs:
        assert pair.first[pair.positions[0]].lower() == pair.second[pair.positions[1]].lower()


def test_a_persian_set_does_not_fit_an_english_vocabulary() -> None:
    english = {word for pair in read_senses("firth-senses-en") for word in pair.first + pair.second}
    assert fits_senses(english, "firth-senses-en")
    assert not fits_senses(english, "firth-senses-fa")
    assert fits_senses(None, "firth-senses-fa")
