"""The versions of packages, and what works where firth itself is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from firth.installed import find_version

SOURCE = Path(__file__).resolve().parents[1] / "src" / "firth"
CACHED = """
from firth import Corpus
from firth.installed import find_version
print(len(Corpus(["text.txt"], cache="cache").tokens()), find_version("firth"))
"""


def test_a_package_has_its_version_and_one_that_is_missing_has_none() -> None:
    found = find_version("numpy")
    assert found is not None
    assert found[0].isdigit()
    assert find_version("teapot") is None


def test_a_folder_of_the_source_needs_no_installation(tmp_path: Path) -> None:
    """Token files are cached without the metadata of an installation."""
    (tmp_path / "text.txt").write_text("a cup of tea\n")
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    hide = "import importlib.metadata as found; known = found.version\n"
    hide += "def version(name):\n    if name == 'firth':\n        raise found.PackageNotFoundError(name)\n"
    hide += "    return known(name)\nfound.version = version\n"
    (hidden / "sitecustomize.py").write_text(hide)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(hidden), str(SOURCE.parent)])}
    done = subprocess.run(
        [sys.executable, "-c", CACHED], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.stdout) == ("", "4 None\n")
    assert list((tmp_path / "cache").glob("*.tokens"))
