"""Every study by name, in one visible table. A study's file is imported when it is asked for.

>>> list(STUDIES)
['table1', 'layers', 'weights', 'senses', 'pos', 'play', 'samples', 'contexts', 'families']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firth.lazy import import_class

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


def find_study(name: str) -> type[Study]:
    """The class of a study.

    >>> find_study("tabel1")
    Traceback (most recent call last):
    firth.errors.OptionError: no study is called 'tabel1'. Did you mean 'table1'?
    """
    found: type[Study] = import_class(STUDIES, name, "study", "study")
    return found
