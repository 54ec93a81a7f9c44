"""`progress=True`: the progress of a call as a bar in terminals and notebooks, as lines now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from firth.progress import silent

Function = TypeVar("Function", bound=Callable[..., Any])


def shows_progress(function: Function) -> Function:
    """The function with its parameter `progress` in effect. It must have the parameters `progress` and `report`.

    A function that the caller passes as `report` has precedence.

    >>> from firth.progress import Progress, Report
    >>> @shows_progress
    ... def count(to: int, *, report: Report = silent, progress: bool = False) -> int:
    ...     report(Progress("counting", to, to, "numbers"))
    ...     return to
    >>> count(3), count(3, progress=True), count(3, progress=True, report=print)
    Progress(step='counting', done=3, total=3, unit='numbers', values={})
    (3, 3, 3)
    """

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if options.pop("progress", False) is not True or options.get("report", silent) is not silent:
            return function(*arguments, **options)
        from firth.show.terminal import progress  # rich is slow to import

        with progress() as report:
            return function(*arguments, **{**options, "report": report})

    return cast(Function, call)
