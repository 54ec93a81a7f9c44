"""Every task by name, in one visible table. A task's file is imported when the task is asked for, and torch with it.

>>> list(TASKS)
['sentiment', 'entailment', 'ner', 'srl', 'coref', 'qa', 'seq2seq']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firth.lazy import import_class

if TYPE_CHECKING:
    from firth.tasks.task import Task

TASKS = {
    "sentiment": "firth.tasks.sentiment.task:Sentiment",
    "entailment": "firth.tasks.entailment.task:Entailment",
    "ner": "firth.tasks.ner.task:Entities",
    "srl": "firth.tasks.srl.task:Roles",
    "coref": "firth.tasks.coref.task:Coreference",
    "qa": "firth.tasks.qa.task:Questions",
    "seq2seq": "firth.tasks.seq2seq.task:Translation",
}


def find_task(name: str) -> type[Task]:
    """The class of a task.

    >>> find_task("sentimant")
    Traceback (most recent call last):
    firth.errors.OptionError: no task is called 'sentimant'. Did you mean 'sentiment'?
    """
    found: type[Task] = import_class(TASKS, name, "task", "elmo")
    return found
