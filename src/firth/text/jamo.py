"""Hangul syllables as jamo, the letters of Korean: three for each syllable.

하 and 한 are two characters that share no letter; as jamo they share the first two. Inflected forms of a Korean word
often differ in the last jamo of a syllable, so n-grams of jamo find more of what they have in common (Park et al.,
2018).
"""

from __future__ import annotations

import re

SYLLABLE = re.compile("[가-힣]")
FIRST, INITIALS, VOWELS, FINALS = 0xAC00, 0x1100, 0x1161, 0x11A7  # Unicode's arithmetic of Hangul
VOWEL_COUNT, FINAL_COUNT = 21, 28


def spell_jamo(word: str) -> str:
    """The word with each Hangul syllable as an initial, a vowel and a final; U+11A7 stands for no final.

    Other characters stay as they are.

    >>> [spell_jamo("가각a")[at] for at in (0, 3)], len(spell_jamo("가각a")), spell_jamo("가")[2] == chr(FINALS)
    (['ᄀ', 'ᄀ'], 7, True)
    """
    return SYLLABLE.sub(_split_syllable, word)


def _split_syllable(match: re.Match[str]) -> str:
    number = ord(match[0]) - FIRST
    initial, rest = divmod(number, VOWEL_COUNT * FINAL_COUNT)
    vowel, final = divmod(rest, FINAL_COUNT)
    return chr(INITIALS + initial) + chr(VOWELS + vowel) + chr(FINALS + final)
