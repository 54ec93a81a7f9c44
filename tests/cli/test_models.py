"""Commands that describe, convert, compress and evaluate models."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.cli.main import main
from firth.pretrained import shipped
from firth.vectors.words import WordVectors

NAMES = [name for name in shipped.available() if not name.startswith(shipped.TASK)]


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


def test_the_command_line_takes_names_and_lists_them(
    answer: Callable[..., Any], mistake: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    listed = answer("models")
    assert [one["name"] for one in listed] == shipped.available()
    assert all(one["bytes"] > 100_000 and one["about"] for one in listed)
    kinds = {one["name"]: one["kind"] for one in listed}
    assert (kinds["elmo-en"], kinds["glove-en"]) == ("bilm", "word-vectors")
    main(["models"])
    assert "word2vec-en" in capsys.readouterr().out
    [found] = answer("neighbors", "word2vec-en", "king", "--topn", "5")
    assert {"queen", "prince", "throne", "emperor", "kings"} & {one["word"] for one in found["neighbors"]}
    assert answer("info", "svd-en")["metadata"]["recipe"]["name"] == "counts"
    assert "Did you mean 'glove-en'" in mistake("neighbors", "gloves-en", "king")


def test_a_shipped_model_can_be_converted_and_used_for_bulk(answer: Callable[..., Any], tmp_path: Path) -> None:
    answer("convert", "svd-en", str(tmp_path / "svd.txt"), "--limit", "50")
    assert len(firth.load(tmp_path / "svd.txt")) == 50
    (tmp_path / "text.txt").write_text("the king and the queen\n", encoding="utf-8")
    pytest.importorskip("h5py")
    done = answer("embed", "svd-en", str(tmp_path / "text.txt"), "--out", str(tmp_path / "text.hdf5"))
    assert done["tokens"] == 5


@pytest.mark.parametrize("name", NAMES)
def test_a_card_tells_data_recipe_scores_licence_and_the_command(
    answer: Callable[..., Any], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page = answer("card", name)["card"]
    for title in ("## Use", "## Text", "## Recipe", "## How good it is", "## Licence", "## Make it again"):
        assert title in page
    assert f"python scripts/pretrained.py {name}" in page
    assert re.search(r"[\d,]{9,} tokens", page)
    assert re.search(r"license: (cc-by-sa-4.0|apache-2.0)", page)
    main(["card", name])
    assert "Make it again" in capsys.readouterr().out


def test_a_model_without_a_card_has_one_made(answer: Callable[..., Any], tmp_path: Path) -> None:
    firth.save(WordVectors(["tea"], [[1.0]], metadata={"recipe": {"name": "word2vec"}}), tmp_path / "mine")
    assert "A word2vec model of 1 words" in answer("card", str(tmp_path / "mine"))["card"]


def test_a_conversion_changes_the_precision_or_says_why_not(
    answer: Callable[..., Any], mistake: Callable[..., str], tmp_path: Path
) -> None:
    whole, half = tmp_path / "whole.txt", str(tmp_path / "half")
    firth.save(firth.load("word2vec-en").restrict(["tea", "rain"]), whole)
    assert answer("convert", str(whole), half, "--precision", "float16")["dtype"] == "float16"
    assert answer("info", half)["dtype"] == "float16"
    message = mistake("convert", "svd-en", str(tmp_path / "more"), "--precision", "float16")
    assert "the rows are pq50x8, which is smaller than float16" in message
    for name in ("vectors.bin", "vectors.txt"):  # formats that have one precision
        message = mistake("convert", str(whole), str(tmp_path / name), "--precision", "float16")
        assert "does not store float16" in message
        assert not (tmp_path / name).exists()


def test_convert_stores_a_language_for_vectors_of_other_tools(
    answer: Callable[..., Any], mistake: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "fa.txt").write_text("2 2\nکتاب 1 0\n۱۴۰۲ 0 1\n", encoding="utf-8")
    assert "is not in the vocabulary" in mistake("neighbors", str(tmp_path / "fa.txt"), "كتاب")
    answer("convert", str(tmp_path / "fa.txt"), str(tmp_path / "fa"), "--language", "persian")
    assert answer("similarity", str(tmp_path / "fa"), "كتاب", "کتاب")["cosine"] == 1
    assert answer("similarity", str(tmp_path / "fa"), "1402", "۱۴۰۲")["cosine"] == 1
    assert "no place for a language" in mistake(
        "convert", str(tmp_path / "fa.txt"), str(tmp_path / "fa.bin"), "--language", "persian"
    )
