"""Lists of words as a tokenized corpus in memory, with the same arrays as a token file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class TokenLists:
    """Documents of sentences of words, in the form that recipes read.

    >>> lists = TokenLists.of([[["a", "b"], ["a"]], [["c"]]])
    >>> lists.ids, lists.sentences, lists.documents
    (array([0, 1, 0, 2], dtype=uint32), array([0, 2, 3, 4], dtype=uint64), array([0, 2, 3], dtype=uint64))
    """

    ids: NDArray[np.uint32]
    sentences: NDArray[np.uint64]
    documents: NDArray[np.uint64]
    vocabulary: Vocabulary
    tokenizer: Tokenizer

    @classmethod
    def of(cls, documents: Iterable[Sequence[Sequence[str]]], tokenizer: Tokenizer | None = None) -> TokenLists:
        """Documents, each a list of sentences, each a list of words. `tokenizer` is the one that split them."""
        texts = list(documents)
        words = [word for document in texts for sentence in document for word in sentence]
        vocabulary = Vocabulary.from_counts(Counter(words))
        return cls(
            vocabulary.ids(words).astype(np.uint32),
            _offsets([len(sentence) for document in texts for sentence in document]),
            _offsets([len(document) for document in texts]),
            vocabulary,
            tokenizer or Tokenizer(mode="whitespace"),
        )

    def tokens(self, report: Report = silent, runtime: Runtime | None = None) -> TokenLists:
        """Returns itself: the words are in memory."""
        return self


def _offsets(lengths: list[int]) -> NDArray[np.uint64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.uint64)
