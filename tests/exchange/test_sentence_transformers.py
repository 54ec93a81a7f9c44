"""Exports that the real sentence-transformers opens: its `encode` is ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.vectors.words import WordVectors

ENGLISH = [
    "The king drinks tea with the queen.",
    "Dr. Watson can't pay $5.50 (or 10%)...",
    "Xyzzy plughs the frobnicated tea!",
    'It\'s well-known: cats, dogs & birds — "all of them".',
    "qqqq zzzz",
    "",
]
PERSIAN = ["من کتاب می‌خوانم.", "كتاب‌هاي تاريخ ايران، در سال 1402!", "«تهران» پایتخت ایران است؟", "قغقغ ژژژ"]


def open_with_package(folder: Path) -> Any:
    package = pytest.importorskip("sentence_transformers", reason="pip install sentence-transformers")
    return package.SentenceTransformer(str(folder), device="cpu")


@pytest.mark.parametrize("name,texts", [("word2vec-en", ENGLISH), ("glove-en", ENGLISH), ("fasttext-fa", PERSIAN)])
def test_the_encodings_are_ours(name: str, texts: list[str], tmp_path: Path) -> None:
    vectors = firth.load(name)
    vectors.to_sentence_transformers(tmp_path / "model")
    model = open_with_package(tmp_path / "model")
    plain = vectors.restrict(vectors)  # without n-grams, as there
    ours = plain.encode(texts)
    theirs = model.encode(texts, show_progress_bar=False)
    assert theirs.shape == (len(texts), vectors.dim)
    assert np.allclose(theirs, ours, atol=1e-6)
    assert ours[0].any()
    assert not theirs[-1].any()  # no known word
    assert np.allclose(
        model.encode(texts, normalize_embeddings=True)[0], plain.encode(texts, normalize=True)[0], atol=1e-6
    )


def test_the_similarity_there_is_the_cosine_here(tmp_path: Path) -> None:
    vectors = firth.load("word2vec-en")
    vectors.to_sentence_transformers(tmp_path / "model")
    model = open_with_package(tmp_path / "model")
    there = float(model.similarity(*model.encode(["king", "queen"]))[0][0])
    assert there == pytest.approx(vectors.similarity("king", "queen"), abs=1e-5)


def test_the_package_can_save_and_open_it_again(tmp_path: Path) -> None:
    firth.load("glove-en", limit=2000).to_sentence_transformers(tmp_path / "model")
    model = open_with_package(tmp_path / "model")
    model.save_pretrained(str(tmp_path / "again"))
    again = open_with_package(tmp_path / "again")
    assert np.array_equal(again.encode(ENGLISH), model.encode(ENGLISH))


def test_the_folder_needs_neither_firth_nor_the_package_to_be_written(tmp_path: Path) -> None:
    WordVectors(["Dr.", "tea"], [[1, 0], [0, 1]]).to_sentence_transformers(tmp_path / "model")
    names = sorted(path.relative_to(tmp_path / "model").as_posix() for path in (tmp_path / "model").rglob("*.*"))
    assert names == [
        "0_StaticEmbedding/model.safetensors",
        "0_StaticEmbedding/tokenizer.json",
        "README.md",
        "config_sentence_transformers.json",
        "modules.json",
    ]
    [module] = json.loads((tmp_path / "model" / "modules.json").read_text())
    assert module["type"].endswith("StaticEmbedding")
    with pytest.raises(OptionError, match="the folder contains other files"):
        WordVectors(["tea"], [[1]]).to_sentence_transformers(tmp_path / "model")
