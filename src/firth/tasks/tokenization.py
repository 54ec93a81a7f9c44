"""How raw text is cut for a task: one tokenizer for files and for what people type, so that words look alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

Letters = Literal["keep", "persian", "arabic"]


def make_tokenizer(letters: Letters) -> Tokenizer:
    """The tokenizer of running text that unifies letters and digits as a writing needs it.

    >>> make_tokenizer("persian").words("كتاب علي")
    ['کتاب', 'علی']
    """
    if letters == "keep":
        return Tokenizer()
    return Tokenizer(normalizer=Normalizer.persian() if letters == "persian" else Normalizer.arabic())


def normalize_words(words: Sequence[str], letters: Letters) -> list[str]:
    """Words that a file has cut already, spelled as the tokenizer of this writing would; none is lost or cut further.

    >>> normalize_words(["كتاب", "80", "Tea"], "persian"), normalize_words(["كتاب"], "keep")
    (['کتاب', '۸۰', 'Tea'], ['كتاب'])
    """
    normalizer = make_tokenizer(letters).normalizer
    if letters == "keep" or normalizer is None:
        return list(words)
    spelled = [normalizer(word) for word in words]
    return [word if len(new.split()) != 1 else new for word, new in zip(words, spelled)]
