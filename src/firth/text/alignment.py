"""Changes of a text that remember where every character came from.

Each function returns the changed text and an int64 array of its length + 1: the place in the text before for each
character, and for the end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
ASSIGNED = 0x32000
HANGUL_VOWELS_AND_FINALS = range(0x1161, 0x11C3)


def replace(text: str, parts: Sequence[str]) -> tuple[str, Ids]:
    """The parts, one for each character of the text, joined.

    >>> replace("abc", ["a", "", "xy"])
    ('axy', array([0, 2, 2, 3]))
    """
    lengths = [len(part) for part in parts]
    return "".join(parts), np.append(np.repeat(np.arange(len(parts)), lengths), len(text))


def remove(text: str, pattern: re.Pattern[str]) -> tuple[str, Ids]:
    """The text without what the pattern finds.

    >>> remove("a--b", re.compile("-+"))
    ('ab', array([0, 3, 4]))
    """
    kept = np.ones(len(text) + 1, bool)
    for match in pattern.finditer(text):
        kept[match.start() : match.end()] = False
    return pattern.sub("", text), np.flatnonzero(kept)


def compose(text: str) -> tuple[str, Ids]:
    """The text in Unicode's composed form (NFC). A composed letter comes from the first of its parts.

    >>> compose("e\\u0301a")
    ('éa', array([0, 2, 3]))
    """
    if unicodedata.is_normalized("NFC", text):
        return text, np.arange(len(text) + 1)
    pieces, offsets = [], []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and (unicodedata.combining(text[end]) or text[end] in combining_characters()):
            continue
        piece = unicodedata.normalize("NFC", text[start:end])
        pieces.append(piece)
        offsets += _origins(text[start:end], piece, start)
        start = end
    return "".join(pieces), np.array([*offsets, len(text)], np.int64)


def _origins(source: str, piece: str, start: int) -> list[int]:
    """Where each character of a composed piece came from; never falling, though marks may change places."""
    if len(source) == 1 or source == piece:
        return [start + min(i, len(source) - 1) for i in range(len(piece))]
    atoms = [(atom, start + i) for i, letter in enumerate(source) for atom in unicodedata.normalize("NFD", letter)]
    origins = []
    for letter in piece:
        places = []
        for atom in unicodedata.normalize("NFD", letter):
            index = next(i for i, (other, _) in enumerate(atoms) if other == atom)
            places.append(atoms.pop(index)[1])
        origins.append(min(places))
    for i in range(len(origins) - 2, -1, -1):
        origins[i] = min(origins[i], origins[i + 1])
    return origins


@cache
def combining_characters() -> frozenset[str]:
    """The characters that can melt into the one before them without being combining marks, or with it."""
    found = {chr(code) for code in HANGUL_VOWELS_AND_FINALS}
    for code in range(ASSIGNED):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)
