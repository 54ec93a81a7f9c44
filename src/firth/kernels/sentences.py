"""Decide whether a period belongs to its word and where a sentence ends.

The hash table (`keys`, `values`) contains the abbreviations of `text/abbreviations.py`, without the last period, and
words that start a sentence. A TITLE (Mr.) precedes a name, so no sentence ends after it. A sentence ends after an ENDER
(Inc.) if a STARTER (The) follows. A NUMBERED word is an abbreviation if a digit (No. 5), a lower-case letter or a comma
follows.
"""

from __future__ import annotations

from numba import njit

from firth.kernels import characters as chars
from firth.kernels.characters import is_letter, kind_at, look_up, skip_space

TITLE, ENDER, NUMBERED, STARTER = 1, 2, 3, 4
LETTER_I, BACKTICK = 0x49, 0x60


@njit(cache=True, nogil=True)
def is_starter(codes, classes, keys, values, at):
    """Whether the word at `at` is a STARTER (The, He, However)."""
    end = at
    while is_letter(kind_at(codes, classes, end, len(codes))):
        end += 1
    return end > at + 1 and look_up(codes, at, end, keys, values) == STARTER


@njit(cache=True, nogil=True)
def is_acronym(codes, classes, start, end):
    """Whether codes[start:end] is single letters separated by periods: U.S, e.g, J.R.R"""
    letters = dots = 0
    for at in range(start, end):
        kind = classes[codes[at]]
        if kind == chars.DOT:
            dots += 1
            letters = 0
        elif kind != chars.MARK:
            letters += 1
            if letters > 1 or not is_letter(kind):
                return False
    return dots > 0


@njit(cache=True, nogil=True)
def keeps_initial(codes, classes, keys, values, dot, stop, wrapped):
    """Whether the single capital before the period at `dot` is an initial and not the last word of a sentence."""
    next_kind = kind_at(codes, classes, dot + 1, stop)
    if next_kind != chars.SPACE:
        return next_kind != chars.CLOSE and next_kind != chars.QUOTE
    at, broken = skip_space(codes, classes, stop, wrapped)
    if broken or is_starter(codes, classes, keys, values, at):
        return False
    if codes[dot - 1] != LETTER_I:
        return True
    kind, next_kind = kind_at(codes, classes, at, len(codes)), kind_at(codes, classes, at + 1, len(codes))
    return kind == chars.UPPER and next_kind == chars.DOT


@njit(cache=True, nogil=True)
def keeps_period(codes, classes, keys, values, start, dot, stop, wrapped):
    """Whether the period at `dot` belongs to the word codes[start:dot]: Mr., U.S., J., No. 5."""
    for at in range(dot - 1, start, -1):
        if classes[codes[at]] == chars.HYPHEN:
            start = at + 1
            break
    if start == dot:
        return False
    letters = dot
    while letters > start + 1 and classes[codes[letters - 1]] == chars.MARK:
        letters -= 1
    if letters == start + 1 and classes[codes[start]] == chars.UPPER:
        return keeps_initial(codes, classes, keys, values, dot, stop, wrapped)
    if is_acronym(codes, classes, start, dot):
        return True
    entry = look_up(codes, start, dot, keys, values)
    if entry in (TITLE, ENDER):
        return True
    at, broken = skip_space(codes, classes, dot + 1, wrapped)
    if broken:
        return False
    if codes[at] in (0x2C, 0x3B, 0x60C, 0x61B):  # the sentence continues after a comma or semicolon
        return True
    single = letters == start + 1 and classes[codes[start]] == chars.LOWER
    if single and (start == 0 or classes[codes[start - 1]] == chars.LINE):
        return True  # the label of a list: a. b. c.
    if not single and entry != NUMBERED:
        return False
    numbered = classes[codes[at]] == chars.UPPER and kind_at(codes, classes, at + 1, len(codes)) == chars.DIGIT
    return numbered or classes[codes[at]] in (chars.DIGIT, chars.LOWER, chars.CURRENCY)


@njit(cache=True, nogil=True)
def is_closer(codes, classes, start, end):
    """Whether a token is a closing bracket or a quotation mark."""
    kind = classes[codes[start]]
    if kind in (chars.CLOSE, chars.QUOTE):
        return True
    return kind == chars.APOSTROPHE and (end == start + 1 or classes[codes[end - 1]] == chars.APOSTROPHE)


@njit(cache=True, nogil=True)
def opens_sentence(codes, classes, at, wrapped):
    """Whether a sentence can start at `at`: a capital, a digit, a quotation mark or a letter without case."""
    for _ in range(4):
        kind = kind_at(codes, classes, at, len(codes))
        if kind in (chars.UPPER, chars.LETTER, chars.DIGIT) or chars.HAN <= kind <= chars.UNSPACED:
            return True
        if kind in (chars.QUOTE, chars.AT, chars.HASH, chars.CURRENCY):
            return True
        code = codes[at] if at < len(codes) else chars.SPACE
        if code == BACKTICK:
            return True
        bracket = code == 0x28 or code == 0x5B or code == 0x7B
        if kind == chars.OPEN and not bracket:
            return True
        if not (bracket or kind in (chars.DASH, chars.HYPHEN, chars.APOSTROPHE)):
            return False
        at, broken = skip_space(codes, classes, at + 1, wrapped)
        if broken:
            return False
    return False


@njit(cache=True, nogil=True)
def is_separate_closer(codes, classes, at, quoted, wrapped):
    """Whether a closing mark at `at` is separated by spaces, as in tokenized text."""
    kind = classes[codes[at]]
    if kind == chars.CLOSE:
        return True
    next_kind = kind_at(codes, classes, at + 1, len(codes))
    if kind == chars.APOSTROPHE:
        return next_kind <= chars.LINE or next_kind == chars.APOSTROPHE
    if kind != chars.QUOTE or next_kind > chars.LINE:
        return False
    return quoted or skip_space(codes, classes, at + 1, wrapped)[1]


@njit(cache=True, nogil=True)
def closes_sentence(codes, classes, keys, values, starts, ends, first, count, stop, quoted, wrapped):
    """Whether the last of the tokens first … count - 1 ends a sentence, given the text from `stop` on."""
    token = count - 1
    while token > first and is_closer(codes, classes, starts[token], ends[token]):
        token -= 1
    start, end = starts[token], ends[token]
    kind = classes[codes[start]]
    ending = classes[codes[end - 1]]
    abbreviation = ending == chars.DOT and kind <= chars.CONNECTOR
    dots = kind == chars.DOT and ending == chars.DOT
    if not (abbreviation or dots or kind in (chars.TERMINAL, chars.STOP, chars.ELLIPSIS)):
        return False
    at, broken = skip_space(codes, classes, stop, wrapped)
    if broken or is_separate_closer(codes, classes, at, quoted, wrapped):
        return False
    if abbreviation:
        entry = look_up(codes, start, end - 1, keys, values)
        if entry == TITLE or (entry != ENDER and not is_acronym(codes, classes, start, end - 1)):
            return False
        return is_starter(codes, classes, keys, values, at)
    if kind == chars.STOP:
        return True
    return opens_sentence(codes, classes, at, wrapped)
