"""Tokenization for tasks: files and user input go through the same tokenizer, so that words are spelled alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Literal

from firth.text.model_tokenizer import ModelTokenizer, TextLike
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

Letters = Literal["keep", "persian", "arabic"]


def make_tokenizer(letters: Letters) -> Tokenizer:
    """The tokenizer of running text, with the normalizer of a script.

    >>> make_tokenizer("persian").words("كتاب علي")
    ['کتاب', 'علی']
    """
    if letters == "keep":
        return Tokenizer()
    return Tokenizer(normalizer=Normalizer.persian() if letters == "persian" else Normalizer.arabic())


def split_words(text: TextLike, tokenizer: Tokenizer) -> tuple[str, ...]:
    """The words of a text; a list of tokens stays as it is.

    >>> split_words("It's late.", Tokenizer()), split_words(["It", "is"], Tokenizer())
    (('It', "'s", 'late', '.'), ('It', 'is'))
    """
    return tuple(ModelTokenizer(tokenizer).words(text))


def split_sentences(texts: Iterable[TextLike], tokenizer: Tokenizer) -> list[tuple[str, ...]]:
    """The words of each sentence of the texts. A list of tokens is one sentence.

    >>> split_sentences(["Tea? Yes.", ["No", "?"]], Tokenizer())
    [('Tea', '?'), ('Yes', '.'), ('No', '?')]
    """
    split = ModelTokenizer(tokenizer)
    sentences: list[tuple[str, ...]] = []
    for text in texts:
        lists = split.sentences(text if isinstance(text, (str, PathLike)) else [text])
        sentences += map(tuple, lists)
    return sentences


def normalize_words(words: Sequence[str], letters: Letters) -> list[str]:
    """Tokens of a file with their letters normalized. No token is removed or split further.

    >>> normalize_words(["كتاب", "80", "Tea"], "persian"), normalize_words(["كتاب"], "keep")
    (['کتاب', '۸۰', 'Tea'], ['كتاب'])
    """
    normalizer = make_tokenizer(letters).normalizer
    if letters == "keep" or normalizer is None:
        return list(words)
    normalized = [normalizer(word) for word in words]
    return [word if len(new.split()) != 1 else new for word, new in zip(words, normalized)]
