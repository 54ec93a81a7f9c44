"""Decide whether a period belongs to its word and where a sentence ends.

The hash table (`keys`, `values`) contains the abbreviations of `text/abbreviations.py`, without the last period, and
words that start a sentence. A TITLE (Mr.) precedes a name, so no sentence ends after it. A sentence ends after an ENDER
(Inc.) if a STARTER (The) follows. A NUMBERED word is an abbreviation if a digit (No. 5), a lower-case letter or a comma
follows, an AMBIGUOUS one (var.) unless a capital follows. The other values are bits beside these: ELIDED words (l') end
at their apostrophe, a CLITIC (-il) is a token after a hyphen, a WHOLE word (aujourd'hui) is not split, and a CONTINUER
(و) does not begin a sentence after a quotation.
"""

from __future__ import annotations

from numba import njit

from firth.kernels import characters as chars
from firth.kernels.characters import (
    has_initials,
    is_armenian,
    is_greek,
    is_hebrew,
    is_letter,
    kind_at,
    look_up,
    skip_space,
)

TITLE, ENDER, NUMBERED, STARTER, AMBIGUOUS = 1, 2, 3, 4, 5
KINDS, ELIDED, CLITIC, WHOLE, CONTINUER = 7, 8, 16, 32, 64
LETTER_I, BRACKET, COMMA, BACKTICK, COLON, SEMICOLON = 0x49, 0x29, 0x2C, 0x60, 0x3A, 0x3B


@njit(cache=True, nogil=True)
def word_entry(codes, classes, keys, values, at):
    """The table's value for the letters at `at`."""
    end = at
    while is_letter(kind_at(codes, classes, end, len(codes))):
        end += 1
    return look_up(codes, at, end, keys, values) if end > at else 0


@njit(cache=True, nogil=True)
def is_starter(codes, classes, keys, values, at):
    """Whether the word at `at` is a STARTER (The, He, However)."""
    return word_entry(codes, classes, keys, values, at) & KINDS == STARTER


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
def is_ordinal(codes, classes, keys, values, rules, start, dot, wrapped):
    """Whether codes[start:dot] is a number of up to three digits, and no sentence begins after its period: 3. Mai.

    With YEARS, it may have more digits or be a Roman number, 2000. január, II. kerület, and stand before a bracket.
    """
    if dot - start > (5 if rules & chars.YEARS else 3):
        return False
    for at in range(start, dot):
        roman = rules & chars.YEARS and codes[at] in (LETTER_I, 0x56, 0x58)  # I, V, X
        if classes[codes[at]] != chars.DIGIT and not roman:
            return False
    if rules & chars.YEARS and dot + 1 < len(codes) and codes[dot + 1] == BRACKET:
        return True
    at, broken = skip_space(codes, classes, dot + 1, wrapped)
    if broken or at == dot + 1:
        return False
    kind = classes[codes[at]]
    return is_letter(kind) and not is_starter(codes, classes, keys, values, at)


@njit(cache=True, nogil=True)
def keeps_initial(codes, classes, keys, values, rules, dot, stop, wrapped):
    """Whether the single capital before the period at `dot` is an initial and not the last word of a sentence."""
    if not rules & chars.CONTRACTIONS and look_up(codes, dot - 1, dot, keys, values) & KINDS == TITLE:
        return True  # M. Le Pen
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
def keeps_period(codes, classes, keys, values, rules, start, dot, stop, wrapped):
    """Whether the period at `dot` belongs to the word codes[start:dot]: Mr., U.S., J., No. 5."""
    elision = rules & (chars.ELISION | chars.APOSTROPHES)
    for at in range(dot - 1, start, -1):
        kind = classes[codes[at]]
        if kind == chars.HYPHEN or (elision and kind == chars.APOSTROPHE):  # dell'art. 5
            start = at + 1
            break
    if start == dot or (rules & chars.SCRIPTS and is_armenian(codes[dot - 1])):
        return False
    letters = dot
    while letters > start + 1 and classes[codes[letters - 1]] == chars.MARK:
        letters -= 1
    if letters == start + 1 and classes[codes[start]] == chars.UPPER:
        return keeps_initial(codes, classes, keys, values, rules, dot, stop, wrapped)
    if is_acronym(codes, classes, start, dot):
        return True
    if rules & chars.ORDINALS and is_ordinal(codes, classes, keys, values, rules, start, dot, wrapped):
        return True
    entry = look_up(codes, start, dot, keys, values) & KINDS
    if entry in (TITLE, ENDER):
        return True
    at, broken = skip_space(codes, classes, dot + 1, wrapped)
    if broken:
        return False
    if entry == AMBIGUOUS:
        return classes[codes[at]] != chars.UPPER
    if rules & chars.SCRIPTS and letters == start + 1 and has_initials(codes[start]):
        return chars.UPPER <= classes[codes[at]] <= chars.DIGIT
    if codes[at] in (COMMA, SEMICOLON, 0x60C, 0x61B):  # the sentence continues after a comma or semicolon, not after ,,
        return not (rules & chars.SCRIPTS and codes[at] == COMMA and at + 1 < len(codes) and codes[at + 1] == COMMA)
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
def closes_sentence(codes, classes, keys, values, rules, starts, ends, first, count, stop, quoted, wrapped):
    """Whether the last of the tokens first … count - 1 ends a sentence, given the text from `stop` on."""
    token = count - 1
    while token > first and is_closer(codes, classes, starts[token], ends[token]):
        token -= 1
    start, end = starts[token], ends[token]
    kind = classes[codes[start]]
    ending = classes[codes[end - 1]]
    abbreviation = ending == chars.DOT and kind <= chars.CONNECTOR
    dots = kind == chars.DOT and ending == chars.DOT
    marked = False
    if rules & chars.SCRIPTS and start > 0:
        marked = codes[start] == SEMICOLON and is_greek(codes[start - 1])
        marked |= codes[start] == COLON and is_armenian(codes[start - 1])
        if dots and end == start + 1 and is_armenian(codes[start - 1]):
            return False  # in Armenian, the period is a weaker mark than : and ։
    if not (abbreviation or dots or marked or kind in (chars.TERMINAL, chars.STOP, chars.ELLIPSIS)):
        return False
    at, broken = skip_space(codes, classes, stop, wrapped)
    if broken or is_separate_closer(codes, classes, at, quoted, wrapped):
        return False
    if abbreviation:
        entry = look_up(codes, start, end - 1, keys, values) & KINDS
        if entry == TITLE or (entry != ENDER and not is_acronym(codes, classes, start, end - 1)):
            return False
        return is_starter(codes, classes, keys, values, at)
    if kind == chars.STOP:
        return not rules & chars.SCRIPTS or classes[codes[at]] != chars.STOP
    if rules & chars.SCRIPTS:
        if token < count - 1 and word_entry(codes, classes, keys, values, at) & CONTINUER:
            return False
        is_ellipsis = kind == chars.ELLIPSIS or (dots and end > start + 1)
        if is_ellipsis and is_hebrew(codes[at]):
            return False  # in Hebrew most often a pause
        items = chars.CONTRACTIONS | chars.ITEMS
        if token == first + 1 and classes[codes[starts[first]]] == chars.DIGIT and not rules & items:
            return False  # the number of an item: 2. Title
    if opens_sentence(codes, classes, at, wrapped):
        return True
    if not rules & chars.SMALL_STARTS or token < count - 1 or end > start + 1 or kind == chars.ELLIPSIS:
        return False
    numbered = token == first + 1 and classes[codes[starts[first]]] == chars.DIGIT  # 1. wash the rice
    return classes[codes[at]] == chars.LOWER and not numbered
