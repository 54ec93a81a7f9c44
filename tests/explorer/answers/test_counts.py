"""A few sentences counted: the part that is shown is the part of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest
from tests.explorer.conftest import run_copied

from firth.errors import OptionError
from firth.explorer.answers.counts import COUNT_KINDS, SHOWN, count_text

TEXT = "I like deep learning .\nI like NLP .\n\nI enjoy flying ."


@pytest.mark.parametrize("kind", COUNT_KINDS)
def test_the_line_of_each_kind_gives_the_shown_matrix(kind: str) -> None:
    table = count_text(TEXT, kind, 2)
    whole = run_copied(f"import firth\n{table.python}")
    np.testing.assert_allclose(whole, table.values)
    assert whole.shape == table.shape == (len(table.rows), len(table.columns))


def test_a_large_matrix_is_cut_and_a_text_of_one_word_is_no_error() -> None:
    table = count_text(" ".join(f"w{number}" for number in range(50)), "one-hot")
    assert (len(table.rows), len(table.columns), table.shape) == (SHOWN, SHOWN, (50, 50))
    assert count_text("tea", "svd").shape == (1, 1)


@pytest.mark.parametrize(("text", "kind"), [(" \n ", "ppmi"), ("tea", "word2vec")])
def test_no_words_and_no_such_kind_are_errors(text: str, kind: str) -> None:
    with pytest.raises(OptionError):
        count_text(text, kind)
