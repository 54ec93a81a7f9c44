"""The class of every code point for the tokenizer: letter, digit, mark, quote, …"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from firth.kernels import characters as kernel

ASSIGNED = 0x33480  # later planes have ideographs, tags and selectors, which are set by range

CATEGORIES = {
    "Lu": kernel.UPPER,
    "Lt": kernel.UPPER,
    "Ll": kernel.LOWER,
    "Lo": kernel.LETTER,
    "Lm": kernel.LETTER,
    "Nd": kernel.DIGIT,
    "Nl": kernel.DIGIT,
    "No": kernel.DIGIT,
    "Mn": kernel.MARK,
    "Mc": kernel.MARK,
    "Me": kernel.MARK,
    "Cf": kernel.MARK,
    "Ps": kernel.OPEN,
    "Pi": kernel.OPEN,
    "Pe": kernel.CLOSE,
    "Pf": kernel.CLOSE,
    "Pd": kernel.DASH,
    "Pc": kernel.CONNECTOR,
    "Po": kernel.SYMBOL,
    "Sc": kernel.CURRENCY,
    "Sm": kernel.SYMBOL,
    "Sk": kernel.SYMBOL,
    "So": kernel.SYMBOL,
    "Cc": kernel.SYMBOL,
    # Surrogates are bytes that could not be decoded; unassigned code points will mostly be letters.
    "Cs": kernel.LETTER,
    "Co": kernel.LETTER,
    "Cn": kernel.LETTER,
    "Zs": kernel.SPACE,
    "Zl": kernel.LINE,
    "Zp": kernel.LINE,
}

RANGES = {
    kernel.HAN: "々-〇 \u3400-\u4dbf \u4e00-\u9fff \uf900-\ufaff",
    kernel.HIRAGANA: "ぁ-ゖ ゝ-ゟ",
    kernel.KATAKANA: "ァ-ヺ ー-ヿ ㇰ-ㇿ ｦ-ﾟ",
    # Thai, Lao, Myanmar, Khmer, Tai Le to New Tai Lue, Tai Tham, and the two extensions of Myanmar
    kernel.UNSPACED: "ก-\u0eff \u1000-\u109f \u1780-\u17ff \u1950-\u19df \u1a20-\u1aaf \ua9e0-\ua9ff \uaa60-\uaadf",
}

SIGNS = {
    kernel.APOSTROPHE: "'’＇",
    kernel.DOT: ".．",
    kernel.TERMINAL: "!?؟۔‼‽⁇⁈⁉՜՞՝։⸮",
    kernel.STOP: "。｡！？।॥။៕។᱾᱿꓿꘎꤯꩝꩞꩟꫰꫱꯫᪨᪩᪪᪫᠃᠉።፧፨᙮᜵᜶",
    kernel.ELLIPSIS: "…",
    kernel.OPEN: "¿¡",
    kernel.QUOTE: '"＂',
    kernel.HYPHEN: "-‐‑־",
    kernel.COMMA: ",:٬٫±×",
    kernel.SLASH: "/⁄",
    kernel.MIDDLE: "·‧׳״",
    kernel.AT: "@＠",
    kernel.HASH: "#＃",
    kernel.AMPERSAND: "&",
    kernel.DIGIT: "°",  # 90° and °C are words
    kernel.UPPER: "∆",  # the increment sign, often used as a capital delta
    kernel.LINE: "\n\r\x85\u2028\u2029",
}

# Later rules: the marks of Armenian stand inside words, the shad of Tibetan ends a clause.
MORE_SIGNS = {kernel.MIDDLE: "՛՜՞", kernel.SYMBOL: "՝", kernel.STOP: "།༎"}
CASELESS = (0x10A0, 0x1100), (0x1C90, 0x1CC0), (0x2D00, 0x2D30)  # Georgian sentences begin with a small letter


@cache
def character_classes(scripts: bool = True) -> NDArray[np.uint8]:
    """The class of every code point, from Unicode's categories and the tables above.

    Without `scripts`, the classes are those of the first version of the rules.

    >>> classes = character_classes()
    >>> [int(classes[ord(letter)]) for letter in "A漢"] == [kernel.UPPER, kernel.HAN]
    True
    """
    classes = np.full(0x110000, kernel.LETTER, np.uint8)
    categories = [unicodedata.category(chr(code)) for code in range(ASSIGNED)]
    classes[:ASSIGNED] = [CATEGORIES[category] for category in categories]
    for code in (*range(9, 14), *range(0x1C, 0x20)):  # control characters by category
        classes[code] = kernel.SPACE
    classes[0x20000:0x33480] = kernel.HAN
    classes[0xE0000:0xE0FFF] = kernel.MARK  # tags of regional flags, variation selectors
    for kind, ranges in RANGES.items():
        for pair in ranges.split():
            part = classes[ord(pair[0]) : ord(pair[-1]) + 1]
            part[part == kernel.LETTER] = kind
    for first, end in ((0x2190, 0x2BFF), (0x1F000, 0x1FB00)):
        pictures = [code for code in range(first, end) if categories[code] == "So"]
        classes[pictures] = kernel.EMOJI
    classes[0x1F1E6:0x1F200] = kernel.FLAG
    classes[0x1F3FB:0x1F400] = kernel.MARK  # skin tones
    for kind, signs in SIGNS.items():
        classes[[ord(sign) for sign in signs]] = kind
    if scripts:
        for kind, signs in MORE_SIGNS.items():
            classes[[ord(sign) for sign in signs]] = kind
        for first, end in CASELESS:
            part = classes[first:end]
            part[(part == kernel.UPPER) | (part == kernel.LOWER)] = kernel.LETTER
    classes.flags.writeable = False
    return classes
