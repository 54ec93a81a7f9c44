"""Where a period belongs to its word, and where a sentence ends.

The table (`keys`, `values`) knows the abbreviations of `text/abbreviations.py` by the hash of their spelling without
the last period, and words that open a sentence. TITLE abbreviations are followed by a name, so no sentence ends there
(Mr.); a sentence may end after an ENDER (Inc.), when a STARTER follows (The); a NUMBERED one is an abbreviation where
the sentence goes on behind it, with a digit (No. 5), a small letter or a comma.
"""

from __future__ import annotations

from numba import njit

from firth.kernels.characters import (
    APOSTROPHE,
    AT,
    CLOSE,
    CONNECTOR,
    CURRENCY,
    DASH,
    DIGIT,
    DOT,
    ELLIPSIS,
    HAN,
    HASH,
    HYPHEN,
    LETTER,
    LINE,
    LOWER,
    MARK,
    OPEN,
    QUOTE,
    SPACE,
    STOP,
    TERMINAL,
    UNSPACED,
    UPPER,
    is_letter,
    kind_at,
    look_up,
    skip_space,
)

TITLE, ENDER, NUMBERED, STARTER = 1, 2, 3, 4
LETTER_I, BACKTICK = 0x49, 0x60


@njit(cache=True, nogil=True)
def is_starter(codes, classes, keys, values, at):
    """Whether the word at this place is one that opens sentences (The, He, However)."""
    end = at
    while is_letter(kind_at(codes, classes, end, len(codes))):
        end += 1
    return end > at + 1 and look_up(codes, at, end, keys, values) == STARTER


@njit(cache=True, nogil=True)
def is_acronym(codes, classes, start, end):
    """Whether codes[start:end] is single letters with periods between them: U.S, e.g, J.R.R."""
    letters = dots = 0
    for at in range(start, end):
        kind = classes[codes[at]]
        if kind == DOT:
            dots += 1
            letters = 0
        elif kind != MARK:
            letters += 1
            if letters > 1 or not is_letter(kind):
                return False
    return dots > 0


@njit(cache=True, nogil=True)
def keeps_initial(codes, classes, keys, values, dot, stop, wrapped):
    """Whether a single capital before this period is a name's initial, not the last word of a sentence."""
    follows = kind_at(codes, classes, dot + 1, stop)
    if follows != SPACE:
        return follows != CLOSE and follows != QUOTE
    at, broken = skip_space(codes, classes, stop, wrapped)
    if broken or is_starter(codes, classes, keys, values, at):
        return False
    if codes[dot - 1] != LETTER_I:
        return True
    return kind_at(codes, classes, at, len(codes)) == UPPER and kind_at(codes, classes, at + 1, len(codes)) == DOT


@njit(cache=True, nogil=True)
def keeps_period(codes, classes, keys, values, start, dot, stop, wrapped):
    """Whether the period at `dot`, which ends the word codes[start:dot], is a part of it: Mr., U.S., J., No. 5."""
    for at in range(dot - 1, start, -1):
        if classes[codes[at]] == HYPHEN:
            start = at + 1
            break
    if start == dot:
        return False
    letters = dot
    while letters > start + 1 and classes[codes[letters - 1]] == MARK:
        letters -= 1
    if letters == start + 1 and classes[codes[start]] == UPPER:
        return keeps_initial(codes, classes, keys, values, dot, stop, wrapped)
    if is_acronym(codes, classes, start, dot):
        return True
    known = look_up(codes, start, dot, keys, values)
    if known in (TITLE, ENDER):
        return True
    at, broken = skip_space(codes, classes, dot + 1, wrapped)
    if broken:
        return False
    if codes[at] in (0x2C, 0x3B, 0x60C, 0x61B):  # behind a comma or semicolon the sentence goes on
        return True
    single = letters == start + 1 and classes[codes[start]] == LOWER
    if single and (start == 0 or classes[codes[start - 1]] == LINE):
        return True  # the label of a list: a. b. c.
    if not single and known != NUMBERED:
        return False
    numbered = classes[codes[at]] == UPPER and kind_at(codes, classes, at + 1, len(codes)) == DIGIT
    return numbered or classes[codes[at]] in (DIGIT, LOWER, CURRENCY)


@njit(cache=True, nogil=True)
def is_closer(codes, classes, start, end):
    """Whether a token is a closing bracket or a quotation mark."""
    kind = classes[codes[start]]
    if kind in (CLOSE, QUOTE):
        return True
    return kind == APOSTROPHE and (end == start + 1 or classes[codes[end - 1]] == APOSTROPHE)


@njit(cache=True, nogil=True)
def opens_sentence(codes, classes, at, wrapped):
    """Whether a sentence can begin here: a capital, a digit, a quotation mark or a letter of a script without case."""
    for _ in range(4):
        kind = kind_at(codes, classes, at, len(codes))
        if kind in (UPPER, LETTER, DIGIT) or HAN <= kind <= UNSPACED:
            return True
        if kind in (QUOTE, AT, HASH, CURRENCY):
            return True
        code = codes[at] if at < len(codes) else SPACE
        if code == BACKTICK:
            return True
        bracket = code == 0x28 or code == 0x5B or code == 0x7B
        if kind == OPEN and not bracket:
            return True
        if not (bracket or kind in (DASH, HYPHEN, APOSTROPHE)):
            return False
        at, broken = skip_space(codes, classes, at + 1, wrapped)
        if broken:
            return False
    return False


@njit(cache=True, nogil=True)
def comes_closer(codes, classes, at, quoted, wrapped):
    """Whether a closing mark stands by itself at this place, as in text that is tokenized already."""
    kind = classes[codes[at]]
    if kind == CLOSE:
        return True
    follows = kind_at(codes, classes, at + 1, len(codes))
    if kind == APOSTROPHE:
        return follows <= LINE or follows == APOSTROPHE
    if kind != QUOTE or follows > LINE:
        return False
    return quoted or skip_space(codes, classes, at + 1, wrapped)[1]


@njit(cache=True, nogil=True)
def closes_sentence(codes, classes, keys, values, starts, ends, first, count, stop, quoted, wrapped):
    """Whether the last of the tokens first..count ends a sentence, by itself and by what follows at `stop`."""
    token = count - 1
    while token > first and is_closer(codes, classes, starts[token], ends[token]):
        token -= 1
    start, end = starts[token], ends[token]
    kind = classes[codes[start]]
    ending = classes[codes[end - 1]]
    abbreviation = ending == DOT and kind <= CONNECTOR
    if not (abbreviation or kind in (TERMINAL, STOP, ELLIPSIS) or (kind == DOT and ending == DOT)):
        return False
    at, broken = skip_space(codes, classes, stop, wrapped)
    if broken or comes_closer(codes, classes, at, quoted, wrapped):
        return False
    if abbreviation:
        known = look_up(codes, start, end - 1, keys, values)
        if known == TITLE or (known != ENDER and not is_acronym(codes, classes, start, end - 1)):
            return False
        return is_starter(codes, classes, keys, values, at)
    if kind == STOP:
        return True
    return opens_sentence(codes, classes, at, wrapped)
