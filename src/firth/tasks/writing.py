"""How raw text is cut for a task: one tokenizer for files and for what people type, so that words look alike."""

from __future__ import annotations

from typing import Literal

from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

Letters = Literal["keep", "persian", "arabic"]


def tokenizer_of(letters: Letters) -> Tokenizer:
    """The tokenizer of running text that unifies letters and digits as a writing needs it.

    >>> tokenizer_of("persian").words("كتاب علي")
    ['کتاب', 'علی']
    """
    if letters == "keep":
        return Tokenizer()
    return Tokenizer(normalizer=Normalizer.persian() if letters == "persian" else Normalizer.arabic())
