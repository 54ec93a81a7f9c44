"""WordNet's sense index: the senses of each lemma, the most frequent first.

The index is the file `index.sense` of WordNet 3.0. Debian has a package with it; nothing is downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from firth.errors import FormatError, OptionError
from firth.files import open_bytes

INDEX = "index.sense"
DEFAULT = Path("/usr/share/wordnet")
POS = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}  # 5: satellite adjectives
CURE = (
    "Install it (apt install wordnet-base wordnet-sense-index), or set FIRTH_WORDNET or the option wordnet to the "
    "folder of index.sense. With wordnet='none', lemmas that are not in SemCor get no answer"
)


class Lexeme(NamedTuple):
    """A lemma and its part of speech: NOUN, VERB, ADJ or ADV."""

    lemma: str
    pos: str


def lexeme_of(key: str) -> Lexeme:
    """The lexeme of a sense key.

    >>> lexeme_of("play%1:10:01::"), lexeme_of("peculiar%5:00:00:specific:00")
    (Lexeme(lemma='play', pos='NOUN'), Lexeme(lemma='peculiar', pos='ADJ'))
    """
    lemma, percent, rest = key.rpartition("%")
    if not percent or rest[:1] not in POS or rest[1:2] != ":":
        raise OptionError(f"{key!r} is not a sense key, such as play%1:10:01::")
    return Lexeme(lemma, POS[rest[0]])


@dataclass(frozen=True)
class WordNet:
    """The rank of each sense among the senses of its lexeme, from 1, and the first sense of each lexeme.

    >>> wordnet = WordNet.of([("play%1:10:01::", 1), ("play%1:04:05::", 2)])
    >>> wordnet.first[Lexeme("play", "NOUN")], wordnet.numbers["play%1:04:05::"]
    ('play%1:10:01::', 2)
    """

    numbers: dict[str, int]
    first: dict[Lexeme, str]

    @classmethod
    def of(cls, senses: Iterable[tuple[str, int]]) -> WordNet:
        """An index of sense keys and their ranks."""
        numbers = dict(senses)
        return cls(numbers, {lexeme_of(key): key for key, number in numbers.items() if number == 1})

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> WordNet:
        """The index in a folder."""
        path = Path(folder) / INDEX
        if not path.is_file():
            raise OptionError(f"{folder}: WordNet's {INDEX} is missing. {CURE}")
        senses = []
        with open_bytes(path) as file:
            for line, raw in enumerate(file, 1):
                fields = raw.decode("utf-8", "replace").split()
                if len(fields) != 4 or not fields[2].isdecimal() or len(fields[2]) > 9:
                    problem = "expected a sense key, an offset, a sense number and a count"
                    raise FormatError(path, problem, line=line)
                senses.append((fields[0], int(fields[2])))
        return cls.of(senses)


def find_wordnet(folder: str) -> WordNet | None:
    """WordNet in a folder; "auto": the folder FIRTH_WORDNET, or Debian's default folder; "none": no WordNet."""
    if folder == "none":
        return None
    if folder != "auto":
        return WordNet.read(folder)
    return WordNet.read(os.environ.get("FIRTH_WORDNET") or DEFAULT)
