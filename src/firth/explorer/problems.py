"""Errors of the explorer itself, which pages show in the language of the visitor."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from firth.errors import OptionError, UnknownWord
from firth.explorer.translations import translate


class PageError(OptionError):
    """An error whose text is translated: its key in `translations.py` without "problem-", and the values in it.

    >>> error = PageError("sentence-long", count=1300, most=120)
    >>> str(error)
    'the sentence has 1,300 words. Use at most 120'
    """

    def __init__(self, key: str, **values: Any) -> None:
        self.key, self.values = f"problem-{key}", values
        super().__init__(translate(self.key, "en", **values))


class NoSuchModel(PageError):
    """An address names a model that the explorer does not have, or that is of another kind than the page needs.

    `offered` are the models to choose from, `state` is the name of the value in the address.

    >>> str(NoSuchModel("glov-en", ["glove-en", "svd-en"]))
    "the explorer has no model 'glov-en'. Did you mean 'glove-en'?"
    >>> str(NoSuchModel("elmo-en", ["svd-en"], known=True))
    'the model elmo-en is not of the kind that this page needs. There are: svd-en'
    """

    def __init__(self, name: str, offered: Sequence[str], *, known: bool = False, state: str = "model") -> None:
        self.offered, self.state = tuple(offered), state
        near = difflib.get_close_matches(name, offered, 1)
        if known:
            super().__init__("kind", name=name, names=", ".join(offered))
        elif near:
            super().__init__("model-near", name=name, near=near[0])
        else:
            super().__init__("model", name=name, names=", ".join(offered))


class NoOccurrence(UnknownWord):
    """No sentence of the page has a word.

    >>> str(NoOccurrence(UnknownWord("bankk", ["bank"])))
    "'bankk' is not in the vocabulary. Near spellings: 'bank'"
    """

    def __init__(self, error: UnknownWord) -> None:
        super().__init__(error.word, error.near)


class NoModel(Exception):
    """No model of the kinds that a page needs is open.

    >>> str(NoModel(("bilm",)))
    'no model of these kinds: bilm'
    """

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.kinds = kinds
        super().__init__(f"no model of these kinds: {', '.join(kinds)}")
