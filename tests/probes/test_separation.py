from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError
from firth.probes.bag import BagReader
from firth.probes.readers import WordSpan
from firth.probes.separation import (
    list_spans,
    read_sense_table,
    separate_layers,
    separate_words,
    separation,
    summarize_separations,
)
from firth.vectors.words import WordVectors

TABLE = {
    "bank": {
        "river": [WordSpan(["muddy", "bank"], 1, 2), WordSpan(["bank", "of", "mud"], 0, 1)],
        "money": [WordSpan(["bank", "loan"], 0, 1), WordSpan(["rich", "bank"], 1, 2)],
    }
}


def test_vectors_without_context_keep_no_senses_apart() -> None:
    table = read_sense_table()
    found = summarize_separations(separate_words(np.ones((len(list_spans(table)), 4)), table))
    assert found["words"] == 35
    assert (found["passed"], found["nearest"]) == (0, 0)


def test_a_vector_of_zeros_is_similar_to_none() -> None:
    labels = np.array(["a", "a", "b", "b"])
    found = separation("x", ("a", "b"), labels, np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]))
    assert (found.same, found.cross) == (0.5, 0.0)
    assert found.nearest == 2


def test_each_layer_of_a_reader_is_judged() -> None:
    vectors = WordVectors(["muddy", "mud", "loan", "rich"], [[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    [(name, [found])] = separate_layers(BagReader("x", vectors, frequent=0), TABLE).items()
    assert name == "x, bag of context"
    assert found.passed
    assert found.nearest == 4


def test_senses_that_are_mixed_do_not_pass() -> None:
    good, bad = np.array([[1, 0], [1, 0], [0, 1], [0, 1]]), np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    assert [separate_words(rows, TABLE)[0].passed for rows in (good, bad)] == [True, False]


def test_a_line_without_three_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("word\tsense\tsentence\nbank\triver\n")
    with pytest.raises(FormatError, match=r"table:2: expected a word, a sense and a sentence"):
        read_sense_table(tmp_path / "table")
