"""The documentation as a site: it builds without a warning, and every link of it leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, in a folder of this process: a folder of the repository could be another test's at once."""
    pytest.importorskip("zensical", reason="needs the extra docs: pip install 'firth[docs]'")
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, str(ROOT / "scripts" / "docs_site.py"), "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "pages without a problem" in done.stdout
    return folder / "site"


@pytest.mark.xdist_group("browser")
def test_the_site_builds_and_has_a_page_for_every_public_name(site: Path) -> None:
    import firth

    assert {path.stem for path in (site / "api").glob("*.html")} == {*firth.PLACES, "index"}
    page = (site / "api" / "Word2Vec.html").read_text(encoding="utf-8")
    assert "Dimension of the vectors." in page
    assert "src/firth/models/word2vec.py" in page


def test_the_site_works_from_disk_without_a_network_and_its_search_finds_pages(site: Path, chromium: Any) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("Kneser")
    page.wait_for_selector("a[href*='ngrams.html']:visible", timeout=60_000)
    assert [one for one in asked if not one.startswith(("file:", "data:", "blob:"))] == []
    assert failed == []
    page.close()


def test_a_session_is_copied_without_prompts_and_answers(site: Path, chromium: Any) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    copied = {}
    for name, line in (
        ("docs/word2vec", "Word2Vec(window=2)"),
        ("docs/tutorials/serve", "$ curl -s localhost:8765/nei"),
    ):
        page.goto((site / f"{name}.html").as_uri())
        block = page.locator(".highlight", has_text=line).first
        block.locator("[data-clipboard-target]").click(force=True)
        page.wait_for_function("navigator.clipboard.readText().then(text => text.length > 0)")
        copied[name] = page.evaluate("navigator.clipboard.readText()")
        page.evaluate("navigator.clipboard.writeText('')")
    context.close()
    assert copied["docs/word2vec"].splitlines() == [
        'sentence = "this is sample corpus using only one context word".split()',
        "Word2Vec(window=2).examples(sentence)[:5]",
    ]
    assert copied["docs/tutorials/serve"].startswith("curl -s localhost:8765/neighbors")
    assert '"score"' not in copied["docs/tutorials/serve"]


@pytest.mark.xdist_group("browser")
def test_the_menu_leads_to_every_public_name(site: Path) -> None:
    import firth

    page = (site / "api" / "Word2Vec.html").read_text(encoding="utf-8")
    menu = page.partition("<article")[0]
    assert {f"{name}.html" for name in firth.PLACES} <= set(re.findall(r'href="(?:\./)?(\w+\.html)"', menu))


def test_a_map_on_the_site_can_be_used(site: Path, chromium: Any) -> None:
    page = chromium.new_page()
    page.goto((site / "docs" / "maps.html").as_uri())
    frame = page.locator("iframe.live")
    frame.scroll_into_view_if_needed()
    plot = frame.element_handle().content_frame()
    plot.wait_for_function("document.querySelector('.scatter')?.scatter?.frames > 0", timeout=60_000)
    assert plot.evaluate("document.querySelector('.scatter').scatter.size") == 3000
    assert plot.evaluate("document.querySelector('.scatter').scatter.labels.length") > 10
    page.close()


def test_the_pages_fit_a_phone(site: Path, chromium: Any) -> None:
    page = chromium.new_page(viewport={"width": 400, "height": 800})
    wide = []
    for name in ("index", "docs/maps", "docs/migration/gensim", "docs/elmo", "docs/tutorials/persian", "api/Word2Vec"):
        page.goto((site / f"{name}.html").as_uri())
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(name)
    assert wide == []
    page.close()


@pytest.mark.xdist_group("browser")
@pytest.mark.usefixtures("scripts")
def test_a_newcomer_reaches_every_page_in_three_clicks(site: Path) -> None:
    from docs_site import Page, resolve  # type: ignore[import-not-found]

    reached = {site / "index.html"}
    for _ in range(3):
        for path in list(reached):
            page = Page()
            page.feed(path.read_text(encoding="utf-8"))
            links = {resolve(site, path, link) for link in page.content_links}
            reached |= {link for link in links if link.suffix == ".html" and link.is_file()}
    pages = set((site / "docs").rglob("*.html"))
    assert sorted(str(path.relative_to(site)) for path in pages - reached) == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_a_page_begins_with_a_sentence_that_says_what_it_is_for(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert lines[0].startswith("# ")
    assert not lines[1].startswith(("|", "#", "- ", "```", ">>>", "![", "<"))
    assert re.search(r"[.:?]", " ".join(lines[1:6]))


@pytest.mark.usefixtures("scripts")
def test_a_link_to_a_page_that_does_not_exist_is_a_problem_and_one_to_a_file_is_code() -> None:
    from docs_site import mend_links

    text, problems = mend_links("[a](b.md#c) [d](../src/firth/lazy.py) [f](g.md)", "docs/README.md", {"docs/b.md"})
    assert text == "[a](docs/b.md#c) `d` f"
    assert problems == ["docs/README.md links to g.md, which does not exist"]


@pytest.mark.usefixtures("scripts")
def test_the_menu_must_have_every_page(tmp_path: Path) -> None:
    from docs_site import check_menu

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A")
    assert list(check_menu("nav:\n  - B: docs/b.md\n", tmp_path)) == [
        "mkdocs.yml: the menu has docs/b.md, which does not exist",
        "mkdocs.yml: the menu lacks docs/a.md",
    ]


@pytest.mark.usefixtures("scripts")
def test_broken_links_anchors_and_foreign_files_are_found(tmp_path: Path) -> None:
    from docs_site import check

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
def test_a_page_of_the_reference_links_types_and_names_and_has_the_source() -> None:
    import firth
    from reference import group_names, write_index, write_page

    page = write_page("Corpus", firth.Corpus, set(firth.PLACES))
    assert "[Normalizer](Normalizer.md)" in write_page("Tokenizer", firth.Tokenizer, set(firth.PLACES))
    assert '??? quote "Source: src/firth/text/corpus.py, line' in page
    assert "    def tokens(" in page
    assert "## similarity" in write_page("evaluate", firth.evaluate)
    groups = group_names(firth.PLACES)
    assert sorted(name for names in groups.values() for name in names) == sorted(firth.PLACES)
    assert "Corpus" in groups["Text"]
    index = write_index({"Text": ["Corpus"]}, {"Corpus": firth.Corpus})
    assert "| [Corpus](Corpus.md) |" in index


@pytest.mark.usefixtures("scripts")
def test_every_public_name_has_an_example_and_every_member_a_sentence() -> None:
    import inspect

    import firth
    from reference import public_members

    bare = [name for name in firth.PLACES if not inspect.getdoc(getattr(firth, name))]
    for name in firth.PLACES:
        item = getattr(firth, name)
        documented = {member for member, _ in public_members(item)}
        for base in item.__mro__ if inspect.isclass(item) else ():
            if base.__module__.startswith("firth"):
                members = [key for key, value in vars(base).items() if inspect.isfunction(value) and key[0] != "_"]
                bare += [f"{name}.{member}" for member in members if member not in documented]
    assert bare == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_an_example_stands_in_a_fence_since_elsewhere_it_is_shown_as_a_quotation(path: Path) -> None:
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        inside = inside != line.startswith("```")
        assert inside or not line.startswith(">>>"), f"{path.name}:{number}"


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
