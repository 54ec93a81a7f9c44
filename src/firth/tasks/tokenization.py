"""Tokenization for tasks: files and user input go through the same tokenizer, so that words are spelled alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

Letters = Literal["keep", "persian", "arabic"]


LETTERS = "Normalize letters and digits for Persian or Arabic."
SEGMENT = (
    "Split running text without spaces, such as Chinese, into words: icu, jieba, sudachi, kiwi or pythainlp, or the "
    "folder of a segmenter."
)


@cache
def make_tokenizer(letters: Letters, segment: str | None = None) -> Tokenizer:
    """The tokenizer of running text, with the normalizer of a script and a segmenter.

    >>> make_tokenizer("persian").words("كتاب علي")
    ['کتاب', 'علی']
    """
    normalizers: dict[Letters, Callable[[], Normalizer]] = {
        "keep": Normalizer,
        "persian": Normalizer.persian,
        "arabic": Normalizer.arabic,
    }
    return Tokenizer(normalizer=normalizers[letters](), segment=segment)


def normalize_words(words: Sequence[str], letters: Letters) -> list[str]:
    """Tokens of a file with their letters normalized. No token is removed or split further.

    >>> normalize_words(["كتاب", "80", "Tea"], "persian"), normalize_words(["كتاب"], "keep")
    (['کتاب', '۸۰', 'Tea'], ['كتاب'])
    """
    if letters == "keep":
        return list(words)
    normalizer = make_tokenizer(letters).normalizer
    assert normalizer is not None
    normalized = [normalizer(word) for word in words]
    return [word if len(new.split()) != 1 else new for word, new in zip(words, normalized)]
