"""Every task by name, in one visible table. A task's file is imported when the task is asked for, and torch with it.

>>> list(TASKS)
['sentiment', 'entailment', 'ner', 'srl', 'coref', 'qa', 'seq2seq']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firth.places import fetched

if TYPE_CHECKING:
    from firth.tasks.task import Task

TASKS = {
    "sentiment": "firth.tasks.sentiment:Sentiment",
    "entailment": "firth.tasks.entailment:Entailment",
    "ner": "firth.tasks.entities:Entities",
    "srl": "firth.tasks.roles:Roles",
    "coref": "firth.tasks.coreference:Coreference",
    "qa": "firth.tasks.questions:Questions",
    "seq2seq": "firth.tasks.translation:Translation",
}


def task_named(name: str) -> type[Task]:
    """The class of a task.

    >>> task_named("sentimant")
    Traceback (most recent call last):
    firth.errors.OptionError: no task is called 'sentimant'. Did you mean 'sentiment'?
    """
    found: type[Task] = fetched(TASKS, name, "task", "elmo")
    return found
