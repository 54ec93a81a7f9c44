"""Files of documents, and the splits of a set: a path is a file, a folder or a tar archive, and PATH:dev is a split.

The documents of a split are listed in a file `splits.md`. Without one, they are taken by their number: of every ten
documents the ninth is in `dev`, the tenth in `test`, and the rest in `train`.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from firth.archives import open_tar
from firth.errors import FormatError, OptionError
from firth.files import Name, decode, exists, open_bytes, read_bytes

COLUMNS = re.compile(r"conll(\.(gz|xz|bz2|zst))?$")
TENTHS = {"train": range(8), "dev": (8,), "test": (9,)}
Member = tuple[str, Callable[[], bytes]]  # a name, and a function that reads its bytes
Item = TypeVar("Item")


def split_path(path: Name) -> tuple[Path, str | None]:
    """A path without its split, and the split where there is one."""
    text = os.fspath(path)
    if not exists(text) and re.search(r":\w+$", text):
        text, _, split = text.rpartition(":")
        if exists(text):
            return Path(text), split
    if not exists(text):
        raise OptionError(f"{path}: no such file, folder or archive")
    return Path(text), None


def list_members(source: Path) -> tuple[list[Member], str | None]:
    """The files with documents, sorted by name, and the text of splits.md."""
    if source.is_dir():
        paths = sorted(path for path in source.rglob("*") if path.is_file())
        beside = source.parent / "splits.md"
        paths += [beside] if beside.exists() else []
        files: list[Member] = [(str(path), partial(read_bytes, path)) for path in paths]
    elif _is_archive(source):
        files = sorted(_read_archive(source), key=lambda member: member[0])  # two may have one name
    else:
        return [(str(source), partial(read_bytes, source))], None
    splits = next((decode(read(), name) for name, read in files if file_stem(name) == "splits"), None)
    members = [member for member in files if COLUMNS.search(member[0])]
    gold = [member for member in members if "gold_conll" in member[0]]  # OntoNotes has predictions beside them
    if not members:
        raise FormatError(source, "no file with columns", cure="The names of the files should end in 'conll'")
    return gold or members, splits


def parse_splits(path: Name, splits: str, split: str) -> set[str]:
    """The names of the documents that splits.md lists for a split."""
    names: dict[str, set[str]] = {}
    current: set[str] = set()
    for line in splits.splitlines():
        if line.startswith("## "):
            current = names.setdefault(line[3:].strip(), set())
        elif line.strip().startswith("* "):
            current.add(line.strip()[2:].strip())
    if split not in names:
        raise OptionError(f"{path}: splits.md has no split {split!r}. There are: {', '.join(names)}")
    return names[split]


def select_tenths(path: Name, items: Sequence[Item], split: str) -> list[Item]:
    """The items of a split without a list: train has the first eight of every ten, dev the ninth, test the tenth.

    >>> select_tenths("f", range(20), "dev")
    [8, 18]
    """
    if split not in TENTHS:
        raise OptionError(f"{path}: without a splits.md the splits are train, dev and test, not {split!r}")
    return [item for number, item in enumerate(items) if number % 10 in TENTHS[split]]


def file_stem(name: str) -> str:
    """The name of a file without folders and suffixes.

    >>> file_stem("a/tea.v2.conll")
    'tea'
    """
    return PurePosixPath(name).name.partition(".")[0]


def _read_archive(source: Path) -> list[Member]:
    with open_tar(source) as files:
        return [(f"{source}/{member.name}", partial(bytes, file.read())) for member, file in files]


def _is_archive(source: Path) -> bool:
    """Whether a file, decompressed, begins with the header of a tar archive."""
    with open_bytes(source) as stream:
        head = stream.read(512)
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True
