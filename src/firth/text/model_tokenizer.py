"""Texts that a user passes to a model, as words. One rule holds for all models.

A string is text, and is tokenized as the text of the model was. A list of strings is tokens, which stay as they are.
A `Path` is a file, whose text is tokenized. Anything else is an OptionError.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.text.corpus import Corpus, check_list, check_not_a_file, check_words
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

Ids = NDArray[np.int64]
REMEMBERED = 1 << 14  # pieces between blanks whose words are remembered
LONGEST = 40  # characters of such a piece
TextLike = str | PathLike[str] | Iterable[str]
Sentences = Corpus | str | PathLike[str] | Iterable[TextLike]


@dataclass(frozen=True, eq=False)
class ModelTokenizer:
    """The tokenizer of a model, from its metadata. A model that names none has the standard tokenizer.

    >>> split = ModelTokenizer.of({"tokenizer": Tokenizer(normalizer=Normalizer(fold_case=True)).as_dict()})
    >>> split.words("Hot tea!"), split.words(["Hot", "tea!"])
    (['hot', 'tea', '!'], ['Hot', 'tea!'])
    >>> list(split.sentences("Hot tea. Cold rain.")), list(split.sentences(["Hot tea.", ["rain"]]))
    ([['hot', 'tea', '.'], ['cold', 'rain', '.']], [['hot', 'tea', '.'], ['rain']])

    A model of tokenized text (mode `whitespace`) does not know which program split it. It keeps the words between
    blanks that are in its vocabulary and tokenizes the others.

    >>> stored = {"tokenizer": Tokenizer(mode="whitespace").as_dict()}
    >>> ModelTokenizer.of(stored, Vocabulary(["dr_pepper", "can't"])).words("dr_pepper can't wait.")
    ['dr_pepper', "can't", 'wait', '.']
    """

    tokenizer: Tokenizer
    vocabulary: Vocabulary | None = None
    is_stored: bool = True
    normalizes_tokens: bool = False

    @classmethod
    def of(
        cls, metadata: Mapping[str, Any], vocabulary: Vocabulary | None = None, *, normalizes_tokens: bool = False
    ) -> Self:
        """The tokenizer in the metadata of a model.

        With `normalizes_tokens`, lists of tokens are normalized too, for a model that reads the characters of a word
        instead of looking it up.

        >>> fold = {"tokenizer": Tokenizer(normalizer=Normalizer(fold_case=True)).as_dict()}
        >>> ModelTokenizer.of(fold, normalizes_tokens=True).words(["Hot", "tea"])
        ['hot', 'tea']
        """
        stored = metadata.get("tokenizer") or {}
        return cls(Tokenizer.from_dict(stored), vocabulary, bool(stored), normalizes_tokens)

    @property
    def normalizer(self) -> Normalizer | None:
        """The normalizer of the words of the model; None where no tokenizer is stored, as in files of other tools."""
        return self.tokenizer.normalizer if self.is_stored else None

    def find(self, words: Sequence[str], vocabulary: Vocabulary) -> tuple[Sequence[str], Ids]:
        """The ids of words, -1 for each that is not in the vocabulary, and the words as they were found.

        A word that is not found is looked up again as the training text was normalized.
        """
        ids = vocabulary.ids(words)
        if self.normalizer is None or (ids >= 0).all():
            return words, ids
        spelled = [word if id >= 0 else self.normalizer(word) for word, id in zip(words, ids.tolist())]
        return spelled, vocabulary.ids(spelled)

    def _tokens(self, words: object, what: str, place: int | None = None) -> list[str]:
        """A list of tokens, checked and, if the model needs it, normalized. No token is split or removed."""
        tokens = check_words(words, what, place)
        normalizer = self.normalizer if self.normalizes_tokens else None
        if normalizer is None or (not normalizer.fold_case and all(map(str.isascii, tokens))):
            return tokens
        normalized = [normalizer(token) for token in tokens]
        return [new if len(new.split()) == 1 else token for token, new in zip(tokens, normalized)]

    @cached_property
    def running(self) -> Tokenizer:
        """The tokenizer of running text."""
        if self.tokenizer.mode == "running":
            return self.tokenizer
        if self.normalizer is None:
            return Tokenizer(language=self.tokenizer.language, rules=self.tokenizer.rules)
        return replace(self.tokenizer, mode="running")

    def words(self, text: TextLike) -> list[str]:
        """The words of a text, or of one sentence; a list of tokens stays as it is."""
        if isinstance(text, PathLike):
            return self.words("\n".join(Corpus(text).texts()))
        if not isinstance(text, str):
            return self._tokens(text, "the text")
        if self.tokenizer.mode == "running" or self.vocabulary is None:
            return self.running.words(text)
        pieces = self.tokenizer.words(text)
        words_of = self._split(pieces)
        return [word for piece in pieces for word in words_of[piece]]

    def _split(self, pieces: Sequence[str]) -> dict[str, Sequence[str]]:
        """The words of pieces between blanks: a piece that is in the vocabulary is one word, others are tokenized."""
        assert self.vocabulary is not None
        remembered = self._remembered
        words_of = {piece: remembered.get(piece, ()) for piece in pieces}
        new = [piece for piece, words in words_of.items() if not words]
        if new:
            known = self.vocabulary.ids(new) >= 0
            found = {piece: (piece,) if is_known else self.running.words(piece) for piece, is_known in zip(new, known)}
            words_of |= found
            if len(remembered) > REMEMBERED:
                vars(self).pop("_remembered", None)
            remembered.update({piece: words for piece, words in found.items() if len(piece) <= LONGEST})
        return words_of

    @cached_property
    def _remembered(self) -> dict[str, Sequence[str]]:
        """Pieces that were split before, since a text consists of few different ones. A full table is started again."""
        return {}

    def sentences(self, source: Sentences) -> Iterator[list[str]]:
        """The words of each sentence of a corpus, a file, a text, or a list whose items are texts or lists of tokens.

        Each item of a list is one sentence.
        """
        if isinstance(source, Corpus):
            yield from source.sentences()
        elif isinstance(source, PathLike):
            yield from Corpus(source, tokenizer=self.tokenizer).sentences()
        elif isinstance(source, str):
            check_not_a_file(source)
            for tokens in self.running.sentences(source):
                yield self.words(source[tokens[0].start : tokens[-1].end])
        else:
            check_list(source, "the sentences are")
            for place, sentence in enumerate(source):
                is_list = isinstance(sentence, (list, tuple)) or not isinstance(sentence, (str, PathLike))
                yield self._tokens(sentence, "sentence", place) if is_list else self.words(sentence)


def tokenizer_of(model: object) -> Tokenizer:
    """The tokenizer of running text of a model, or the standard one if the model stores none.

    >>> tokenizer_of(None) == Tokenizer()
    True
    """
    stored = getattr(model, "tokenizer", None)
    return stored.running if isinstance(stored, ModelTokenizer) and stored.is_stored else Tokenizer()
