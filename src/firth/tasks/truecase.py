"""Truecasing: the usual case of words in text that is written in capitals, in lower case, or as a headline.

Models that were trained on edited text rely on capital letters. The usual form of a word is the one of its three
spellings (tea, Tea, TEA) that is the most frequent in a vocabulary with case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from firth.text.vocabulary import Vocabulary

Words = tuple[str, ...]
Case = Literal["mixed", "lower", "upper", "title"]
FEWEST, FEWEST_IN_TITLE = 3, 4  # words with letters from which the case of a text can be told
STOPS = (".", "!", "?", ";", ":", ",", "…")
SMALL = frozenset(  # words without a capital in headlines
    (
        *("a", "an", "and", "as", "at", "but", "by", "for", "from", "if", "in", "into", "nor", "of", "off", "on", "or"),
        *("over", "per", "so", "than", "the", "to", "up", "via", "with"),
    )
)


def find_case(sentences: Sequence[Words]) -> Case:
    """The case of a text: mixed, as in edited text, or one of three that say little.

    >>> [find_case([tuple(text.split())]) for text in ("we saw Rome", "i saw rome", "WE SAW ROME", "We Saw Old Rome")]
    ['mixed', 'lower', 'upper', 'title']
    >>> find_case([("hello",)]), find_case([("NASA",)])
    ('mixed', 'mixed')
    """
    words = [word for words in sentences for word in words if word.upper() != word.lower()]
    if len(words) < FEWEST:
        return "mixed"
    if all(word.islower() or word == "I" for word in words):
        return "lower"
    if all(word.isupper() for word in words):
        return "upper"
    return "title" if _is_headline(sentences, words) else "mixed"


def _is_headline(sentences: Sequence[Words], words: Sequence[str]) -> bool:
    """Whether a text is one sentence without a final stop, and all its words but prepositions begin with a capital."""
    if len(words) < FEWEST_IN_TITLE or len(sentences) != 1 or sentences[0][-1] in STOPS:
        return False
    small = sum(word in SMALL for word in words)
    return all(word[0].isupper() or word in SMALL for word in words) and len(words) - small >= FEWEST_IN_TITLE - 1


def has_case(words: Iterable[str]) -> bool:
    """Whether some words have capital letters, as those of a vocabulary with case do.

    >>> has_case(["the", "of", "Rome"]), has_case(["the", "rome"])
    (True, False)
    """
    return any(word != word.lower() for word in words)


@dataclass(frozen=True)
class Truecaser:
    """Restores case by the ranks of words in vocabularies whose words are ordered by frequency.

    >>> truecaser = Truecaser((Vocabulary(["the", "Rome", "saw", "I", "rome", "dog"]),))
    >>> truecaser.restore([("the", "dog", "saw", "rome"), ("i", "saw", "zork")])
    [('The', 'dog', 'saw', 'Rome'), ('I', 'saw', 'zork')]
    >>> truecaser.restore([("THE", "DOG", "SAW", "ZORK", "!")])
    [('The', 'dog', 'saw', 'zork', '!')]
    """

    vocabularies: tuple[Vocabulary, ...]

    def restore(self, sentences: Sequence[Words]) -> list[Words]:
        """The sentences of a text with the usual case of their words; edited text stays as it is."""
        case = find_case(sentences)
        if not self.vocabularies or case == "mixed":
            return list(sentences)
        return [
            capitalize_first(tuple(self.usual_form(word, keep_unknown=case == "title") for word in words))
            for words in sentences
        ]

    def usual_form(self, word: str, *, keep_unknown: bool = False) -> str:
        """The most frequent spelling of a word; an unknown word is kept, or has lower case."""
        forms = dict.fromkeys((word.lower(), word.capitalize(), word.upper()))
        ranked = [(rank, form) for form in forms if (rank := self._rank(form)) is not None]
        if ranked:
            return min(ranked)[1]
        return word if keep_unknown else word.lower()

    def _rank(self, form: str) -> int | None:
        ranks = [rank for vocabulary in self.vocabularies if (rank := vocabulary.find(form)) >= 0]
        return min(ranks, default=None)


def capitalize_first(words: Words) -> Words:
    """The words of a sentence, the first with a capital letter.

    >>> capitalize_first(("tea", "!")), capitalize_first(())
    (('Tea', '!'), ())
    """
    return (words[0][:1].upper() + words[0][1:], *words[1:]) if words else words
