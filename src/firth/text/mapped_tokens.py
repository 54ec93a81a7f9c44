"""A corpus with the ids of another vocabulary: words that were chosen beforehand, or counts of a larger text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np

from firth.errors import OptionError
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary

Words = Vocabulary | Mapping[str, int] | Iterable[str]


class MappedTokens(TokenFile):
    """The tokens of a corpus as ids of `vocabulary`; other words have the id `len(vocabulary)`, which is no word.

    >>> from firth.text.corpus import Corpus
    >>> tokens = MappedTokens(Corpus.of([["a", "b", "a", "c"]]).tokens(), Vocabulary(["c", "a"], [9, 5]))
    >>> tokens.ids, tokens.vocabulary.words
    (array([1, 2, 1, 0], dtype=uint32), ('c', 'a'))
    """

    def __init__(self, tokens: TokenFile, vocabulary: Vocabulary) -> None:
        ids = vocabulary.ids(tokens.vocabulary)
        ids[ids < 0] = len(vocabulary)
        self.path, self.source, self.vocabulary = tokens.path, tokens, vocabulary
        self.ids = ids.astype(np.uint32)[np.asarray(tokens.ids)]
        self.sentences, self.documents = tokens.sentences, tokens.documents

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the corpus and of the vocabulary with its counts."""
        digest = hashlib.sha256((self.source.fingerprint + self.vocabulary.fingerprint).encode())
        digest.update(np.asarray(self.vocabulary.counts).tobytes())
        return digest.hexdigest()[:16]


def choose_words(tokens: TokenFile, words: Words) -> TokenFile:
    """A corpus with the words of a list, and their counts in the corpus, or with given counts: {word: count}.

    Words of a list that the corpus does not have are left out.

    >>> from firth.text.corpus import Corpus
    >>> tokens = Corpus.of([["a", "b", "a", "c"]]).tokens()
    >>> choose_words(tokens, ["b", "a", "z"]).vocabulary.most_common(3), choose_words(tokens, {"c": 7}).vocabulary[0]
    ([('a', 2), ('b', 1)], 'c')
    """
    if isinstance(words, str):
        raise OptionError(f"the vocabulary is {words!r:.80}, but must be a list of words or their counts")
    if isinstance(words, Mapping):
        vocabulary = Vocabulary.from_counts(words)
    elif isinstance(words, Vocabulary) and words.counts is not None:
        vocabulary = words.ranked()
    else:
        ids = np.unique(tokens.vocabulary.ids(list(words)))
        vocabulary = tokens.vocabulary.take(ids[ids >= 0])
    if len(vocabulary) == 0:
        raise OptionError("the corpus has none of the words of the given vocabulary")
    if vocabulary.counts is None or (vocabulary.counts < 1).any():
        raise OptionError("a word of the given vocabulary has a count below 1")
    return MappedTokens(tokens, vocabulary)
