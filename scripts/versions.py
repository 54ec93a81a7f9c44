"""Runs the test suite on other versions of Python and of the dependencies.

    python scripts/versions.py 3.12 3.13 3.14             # the newest dependencies that constraints.txt allows
    python scripts/versions.py 3.11 --lowest              # the lowest that pyproject.toml claims
    python scripts/versions.py 3.13 --without-torch       # where torch cannot be installed
    python scripts/versions.py 3.12 -- -n 4 tests/text    # options and paths of pytest

A version is a number or the path of an interpreter. Each gets an environment in the folder `--folder`, which later runs
use again. Ends with a table in Markdown. The exit code is 1 if a test failed anywhere.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDS_TORCH = ("elmo", "study", "spacy")  # extras
BUILT_ON_TORCH = ("sentence-transformers",)  # packages that install it
SUMMARY = re.compile(r"(\d+) (passed|failed|skipped|errors?)")
PAGE = re.compile(r"BiLM|elmo-en|firth\.Elmo|open_task|neural|torch")  # in docs that need torch


def find_interpreter(version: str) -> str | None:
    """The path of an interpreter of this version, on the PATH, of pyenv or of uv; None if there is none."""
    if os.path.sep in version:
        return version
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    uv = shutil.which("uv")
    if uv is not None:
        found.append(subprocess.run([uv, "python", "find", version], capture_output=True, text=True).stdout.strip())
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, found):
        told = subprocess.run([path, "-c", ask], capture_output=True, text=True)
        if told.returncode == 0 and told.stdout.strip() == version:
            return path
    return None


def list_requirements(without_torch: bool) -> list[str]:
    """What to install: the package with its extra `test`, or without what needs torch."""
    if not without_torch:
        return [f"{ROOT}[test]"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [own, *others] = project["optional-dependencies"]["test"]
    extras = [name for name in re.findall(r"\w+", own.partition("[")[2]) if name not in NEEDS_TORCH]
    needed = [one for name in NEEDS_TORCH for one in project["optional-dependencies"][name]]
    beside_torch = [one for one in [*others, *needed] if not one.startswith(("torch", "firth", *BUILT_ON_TORCH))]
    return [f"{ROOT}[{','.join(extras)}]", *beside_torch]


@cache
def needs_torch(path: Path) -> bool:
    """Whether importing a Python file imports torch, itself or through a file of ours."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            file = ROOT / "src" / (name.replace(".", "/") + ".py")
            if name.split(".")[0] == "torch" or (file.is_file() and needs_torch(file)):
                return True
    return False


def list_ignored() -> list[str]:
    """The files that pytest must not collect where torch is missing."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    pages = [page for page in (ROOT / "docs").rglob("*.md") if PAGE.search(page.read_text(encoding="utf-8"))]
    ignored = [path for path in files if needs_torch(path)] + [*pages, ROOT / "README.md"]
    return [f"--ignore={path.relative_to(ROOT)}" for path in ignored]


def test(version: str, chosen: argparse.Namespace) -> dict[str, str]:
    """Installs and tests one version; the row of the table."""
    interpreter = find_interpreter(version)
    row = {"Python": version, "dependencies": "lowest" if chosen.lowest else "newest"}
    if interpreter is None:
        return row | {"result": "no interpreter found"}
    kind = f"{Path(interpreter).name if os.path.sep in version else version}-{row['dependencies']}"
    environment = Path(chosen.folder).resolve() / f"{kind}{'-without-torch' * chosen.without_torch}"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([interpreter, "-m", "venv", environment], check=True)
    constraints = ROOT / ("constraints-lowest.txt" if chosen.lowest else "constraints.txt")
    install = [python, "-m", "pip", "install", "-q", "-c", constraints, *list_requirements(chosen.without_torch)]
    if subprocess.run(install, cwd=ROOT).returncode:
        return row | {"result": "not installed"}
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *chosen.pytest]
    command += list_ignored() if chosen.without_torch else []
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(environment / "kernels"), "PYTHONPATH": str(ROOT / "src")}
    begin = time.monotonic()
    last = ""
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout or ():
            print(line, end="", flush=True)
            last = line.strip() or last
    counts = {name: number for number, name in SUMMARY.findall(last)}
    told = {name: counts.get(name, "0") for name in ("passed", "failed", "skipped")}
    told["failed"] = str(int(told["failed"]) + int(counts.get("error", counts.get("errors", "0"))))
    result = "ok" if run.returncode == 0 else f"exit code {run.returncode}"
    return row | told | {"minutes": f"{(time.monotonic() - begin) / 60:.1f}", "result": result}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="+", help="numbers such as 3.13, or paths of interpreters")
    parser.add_argument("--lowest", action="store_true", help="the lowest versions of all dependencies")
    parser.add_argument("--without-torch", action="store_true", help="leave out torch and the tests that need it")
    parser.add_argument("--folder", default=".versions", help="where the environments are kept")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    chosen = parser.parse_args(given[:cut])
    chosen.pytest = given[cut + 1 :] or ["-n", "2", "--dist", "loadgroup"]
    rows = [test(version, chosen) for version in chosen.versions]
    columns = ["Python", "dependencies", "passed", "failed", "skipped", "minutes", "result"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row.get(column, '') for column in columns)} |")
    return 0 if all(row["result"] == "ok" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
