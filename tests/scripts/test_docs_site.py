"""The documentation as a site: it builds without a warning, and every link of it leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))


def test_the_site_builds_and_all_its_links_hold() -> None:
    pytest.importorskip("zensical", reason="needs the extra docs: pip install 'firth[docs]'")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "docs_site.py")], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert "pages without a problem" in done.stdout
    page = (ROOT / "build" / "site" / "api" / "Word2Vec.html").read_text(encoding="utf-8")
    assert "Dimension of the vectors." in page


@pytest.mark.usefixtures("scripts")
def test_broken_links_anchors_and_foreign_files_are_found(tmp_path: Path) -> None:
    from docs_site import check  # type: ignore[import-not-found]

    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#here">b</a><a href="c.html">c</a><a href="#no">no</a>'
        '<a href="https://example.org">out</a><script src="https://example.org/x.js"></script><img src="gone.png">'
    )
    (tmp_path / "b.html").write_text('<p id="here">B</p><a href="a.html#top">a</a>')
    assert list(check(tmp_path)) == [
        "a.html loads https://example.org/x.js",
        "a.html loads gone.png, which does not exist",
        "a.html links to c.html, which does not exist",
        "a.html links to #no, which has no such anchor",
    ]


@pytest.mark.usefixtures("scripts")
def test_a_page_of_the_reference_has_signature_options_examples_and_methods() -> None:
    import firth
    from reference import write_page  # type: ignore[import-not-found]

    page = write_page("Word2Vec", firth.Word2Vec)
    assert "| `dim` | int, default 100 | Dimension of the vectors. |" in page
    assert "```python\n>>> from firth.text.corpus import Corpus" in page
    assert "architecture: Literal['skip-gram', 'cbow'] = 'skip-gram'," in page
    assert "## fit" in page
    page = write_page("WordVectors", firth.WordVectors)
    assert "## most_similar" in page
    assert "## encode" in page
    assert "self" not in page.partition("## most_similar")[2].partition("```")[2].partition("```")[0]


@pytest.mark.usefixtures("scripts")
def test_examples_are_fenced_once() -> None:
    from reference import fence_examples

    lines = ["text", ">>> 1", "1", "", "```python", ">>> 2", "2", "", "```"]
    assert list(fence_examples(lines)) == [
        *("text", "```python", ">>> 1", "1", "```", ""),
        *("```python", ">>> 2", "2", "", "```"),
    ]


@pytest.mark.usefixtures("scripts")
def test_a_formula_becomes_mathml() -> None:
    pytest.importorskip("latex2mathml", reason="needs the extra docs: pip install 'firth[docs]'")
    from docs_site import write_formulas

    page = write_formulas("before\n\n```math\n\\frac{a}{b}\n```\n\nafter\n")
    assert page.startswith("before\n\n<math ")
    assert "<mfrac>" in page
    assert "```" not in page
