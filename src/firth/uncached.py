"""Cached properties are derived from a value and are no part of it."""

from __future__ import annotations

from functools import cached_property
from typing import Any


class Uncached:
    """A value whose state leaves out its cached properties.

    Copies, pickles and hashes do not depend on what the value was asked before.

    >>> import copy
    >>> class Word(Uncached):
    ...     def __init__(self, text):
    ...         self.text = text
    ...     @cached_property
    ...     def letters(self):
    ...         return sorted(self.text)
    >>> word = Word("tea")
    >>> word.letters
    ['a', 'e', 't']
    >>> sorted(vars(word)), sorted(vars(copy.deepcopy(word)))
    (['letters', 'text'], ['text'])
    """

    def __getstate__(self) -> dict[str, Any]:
        def is_cached(name: str) -> bool:
            return isinstance(getattr(type(self), name, None), cached_property)

        return {name: value for name, value in self.__dict__.items() if not is_cached(name)}
