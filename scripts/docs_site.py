"""Builds the documentation as a site that works offline, and checks it: python scripts/docs_site.py [--serve]

The pages are README.md, docs/, studies/ and one page for each public class and function, from its docstring. They are
gathered in build/pages, with the folders of the repository, so that the links of the repository hold. docs/README.md is
the first page. Where a page has LIVE, the site shows a report whose map can be used. Zensical builds them into
build/site, from the menu in mkdocs.yml. Then every link, anchor and image of the site is followed, and no page may load
anything from elsewhere. Two builds at once need two folders: --out.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from latex2mathml.converter import convert

import firth
from firth.maps.report import make_report
from reference import fence_examples, group_names, write_index, write_page

ROOT = Path(__file__).resolve().parents[1]
MOVED = {"docs/README.md": "index.md", "README.md": "about.md"}
SINGLE = ("README.md", "SECURITY.md", "CHANGELOG.md", "LICENSE")
FOLDERS = ("docs", "studies", "benchmarks")
SUFFIXES = {".md", ".txt", ".json", ".png", ".svg", ".webp"}
LIVE = "<!-- live map -->"
LIVE_WORDS = 3000  # of the report: enough to see clusters, and half a megabyte
LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^)\s]+)\)")


def gather_pages(pages: Path) -> Iterator[str]:
    """Copies the pages and writes those of the reference; yields what is wrong with their links."""
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    shutil.copytree(ROOT / "scripts" / "site", pages / "assets")
    found = [ROOT / name for name in SINGLE]
    found += [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
    names = {path.relative_to(ROOT).as_posix() for path in found}
    for name in sorted(names):
        target = pages / MOVED.get(name, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix != ".md":
            shutil.copy(ROOT / name, target)
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        text = "\n".join(fence_examples(text.splitlines())) + "\n"
        text, problems = mend_links(write_formulas(mark_sessions(text)), name, names)
        text = show_live(text, name)
        target.write_text(text, encoding="utf-8")
        yield from problems
    write_reference(pages / "api")
    report = make_report("word2vec-en", firth.load("word2vec-en"), words=LIVE_WORDS, version=firth.__version__)
    (pages / "assets" / "map.html").write_text(report, encoding="utf-8")


def show_live(text: str, name: str) -> str:
    r"""A page with the report in a frame where it asks for it, and a link to the report alone.

    >>> show_live("A map:\n<!-- live map -->", "docs/maps.md").splitlines()[1][:30]
    '<iframe src="../assets/map.htm'
    """
    address = posixpath.relpath("assets/map.html", posixpath.dirname(name) or ".")
    frame = f'<iframe src="{address}" class="live" loading="lazy" title="A report of word2vec-en"></iframe>'
    return text.replace(LIVE, f'{frame}\n\n<p><a href="{address}">The report alone</a></p>')


def write_formulas(text: str) -> str:
    """Blocks of LaTeX, which GitHub shows by itself, as MathML, which browsers show without a script."""
    return re.sub(r"^```math\n(.*?)\n```$", lambda block: convert(block[1], display="block"), text, flags=re.M | re.S)


def mark_sessions(text: str) -> str:
    r"""Blocks of Python with prompts as sessions, so that the site tells input from output and copies the input alone.

    >>> mark_sessions("```python\n>>> 1\n1\n```\n```python\nimport firth\n```").split("```")[1::2]
    ['pycon\n>>> 1\n1\n', 'python\nimport firth\n']
    """
    return re.sub(r"^```python\n(?=(?:#.*\n)*>>> )", "```pycon\n", text, flags=re.M)


def mend_links(text: str, name: str, names: set[str]) -> tuple[str, list[str]]:
    """The links of a page of the repository as links of the site, and what is wrong with them.

    A link to a file that is no page of the site is shown as code. A link to a page that does not exist is a problem.

    >>> pages = {"docs/b.md", "docs/i/j.md"}
    >>> mend_links("[a](b.md#c) [d](../src/firth/lazy.py) [f](g.md) [h](i/j.md)", "docs/README.md", pages)
    ('[a](docs/b.md#c) `d` f [h](docs/i/j.md)', ['docs/README.md links to g.md, which does not exist'])
    """
    problems: list[str] = []

    def mend(link: re.Match[str]) -> str:
        image, label, address = link.groups()
        if re.match(r"[a-z]+:|#", address):
            return link[0]
        path, mark, anchor = address.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if place in names:
            folder = posixpath.dirname(MOVED.get(name, name)) or "."
            return f"{image}[{label}]({posixpath.relpath(MOVED.get(place, place), folder)}{mark}{anchor})"
        if place.endswith(".md"):
            if not (ROOT / place).is_file():
                problems.append(f"{name} links to {address}, which does not exist")
            return label
        if not (ROOT / place).exists():
            problems.append(f"{name} links to {address}, which does not exist")
        return link[0] if image else f"`{label.strip('`')}`"

    return LINK.sub(mend, text), problems


def write_reference(folder: Path) -> None:
    """A page for each public name, and a list of them."""
    folder.mkdir()
    public = {name: getattr(firth, name) for name in firth.PLACES}
    for name, item in public.items():
        page = mark_sessions(write_page(name, item, set(public)))
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    (folder / "index.md").write_text(write_index(group_names(firth.PLACES), public), encoding="utf-8")


def add_reference(settings: str) -> str:
    """The menu with the page of each public name, by topic, at the end of the reference.

    >>> menu = add_reference("nav:\\n  - Reference:\\n      - api/index.md\\n  - Project:\\n      - about.md\\n")
    >>> menu.splitlines()[2:6]
    ['      - api/index.md', '      - Python:', '          - Text:', '              - Corpus: api/Corpus.md']
    """
    lines = ["      - Python:"]
    for title, names in group_names(firth.PLACES).items():
        lines += [f"          - {title}:", *(f"              - {name}: api/{name}.md" for name in names)]
    start = settings.index("  - Reference:")
    end = settings.index("\n  - ", start) + 1
    return settings[:end] + "\n".join(lines) + "\n" + settings[end:]


def check_menu(menu: str, pages: Path) -> Iterator[str]:
    """Pages of docs/ that the menu lacks, and entries of the menu without a page."""
    entries = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", menu, flags=re.M)
    for entry in entries:
        if not (pages / entry).is_file():
            yield f"mkdocs.yml: the menu has {entry}, which does not exist"
    for path in sorted((pages / "docs").rglob("*.md")):
        if (name := path.relative_to(pages).as_posix()) not in entries:
            yield f"mkdocs.yml: the menu lacks {name}"


def build(folder: Path, settings: str) -> None:
    """Builds the pages of a folder into its site. A warning is an error."""
    shutil.rmtree(folder / "site", ignore_errors=True)
    config = folder / "mkdocs.yml"
    config.write_text(settings.replace(": build/", ": "), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(config)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    if done.returncode or "warning" in output.lower():
        raise SystemExit(output)


@dataclass
class Page(HTMLParser):
    """What a page of the site has: anchors, links, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    content_links: list[str] = field(default_factory=list)  # those of the text, without menus
    loads: list[str] = field(default_factory=list)
    inside: int = 0  # depth of the element article

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes the attributes that name anchors and addresses."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        self.inside += tag == "article"
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
            if self.inside:
                self.content_links.append(values["href"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "modulepreload"):
            self.loads.append(values.get("href", ""))
        if tag in ("script", "img", "source", "iframe") and values.get("src"):
            self.loads.append(values["src"])

    def handle_endtag(self, tag: str) -> None:
        """Leaves the text."""
        self.inside -= tag == "article"


def check(site: Path) -> Iterator[str]:
    """What is wrong with the pages of a site: broken links and anchors, and what is loaded from elsewhere."""
    pages: dict[Path, Page] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in page.loads:
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                yield f"{name} loads {address}"
            elif not address.startswith("data:") and not resolve(site, path, address).exists():
                yield f"{name} loads {address}, which does not exist"
        if name == Path("404.html"):  # its links start at the root of a server
            continue
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = resolve(site, path, parts.path) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{name} links to {address}, which does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name} links to {address}, which has no such anchor"


def resolve(site: Path, page: Path, address: str) -> Path:
    """The file of an address on a page."""
    path = unquote(urlsplit(address).path)
    return (site / path.lstrip("/") if path.startswith("/") else page.parent / path).resolve()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build", help="folder of the pages and the site")
    parser.add_argument("--serve", action="store_true", help="show the site in the browser afterwards, on port 8000")
    options = parser.parse_args()
    folder = options.out.resolve()
    pages, site = folder / "pages", folder / "site"
    settings = add_reference((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    problems = [*gather_pages(pages), *check_menu(settings, pages)]
    build(folder, settings)
    problems += check(site)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        raise SystemExit(f"{len(problems)} problems")
    print(f"{sum(1 for _ in site.rglob('*.html'))} pages without a problem: {site / 'index.html'}")
    if options.serve:
        command = [sys.executable, "-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", str(site)]
        subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
