"""Commands that describe, convert, compress and evaluate models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import firth


def test_convert_keeps_every_number(answer: Callable[..., Any], vectors: str, tmp_path: Path) -> None:
    values = answer("convert", vectors, str(tmp_path / "out.bin"), "--format", "word2vec-binary")
    assert values["words"] == 4
    assert np.array_equal(firth.load(tmp_path / "out.bin").matrix, firth.load(vectors).matrix)


def test_evaluate_takes_a_file_of_pairs(answer: Callable[..., Any], vectors: str, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("tea\tcoffee\t9\nboat\tship\t10\ntea\tboat\t1\ntea\tkettle\t5\n")
    [score] = answer("evaluate", vectors, str(pairs))
    assert (score["value"], score["used"], score["total"]) == (1.0, 3, 4)


def test_info_tells_what_a_bilm_is(answer: Callable[..., Any], bilm: str) -> None:
    told = answer("info", bilm)
    assert (told["kind"], told["dim"], told["layers"]) == ("BiLM", 32, 3)
