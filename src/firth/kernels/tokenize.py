"""Running text to tokens: code points in, token bounds and sentence ends out.

Text is a uint32 array of code points. A token is codes[starts[k]:ends[k]], and last[k] is 1 where it ends a sentence.
The unit of work is a chunk, a run without white space: a chunk of letters alone is a word at once, and only the others
are looked at closely. Words are cut as the Penn Treebank cuts them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.addresses import is_web, mail_end, tag_end, web_end
from firth.kernels.characters import (
    AMPERSAND,
    APOSTROPHE,
    AT,
    CLOSE,
    COMMA,
    CONNECTOR,
    CURRENCY,
    DASH,
    DIGIT,
    DOT,
    ELLIPSIS,
    EMOJI,
    FLAG,
    HAN,
    HASH,
    HIRAGANA,
    HYPHEN,
    KATAKANA,
    LETTER,
    LINE,
    LOWER,
    MARK,
    MIDDLE,
    OPEN,
    QUOTE,
    SLASH,
    STOP,
    SYMBOL,
    TERMINAL,
    UNSPACED,
    UPPER,
    is_letter,
    is_word,
    kind_at,
    lower,
    skip_space,
)
from firth.kernels.sentences import closes_sentence, keeps_period

WORDS = (1 << UPPER) | (1 << LOWER) | (1 << LETTER) | (1 << DIGIT) | (1 << MARK) | (1 << CONNECTOR)
ENDINGS = (1 << DOT) | (1 << TERMINAL) | (1 << STOP) | (1 << ELLIPSIS)
ENDINGS |= (1 << CLOSE) | (1 << QUOTE) | (1 << APOSTROPHE)
PROLONGED, JOINER, LESS, PLUS, AT_SIGN = 0x30FC, 0x200D, 0x3C, 0x2B, 0x40


def number_of(word):
    """A short ASCII word as one number, its bytes in base 256: what `short_word` reads from code points."""
    return int.from_bytes(word.encode("ascii"), "big")


CANNOT, GONNA, GOTTA, WANNA = number_of("cannot"), number_of("gonna"), number_of("gotta"), number_of("wanna")
GIMME, LEMME, YE = number_of("gimme"), number_of("lemme"), number_of("ye")
S, M, D, T = number_of("s"), number_of("m"), number_of("d"), number_of("t")
RE, VE, LL = number_of("re"), number_of("ve"), number_of("ll")
TIS, TWAS, TWERE, TWILL = number_of("tis"), number_of("twas"), number_of("twere"), number_of("twill")
TWOULD, EM, TIL, CAUSE, N = number_of("twould"), number_of("em"), number_of("til"), number_of("cause"), number_of("n")


@njit(cache=True, nogil=True)
def short_word(codes, start, end):
    """The number of an ASCII word of up to six letters, in lower case; 0 for any other."""
    if end - start > 6:
        return np.int64(0)
    number = np.int64(0)
    for at in range(start, end):
        letter = lower(codes[at])
        if letter < 97 or letter > 122:
            return np.int64(0)
        number = number * 256 + letter
    return number


@njit(cache=True, nogil=True)
def merged_cut(codes, start, end):
    """Where a word that is two in the Treebank is cut: can|not, gon|na, gim|me; else its end."""
    if not 5 <= end - start <= 6:
        return end
    word = short_word(codes, start, end)
    if word in (CANNOT, GONNA, GOTTA, WANNA, GIMME, LEMME):
        return start + 3
    return end


@njit(cache=True, nogil=True)
def contraction_cut(codes, classes, start, end):
    """Where the last part of a contraction begins: it|'s, ca|n't, they|'ve, d'|ye; else the end."""
    size = end - start
    if size >= 3 and classes[codes[end - 2]] == APOSTROPHE:
        letter = lower(codes[end - 1])
        if letter in (S, M, D):
            return end - 2
        if letter == T and size > 3 and lower(codes[end - 3]) == N:
            return end - 3
    if size >= 4 and classes[codes[end - 3]] == APOSTROPHE:
        pair = short_word(codes, end - 2, end)
        if pair in (RE, VE, LL):
            return end - 3
    if size == 4 and lower(codes[start]) == D and classes[codes[start + 1]] == APOSTROPHE:
        return start + 2 if short_word(codes, start + 2, end) == YE else end
    return end


@njit(cache=True, nogil=True)
def emit_word(codes, classes, start, end, mask, starts, ends, count):
    """Writes a word, cut at its contractions (at most three: she'd|n't|'ve); returns the new number of tokens."""
    if mask & (1 << APOSTROPHE):
        third = contraction_cut(codes, classes, start, end)
        second = contraction_cut(codes, classes, start, third)
        first = contraction_cut(codes, classes, start, second)
        for part in (first, second, third):
            if part < end:
                starts[count], ends[count] = start, part
                count += part > start
                start = part
    cut = merged_cut(codes, start, end)
    if cut < end:
        starts[count], ends[count] = start, cut
        count += 1
        start = cut
    starts[count], ends[count] = start, end
    return count + 1


@njit(cache=True, nogil=True)
def joins(codes, classes, at, kind, before, after, stop):
    """Whether the punctuation at this place holds a word together: 1,000  3:30  1/2  well-known  man-o'-war  AT&T."""
    if kind == HYPHEN:
        return after != HYPHEN and (is_word(before) or before == APOSTROPHE)
    if kind in (COMMA, SLASH, DASH):
        return before == DIGIT and after == DIGIT
    if kind == APOSTROPHE:
        return is_word(before) and is_word(after if after != HYPHEN else kind_at(codes, classes, at + 2, stop))
    if kind == MIDDLE:
        return is_word(before) and is_letter(after)
    if kind == AMPERSAND:
        return before == UPPER and after == UPPER
    if kind == QUOTE:  # Hebrew writes the sign of an abbreviation before its last letter, mostly with this mark
        return after == LETTER and 0x5D0 <= codes[at - 1] <= 0x5EA and 0x5D0 <= codes[at + 1] <= 0x5EA
    return False


@njit(cache=True, nogil=True)
def joins_dot(codes, classes, start, at, before, after, stop):
    """Whether a period between two characters holds a word together: 3.14  U.S  example.com, but not end.Next."""
    if not is_word(before) or not is_word(after) or after == CONNECTOR:
        return False
    if before == LOWER and after == UPPER and at >= start + 2:
        return classes[codes[at - 2]] != LOWER or kind_at(codes, classes, at + 2, stop) != LOWER
    if before == LETTER and after == LETTER:
        return at == start + 1 or classes[codes[at - 2]] == DOT
    return True


@njit(cache=True, nogil=True)
def sign_end(codes, classes, start, at, kind, after, stop):
    """The end of a short name with a sign at its end, US$ before a number, C++ or C#; else `at`."""
    if classes[codes[at - 1]] != UPPER:
        return at
    if kind == CURRENCY and after == DIGIT and at - start <= 3:
        return at + 1
    if at != start + 1:
        return at
    if kind == HASH and not is_word(after):
        return at + 1
    if codes[at] == PLUS and after == SYMBOL and codes[at + 1] == PLUS:
        return at if is_word(kind_at(codes, classes, at + 2, stop)) else at + 2
    return at


@njit(cache=True, nogil=True)
def word_end(codes, classes, keys, values, start, at, stop, wrapped):
    """The end of the word that begins at `start` and is known up to `at`."""
    while at < stop:
        kind = np.int64(classes[codes[at]])
        if is_word(kind):
            at += 1
            continue
        before = kind_at(codes, classes, at - 1, stop)
        after = kind_at(codes, classes, at + 1, stop)
        if kind == DOT:
            if joins_dot(codes, classes, start, at, before, after, stop):
                at += 1
                continue
            if after == DOT or not keeps_period(codes, classes, keys, values, start, at, stop, wrapped):
                return at
            at += 1
            if after == HYPHEN and is_word(kind_at(codes, classes, at + 1, stop)):
                at += 1
                continue
            return at
        if not joins(codes, classes, at, kind, before, after, stop):
            return sign_end(codes, classes, start, at, kind, after, stop)
        at += 1
    return at


@njit(cache=True, nogil=True)
def apostrophe_end(codes, classes, start, stop):
    """The end of a token that begins with an apostrophe: 's  've  't(is)  'em  '90s  ''  or the mark alone."""
    at = start + 1
    if at < stop and codes[at] == codes[start]:
        return at + 1
    end = at
    while end < stop and is_word(classes[codes[end]]):
        end += 1
    word = short_word(codes, at, end)
    if word in (S, M, D, T, RE, VE, LL):
        return end
    if word in (EM, TIL, CAUSE, N):
        return end
    if word in (TIS, TWAS, TWERE, TWILL, TWOULD):
        return at + 1
    if end - at >= 2 and classes[codes[at]] == DIGIT and classes[codes[at + 1]] == DIGIT:
        plural = end - at == 3 and lower(codes[at + 2]) == S
        return end if end - at == 2 or plural else at
    return at


@njit(cache=True, nogil=True)
def emoji_end(codes, classes, at, stop):
    """The end of a picture with its skin tones and of the pictures joined to it; two regional letters are a flag."""
    if classes[codes[at]] == FLAG and kind_at(codes, classes, at + 1, stop) == FLAG:
        at += 1
    at += 1
    while at < stop:
        kind = classes[codes[at]]
        joined = kind == EMOJI and codes[at - 1] == JOINER
        if kind != MARK and not joined:
            return at
        at += 1
    return at


@njit(cache=True, nogil=True)
def run_end(codes, classes, start, stop):
    """The end of a token that is no word: a run of kana or Thai, repeated signs (... -- ==), or one character."""
    kind = classes[codes[start]]
    script = HIRAGANA <= kind <= UNSPACED
    repeats = kind in (DOT, HYPHEN, DASH, ELLIPSIS, SYMBOL, HASH)
    at = start + 1
    while at < stop:
        follows = classes[codes[at]]
        same = script and (follows == kind or (kind == HIRAGANA and codes[at] == PROLONGED))
        if not (same or follows == MARK or (repeats and codes[at] == codes[start])):
            return at
        at += 1
    return at


@njit(cache=True, nogil=True)
def token_end(codes, classes, keys, values, start, chunk, stop, mask, wrapped):
    """The end of the token that begins at `start`, in the chunk codes[chunk:stop]."""
    kind = classes[codes[start]]
    if is_word(kind):
        if mask & (1 << AT):
            end = mail_end(codes, classes, start, stop)
            if end > start:
                return end
        if mask & ((1 << SLASH) | (1 << DOT)) and is_web(codes, classes, start, stop):
            return web_end(codes, classes, start, stop)
        return word_end(codes, classes, keys, values, start, start + 1, stop, wrapped)
    if kind in (EMOJI, FLAG):
        return emoji_end(codes, classes, start, stop)
    after = kind_at(codes, classes, start + 1, stop)
    if kind == APOSTROPHE:
        return apostrophe_end(codes, classes, start, stop)
    if kind == HASH and is_word(after):
        return word_end(codes, classes, keys, values, start + 1, start + 2, stop, wrapped)
    if kind == AT and is_word(after):
        end = start + 1
        while end < stop and is_word(classes[codes[end]]):
            end += 1
        return end
    if kind == AT and stop - chunk == 3 and codes[stop - 1] == AT_SIGN:  # @-@ and @,@ of the WikiText files
        return stop
    if codes[start] == LESS:
        end = tag_end(codes, start, stop)
        if end > start:
            return end
    free = start == chunk or classes[codes[start - 1]] == OPEN or classes[codes[start - 1]] == QUOTE
    if free and ((kind == HYPHEN and is_word(after)) or (kind == DOT and after == DIGIT)):
        return word_end(codes, classes, keys, values, start + 1, start + 2, stop, wrapped)
    return run_end(codes, classes, start, stop)


@njit(cache=True, nogil=True)
def split_chunk(codes, classes, keys, values, chunk, stop, mask, wrapped, starts, ends, last, count):
    """Writes the tokens of codes[chunk:stop]; returns the new number of tokens.

    Sentences that need no space behind them end here, where their stop and what closes it are past.
    """
    at = chunk
    ended = False
    while at < stop:
        kind = classes[codes[at]]
        if ended and kind not in (CLOSE, QUOTE, STOP, TERMINAL, APOSTROPHE):
            last[count - 1] = 1
            ended = False
        end = token_end(codes, classes, keys, values, at, chunk, stop, mask, wrapped)
        if is_word(kind):
            count = emit_word(codes, classes, at, end, mask, starts, ends, count)
        else:
            starts[count], ends[count] = at, end
            count += 1
        after = kind_at(codes, classes, end, stop)
        missing = kind == DOT and end == at + 1 and at > chunk and after in (UPPER, LETTER)  # a space: end.Next
        if missing or kind == STOP or (kind == TERMINAL and HAN <= after <= KATAKANA):
            ended = True
        at = end
    return count


@njit(cache=True, nogil=True)
def scan(codes, classes, keys, values, wrapped, starts, ends, last):
    """Fills starts, ends and last (each as long as the text, last all zero); returns the number of tokens."""
    count = 0
    first = 0  # of the sentence
    quoted = False
    at, _ = skip_space(codes, classes, 0, wrapped)
    while at < len(codes):
        stop = at
        mask = np.int64(0)
        while stop < len(codes):
            kind = np.int64(classes[codes[stop]])
            if kind <= LINE:
                break
            mask |= np.int64(1) << kind
            stop += 1
        fresh = count
        if mask & ~WORDS == 0:
            count = emit_word(codes, classes, at, stop, mask, starts, ends, count)
        else:
            count = split_chunk(codes, classes, keys, values, at, stop, mask, wrapped, starts, ends, last, count)
        if mask & (1 << QUOTE):
            for token in range(fresh, count):
                quoted ^= classes[codes[starts[token]]] == QUOTE
        if mask & ENDINGS and closes_sentence(
            codes, classes, keys, values, starts, ends, first, count, stop, quoted, wrapped
        ):
            last[count - 1] = 1
            first = count
        at, broken = skip_space(codes, classes, stop, wrapped)
        if broken:
            last[count - 1] = 1
            first = count
            quoted = False
    return count
