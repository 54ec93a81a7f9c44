"""Small models made of the text that comes with firth, for pages that need a counted corpus and have none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import firth
from firth.models.counts import Counts
from firth.models.ngram import Ngram
from firth.text.corpus import Corpus

TEXT = Path(firth.__file__).with_name("tour.txt")
CORPUS = 'firth.Corpus(firth.__file__.replace("__init__.py", "tour.txt"))'  # the same file in a line of Python


@dataclass(frozen=True)
class Derived:
    """A model that is made on first use: its kind, how it is made, and the line of Python that makes it."""

    kind: str
    make: Callable[[], Any]
    python: str


DERIVED = {
    "tour-3-gram": Derived(
        "ngram", lambda: Ngram(order=3).fit(Corpus(str(TEXT))), f"firth.Ngram(order=3).fit({CORPUS})"
    ),
    "tour-counts": Derived(
        "count-matrix",
        lambda: Counts(kind="co-occurrence", window=10).fit(Corpus(str(TEXT))),
        f'firth.Counts(kind="co-occurrence", window=10).fit({CORPUS})',
    ),
}


def python_of(name: str) -> str:
    """The line of Python that opens or makes a model.

    >>> python_of("glove-en")
    "firth.load('glove-en')"
    """
    return DERIVED[name].python if name in DERIVED else f"firth.load({name!r})"
