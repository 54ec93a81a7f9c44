"""Every study by name, in one table. The module of a study is imported when the study is used.

>>> list(STUDIES)
['table1', 'layers', 'weights', 'senses', 'pos', 'play', 'samples', 'representations', 'contexts', 'families',
 'behavior']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firth.lazy import Registry

if TYPE_CHECKING:
    from firth.studies.study import Study

STUDIES: Registry[Study] = Registry(
    "study",
    "study",
    table1="firth.studies.tasks.table1:Table1",
    layers="firth.studies.tasks.layers:Layers",
    weights="firth.studies.tasks.weights:LayerWeights",
    senses="firth.studies.probing.senses:Senses",
    pos="firth.studies.probing.pos:PartsOfSpeech",
    play="firth.studies.probing.play:Play",
    samples="firth.studies.tasks.samples:Samples",
    representations="firth.studies.probing.representations:Representations",
    contexts="firth.studies.probing.contexts:Contexts",
    families="firth.studies.families.study:Families",
    behavior="firth.studies.tasks.behavior:Behavior",
)
find_study = STUDIES.find
