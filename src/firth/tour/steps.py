"""`firth tour`: a walk through what firth does, each step one picture and the one command that makes it.

A step is a function from the traveller's things (the text, its corpus) to a `Step`; `STEPS` is the walk. A new
capability adds its function there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from firth.tour.answering import six_tasks
from firth.tour.context import contexts, likely_sentences
from firth.tour.counting import company, neighbors, ratios, tfidf, tokens, vocabulary, word_map
from firth.tour.learning import analogies, formats, sentences, trained, unseen
from firth.tour.materials import Materials, Step

Build = Callable[[Materials], Step]
STEPS: tuple[Build, ...] = (
    tokens,
    vocabulary,
    tfidf,
    company,
    ratios,
    neighbors,
    word_map,
    trained,
    unseen,
    analogies,
    sentences,
    formats,
    contexts,
    likely_sentences,
    six_tasks,
)


def walk(
    paths: Sequence[str] = (), visit: Callable[[int, Step], None] | None = None, *, elmo: str | None = None
) -> list[Step]:
    """All steps on these texts, or on our own; `visit` sees each with its number as soon as it is made.

    `elmo` is where a contextual model lies, for the step that needs one.
    """
    made = []
    with tempfile.TemporaryDirectory(prefix="firth-tour-") as folder:
        luggage = Materials(tuple(paths), Path(folder), elmo)
        for number, build in enumerate(STEPS, start=1):
            made.append(build(luggage))
            if visit is not None:
                visit(number, made[-1])
    return made
