"""Words as rows of character numbers, as ELMo reads them: the bytes of UTF-8, framed and filled up to one width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError

BEGIN, END = "<S>", "</S>"  # the words before and after every sentence
# A byte b has the number b + 1; 0 is left for places where no word stands.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, FILL = 257, 258, 259, 260, 261
CHARACTERS = 262


@dataclass(frozen=True)
class CharacterIds:
    """The numbers of words' characters, in rows of one width.

    A word is its mark of beginning, its bytes, its mark of ending, and filling. Bytes that do not fit are cut off, even
    in the middle of a character; half of a surrogate pair has no bytes. The words <S> and </S> have numbers of their
    own. The filling is not nothing: a model has learnt a vector for it.

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
        """The rows of words, (n, width)."""
        encoded = [word.encode("utf-8", "ignore")[: self.width - 2] for word in words]
        lengths = np.array([len(one) for one in encoded], np.int64)
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
