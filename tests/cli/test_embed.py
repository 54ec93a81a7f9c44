"""Bulk embedding and an index from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import firth
from firth.bulk.shards import Shards


def test_word_vectors_are_embedded(answer: Callable[..., Any], vectors: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("boat tea kettle\n\nship\n")
    out = str(tmp_path / "out.safetensors")
    summary = answer("embed", vectors, str(tmp_path / "text.txt"), "--out", out, "--dtype", "float16")
    assert (summary["sentences"], summary["tokens"], summary["zero_rows"]) == (3, 4, 1)
    assert Shards(out)[0].tolist()[1] == [1, np.float16(0.1), 0]


def test_a_bilm_is_embedded_layer_by_layer(
    answer: Callable[..., Any], three_lines: str, bilm: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "out.safetensors")
    assert answer("embed", bilm, three_lines, "--out", out, "--layers", "all")["row"] == [3, 32]
    sentences = [line.split() for line in Path(three_lines).read_text().splitlines()]
    wanted = firth.load(bilm).embed(sentences, layers="all")
    assert all(np.array_equal(a, b) for a, b in zip(Shards(out), wanted))


def test_an_index_has_the_occurrences_of_chosen_words(
    answer: Callable[..., Any], three_lines: str, bilm: str, tmp_path: Path
) -> None:
    values = answer("index", bilm, three_lines, "--out", str(tmp_path / "index"), "--words", "play", "--words", "ball")
    assert (values["occurrences"], values["dim"]) == (3, 32)


def test_mistakes_are_one_line(
    mistake: Callable[..., str], three_lines: str, vectors: str, bilm: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "o.hdf5")
    assert "names no format" in mistake("embed", vectors, three_lines, "--out", str(tmp_path / "o.csv"))
    wrong_device = mistake("embed", vectors, three_lines, "--out", out, "--device", "cpu")
    assert "--device is for contextual models" in wrong_device
    wrong_precision = mistake("embed", vectors, three_lines, "--out", out, "--precision", "int8")
    assert "precision is for contextual models" in wrong_precision
    assert "layers is 7" in mistake("embed", bilm, three_lines, "--out", out, "--layers", "7")
