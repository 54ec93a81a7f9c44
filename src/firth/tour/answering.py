"""The end of the tour: the six tasks, each asked one question."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from firth.pretrained.shipped import EXAMPLES
from firth.tour.context import without_torch
from firth.tour.materials import Materials, Step

ABOUT = {
    "ner": "which words are names?",
    "srl": "who did what to whom?",
    "coref": "which words speak of the same thing?",
    "qa": "where is the answer?",
    "entailment": "does the second follow from the first?",
    "sentiment": "good or bad?",
}


def six_tasks(luggage: Materials) -> Step:
    """Names, roles, coreference, questions, entailment and sentiment, on a sentence or two each."""
    title = "Six tasks"
    if not luggage.has_torch:
        return without_torch(
            title, "Names, roles, coreference, questions, entailment, sentiment: the networks need torch."
        )
    from firth.tasks.model import open_task
    from firth.tasks.pictures import draw_answer
    from firth.tasks.sources import Sources
    from firth.tasks.training import limit_threads

    pictures: list[RenderableType] = []
    values: dict[str, Any] = {}
    with limit_threads(1):  # so little work is not worth sharing
        sources = Sources.open("glove-en", "elmo-en")  # which all six stand on
        for name, texts in EXAMPLES.items():
            model = open_task(name, sources=sources)
            examples = model.task.ask(*texts)
            pairs = list(zip(examples, model.predict(examples)))
            heading = Text.assemble(("\n" if pictures else "") + name, ": ", (ABOUT[name], "dim"), style="bold")
            pictures += [heading, *(draw_answer(model.task, *pair) for pair in pairs)]
            values[name] = [model.task.describe(*pair) for pair in pairs]
    first, *_ = EXAMPLES["ner"]
    return Step(
        title,
        "Small networks that learnt on top of these vectors. Each answers one question about a text; `firth task` "
        "learns more of them.",
        Group(*pictures),
        f'firth predict ner "{first}"',
        values,
    )
