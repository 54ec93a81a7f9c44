"""The data folder, and test sets by name.

The data folder is `FIRTH_DATA` or, if that is not set, a folder `shared` beside the current folder or beside the
checkout that firth runs from. Nothing is downloaded.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple

from firth.errors import OptionError, suggest

Task = Literal["similarity", "analogy", "categories"]


class NamedSet(NamedTuple):
    """A test set: its task, and its file in the data folder."""

    task: Task
    file: str


SETS: dict[str, NamedSet] = {
    "wordsim353": NamedSet("similarity", "data/intrinsic/similarity/wordsim353.txt"),
    "wordsim353-sim": NamedSet("similarity", "data/intrinsic/similarity/wordsim353-sim.txt"),
    "wordsim353-rel": NamedSet("similarity", "data/intrinsic/similarity/wordsim353-rel.txt"),
    "simlex999": NamedSet("similarity", "data/intrinsic/similarity/simlex999.txt"),
    "men": NamedSet("similarity", "data/intrinsic/similarity/men.txt"),
    "mturk": NamedSet("similarity", "data/intrinsic/similarity/mturk.txt"),
    "rarewords": NamedSet("similarity", "data/intrinsic/similarity/rarewords.txt"),
    "semeval2017-en": NamedSet("similarity", "data/intrinsic/similarity/semeval2017-en.txt"),
    "google": NamedSet("analogy", "data/intrinsic/analogy/google.txt"),
    "google-phrases": NamedSet("analogy", "data/intrinsic/analogy/google-phrases.txt"),
    "msr": NamedSet("analogy", "data/intrinsic/analogy/msr.txt"),
    "fa/similarity-semeval2017": NamedSet("similarity", "data/intrinsic/fa/similarity-semeval2017.txt"),
    "fa/analogy-sbu": NamedSet("analogy", "data/intrinsic/fa/analogy-sbu.csv"),
    "fa/categories-sbu": NamedSet("categories", "data/intrinsic/fa/categories-sbu.csv"),
}


def folder() -> Path:
    """The data folder. If there is none, an `OptionError` says how to set one."""
    named = os.environ.get("FIRTH_DATA")
    if named:
        if not Path(named).is_dir():
            raise OptionError(
                f"FIRTH_DATA is {named!r}, which is not a folder. Set it to the folder that contains data/"
            )
        return Path(named)
    candidates = _default_folders()
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    missing = " nor ".join(map(str, candidates))
    raise OptionError(f"no data folder: there is no {missing}. Set FIRTH_DATA to the folder that contains data/")


def _default_folders() -> list[Path]:
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
    """
    text = os.fspath(name)
    if text in SETS:
        path = folder() / SETS[text].file
        if not path.is_file():
            raise OptionError(f"{text}: the data folder {folder()} has no {SETS[text].file}")
        return path
    if os.path.isfile(text):
        return Path(text)
    raise OptionError(f"{text}: no such test set or file. {suggest(text, SETS)}")


def available() -> list[str]:
    """The test sets whose files exist, in the order of `SETS`."""
    place = folder()
    return [name for name, test in SETS.items() if (place / test.file).is_file()]
