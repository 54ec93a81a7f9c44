"""The lowest versions that pyproject.toml claims are those of constraints-lowest.txt, which the suite is run with."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_claimed_version_is_that_of_the_lowest_constraints() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    claims = dict(re.findall(r"^([\w-]+)>=([\d.]+)", "\n".join(lines), re.MULTILINE))
    text = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    lowest = dict(re.findall(r"^([\w-]+)==([\d.]+)$", text, re.MULTILINE))
    base = {re.split(r"\W", line)[0] for line in project["dependencies"]}
    assert base <= lowest.keys() <= claims.keys()
    wrong = {name: low for name, low in lowest.items() if not f"{low}.".startswith(f"{claims[name]}.")}
    assert wrong == {}


def test_the_citation_has_the_version_and_the_license_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert {f"version: {project['version']}", f"license: {project['license']}"} <= set(lines)
    assert f"  - name: {json.dumps(project['authors'][0]['name'])}" in lines
    assert f"version = {{{project['version']}}}" in (ROOT / "docs/how-to/cite-and-card.md").read_text(encoding="utf-8")


def test_no_dependency_has_an_upper_limit() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    assert [line for line in lines if re.search(r"<|==|~=", line.partition(";")[0])] == []


def test_an_environment_without_torch_has_nothing_that_installs_it() -> None:
    specification = importlib.util.spec_from_file_location("versions", ROOT / "scripts" / "versions.py")
    assert specification is not None
    assert specification.loader is not None
    versions = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(versions)
    [own, *others] = versions.list_requirements(without_torch=True)
    assert not re.search(r"elmo|spacy|study", own)
    assert "spacy" in {re.split(r"\W", one)[0] for one in others}
    assert not [one for one in others if re.match(r"torch|sentence-transformers|firth", one)]
