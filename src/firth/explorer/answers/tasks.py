"""Answers of task models with the words and spans that a page colors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from firth.explorer.models import Models
from firth.explorer.spans import LabeledSpan
from firth.pretrained import shipped


@dataclass(frozen=True)
class TaskAnswer:
    """An answer as `ask` describes it, and what a page draws: words, and layers of spans over them."""

    described: dict[str, Any]
    words: tuple[str, ...]
    layers: tuple[tuple[LabeledSpan, ...], ...] = ()

    @classmethod
    def of(cls, described: dict[str, Any]) -> TaskAnswer:
        """The answer that is described: entities, the frames of predicates, clusters of mentions, or none of them.

        >>> TaskAnswer.of({"tokens": ["Ann"], "entities": [{"token_start": 0, "token_end": 1, "label": "PER"}]}).layers
        ((LabeledSpan(start=0, end=1, label='PER', probability=None),),)
        """
        layers: tuple[tuple[LabeledSpan, ...], ...] = ()
        if "entities" in described:
            layers = (spans_of(described["entities"]),)
        elif "frames" in described:
            layers = tuple(spans_of(frame["roles"]) for frame in described["frames"])
        elif "clusters" in described:
            numbered = enumerate(described["clusters"], 1)
            mentions = (one | {"label": str(number)} for number, cluster in numbered for one in cluster["mentions"])
            layers = (spans_of(mentions),)
        return cls(described, tuple(described.get("tokens", ())), layers)


def spans_of(pieces: Iterable[Mapping[str, Any]]) -> tuple[LabeledSpan, ...]:
    """Described pieces of a text as spans of its tokens.

    >>> spans_of([{"token_start": 0, "token_end": 2, "label": "PER"}])
    (LabeledSpan(start=0, end=2, label='PER', probability=None),)
    """
    return tuple(
        LabeledSpan(one["token_start"], one["token_end"], one["label"], one.get("probability")) for one in pieces
    )


def task_models(models: Models) -> dict[str, str]:
    """The names of the task models by task: the first model of each task, those given on the command line first.

    >>> task_models(Models())["ner"]
    'task-ner'
    """
    found: dict[str, str] = {}
    for name in models.of("task"):
        task = shipped.kind(name).removeprefix("task: ") if name in shipped.SHIPPED else models.load(name).task.name
        found.setdefault(task, name)
    return found
