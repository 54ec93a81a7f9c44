"""The last step of the tour: the tasks that have a pretrained model, each on its sample text."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from firth.pretrained import shipped
from firth.tour.context import skip
from firth.tour.materials import Materials, TourStep


def run_tasks(materials: Materials) -> TourStep:
    """Applies the pretrained models of the tasks to their sample texts."""
    title = "Six tasks"
    if not materials.has_torch:
        return skip(title, "Names, roles, coreference, questions, entailment, sentiment: the networks need torch.")
    from firth.tasks.model import open_task
    from firth.tasks.pictures import draw_answer
    from firth.tasks.registry import TASKS
    from firth.tasks.sources import Sources
    from firth.tasks.training import limit_threads

    pictures: list[RenderableType] = []
    values: dict[str, Any] = {}
    with limit_threads(1):  # so little work is not worth sharing
        sources = Sources.open("glove-en", "elmo-en")  # the input of all six
        for name in [name for name in TASKS if name in shipped.tasks()]:
            model = open_task(name, sources=sources)
            task, pairs = model.task, model.answer_texts(*model.task.sample)
            heading = Text.assemble(("\n" if pictures else "") + name, ": ", (task.question, "dim"), style="bold")
            pictures += [heading, *(draw_answer(task, *pair) for pair in pairs)]
            values[name] = [task.describe(*pair) for pair in pairs]
    return TourStep(
        title,
        "Small networks that were trained on top of these vectors; `firth task` trains your own.",
        Group(*pictures),
        'firth predict ner "Elon Musk founded SpaceX."',
        values,
    )
