"""A text of ten times the length takes ten times as long, and no more memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.bulk import hdf5, shards
from firth.bulk.embed_file import embed_file
from firth.text.tokenize import Tokenizer

LINE = "the length of a word is all that this model knows"
WORDS = Tokenizer(mode="whitespace")


class Lengths:
    """A contextual model of the simplest kind."""

    def embed(self, sentences: Sequence[Sequence[str]], **_: Any) -> list[np.ndarray]:
        return [np.array([[len(word)] for word in words], np.float32).reshape(-1, 1) for words in sentences]


def most_memory(folder: Path, lines: int, ending: str) -> int:
    """The most bytes that are held at a time while so many lines are embedded."""
    path = folder / f"{lines}.txt"
    path.write_text("".join(f"{number} {LINE}\n" for number in range(lines)))
    tracemalloc.start()
    done = embed_file(Lengths(), path, folder / f"{lines}{ending}", tokenizer=WORDS, block_tokens=2000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert done.sentences == lines
    return most


@pytest.mark.parametrize("ending", [".hdf5", ".safetensors", ".parquet"])
def test_memory_does_not_depend_on_the_length_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(hdf5, "PIECE", 64)  # what is made in pieces has many of them
    monkeypatch.setattr(hdf5, "COPIED", 1 << 16)
    monkeypatch.setattr(shards, "PIECE", 512)
    lines = 2000
    most_memory(tmp_path, 10 * lines, ending)  # what is loaded and compiled once
    short = most_memory(tmp_path, lines, ending)
    long = min(most_memory(tmp_path, 10 * lines, ending) for _ in range(3))  # threads of other tests only add to it
    assert long - short < 9 * lines * 12  # bytes; a line that were kept would take a hundred
