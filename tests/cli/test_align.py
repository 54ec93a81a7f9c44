"""`firth align`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.cli.main import main


@pytest.fixture
def models(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows, turn = rng.normal(size=(40, 8)), np.linalg.qr(rng.normal(size=(8, 8)))[0]
    words = [f"w{number}" for number in range(40)]
    firth.save(firth.WordVectors(words, rows), tmp_path / "first")
    firth.save(firth.WordVectors([word.upper() for word in words], rows @ turn), tmp_path / "second")
    lines = [f"{word}\t{word.upper()}\n" for word in words]
    (tmp_path / "pairs.tsv").write_text("# pairs\n" + "".join(lines[:20]))
    (tmp_path / "test.tsv").write_text("".join(lines[20:]))
    return tmp_path


def test_a_map_is_made_tested_saved_and_applied(answer: Callable[..., Any], models: Path) -> None:
    paths = str(models / "first"), str(models / "second")
    files = ("--dictionary", str(models / "pairs.tsv"), "--test", str(models / "test.tsv"))
    outputs = ("--out", str(models / "map"), "--vectors", str(models / "mapped"))
    values = answer("align", *paths, *files, *outputs)
    assert (values["pairs"], values["precision at 1"], values["used"]) == (20, 1.0, 20)
    assert isinstance(firth.load(models / "map"), firth.VectorMap)
    mapped, target = firth.load(models / "mapped"), firth.load(models / "second")
    assert isinstance(mapped, firth.WordVectors)
    assert isinstance(target, firth.WordVectors)
    cosine = mapped["w30"] @ target["W30"] / np.linalg.norm(mapped["w30"]) / np.linalg.norm(target["W30"])
    assert cosine > 0.95


def test_a_line_that_is_no_pair_is_an_error_with_its_number(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (models / "pairs.tsv").write_text("w1\tW1\nw2 W2\n")
    command = ["align", str(models / "first"), str(models / "second"), "--dictionary", str(models / "pairs.tsv")]
    with pytest.raises(SystemExit):
        main([*command, "--out", str(models / "map")])
    assert "pairs.tsv:2: expected a word, a tab and its translation" in capsys.readouterr().err
