"""ELMo's character ids of words: UTF-8 bytes between begin and end markers, padded to a fixed width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError

BEGIN, END = "<S>", "</S>"  # the tokens before and after every sentence
# Byte b has the id b + 1; 0 is the padding of positions without a word.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, FILL = 257, 258, 259, 260, 261
CHARACTERS = 262


@dataclass(frozen=True)
class CharacterIds:
    """Converts words to rows of character ids of a fixed width.

    A row is the begin marker, the bytes of the word, the end marker, and padding. Longer words are truncated, even
    inside a character; a lone surrogate has no bytes. The words <S> and </S> have ids of their own. Models have a
    trained embedding for the padding.

    >>> CharacterIds(width=6).of(["The", "</S>", ""])
    array([[259,  85, 105, 102, 260, 261],
           [259, 258, 260, 261, 261, 261],
           [259, 260, 261, 261, 261, 261]], dtype=int32)
    """

    width: int = 50

    def __post_init__(self) -> None:
        if self.width < 3:
            raise OptionError(f"the width of a word is {self.width} characters, but must be at least 3")

    def of(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The character ids of words, (n, width)."""
        encoded = [word.encode("utf-8", "ignore")[: self.width - 2] for word in words]
        lengths = np.array([len(word) for word in encoded], np.int64)
        ids = np.full((len(words), self.width), FILL, np.int32)
        ids[:, 0] = BEGIN_WORD
        inside = np.arange(self.width - 1) < lengths[:, None]
        ids[:, 1:][inside] = np.frombuffer(b"".join(encoded), np.uint8).astype(np.int32) + 1
        ids[np.arange(len(words)), lengths + 1] = END_WORD
        for row, word in enumerate(words):
            if word in (BEGIN, END):
                ids[row] = FILL
                ids[row, :3] = BEGIN_WORD, BEGIN_SENTENCE if word == BEGIN else END_SENTENCE, END_WORD
        return ids
