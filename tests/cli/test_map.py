"""`firth map` writes the map that the explorer shows, and does not replace files."""

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


def test_a_map_is_written_and_described(model: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "map.tsv"
    main(["map", str(model), "--out", str(out), "--words", "4", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said == {"map": str(out), "words": 4, "kept": said["kept"], "bytes": out.stat().st_size}
    assert 0 <= said["kept"] <= 1
    assert len(out.read_text(encoding="utf-8").splitlines()) == 5
    with pytest.raises(SystemExit) as stop:
        main(["map", str(model), "--out", str(out)])
    assert stop.value.code == 2
    assert "the file exists" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "said"), [("map.csv", ".parquet or .tsv"), ("map.tsv", "word vectors")])
def test_what_cannot_be_written_is_an_error_before_any_work(name: str, said: str, tmp_path: Path, capsys: Any) -> None:
    if name == "map.tsv":
        pytest.importorskip("torch")  # a model of a task is opened
    with pytest.raises(SystemExit) as stop:
        main(["map", "task-ner", "--out", str(tmp_path / name)])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err
