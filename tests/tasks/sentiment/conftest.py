"""Fixtures of the tests of sentiment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    """Writes lines to a file and returns its path."""

    def write(*lines: str) -> Path:
        path = tmp_path / "trees.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write
