"""`firth report` writes one file, and does not replace others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.cli.main import main
from firth.formats.registry import save
from firth.vectors.words import WordVectors


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "vectors"
    save(WordVectors(["tea", "milk", "rain", "snow", "ice"], np.eye(5, dtype=np.float32) + 0.1), path)
    return path


def test_a_report_has_the_map_and_the_card(model: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "page.html"
    main(["report", str(model), "--out", str(out), "--no-evaluation", "--json"])
    page = out.read_text(encoding="utf-8")
    assert json.loads(capsys.readouterr().out) == {"report": str(out), "bytes": len(page.encode()), "words": 5}
    assert "5 words." in page
    assert "<h2>Card</h2>" in page
    with pytest.raises(SystemExit) as stop:
        main(["report", str(model), "--out", str(out), "--no-evaluation"])
    assert stop.value.code == 2
    assert "the file exists" in capsys.readouterr().err


def test_a_model_without_word_vectors_is_an_error(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("torch")
    with pytest.raises(SystemExit) as stop:
        main(["report", "task-ner", "--out", str(tmp_path / "page.html")])
    assert stop.value.code == 2
    assert "needs word vectors" in capsys.readouterr().err
