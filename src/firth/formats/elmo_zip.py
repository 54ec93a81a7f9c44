"""An ELMo model in a zip archive, as the NLPL repository publishes them: options.json, weights as HDF5, vocab.txt.

Only the files of the model are extracted, into a temporary folder and under their own last names, so that no path of an
archive is ever written to. Sizes are checked before and while a file is extracted.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from firth.archives import DAMAGED, open_zip
from firth.errors import FormatError
from firth.files import Name
from firth.formats.elmo_files import LONGEST_OPTIONS, MANY_LANGUAGES, is_hdf5, is_options, is_vocabulary
from firth.temporary import TemporaryFolder

ZIP = b"PK\x03\x04"
MOST_FILES = 1000
MOST_BYTES = 16 << 30  # of a model; the largest published one has less than 1 GB
LARGEST_RATIO = 100  # of the size of a file and its compressed size: about 1 for weights, and 4 for words
ALWAYS_ALLOWED = 1 << 20  # bytes of a file of any ratio
COPIED = 1 << 20


def is_zip(path: Name) -> bool:
    """Whether a file begins like a zip archive."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(ZIP)) == ZIP


def zip_contains_elmo(path: Name) -> bool:
    """Whether a zip archive has the names of an ELMo model."""
    if not is_zip(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = [PurePosixPath(name).name for name in archive.namelist()]
    except DAMAGED:
        return False
    official = any(map(is_options, names)) and any(map(is_hdf5, names))
    return official or all(name in names for name in MANY_LANGUAGES)


@contextmanager
def unpack(path: Name) -> Iterator[Path]:
    """A temporary folder with the files of the model in an archive."""
    with TemporaryFolder("elmo") as folder:
        with open_zip(path, cure="Download it again") as archive:
            for member in _members(path, archive):
                _extract(path, archive, member, folder.path)
        yield folder.path


def _members(path: Name, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of the model in an archive, checked."""
    members = [member for member in archive.infolist() if not member.filename.endswith(("/", "\\"))]
    if len(members) > MOST_FILES:
        raise FormatError(path, f"has {len(members):,} files, but a model has at most {MOST_FILES:,}")
    for member in members:
        place = PurePosixPath(member.filename.replace("\\", "/"))
        if not place.parts or place.is_absolute() or ".." in place.parts or ":" in place.parts[0]:
            raise FormatError(path, f"the archive has a file with the path {member.filename!r}", cure="Do not use it")
    wanted = [member for member in members if _is_wanted(PurePosixPath(member.filename).name)]
    folders = {str(PurePosixPath(member.filename).parent) for member in wanted}
    if len(folders) > 1:
        raise FormatError(
            path, f"has files of models in {len(folders)} folders", cure="Extract it, and name one folder"
        )
    for member in wanted:
        _check_size(path, member)
    total = sum(member.file_size for member in wanted)
    if total > MOST_BYTES:
        raise FormatError(path, f"would unpack to {total:,} bytes, but a model has at most {MOST_BYTES:,}")
    return wanted


def _is_wanted(name: str) -> bool:
    is_lexicon = name in MANY_LANGUAGES or name.endswith((".dic", ".json"))  # of ELMoForManyLangs
    return is_options(name) or is_hdf5(name) or is_vocabulary(name) or is_lexicon


def _check_size(path: Name, member: zipfile.ZipInfo) -> None:
    name, size = member.filename, member.file_size
    if member.flag_bits & 1:
        raise FormatError(path, f"{name} is encrypted", cure="Extract it with its password, and open the folder")
    if is_options(PurePosixPath(name).name) and size > LONGEST_OPTIONS:
        raise FormatError(path, f"{name} has {size:,} bytes, but options have at most {LONGEST_OPTIONS:,}")
    if size > max(ALWAYS_ALLOWED, LARGEST_RATIO * member.compress_size):
        problem = f"{name} would unpack from {member.compress_size:,} to {size:,} bytes, which no model does"
        raise FormatError(path, problem, cure="Do not use it")


def _extract(path: Name, archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
    name = PurePosixPath(member.filename).name
    left = member.file_size
    with archive.open(member) as source, open(folder / name, "xb") as target:
        while block := source.read(min(COPIED, left + 1)):
            left -= len(block)
            if left < 0:
                raise FormatError(path, f"{name} is larger than the archive says", cure="Download it again")
            target.write(block)
