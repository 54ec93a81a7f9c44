"""Every task by name, in one table. A task's file is imported when the task is looked up, and torch with it.

>>> list(TASKS)
['ner', 'srl', 'coref', 'qa', 'entailment', 'sentiment', 'seq2seq']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firth.lazy import import_class

if TYPE_CHECKING:
    from firth.tasks.task import Task

TASKS = {
    "ner": "firth.tasks.ner.task:Ner",
    "srl": "firth.tasks.srl.task:Srl",
    "coref": "firth.tasks.coref.task:Coref",
    "qa": "firth.tasks.qa.task:Qa",
    "entailment": "firth.tasks.entailment.task:Entailment",
    "sentiment": "firth.tasks.sentiment.task:Sentiment",
    "seq2seq": "firth.tasks.seq2seq.task:Seq2Seq",
}


def find_task(name: str) -> type[Task]:
    """The class of a task.

    >>> find_task("sentimant")
    Traceback (most recent call last):
    firth.errors.OptionError: no task is called 'sentimant'. Did you mean 'sentiment'?
    """
    found: type[Task] = import_class(TASKS, name, "task", "elmo")
    return found
