"""Every task by name, in one visible table. A task's file is imported when the task is asked for, and torch with it.

>>> list(TASKS)
['sentiment', 'entailment', 'ner', 'srl', 'coref', 'qa', 'seq2seq']
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from firth.errors import MissingExtra, OptionError

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
    if name not in TASKS:
        near = difflib.get_close_matches(name, TASKS, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(TASKS)}"
        raise OptionError(f"no task is called {name!r}. {hint}")
    module, made = TASKS[name].split(":")
    try:
        found: type[Task] = getattr(import_module(module), made)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(f"the task {name}", "elmo") from error
    return found
