"""Split text into tokens and sentences.

A text is a uint32 array of code points. Token k is codes[starts[k]:ends[k]], and last[k] is 1 if it ends a sentence.
The text is processed in chunks, which contain no white space. A chunk of letters and digits is a word; only other
chunks are split further. Words are split as in the Penn Treebank.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels import characters as chars
from firth.kernels.addresses import is_web, mail_end, tag_end, web_end
from firth.kernels.characters import (
    is_armenian,
    is_hangul,
    is_hebrew,
    is_letter,
    is_word,
    kind_at,
    look_up,
    lower,
    skip_space,
)
from firth.kernels.sentences import CLITIC, ELIDED, WHOLE, closes_sentence, keeps_period

WORDS = (2 << chars.CONNECTOR) - (1 << chars.UPPER)  # a bit for each class of `is_word`
ENDINGS = (1 << chars.DOT) | (1 << chars.TERMINAL) | (1 << chars.STOP) | (1 << chars.ELLIPSIS)
ENDINGS |= (1 << chars.CLOSE) | (1 << chars.QUOTE) | (1 << chars.APOSTROPHE)
PROLONGED, JOINER, LESS, PLUS, AT_SIGN, COMMA_SIGN = 0x30FC, 0x200D, 0x3C, 0x2B, 0x40, 0x2C
TSHEG, TSHEG_BEFORE_SHAD = 0x0F0B, 0x0F0C


def encode_word(word):
    """The bytes of a short ASCII word as one big-endian integer, as `short_word` computes it from code points."""
    return int.from_bytes(word.encode("ascii"), "big")


CANNOT, GONNA, GOTTA, WANNA = encode_word("cannot"), encode_word("gonna"), encode_word("gotta"), encode_word("wanna")
GIMME, LEMME, YE = encode_word("gimme"), encode_word("lemme"), encode_word("ye")
S, M, D, T, N = (encode_word(letter) for letter in "smdtn")
RE, VE, LL = encode_word("re"), encode_word("ve"), encode_word("ll")
TIS, TWAS, TWERE, TWILL = encode_word("tis"), encode_word("twas"), encode_word("twere"), encode_word("twill")
TWOULD, EM, TIL, CAUSE = encode_word("twould"), encode_word("em"), encode_word("til"), encode_word("cause")


@njit(cache=True, nogil=True)
def short_word(codes, start, end):
    """The integer of an ASCII word of up to six letters in lower case (see `encode_word`); 0 for any other word."""
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
    """The offset at which the Treebank splits a word in two: can|not, gon|na, gim|me; else its end."""
    if not 5 <= end - start <= 6:
        return end
    word = short_word(codes, start, end)
    if word in (CANNOT, GONNA, GOTTA, WANNA, GIMME, LEMME):
        return start + 3
    return end


@njit(cache=True, nogil=True)
def contraction_cut(codes, classes, start, end):
    """The start of the last part of a contraction: it|'s, ca|n't, they|'ve, d'|ye; else the end."""
    size = end - start
    if size >= 3 and classes[codes[end - 2]] == chars.APOSTROPHE:
        letter = lower(codes[end - 1])
        if letter in (S, M, D):
            return end - 2
        if letter == T and size > 3 and lower(codes[end - 3]) == N:
            return end - 3
    if size >= 4 and classes[codes[end - 3]] == chars.APOSTROPHE:
        pair = short_word(codes, end - 2, end)
        if pair in (RE, VE, LL):
            return end - 3
    if size == 4 and lower(codes[start]) == D and classes[codes[start + 1]] == chars.APOSTROPHE:
        return start + 2 if short_word(codes, start + 2, end) == YE else end
    return end


@njit(cache=True, nogil=True)
def elision_cut(codes, classes, keys, values, rules, start, end):
    """The end of an elided word with its apostrophe or hyphen: l'|eau, dell'|arte, s-|a; `start` if there is none."""
    mark = chars.HYPHEN if rules & chars.HYPHEN_ELISION else chars.APOSTROPHE
    for at in range(start + 1, end - 1):
        if classes[codes[at]] == mark:
            if rules & chars.APOSTROPHES or look_up(codes, start, at, keys, values) & ELIDED:
                return at + 1
            return start
    return start


@njit(cache=True, nogil=True)
def clitic_cut(codes, classes, keys, values, start, end):
    """The start of the clitic at the end of a word, with its hyphen: dit|-il, a|-t-il; else the end."""
    at = end - 1
    while at > start and classes[codes[at]] != chars.HYPHEN:
        at -= 1
    if at <= start or not look_up(codes, at + 1, end, keys, values) & CLITIC:
        return end
    if at - 2 > start and lower(codes[at - 1]) == T and classes[codes[at - 2]] in (chars.HYPHEN, chars.APOSTROPHE):
        return at - 2
    return at


@njit(cache=True, nogil=True)
def emit_language_word(codes, classes, keys, values, rules, start, end, starts, ends, count):
    """Write a word with an apostrophe or hyphen as its language splits it; returns the new number of tokens."""
    if look_up(codes, start, end, keys, values) & WHOLE == 0:
        cut = elision_cut(codes, classes, keys, values, rules, start, end)
        while cut > start:
            starts[count], ends[count] = start, cut
            count += 1
            start = cut
            whole = look_up(codes, start, end, keys, values) & WHOLE
            cut = start if whole else elision_cut(codes, classes, keys, values, rules, start, end)
    if rules & chars.CLITICS and look_up(codes, start, end, keys, values) & WHOLE == 0:
        cut = clitic_cut(codes, classes, keys, values, start, end)
        if cut < end:
            starts[count], ends[count] = start, cut
            count += 1
            start = cut
    starts[count], ends[count] = start, end
    return count + 1


@njit(cache=True, nogil=True)
def emit_word(codes, classes, keys, values, rules, start, end, mask, starts, ends, count):
    """Write a word, split at up to three contractions (she|'d|n't|'ve); returns the new number of tokens."""
    if not rules & chars.CONTRACTIONS:
        if mask & ((1 << chars.APOSTROPHE) | (1 << chars.HYPHEN)):
            return emit_language_word(codes, classes, keys, values, rules, start, end, starts, ends, count)
        starts[count], ends[count] = start, end
        return count + 1
    if mask & (1 << chars.APOSTROPHE):
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
def splits_at_hyphen(codes, classes, rules, at, stop):
    """Whether the hyphen at `at` is a token: after Hebrew, beside Armenian letters, and where the language says so."""
    if is_hebrew(codes[at - 1]) or is_armenian(codes[at - 1]) or (at + 1 < stop and is_armenian(codes[at + 1])):
        return True
    if not rules & chars.HYPHENS:
        return False
    before, after = np.int64(classes[codes[at - 1]]), kind_at(codes, classes, at + 1, stop)
    return (is_letter(after) and (is_letter(before) or before == chars.MARK)) or before == after == chars.DIGIT


@njit(cache=True, nogil=True)
def joins(codes, classes, rules, at, kind, before, after, stop):
    """Whether the punctuation at `at` is part of a word: 1,000  3:30  1/2  well-known  man-o'-war  AT&T."""
    if rules & chars.SCRIPTS:
        if kind == chars.HYPHEN and splits_at_hyphen(codes, classes, rules, at, stop):
            return False
        if kind == chars.APOSTROPHE and at + 1 < stop and (is_hangul(codes[at - 1]) or is_hangul(codes[at + 1])):
            return False
    if kind == chars.HYPHEN:
        return after != chars.HYPHEN and (is_word(before) or before == chars.APOSTROPHE)
    if kind in (chars.COMMA, chars.SLASH, chars.DASH):
        return before == chars.DIGIT and after == chars.DIGIT
    if kind == chars.APOSTROPHE:
        return is_word(before) and is_word(after if after != chars.HYPHEN else kind_at(codes, classes, at + 2, stop))
    if kind == chars.MIDDLE:
        return is_word(before) and is_letter(after)
    if kind == chars.AMPERSAND:
        return before == chars.UPPER and after == chars.UPPER
    if kind == chars.QUOTE:  # Hebrew marks an abbreviation before its last letter
        return after == chars.LETTER and 0x5D0 <= codes[at - 1] <= 0x5EA and 0x5D0 <= codes[at + 1] <= 0x5EA
    return False


@njit(cache=True, nogil=True)
def joins_dot(codes, classes, start, at, before, after, stop):
    """Whether a period between two characters is part of a word: 3.14  U.S  example.com, but not end.Next."""
    if not is_word(before) or not is_word(after) or after == chars.CONNECTOR:
        return False
    if before == chars.LOWER and after == chars.UPPER and at >= start + 2:
        return classes[codes[at - 2]] != chars.LOWER or kind_at(codes, classes, at + 2, stop) != chars.LOWER
    if before == chars.LETTER and after == chars.LETTER:
        return at == start + 1 or classes[codes[at - 2]] == chars.DOT
    return True


@njit(cache=True, nogil=True)
def sign_end(codes, classes, keys, values, rules, start, at, kind, after, stop):
    """The end of a word that ends in a sign: US$ before a number, C++ or C#, po', བོད་; else `at`."""
    if rules & chars.SCRIPTS and (codes[at] == TSHEG or codes[at] == TSHEG_BEFORE_SHAD):
        return at + 1
    if kind == chars.APOSTROPHE and look_up(codes, start, at, keys, values) & ELIDED:
        return at + 1
    if classes[codes[at - 1]] != chars.UPPER:
        return at
    if kind == chars.CURRENCY and after == chars.DIGIT and at - start <= 3:
        return at + 1
    if at != start + 1:
        return at
    if kind == chars.HASH and not is_word(after):
        return at + 1
    if codes[at] == PLUS and after == chars.SYMBOL and codes[at + 1] == PLUS:
        return at if is_word(kind_at(codes, classes, at + 2, stop)) else at + 2
    return at


@njit(cache=True, nogil=True)
def word_end(codes, classes, keys, values, rules, start, at, stop, wrapped):
    """The end of the word that starts at `start` and extends at least to `at`."""
    while at < stop:
        kind = np.int64(classes[codes[at]])
        if is_word(kind):
            at += 1
            continue
        before = kind_at(codes, classes, at - 1, stop)
        after = kind_at(codes, classes, at + 1, stop)
        if kind == chars.DOT:
            if joins_dot(codes, classes, start, at, before, after, stop):
                at += 1
                continue
            if after == chars.DOT or not keeps_period(codes, classes, keys, values, rules, start, at, stop, wrapped):
                return at
            at += 1
            if after == chars.HYPHEN and is_word(kind_at(codes, classes, at + 1, stop)):
                at += 1
                continue
            return at
        if not joins(codes, classes, rules, at, kind, before, after, stop):
            return sign_end(codes, classes, keys, values, rules, start, at, kind, after, stop)
        at += 1
    return at


@njit(cache=True, nogil=True)
def apostrophe_end(codes, classes, keys, values, rules, start, stop):
    """The end of a token that starts with an apostrophe: 's  've  't(is)  'em  '90s  ''  or the apostrophe alone."""
    at = start + 1
    if at < stop and codes[at] == codes[start]:
        return at + 1
    end = at
    while end < stop and is_word(classes[codes[end]]):
        end += 1
    if rules & chars.CONTRACTIONS:
        word = short_word(codes, at, end)
        if word in (S, M, D, T, RE, VE, LL):
            return end
        if word in (EM, TIL, CAUSE, N):
            return end
        if word in (TIS, TWAS, TWERE, TWILL, TWOULD):
            return at + 1
    elif look_up(codes, start, end, keys, values) & WHOLE:  # Dutch 't
        return end
    if end - at >= 2 and classes[codes[at]] == chars.DIGIT and classes[codes[at + 1]] == chars.DIGIT:
        plural = end - at == 3 and lower(codes[at + 2]) == S
        return end if end - at == 2 or plural else at
    return at


@njit(cache=True, nogil=True)
def emoji_end(codes, classes, at, stop):
    """The end of an emoji with its modifiers and joined emojis; two regional indicators are one flag."""
    if classes[codes[at]] == chars.FLAG and kind_at(codes, classes, at + 1, stop) == chars.FLAG:
        at += 1
    at += 1
    while at < stop:
        kind = classes[codes[at]]
        joined = kind == chars.EMOJI and codes[at - 1] == JOINER
        if kind != chars.MARK and not joined:
            return at
        at += 1
    return at


@njit(cache=True, nogil=True)
def is_thai_consonant(codes, at, stop):
    """Whether a Thai consonant stands at `at`."""
    return at < stop and 0xE01 <= codes[at] <= 0xE2E


@njit(cache=True, nogil=True)
def thai_abbreviation_end(codes, classes, start, stop):
    """The end of a Thai abbreviation (พ.ศ. ดร. น.): up to four consonants and a period, repeated; else `start`."""
    end = at = start
    while is_thai_consonant(codes, at, stop):
        at += 1
        if at - end <= 4 and kind_at(codes, classes, at, stop) == chars.DOT:
            at += 1
            end = at
    return end


@njit(cache=True, nogil=True)
def unspaced_end(codes, classes, start, end, stop):
    """The end of a run of Thai that may be, or end before, an abbreviation, where codes[end] is the first other."""
    if kind_at(codes, classes, end, stop) != chars.DOT:
        return end
    abbreviation = thai_abbreviation_end(codes, classes, start, stop)
    if abbreviation > end:
        return abbreviation
    if end - 1 > start and thai_abbreviation_end(codes, classes, end - 1, stop) > end + 1:
        return end - 1
    return end


@njit(cache=True, nogil=True)
def run_end(codes, classes, rules, start, stop):
    """The end of any other token: a run of kana or Thai, repeated signs (... -- ==), or one character."""
    kind = classes[codes[start]]
    script = chars.HIRAGANA <= kind <= chars.UNSPACED
    repeats = kind in (chars.DOT, chars.HYPHEN, chars.DASH, chars.ELLIPSIS, chars.SYMBOL, chars.HASH)
    repeats |= rules & chars.SCRIPTS > 0 and codes[start] == COMMA_SIGN  # ,,a quotation''
    at = start + 1
    while at < stop:
        next_kind = classes[codes[at]]
        same = script and (next_kind == kind or (kind == chars.HIRAGANA and codes[at] == PROLONGED))
        if not (same or next_kind == chars.MARK or (repeats and codes[at] == codes[start])):
            break
        at += 1
    if kind == chars.UNSPACED and rules & chars.SCRIPTS:
        return unspaced_end(codes, classes, start, at, stop)
    return at


@njit(cache=True, nogil=True)
def token_end(codes, classes, keys, values, rules, start, chunk, stop, mask, wrapped):
    """The end of the token that starts at `start` in the chunk codes[chunk:stop]."""
    kind = classes[codes[start]]
    if is_word(kind):
        if mask & (1 << chars.AT):
            end = mail_end(codes, classes, start, stop)
            if end > start:
                return end
        if mask & ((1 << chars.SLASH) | (1 << chars.DOT)) and is_web(codes, classes, start, stop):
            return web_end(codes, classes, start, stop)
        return word_end(codes, classes, keys, values, rules, start, start + 1, stop, wrapped)
    if kind in (chars.EMOJI, chars.FLAG):
        return emoji_end(codes, classes, start, stop)
    after = kind_at(codes, classes, start + 1, stop)
    if kind == chars.APOSTROPHE:
        return apostrophe_end(codes, classes, keys, values, rules, start, stop)
    if kind == chars.HASH and is_word(after):
        return word_end(codes, classes, keys, values, rules, start + 1, start + 2, stop, wrapped)
    if kind == chars.AT and is_word(after):
        end = start + 1
        while end < stop and is_word(classes[codes[end]]):
            end += 1
        return end
    if kind == chars.AT and stop - chunk == 3 and codes[stop - 1] == AT_SIGN:  # @-@ and @,@ of the WikiText files
        return stop
    if codes[start] == LESS:
        end = tag_end(codes, start, stop)
        if end > start:
            return end
    is_first = start == chunk or classes[codes[start - 1]] == chars.OPEN or classes[codes[start - 1]] == chars.QUOTE
    if is_first and ((kind == chars.HYPHEN and is_word(after)) or (kind == chars.DOT and after == chars.DIGIT)):
        return word_end(codes, classes, keys, values, rules, start + 1, start + 2, stop, wrapped)
    return run_end(codes, classes, rules, start, stop)


@njit(cache=True, nogil=True)
def split_chunk(codes, classes, keys, values, rules, chunk, stop, mask, wrapped, starts, ends, last, count):
    """Write the tokens of codes[chunk:stop]; returns the new number of tokens.

    A sentence inside the chunk, without a space after it, ends after its final punctuation and closing marks.
    """
    at = chunk
    ended = False
    while at < stop:
        kind = classes[codes[at]]
        if ended and kind not in (chars.CLOSE, chars.QUOTE, chars.STOP, chars.TERMINAL, chars.APOSTROPHE):
            last[count - 1] = 1
            ended = False
        end = token_end(codes, classes, keys, values, rules, at, chunk, stop, mask, wrapped)
        if is_word(kind):
            count = emit_word(codes, classes, keys, values, rules, at, end, mask, starts, ends, count)
        else:
            starts[count], ends[count] = at, end
            count += 1
        after = kind_at(codes, classes, end, stop)
        no_space = kind == chars.DOT and end == at + 1 and at > chunk and after in (chars.UPPER, chars.LETTER)
        if no_space or kind == chars.STOP or (kind == chars.TERMINAL and chars.HAN <= after <= chars.KATAKANA):
            ended = True
        at = end
    return count


@njit(cache=True, nogil=True)
def scan(codes, classes, keys, values, rules, wrapped, starts, ends, last):
    """Fill starts, ends and last, which are as long as the text (last is zero); returns the number of tokens."""
    count = 0
    first = 0  # the first token of the sentence
    quoted = False
    endings = ENDINGS
    if rules & chars.SCRIPTS:  # ; ends a question in Greek, : a sentence in Armenian
        endings |= (1 << chars.SYMBOL) | (1 << chars.COMMA)
    at, _ = skip_space(codes, classes, 0, wrapped)
    while at < len(codes):
        stop = at
        mask = np.int64(0)
        while stop < len(codes):
            kind = np.int64(classes[codes[stop]])
            if kind <= chars.LINE:
                break
            mask |= np.int64(1) << kind
            stop += 1
        chunk_first = count
        if mask & ~WORDS == 0:
            count = emit_word(codes, classes, keys, values, rules, at, stop, mask, starts, ends, count)
        else:
            count = split_chunk(codes, classes, keys, values, rules, at, stop, mask, wrapped, starts, ends, last, count)
        if mask & (1 << chars.QUOTE):
            for token in range(chunk_first, count):
                quoted ^= classes[codes[starts[token]]] == chars.QUOTE
        if mask & endings and closes_sentence(
            codes, classes, keys, values, rules, starts, ends, first, count, stop, quoted, wrapped
        ):
            last[count - 1] = 1
            first = count
        at, broken = skip_space(codes, classes, stop, wrapped)
        if broken:
            last[count - 1] = 1
            first = count
            quoted = False
    return count
