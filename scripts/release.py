"""Builds what a release consists of, and checks it.

    python scripts/release.py --out dist

1. The sdist and the wheel are built twice from the last commit, in different folders. They must be equal to the bit.
2. The wheel is installed into an empty environment where no compiler can be called, and `firth models` runs there.
3. A bill of materials (CycloneDX JSON) of that environment is written, if cyclonedx-bom is installed.
4. pip-audit compares that environment with the published advisories, if it is installed and its service answers.

Needs `pip install build`, and for the last two `pip install cyclonedx-bom pip-audit`. `--extras elmo,web` installs
these extras, too.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(commit: str, folder: Path) -> dict[str, str]:
    """Builds a commit in a folder of its own; the SHA-256 of each file in `folder/dist`."""
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    moment = subprocess.run(["git", "show", "-s", "--format=%ct", commit], cwd=ROOT, capture_output=True, check=True)
    variables = {**os.environ, "SOURCE_DATE_EPOCH": moment.stdout.decode().strip()}
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder / "dist", folder], env=variables, check=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "dist").iterdir())}


def install(wheel: Path, extras: str, folder: Path) -> Path:
    """An environment with the wheel, made without a compiler; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    variables = {**os.environ, "CC": "/bin/false", "CXX": "/bin/false", "PYTHONPATH": ""}
    what = f"{wheel}[{extras}]" if extras else str(wheel)
    constraints = ["-c", ROOT / "constraints.txt"]
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--only-binary", ":all:", *constraints, what], env=variables, check=True
    )
    subprocess.run([python, "-m", "firth", "models"], env=variables, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return python


def audit(python: Path, folder: Path) -> str:
    """What pip-audit says about the packages of an environment. A known vulnerability ends the program."""
    tool = find_tool("pip-audit")
    if tool is None:
        return "pip-audit is not installed"
    packages = subprocess.run(
        [python, "-m", "pip", "freeze", "--exclude", "firth"], capture_output=True, text=True, check=True
    ).stdout
    (folder / "packages.txt").write_text(packages, encoding="utf-8")
    command = [
        tool,
        "-r",
        folder / "packages.txt",
        "--no-deps",
        "--disable-pip",
        "--strict",
        "--progress-spinner",
        "off",
    ]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0:
        return f"no known vulnerabilities in {len(packages.splitlines())} packages"
    if re.search(r"Found \d+ known vulnerabilit", run.stderr):
        raise SystemExit(run.stderr + run.stdout)
    return "the service of advisories did not answer, so nothing is known"


def find_tool(name: str) -> str | None:
    """A command beside this interpreter, or on the PATH."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder for the files")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--extras", default="", help="extras to install with the wheel")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, second = (build(chosen.commit, folder / place) for place in ("one", "another/place"))
        if first != second:
            raise SystemExit(f"two builds differ: {first} {second}")
        chosen.out.mkdir(parents=True, exist_ok=True)
        for file in sorted((folder / "one" / "dist").iterdir()):
            shutil.copy(file, chosen.out)
            print(f"{first[file.name]}  {file.name}: two builds are equal")
        [wheel] = (folder / "one" / "dist").glob("*.whl")
        python = install(wheel, chosen.extras, folder / "environment")
        print("installed without a compiler; firth models runs")
        tool = find_tool("cyclonedx-py")
        if tool is not None:
            bill = chosen.out / "bom.json"
            subprocess.run([tool, "environment", folder / "environment", "--of", "JSON", "-o", bill], check=True)
            print(f"{bill}: the bill of materials")
        print(f"audit: {audit(python, folder)}")


if __name__ == "__main__":
    main()
