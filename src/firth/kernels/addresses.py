"""Web addresses, mail addresses and tags, each of which is one token."""

from __future__ import annotations

from numba import njit

from firth.kernels import characters as chars
from firth.kernels.characters import is_word, kind_at, lower

LEFT, RIGHT, LESS, MORE = 0x28, 0x29, 0x3C, 0x3E
PLUS, PERCENT, AT_SIGN, COLON, SEMICOLON, SLASH_SIGN = 0x2B, 0x25, 0x40, 0x3A, 0x3B, 0x2F


@njit(cache=True, nogil=True)
def mail_end(codes, classes, start, stop):
    """The end of the mail address (name@host.domain) at `start`, or `start` if there is none."""
    at = start
    while at < stop and codes[at] != AT_SIGN:
        kind = classes[codes[at]]
        code = codes[at]
        if not (is_word(kind) or kind in (chars.DOT, chars.HYPHEN) or code in (PLUS, PERCENT)):
            return start
        at += 1
    if at in (start, stop):
        return start
    host = at + 1
    end = host
    dots = 0
    at = host
    while at < stop:
        kind = classes[codes[at]]
        if chars.UPPER <= kind <= chars.DIGIT:
            end = at + 1
        elif kind == chars.DOT and end == at > host:
            after = kind_at(codes, classes, at + 1, stop)
            if not chars.UPPER <= after <= chars.DIGIT:
                break
            dots += 1
        elif kind != chars.HYPHEN:
            break
        at += 1
    return end if dots else start


@njit(cache=True, nogil=True)
def is_web(codes, classes, start, stop):
    """Whether a web address starts at `start`: a scheme and ://, or www."""
    if lower(codes[start]) == 0x77 and stop - start > 4:
        w = lower(codes[start + 1]) == 0x77 and lower(codes[start + 2]) == 0x77
        if w and classes[codes[start + 3]] == chars.DOT and is_word(classes[codes[start + 4]]):
            return True
    at = start
    while at < stop and (97 <= lower(codes[at]) <= 122 or (at > start and 48 <= codes[at] <= 57)):
        at += 1
    if at == start or at + 3 >= stop:
        return False
    return codes[at] == COLON and codes[at + 1] == SLASH_SIGN and codes[at + 2] == SLASH_SIGN


@njit(cache=True, nogil=True)
def web_end(codes, classes, start, stop):
    """The end of the web address at `start`, without the punctuation of the surrounding sentence."""
    at = start
    depth = 0
    while at < stop:
        kind = classes[codes[at]]
        code = codes[at]
        non_ascii_bracket = (kind in (chars.OPEN, chars.CLOSE)) and code > 0x7F
        mark = kind in (chars.STOP, chars.QUOTE) or code in (LESS, MORE)
        if non_ascii_bracket or mark or chars.HAN <= kind <= chars.KATAKANA:
            break
        depth += (code == LEFT) - (code == RIGHT)
        at += 1
    while at > start + 1:
        kind = classes[codes[at - 1]]
        code = codes[at - 1]
        balanced = code == RIGHT and depth >= 0
        trailing = kind in (chars.DOT, chars.COMMA, chars.TERMINAL, chars.APOSTROPHE, chars.CLOSE)
        if balanced or not (trailing or code == SEMICOLON):
            break
        depth += code == RIGHT
        at -= 1
    return at


@njit(cache=True, nogil=True)
def tag_end(codes, start, stop):
    """The end of the tag (<unk>, </s>, <br>) at `start`, or `start` if there is none."""
    at = start + 1
    if at < stop and codes[at] == SLASH_SIGN:
        at += 1
    first = at
    while at < stop and 97 <= lower(codes[at]) <= 122:
        at += 1
    return at + 1 if at > first and at < stop and codes[at] == MORE else start
