"""The texts of a training: files of the English corpus of `scripts/corpus.py`, weighted by genre, and Persian lines."""

from __future__ import annotations

import json
import lzma
import math
from collections.abc import Mapping
from pathlib import Path

from firth import data
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

# How often an epoch reads each genre. Of a fraction, that part of the files is read.
ONCE = {
    "encyclopedia": 1.0,
    "news": 1.0,
    "books": 1.0,
    "mixed": 1.0,
    "speeches": 1.0,
    "science": 0.25,
    "old encyclopedia": 0.25,
}
MIXTURE = ONCE | {"encyclopedia": 2.0, "news": 2.0}
PERSIAN = ("fa-01", "fa-02")
PERSIAN_TOKENIZER = Tokenizer(normalizer=Normalizer.persian())
BLOCK, HELD_OUT_SHARE = 20, 50  # Persian: lines of a block, and of how many blocks one is held out


def list_files(corpus: Path, mixture: Mapping[str, float]) -> list[Path]:
    """The files of an epoch; those of a genre that counts twice stand there twice."""
    shards = json.loads((corpus / "report.json").read_text(encoding="utf-8"))["shards"]
    files: list[Path] = []
    for genre, share in mixture.items():
        own = [corpus / shard["file"] for shard in shards if shard["genre"] == genre]
        files += own * int(share) + own[: math.ceil(len(own) * (share % 1))]
    return files


def split_persian() -> tuple[list[str], list[str]]:
    """The lines of the Persian text for training, and those held out. A title loses its mark."""
    parts: tuple[list[str], list[str]] = ([], [])
    for name in PERSIAN:
        path = data.folder() / "data" / "corpora" / f"{name}.txt.xz"
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                is_held_out = number // BLOCK % HELD_OUT_SHARE == HELD_OUT_SHARE - 1
                parts[is_held_out].append(line.removeprefix("# ").rstrip("\n"))
    return parts
