"""The published models that `firth pull` knows by name: the official files of GloVe, word2vec, fastText and ELMo.

The table itself is `published.toml`: addresses, sizes, checksums and licences.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlparse

from firth.errors import OptionError, suggest

TABLE = Path(__file__).with_name("published.toml")


class PublishedFile(NamedTuple):
    """A file at an address. A size or checksum of None is not published. `member` is the file of an archive to keep."""

    address: str
    name: str
    size: int | None = None
    sha256: str | None = None
    member: str | None = None

    @property
    def kept(self) -> str:
        """The name of the file that stays: the member of an archive, or the file itself."""
        return self.member or self.name


class PublishedModel(NamedTuple):
    """A model by its short name: its files, its licence (None: not stated), and who publishes its checksums.

    >>> model = find_published("glove-6b-100d")
    >>> model.licence, model.files[0].kept, model.files[0].size
    ('PDDL 1.0', 'glove.6B.100d.txt', 862182613)
    """

    name: str
    about: str
    licence: str | None
    page: str
    files: tuple[PublishedFile, ...]
    checksum_from: str | None

    @property
    def size(self) -> int | None:
        """The bytes to download; None if one of the sizes is not published."""
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def has_checksums(self) -> bool:
        """Whether the checksums of all files are published."""
        return all(file.sha256 is not None for file in self.files)


@cache
def published_models() -> dict[str, PublishedModel]:
    """All published models by name, in the order of the table."""
    models: dict[str, PublishedModel] = {}
    for family in tomllib.loads(TABLE.read_text(encoding="utf-8")).values():
        for name, entry in family["models"].items():
            for language in entry.get("languages", "").split() or [None]:
                model = _model(name, family, entry, language)
                models[model.name] = model
    return models


def _model(name: str, family: Mapping[str, Any], entry: Mapping[str, Any], language: str | None) -> PublishedModel:
    files = tuple(_file(one, entry.get("sha256_of", {}), language) for one in entry["files"])
    about = f"{entry['about']} ({language})" if language else entry["about"]
    known = family.get("checksum_from") if all(file.sha256 for file in files) else None
    return PublishedModel(_fill(name, language), about, family.get("licence"), family["page"], files, known)


def _file(entry: Mapping[str, Any], sha256_of: Mapping[str, str], language: str | None) -> PublishedFile:
    address = _fill(entry["address"], language)
    name = entry.get("name") or PurePosixPath(urlparse(address).path).name
    sha256 = sha256_of.get(language or "", entry.get("sha256"))
    return PublishedFile(address, name, entry.get("size"), sha256, entry.get("member"))


def _fill(text: str, language: str | None) -> str:
    return text.replace("{language}", language) if language else text


def find_published(name: str) -> PublishedModel:
    """The published model of a name.

    >>> find_published("glove-6b-110d")
    Traceback (most recent call last):
    firth.errors.OptionError: no published model is called 'glove-6b-110d'. Did you mean 'glove-6b-100d'?
    """
    models = published_models()
    if name in models:
        return models[name]
    hint = suggest(name, models)
    hint = hint if hint.startswith("Did") else "firth pull --list lists them"
    raise OptionError(f"no published model is called {name!r}. {hint}")
