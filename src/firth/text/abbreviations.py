"""Abbreviations, which keep their period, and words that begin a sentence after an abbreviation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from firth.kernels import sentences as kernel
from firth.text.languages import ARABIC_CONTINUERS, PERSIAN_CONTINUERS, WORDS
from firth.text.word_table import make_table

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


# In English a variety (var. alba), in Turkish "there is": no abbreviation before a capital.
AMBIGUOUS = "var"


def _entries(language: str) -> Iterator[tuple[int, str, bool]]:
    """The lists of a language: the value of their words, the words, and whether other spellings count, too."""
    if language in WORDS:
        lists = WORDS[language]
        yield kernel.STARTER, lists.starters, False
        yield kernel.NUMBERED, lists.numbered, False
        yield kernel.ENDER, lists.enders, True
        yield kernel.TITLE, lists.titles, True
        yield kernel.ELIDED, lists.elided, True
        yield kernel.CLITIC, lists.clitics, False
        yield kernel.WHOLE, lists.whole, False
        yield kernel.CONTINUER, lists.continuers, False
        return
    yield kernel.STARTER, STARTERS, False
    yield kernel.NUMBERED, NUMBERED, False
    yield kernel.ENDER, ENDERS, True
    yield kernel.TITLE, TITLES, True
    if language != "first":
        yield kernel.AMBIGUOUS, AMBIGUOUS, True
        yield kernel.CONTINUER, f"{PERSIAN_CONTINUERS} {ARABIC_CONTINUERS}", False


@cache
def abbreviation_table(
    more: tuple[str, ...] = (), language: str = "any"
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """The hash table of the kernel: the hash of the code points of each word, and the kind of the word.

    The language "first" has the words of the first version of the rules.

    >>> keys, values = abbreviation_table(("Bhf.",))
    >>> keys.shape == values.shape
    True
    """
    known: dict[str, int] = {}
    for value, words, spelled in _entries(language):
        for word in words.split():
            for spelling in _spellings(word) if spelled else (word,):
                replaced = kernel.KINDS if value <= kernel.KINDS else 0
                known[spelling] = known.get(spelling, 0) & ~replaced | value
    for word in more:
        for spelling in _spellings(word.rstrip(".")):
            known[spelling] = known.get(spelling, 0) & ~kernel.KINDS | kernel.ENDER
    return make_table(known)
