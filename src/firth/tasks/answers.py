"""The answers of a task's model to texts: a list that a notebook draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group

from firth.show import notebook
from firth.tasks.pictures import draw_answer
from firth.tasks.task import Answer, Task


class TextAnswers(list[dict[str, Any]]):
    """Answers ready for JSON, in order. A notebook shows them as the command line does, with colors.

    >>> from firth.tasks.ner.task import Ner
    >>> [example] = Ner().ask("Ann Lee left.")
    >>> answer = {"tags": ["B-PER", "I-PER", "O", "O"], "probabilities": [0.9]}
    >>> answers = TextAnswers([Ner().describe(example, answer)], Ner(), [(example, answer)])
    >>> answers[0]["bracketed"], "Ann Lee" in answers._repr_html_()
    ('[PER: Ann Lee] left .', True)
    """

    def __init__(
        self,
        described: Iterable[dict[str, Any]] = (),
        task: Task | None = None,
        pairs: Sequence[tuple[Any, Answer]] = (),
    ) -> None:
        super().__init__(described)
        self.task, self.pairs = task, list(pairs)

    def _repr_html_(self) -> str | None:
        if self.task is None or len(self.pairs) != len(self):  # a list that was changed
            return None
        drawn = (draw_answer(self.task, example, answer) for example, answer in self.pairs)
        warnings = sorted({str(one["warning"]) for one in self if "warning" in one})
        return notebook.html_picture(Group(*drawn, *warnings))
