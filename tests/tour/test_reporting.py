"""The report at the end of the tour."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from rich.console import Console

from firth.tour.materials import Materials
from firth.tour.reporting import write_report
from firth.vectors.words import WordVectors


class Small:
    """Materials with a few vectors."""

    contextual: tuple[str, Any] | None = None

    def __init__(self, folder: Path) -> None:
        self.folder, self.vectors = folder, WordVectors(["tea", "milk", "rain", "snow", "ice"], np.eye(5))


class Letters:
    """A biLM without weights."""

    def __init__(self, layers: int = 3) -> None:
        self.layers = layers

    def embed(self, sentences: list[list[str]], layers: str) -> list[Any]:
        rng = np.random.default_rng(1)
        return [rng.normal(size=(self.layers, len(words), 4)).astype(np.float32) for words in sentences]


@pytest.fixture
def materials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Small:
    monkeypatch.setenv("FIRTH_CACHE", str(tmp_path / "cache"))
    return Small(tmp_path / "tour")


def test_the_last_step_leaves_a_report_and_names_the_explorer(materials: Small, tmp_path: Path) -> None:
    step = write_report(cast(Materials, materials))
    path = tmp_path / "cache" / "tour.html"
    assert step.values["report"] == {"path": str(path), "words": 5, "senses": [], "bytes": path.stat().st_size}
    assert "firth report" in step.command
    assert step.command.endswith("firth explore")
    console = Console(width=400, file=io.StringIO())
    console.print(step.picture)
    assert path.as_uri() in console.file.getvalue()  # type: ignore[attr-defined]


def test_with_a_bilm_the_report_has_senses(materials: Small) -> None:
    materials.contextual = "letters", Letters()
    assert write_report(cast(Materials, materials)).values["report"]["senses"] == ["bank", "bat", "spring"]
    materials.contextual = "flat", Letters(layers=2)
    assert write_report(cast(Materials, materials)).values["report"]["senses"] == []


def test_where_the_cache_cannot_be_written_the_report_is_with_the_tour(materials: Small, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    with pytest.warns(UserWarning, match="not kept on disk"):
        step = write_report(cast(Materials, materials))
    assert step.values["report"]["path"] == str(tmp_path / "tour" / "tour.html")
