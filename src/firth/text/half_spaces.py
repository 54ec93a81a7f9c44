"""Half-spaces of Persian: می روم, typed with a blank, is the one word می‌روم.

The word lists are made from stems and endings. A prefix joins known forms of verbs only: می is also a noun, "wine".
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray

from firth.kernels import half_spaces as kernel
from firth.text import persian_words as persian
from firth.text.code_points import Codes, code_points, to_text
from firth.text.word_table import Table, make_table

Actions = NDArray[np.uint8]
ZWNJ = "\u200c"


@cache
def word_table() -> Table:
    """The words that decide: what each of them does, as bits."""
    known: dict[str, int] = {}
    for words, value in (
        (persian.PREFIXES, kernel.PREFIX),
        (persian.SUFFIXES, kernel.SUFFIX),
        (persian.COMPARATIVES, kernel.COMPARATIVE),
        (persian.WET, kernel.WET),
        (persian.NEVER, kernel.NEVER),
        (persian.ENDINGS, kernel.ENDING),
        (persian.PARTS, kernel.PART),
        (" ".join(compound.partition(ZWNJ)[0] for compound in compounds()), kernel.FIRST),
    ):
        for word in words.split():
            known[word] = known.get(word, 0) | value
    return make_table(known)


@cache
def form_table() -> Table:
    """The forms of verbs, and the compounds with a half-space between their parts."""
    forms = itertools.product(persian.PRESENT.split(), persian.PRESENT_ENDINGS, persian.OBJECTS)
    past_forms = itertools.product(persian.PAST.split(), persian.PAST_ENDINGS, persian.OBJECTS)
    verbs = dict.fromkeys(map("".join, (*forms, *past_forms)), kernel.VERB)
    verbs |= dict.fromkeys(persian.OTHER_VERBS.split(), kernel.VERB)
    return make_table(verbs | dict.fromkeys(compounds(), kernel.PAIR))


@cache
def compounds() -> frozenset[str]:
    """The compounds, with their endings.

    >>> "دانش\u200cآموزان" in compounds()
    True
    """
    words = [f"{first}{ZWNJ}{word}" for first, others in persian.COMPOUNDS.items() for word in others.split()]
    words += [word.replace("-", ZWNJ) for word in persian.OTHER_COMPOUNDS.split()]
    return frozenset(map("".join, itertools.product(words, persian.COMPOUND_ENDINGS)))


def find_joins(codes: Codes) -> Actions | None:
    """What becomes of each character of a Persian text; None if all stay.

    >>> find_joins(code_points("می روم")).tolist()
    [0, 0, 2, 0, 0, 0]
    """
    actions = np.zeros(len(codes), np.uint8)
    return actions if kernel.find_joins(codes, *word_table(), *form_table(), actions) else None


def join_words(text: str) -> str:
    """The text with half-spaces in words that are typed with blanks.

    >>> join_words("می روم") == "می\u200cروم"
    True
    """
    codes = code_points(text)
    actions = find_joins(codes)
    if actions is None:
        return text
    out = np.empty(len(codes), np.uint32)
    return to_text(out[: kernel.apply_joins(codes, actions, out)])


def join_words_aligned(text: str) -> tuple[str, NDArray[np.int64]]:
    """As `join_words`, with the offset of each character in the source, and of the end."""
    actions = find_joins(code_points(text))
    if actions is None:
        return text, np.arange(len(text) + 1)
    return join_words(text), np.flatnonzero(np.append(actions, kernel.KEEP) != kernel.DELETE)
