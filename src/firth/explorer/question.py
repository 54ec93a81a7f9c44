"""A question to a model: asked by a page, and shown as the line of Python that gives the same numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from firth.explorer.derived import python_of
from firth.explorer.models import Models


@dataclass(frozen=True)
class Question:
    """A call of a method of a model. Because the line is written from the call, both give the same answer.

    >>> question = Question("word2vec-en", "most_similar", ("tea",), {"topn": 2})
    >>> print(question.python())
    firth.load('word2vec-en').most_similar('tea', topn=2)
    >>> models = Models()
    >>> question.ask(models) == models.load("word2vec-en").most_similar("tea", topn=2)
    True
    """

    model: str
    method: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def ask(self, models: Models) -> Any:
        """The answer."""
        return getattr(models.load(self.model), self.method)(*self.arguments, **self.options)

    def python(self) -> str:
        """The line of Python that computes the answer. A regular expression needs `import re` before it.

        >>> Question("svd-en", "most_similar", ("tea",), {"allowed": re.compile("^c").search}).python()
        "firth.load('svd-en').most_similar('tea', allowed=re.compile('^c').search)"
        """
        arguments = [write_value(one) for one in self.arguments]
        arguments += [f"{name}={write_value(value)}" for name, value in self.options.items()]
        return f"{python_of(self.model)}.{self.method}({', '.join(arguments)})"


def write_value(value: Any) -> str:
    """A value as Python. Of functions only the search of a regular expression can be written.

    >>> write_value(["tea"]), write_value(re.compile("ea$").search)
    ("['tea']", "re.compile('ea$').search")
    """
    pattern = getattr(value, "__self__", None)
    return f"re.compile({pattern.pattern!r}).search" if isinstance(pattern, re.Pattern) else repr(value)
