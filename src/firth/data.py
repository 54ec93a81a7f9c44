"""Where test sets and other data lie, and the names they are known by.

The data folder is `FIRTH_DATA`, or else a folder `shared` beside the current folder or beside the checkout that firth
runs from. Nothing is ever downloaded.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple

from firth.errors import OptionError, suggest

Task = Literal["similarity", "analogy", "categories"]


class NamedSet(NamedTuple):
    """A test set with a name: what it asks, and its file inside the data folder."""

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
    """The data folder; where there is none, an `OptionError` says how to name one."""
    named = os.environ.get("FIRTH_DATA")
    if named:
        if not Path(named).is_dir():
            raise OptionError(f"FIRTH_DATA is {named!r}, which is not a folder. Set it to the folder that holds data/")
        return Path(named)
    places = _usual_places()
    for place in places:
        if place.is_dir():
            return place
    looked = " nor ".join(str(place) for place in places)
    raise OptionError(f"no data folder: there is no {looked}. Set FIRTH_DATA to the folder that holds data/")


def _usual_places() -> list[Path]:
    places = [Path.cwd().parent / "shared"]
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        places.append(checkout.parent / "shared")
    return list(dict.fromkeys(places))


def find(name: str | os.PathLike[str]) -> Path:
    """The file of a named set (see `SETS`), or the file itself where a path is given; a name comes before a path.

    >>> find("wordsim535")
    Traceback (most recent call last):
    firth.errors.OptionError: wordsim535: no such test set or file. Did you mean 'wordsim353'?
    """
    text = os.fspath(name)
    if text in SETS:
        path = folder() / SETS[text].file
        if not path.is_file():
            raise OptionError(f"{text}: the data folder has no {SETS[text].file}. Its name is looked up in {folder()}")
        return path
    if os.path.isfile(text):
        return Path(text)
    raise OptionError(f"{text}: no such test set or file. {suggest(text, SETS)}")


def available() -> list[str]:
    """The named sets whose files are there, in the order of `SETS`."""
    place = folder()
    return [name for name, test in SETS.items() if (place / test.file).is_file()]
