"""What tests share: where the data lies, and a skip with a reason where it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The data folder: FIRTH_DATA, or `shared` beside the repository."""
    if not DATA.is_dir():
        pytest.skip(f"needs the data folder, and {DATA} is not there: set FIRTH_DATA")
    return DATA
