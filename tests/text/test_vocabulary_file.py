"""Vocabulary files: one word on each line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.text.vocabulary_file import read_softmax_vocabulary, read_vocabulary


def test_words_keep_their_order_and_the_line_of_bilm_tf_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("<S>\n</S>\r\n<UNK>\n!!!MAXTERMID\nté\n\n", encoding="utf-8")
    with gzip.open(tmp_path / "vocab.txt.gz", "wt", encoding="utf-8") as file:
        file.write("rain\ntea\n")
    assert read_vocabulary(tmp_path / "vocab.txt").words == ("<S>", "</S>", "<UNK>", "té", "")
    assert read_vocabulary(tmp_path / "vocab.txt.gz").words == ("rain", "tea")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<S>\n</S>\ntea\n", "no <UNK>. Its first lines should be <S>, </S> and <UNK>"),
        ("tea\n<S>\n<UNK>\n", "no </S>"),
        ("<S>\n</S>\n<UNK>\n", "no word to predict"),
        ("<S>\n</S>\n<UNK>\ntea\nrain\ntea\n", "vocab.txt:6: 'tea' is also on line 4"),
        ("<S>\n</S>\n<UNK>\n\ntea\n", "vocab.txt:4: the line is empty"),
    ],
)
def test_a_file_that_no_softmax_can_have_is_an_error_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "vocab.txt").write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_softmax_vocabulary(tmp_path / "vocab.txt")
