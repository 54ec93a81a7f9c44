"""`firth train glove` with raw files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from firth.formats.glove_binary import read_parameters, read_vectors, read_words
from firth.formats.registry import load


def test_a_training_goes_on_from_the_raw_files_of_another(
    answer: Callable[..., Any], text: str, tmp_path: Path
) -> None:
    flags = ("train", "glove", text, "--dim", "5", "--min-count", "2", "--x-max", "10", "--threads", "1")
    first, out = str(tmp_path / "first"), str(tmp_path / "vectors")
    answer(*flags, "--epochs", "2", "--out", out, "--save-param", first, "--save-gradsq", first + ".gradsq")
    words = read_words(first + ".vocab.txt")
    np.testing.assert_allclose(read_vectors(first, words).matrix, load(out).matrix, rtol=1e-6)
    assert read_parameters(first + ".gradsq", words).words.min() >= 1
    more = "--init-param", first, "--init-gradsq", first + ".gradsq"
    second = answer(*flags, "--epochs", "1", "--out", str(tmp_path / "second"), *more)
    whole = answer(*flags, "--epochs", "3", "--out", str(tmp_path / "whole"))
    assert second["metadata"]["loss"][0] < whole["metadata"]["loss"][1]
