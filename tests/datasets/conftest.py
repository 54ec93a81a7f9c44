"""Small data sets in the place of the published ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.catalog import CATALOG, NamedSet
from firth.datasets.forms import digest

PAIRS = "tea coffee 9\nsun rain 2\nking queen 7\n"


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder; `men` and `simlex999` are sets of three pairs."""
    place, draft = tmp_path / "target", tmp_path / "draft.txt"
    place.mkdir()
    monkeypatch.setenv("FIRTH_DATA", str(place))
    draft.write_text(PAIRS)
    for name in ("men", "simlex999"):
        changed: NamedSet = CATALOG[name]._replace(size=3, digest=digest(draft) or "")
        monkeypatch.setitem(CATALOG, name, changed)
    draft.unlink()
    return place
