"""Every task by name, in one table. A task's file is imported when the task is looked up, and torch with it.

>>> list(TASKS)
['ner', 'srl', 'coref', 'qa', 'entailment', 'sentiment', 'seq2seq']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firth.lazy import Registry

if TYPE_CHECKING:
    from firth.tasks.task import Task

TASKS: Registry[Task] = Registry(
    "task",
    "elmo",
    ner="firth.tasks.ner.task:Ner",
    srl="firth.tasks.srl.task:Srl",
    coref="firth.tasks.coref.task:Coref",
    qa="firth.tasks.qa.task:Qa",
    entailment="firth.tasks.entailment.task:Entailment",
    sentiment="firth.tasks.sentiment.task:Sentiment",
    seq2seq="firth.tasks.seq2seq.task:Seq2Seq",
)
find_task = TASKS.find
