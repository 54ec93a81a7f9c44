"""Builds the documentation as a site that works offline, and checks it: python scripts/docs_site.py [--serve]

The pages are README.md, docs/, studies/ and one page for each public class and function, from its docstring. They are
gathered in build/pages, with the folders of the repository, so that the links of the repository hold. Zensical builds
them into build/site. Then every link and anchor of the site is followed, and no page may load anything from elsewhere.
"""

from __future__ import annotations

import argparse
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
from reference import fence_examples, write_page

ROOT = Path(__file__).resolve().parents[1]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
SINGLE = {"README.md": "index.md", "SECURITY.md": "SECURITY.md", "CHANGELOG.md": "CHANGELOG.md", "LICENSE": "LICENSE"}
FOLDERS = ("docs", "studies", "benchmarks")
TEXT = {".md", ".txt", ".json", ".png", ".svg", ".webp"}
REFERENCE = {
    "Text": ("Corpus", "Tokenizer", "Normalizer", "Vocabulary", "Phrases", "Segmenter", "SegmenterModel"),
    "Counts and n-grams": ("Counts", "CountMatrix", "CountsTransformer", "Ngram", "NgramModel"),
    "Word vectors": (
        "Word2Vec",
        "Glove",
        "FastText",
        "Doc2Vec",
        "WordVectors",
        "SubwordVectors",
        "DocumentVectors",
        "align",
        "VectorMap",
    ),
    "Classifiers": ("FastTextClassifier", "Classifier", "quantize"),
    "ELMo": ("Elmo", "BiLM", "ScalarMix", "ElmoEmbedding", "batch_to_ids", "embed_file"),
    "Tasks and tools": ("open_task", "Embedder", "load", "save", "Runtime", "FirthError"),
}


def gather_pages() -> None:
    """Copies the pages and writes those of the reference."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    for name, target in SINGLE.items():
        shutil.copy(ROOT / name, PAGES / target)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXT:
                target = PAGES / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    for path in PAGES.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        text = "\n".join(fence_examples(text.splitlines())) + "\n"
        path.write_text(mend_links(write_formulas(text), path), encoding="utf-8")
    write_reference()


def write_formulas(text: str) -> str:
    """Blocks of LaTeX, which GitHub shows by itself, as MathML, which browsers show without a script."""
    return re.sub(r"^```math\n(.*?)\n```$", lambda block: convert(block[1], display="block"), text, flags=re.M | re.S)


def mend_links(text: str, page: Path) -> str:
    """Links to README.md lead to the first page, and those to files that are not pages are shown as code."""

    def mend(link: re.Match[str]) -> str:
        label, target = link[1], link[2]
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        place = (page.parent / target.partition("#")[0]).resolve()
        if place == PAGES / "README.md":
            return f"[{label}]({'../' * len(page.relative_to(PAGES).parent.parts)}index.md)"
        return link[0] if place.is_file() else f"`{label.strip('`')}`"

    return re.sub(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)", mend, text)


def write_reference() -> None:
    """A page for each public name, and a list of them. A public name without a place in the list is an error."""
    folder = PAGES / "api"
    folder.mkdir()
    lines = ["# Reference", "", "The public names of `import firth`, from their docstrings.", ""]
    missing = set(firth.PLACES) - {name for names in REFERENCE.values() for name in names} - {"evaluate"}
    if missing:
        raise SystemExit(f"scripts/docs_site.py: REFERENCE lacks {', '.join(sorted(missing))}")
    for title, names in REFERENCE.items():
        lines += [f"## {title}", ""]
        for name in names:
            (folder / f"{name}.md").write_text(write_page(name, getattr(firth, name)), encoding="utf-8")
            lines.append(f"- [{name}]({name}.md)")
        lines.append("")
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def build() -> None:
    """Builds the site. A warning is an error."""
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(ROOT / "mkdocs.yml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    if done.returncode:
        raise SystemExit(output)


@dataclass
class Page(HTMLParser):
    """What a page of the site has: anchors, links, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes the attributes that name anchors and addresses."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "modulepreload"):
            self.loads.append(values.get("href", ""))
        if tag in ("script", "img", "source", "iframe") and values.get("src"):
            self.loads.append(values["src"])


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
    parser.add_argument("--serve", action="store_true", help="show the site in the browser afterwards, on port 8000")
    options = parser.parse_args()
    gather_pages()
    build()
    problems = list(check(SITE))
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        raise SystemExit(f"{len(problems)} problems")
    print(f"{sum(1 for _ in SITE.rglob('*.html'))} pages without a problem: {SITE / 'index.html'}")
    if options.serve:
        command = [sys.executable, "-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", str(SITE)]
        subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
