"""Edits of a text with the offset of every character in the original.

Each function returns the new text and an int64 array of its length + 1: the offset in the original text of each
character, and of the end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
ASSIGNED = 0x32000
HANGUL_VOWELS_AND_FINALS = range(0x1161, 0x11C3)


def replace(text: str, parts: Sequence[str]) -> tuple[str, Ids]:
    """Replaces each character of the text by its part.

    >>> replace("abc", ["a", "", "xy"])
    ('axy', array([0, 2, 2, 3]))
    """
    lengths = [len(part) for part in parts]
    return "".join(parts), np.append(np.repeat(np.arange(len(parts)), lengths), len(text))


def remove(text: str, pattern: re.Pattern[str]) -> tuple[str, Ids]:
    """Removes the matches of a pattern.

    >>> remove("a--b", re.compile("-+"))
    ('ab', array([0, 3, 4]))
    """
    mask = np.ones(len(text) + 1, bool)
    for match in pattern.finditer(text):
        mask[match.start() : match.end()] = False
    return pattern.sub("", text), np.flatnonzero(mask)


def compose(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> tuple[str, Ids]:
    """The text in NFC or NFKC. A composed character has the offset of the first of its parts.

    >>> compose("e\\u0301a"), compose("ｶﾞﾁ", "NFKC")
    (('éa', array([0, 2, 3])), ('ガチ', array([0, 2, 3])))
    """
    if unicodedata.is_normalized(form, text):
        return text, np.arange(len(text) + 1)
    pieces, offsets = [], []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _combines(text[end], form):
            continue
        piece = unicodedata.normalize(form, text[start:end])
        pieces.append(piece)
        offsets += _origins(text[start:end], piece, start, "NFD" if form == "NFC" else "NFKD")
        start = end
    return "".join(pieces), np.array([*offsets, len(text)], np.int64)


def _combines(letter: str, form: Literal["NFC", "NFKC"]) -> bool:
    """Whether a character may compose with the one before it."""
    first = letter if form == "NFC" else unicodedata.normalize("NFKD", letter)[0]
    return bool(unicodedata.combining(first)) or first in combining_characters()


def _origins(source: str, piece: str, start: int, atoms_form: Literal["NFD", "NFKD"]) -> list[int]:
    """The offset of each character of a composed piece; never decreasing, though NFC may reorder marks."""
    if len(source) == 1 or source == piece:
        return [start + min(i, len(source) - 1) for i in range(len(piece))]
    atoms = [(atom, start + i) for i, letter in enumerate(source) for atom in unicodedata.normalize(atoms_form, letter)]
    origins = []
    for letter in piece:
        places = []
        for atom in unicodedata.normalize(atoms_form, letter):
            index = next(i for i, (other, _) in enumerate(atoms) if other == atom)
            places.append(atoms.pop(index)[1])
        origins.append(min(places))
    for i in range(len(origins) - 2, -1, -1):
        origins[i] = min(origins[i], origins[i + 1])
    return origins


@cache
def combining_characters() -> frozenset[str]:
    """The characters that NFC can compose with the one before them, combining marks or not."""
    characters = {chr(code) for code in HANGUL_VOWELS_AND_FINALS}
    for code in range(ASSIGNED):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            characters.add(chr(int(parts[1], 16)))
    return frozenset(characters)
