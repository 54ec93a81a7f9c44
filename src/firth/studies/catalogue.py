"""Every study by name, in one visible table. A study's file is imported when it is asked for.

>>> list(STUDIES)
['table1', 'layers', 'weights', 'senses', 'pos', 'play', 'samples', 'contexts', 'families']
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from firth.errors import MissingExtra, OptionError

if TYPE_CHECKING:
    from firth.studies.study import Study

STUDIES = {
    "table1": "firth.studies.table1:Table1",
    "layers": "firth.studies.layers:Layers",
    "weights": "firth.studies.weights:Weights",
    "senses": "firth.studies.senses:Senses",
    "pos": "firth.studies.pos:PartsOfSpeech",
    "play": "firth.studies.play:Play",
    "samples": "firth.studies.samples:Samples",
    "contexts": "firth.studies.contexts:Contexts",
    "families": "firth.studies.families:Families",
}


def study_named(name: str) -> type[Study]:
    """The class of a study.

    >>> study_named("tabel1")
    Traceback (most recent call last):
    firth.errors.OptionError: no study is called 'tabel1'. Did you mean 'table1'?
    """
    if name not in STUDIES:
        near = difflib.get_close_matches(name, STUDIES, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(STUDIES)}"
        raise OptionError(f"no study is called {name!r}. {hint}")
    module, made = STUDIES[name].split(":")
    try:
        found: type[Study] = getattr(import_module(module), made)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(f"the study {name}", "study") from error
    return found
