"""The figures of the pages of the families."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra study: pip install 'firth[study]'")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))


def test_each_family_has_a_figure_with_a_description() -> None:
    from figures import FIGURES, FOLDER  # type: ignore[import-not-found]

    for name in FIGURES:
        page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        found = re.search(rf"!\[(.+)\]\(images/{name}\.svg\)", page)
        assert found is not None, name
        assert len(found[1]) > 40
        assert (FOLDER / f"{name}.svg").stat().st_size < 100_000


@pytest.mark.parametrize("name", ["counts", "ngrams", "classifier"])
def test_a_figure_is_drawn_from_a_training(name: str, tmp_path: Path) -> None:
    from figures import draw

    assert "<svg" in draw(name, tmp_path).read_text(encoding="utf-8")


def test_the_page_about_notebooks_has_plots_with_a_description() -> None:
    from figures import FOLDER, PLOTS

    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[(.+)\]\(images/(plot-\w+)\.svg\)", page)
    assert {name for _, name in shown} <= set(PLOTS)
    assert len(shown) >= 2
    for description, name in shown:
        assert len(description) > 40
        assert (FOLDER / f"{name}.svg").stat().st_size < 200_000
