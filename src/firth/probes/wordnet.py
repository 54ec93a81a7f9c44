"""WordNet's list of senses: which lemma has which, the commonest first.

The list is the file `index.sense` of WordNet 3.0. Debian has it in a package; nothing is ever downloaded.
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
USUAL = Path("/usr/share/wordnet")
POS = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}  # 5: adjectives that are near to another
CURE = (
    "Install it (apt install wordnet-base wordnet-sense-index), or name the folder that holds index.sense by "
    "FIRTH_WORDNET or by the option wordnet. With wordnet='none' lemmas that SemCor does not have stay without answer"
)


class Lexeme(NamedTuple):
    """A lemma and its part of speech: NOUN, VERB, ADJ or ADV."""

    lemma: str
    pos: str


def lexeme_of(key: str) -> Lexeme:
    """What a sense key is a sense of.

    >>> lexeme_of("play%1:10:01::"), lexeme_of("peculiar%5:00:00:specific:00")
    (Lexeme(lemma='play', pos='NOUN'), Lexeme(lemma='peculiar', pos='ADJ'))
    """
    lemma, mark, rest = key.rpartition("%")
    if not mark or rest[:1] not in POS or rest[1:2] != ":":
        raise OptionError(f"{key!r} is no sense key, such as play%1:10:01::")
    return Lexeme(lemma, POS[rest[0]])


@dataclass(frozen=True)
class WordNet:
    """The number of each sense among those of its lexeme, from 1, and the first sense of each lexeme.

    >>> found = WordNet.of([("play%1:10:01::", 1), ("play%1:04:05::", 2)])
    >>> found.first[Lexeme("play", "NOUN")], found.numbers["play%1:04:05::"]
    ('play%1:10:01::', 2)
    """

    numbers: dict[str, int]
    first: dict[Lexeme, str]

    @classmethod
    def of(cls, senses: Iterable[tuple[str, int]]) -> WordNet:
        """From senses and their numbers."""
        numbers = dict(senses)
        return cls(numbers, {lexeme_of(key): key for key, number in numbers.items() if number == 1})

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> WordNet:
        """The list in a folder."""
        path = Path(folder) / INDEX
        if not path.is_file():
            raise OptionError(f"{folder}: WordNet's {INDEX} is not there. {CURE}")
        senses = []
        with open_bytes(path) as file:
            for line, raw in enumerate(file, 1):
                fields = raw.decode("utf-8", "replace").split()
                if len(fields) != 4 or not fields[2].isdecimal():
                    problem = "expected a sense key, an offset, the number of the sense and a count"
                    raise FormatError(path, problem, line=line)
                senses.append((fields[0], int(fields[2])))
        return cls.of(senses)


def find_wordnet(named: str) -> WordNet | None:
    """WordNet in a folder; "auto": that of FIRTH_WORDNET, or where Debian puts it; "none": nothing."""
    if named == "none":
        return None
    if named != "auto":
        return WordNet.read(named)
    return WordNet.read(os.environ.get("FIRTH_WORDNET") or USUAL)
