"""The tree in docs/architecture.md is the tree of the package; tests and class names are found at first guess."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "firth"
TESTS = ROOT / "tests"
FILES = [path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py")) if path.name != "__init__.py"]


def parse_tree(page: str) -> set[Path]:
    """The files that the block `src/firth/` of a page names.

    A line of the block is `module.py` or `folder/` with a description. Indented lines below a folder list its modules.
    """
    [block] = re.findall(r"```\nsrc/firth/\n(.*?)```", page, re.DOTALL)
    folder, files = Path(), set()
    for line in block.splitlines():
        entry = re.match(r"  (\S+)(\s|$)", line)
        if entry is None:
            files |= {folder / f"{name}.py" for name in re.findall(r"\w+", line)}
        elif entry[1].endswith("/"):
            folder = Path(entry[1])
        else:
            files.add(Path(entry[1]))
    return files


def test_the_tree_in_the_docs_is_the_tree_of_the_package() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert parse_tree(page) == {Path("__init__.py"), *FILES}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_the_tests_of_a_file_are_found_by_its_name(path: Path) -> None:
    assert (TESTS / path.parent / f"test_{path.name}").is_file()


def test_a_class_name_stands_once_in_the_package() -> None:
    places = defaultdict(list)
    for path in FILES:
        for node in ast.parse((SOURCE / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
