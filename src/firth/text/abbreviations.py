"""Abbreviations, which keep their period, and words that begin a sentence after an abbreviation."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from firth.kernels import characters as characters_kernel
from firth.kernels import sentences as kernel

# Titles and other abbreviations that never end a sentence.
TITLES = """
Mr Mrs Ms Mx Dr Drs Prof Profs St Ste Messrs Mme Mlle Gen Col Lt Capt Cmdr Cpl Sgt Pvt Maj Adm Brig Sen Rep Reps Gov
Pres Rev Hon Msgr Supt Insp Det Amb Atty Mt Ft Pt Ph Hr Fr Sra Srta Dra Dña Ud Uds Nr Str Bro Jos Wm Chas Geo
Thos Jas Robt Alex Edw Ste Sts v vs cf viz approx e.g i.e eg ie ca esp incl resp bzw vgl usw z.B d.h m.a.W Ph.D ibid
"""

# Abbreviations that end a sentence if the next word is in STARTERS.
ENDERS = """
Jr Sr Inc Corp Ltd Co Cos Bros LLC Assn Univ Inst Dept Dist Esq M.Sc B.Sc Ed.D Ala Ariz Ark Calif Colo Conn Del
Fla Ill Ind Kan Ky La Md Mich Minn Mo Mont Neb Nev Okla Ore Pa Penn Tenn Tex Va Vt Wash Wis Wyo Jan Feb Apr Jun Jul
Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thurs Fri Ave Blvd Rd Hwy etc al etal spp sp var subsp ssp ft hr hrs min
mins sec secs sq tel ext est mfg intl natl dept govt lb lbs oz mph rpm a.m p.m
"""

# Abbreviations only if the sentence goes on; elsewhere their period ends it.
NUMBERED = """
no nos No Nos art Art fig figs Fig Figs vol vols Vol Vols ch chs Ch chap Chap p pp Pp ed eds op Op n vv ver Ver sec
Sec sect Sect Mar Sun Sat pt Pt par para Par eq eqs Eq Eqs ref refs Ref Refs lit long lat max min Jn Gen Matt c b d r
fl pl col cols ff ll l
"""

STARTERS = """
The This That These Those There Then They Their Thus Though Through Throughout Today Therefore To Too Two Three He Her
His Him Hers How However Here Hence She So Some Since Soon Several Such Similarly Still Subsequently It Its In If Into
Initially Indeed Instead Is We What When Where Which While Who Why With Within Without Was Were Will Would You Your
An And Are As At After Although All Also Among Another Any Around Additionally Afterwards Both But By Because Before
Being Between Beginning Currently Critics During Despite Due Do Does Did Each Early Eventually Even Every Finally
First For From Following Further Furthermore Later Like Many Meanwhile More Moreover Most Much My Nevertheless No Not
Now Nor On Once One Only Or Other Others Our Over Of Originally People Perhaps Prior Rather Recently Under Until Unlike
Up Upon Yet
"""


def _spellings(word: str) -> set[str]:
    if word[0].isupper():
        return {word, word.upper()}
    return {word, word[0].upper() + word[1:], word.upper()}


@cache
def abbreviation_table(more: tuple[str, ...] = ()) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """The hash table of the kernel: the hash of the code points of each word, and the kind of the word.

    >>> keys, values = abbreviation_table(("Bhf.",))
    >>> keys.shape == values.shape
    True
    """
    known = dict.fromkeys(STARTERS.split(), kernel.STARTER)
    for words, kind in ((NUMBERED, kernel.NUMBERED), (ENDERS, kernel.ENDER), (TITLES, kernel.TITLE)):
        for word in words.split():
            known |= dict.fromkeys({word} if kind == kernel.NUMBERED else _spellings(word), kind)
    for word in more:
        known |= dict.fromkeys(_spellings(word.rstrip(".")), kernel.ENDER)
    size = 1 << (4 * len(known)).bit_length()
    keys, values = np.zeros(size, np.uint64), np.zeros(size, np.uint8)
    for word, kind in known.items():
        codes = np.array([ord(letter) for letter in word], np.uint32)
        key = int(characters_kernel.hash_codes(codes, 0, len(codes)))
        slot = (key >> 20) & (size - 1)
        while keys[slot]:
            slot = (slot + 1) & (size - 1)
        keys[slot], values[slot] = key, kind
    return keys, values
