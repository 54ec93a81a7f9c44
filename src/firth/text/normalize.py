"""Unicode normalization, with options for the spelling variants of Persian and Arabic.

The defaults are safe for every script: NFC, removal of invisible direction marks, and removal of zero-width non-joiners
without effect. The rest is optional: `Normalizer.persian()`, `Normalizer.arabic()`, or single options.

The rules are applied until the text no longer changes, so `normalizer(normalizer(text)) == normalizer(text)`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from firth.kernels import normalize as kernel
from firth.options import Recipe, option
from firth.text import alignment
from firth.text.code_points import Codes, code_points, to_text
from firth.text.half_spaces import join_words, join_words_aligned

Ids = NDArray[np.int64]

BLOCK = 1 << 16  # characters per block, so that the arrays of the kernels fit the processor cache
ZWNJ = "\u200c"
# Direction marks, embeddings and isolates; soft hyphen, word joiner, byte-order mark; deprecated formatting.
INVISIBLE = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u00ad\u2060\ufeff\u206a-\u206f"
ZERO_WIDTH_SPACE = "\u200b"
TATWEEL = "\u0640"
# Vowel signs and Koranic marks, without the hamza and madda that are part of a letter.
DIACRITICS = "\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
# Letters that never join the next one (Unicode's joining types R and U): a non-joiner after them has no effect.
UNJOINED = (
    "\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3"
    "\u06d5\u06ee\u06ef\u0759-\u075b\u076b\u076c\u0771\u0773\u0774\u0778\u0779\u08aa-\u08ac\u08ae\u08b1\u08b2\u08b9"
)
PRESENTATION_FORMS = (*range(0xFB50, 0xFDFD), *range(0xFE70, 0xFEFD))
LETTERS = {
    "keep": {},
    "persian": {"ي": "ی", "ك": "ک", "ې": "ی", "ڪ": "ک"},
    "arabic": {"ی": "ي", "ک": "ك", "ڪ": "ك"},
}
MARBUTA = {"keep": {}, "heh": {"ة": "ه"}, "teh": {"ة": "ت"}}
HEH_YEH = {"keep": {}, "heh": {"ۀ": "ه"}, "hamza": {"ۀ": "ه\u0654"}, "yeh": {"ۀ": "ه\u200cی"}}
TURKIC = str.maketrans({"I": "ı", "İ": "i"})
NOTHING_KEPT = np.empty(0, np.bool_)
LAST_DIGIT = 0x20000  # later planes have neither decimal digits nor joining marks
ZERO = {"ascii": 0x30, "persian": 0x6F0, "arabic": 0x660}


@dataclass(frozen=True)
class Normalizer(Recipe):
    """Maps different encodings of the same text to one.

    >>> Normalizer()("cafe\u0301 \u200fword\u200c")
    'café word'
    >>> Normalizer(fold_case=True)("Straße")
    'strasse'
    >>> Normalizer.persian()("كتاب\u200c\u200cهاي ١٢")
    'کتاب\u200cهای ۱۲'
    """

    fold_case: bool = option(False, "Apply full Unicode case folding.")
    letters: Literal["keep", "persian", "arabic"] = option("keep", "Unify yeh, kaf and presentation forms.")
    alef_maksura: Literal["keep", "yeh"] = option("keep", "Replace the dotless ى by yeh.")
    teh_marbuta: Literal["keep", "heh", "teh"] = option("keep", "Replacement of ة.")
    heh_yeh: Literal["keep", "heh", "hamza", "yeh"] = option("keep", "Replacement of ۀ.")
    digits: Literal["keep", "ascii", "persian", "arabic"] = option("keep", "Convert decimal digits to one script.")
    tatweel: Literal["keep", "strip"] = option("keep", "Keep or strip the elongation character ـ.")
    diacritics: Literal["keep", "strip"] = option("keep", "Keep or strip Arabic vowel signs and Koranic marks.")
    zwnj: Literal["keep", "clean"] = option(
        "clean",
        "Keep zero-width non-joiners, or remove those that are repeated, at word edges or after non-joining letters.",
    )
    invisible: Literal["keep", "strip"] = option("strip", "Direction controls, soft hyphens and byte-order marks.")
    zero_width_space: Literal["keep", "strip", "space"] = option(
        "space", "Replacement of the zero-width space, the word separator of Khmer, Thai and some web pages."
    )
    form: Literal["NFC", "NFKC"] = option(
        "NFC",
        "Unicode normalization form. NFKC also unifies full-width Latin, half-width kana, ligatures and ².",
    )
    turkic: bool = option(False, "Fold the case of I to ı and of İ to i, as in Turkish and Azerbaijani.")
    half_spaces: bool = option(False, "Join the parts of Persian words that are typed with a blank: می روم, کتاب ها.")
    latin_words: Literal["convert", "keep"] = option(
        "convert", "Digits of words and addresses with Latin letters, such as MP3: convert them too, or keep them."
    )

    @classmethod
    def persian(cls, **options: Any) -> Self:
        """For Persian: unifies ye, kaf, ى, ۀ and digits, restores half-spaces, strips tatweel and vowel signs.

        >>> Normalizer.persian(digits="ascii")("سال ۱۴۰۲")
        'سال 1402'
        >>> Normalizer.persian()("مي خواهم MP3 بخرم") == "می‌خواهم MP3 بخرم"
        True
        """
        chosen = {"letters": "persian", "alef_maksura": "yeh", "heh_yeh": "hamza", "digits": "persian"}
        chosen |= {"tatweel": "strip", "diacritics": "strip", "latin_words": "keep"}
        return cls(**{**chosen, "half_spaces": True, **options})

    @classmethod
    def arabic(cls, **options: Any) -> Self:
        """For Arabic: unifies ye, kaf and presentation forms, and strips tatweel and vowel signs.

        >>> Normalizer.arabic()("کِتــاب")
        'كتاب'
        """
        return cls(**{"letters": "arabic", "tatweel": "strip", "diacritics": "strip", **options})

    @classmethod
    def turkish(cls, **options: Any) -> Self:
        """For Turkish: if case is folded, I becomes ı and İ becomes i.

        >>> Normalizer.turkish(fold_case=True)("ISPARTA İzmir")
        'ısparta izmir'
        """
        return cls(**{"turkic": True, **options})

    def __call__(self, text: str) -> str:
        """The normalized text."""
        return map_blocks(self._normalize, text)

    def aligned(self, text: str) -> tuple[str, Ids]:
        """The normalized text and, for each of its characters and its end, the offset in the source.

        >>> Normalizer().aligned("cafe\u0301!")
        ('café!', array([0, 1, 2, 3, 5, 6]))
        """
        return self._align(text, self.fold_case)

    def spell(self, text: str) -> str:
        """The text, normalized except for case, as the tokenizer needs it: sentence boundaries depend on capitals.

        >>> Normalizer(fold_case=True).spell("I said\u200f: Stop!")
        'I said: Stop!'
        """
        return map_blocks(self._spell, text)

    def spell_aligned(self, text: str) -> tuple[str, Ids]:
        """As `spell`, with the offsets in the source as in `aligned`."""
        return self._align(text, False)

    def fold(self, text: str) -> str:
        """The text with its case folded if `fold_case` is on."""
        return map_blocks(self._fold, text) if self.fold_case else text

    def _spell(self, text: str) -> str:
        if text.isascii() and self.digits in ("keep", "ascii"):
            return text
        before = None
        while text != before:
            before = compose(text, self.form)
            text = self._replace(before)
            if self.half_spaces:
                text = join_words(text)
            if self.zwnj == "clean" and ZWNJ in text:
                text = loose_joiners().sub("", text)
        return text

    def _normalize(self, text: str) -> str:
        before, text = None, self._spell(text)
        while self.fold_case and text != before:
            before = self._fold(text)
            text = self._spell(before)
        return text

    def _fold(self, text: str) -> str:
        if text.isascii() and not self.turkic:
            return text.lower()
        before = None
        while text != before:
            before, text = text, compose(self._casefold(text), self.form)
        return text

    def _casefold(self, text: str) -> str:
        return (text.translate(TURKIC) if self.turkic else text).casefold()

    def _align(self, text: str, folded: bool) -> tuple[str, Ids]:
        steps: list[Callable[[str], tuple[str, Ids]]] = [
            partial(alignment.compose, form=self.form),
            self._replace_aligned,
        ]
        if self.half_spaces:
            steps.append(join_words_aligned)
        if self.zwnj == "clean":
            steps.append(lambda text: alignment.remove(text, loose_joiners()))
        if folded:
            steps.append(lambda text: alignment.replace(text, [self._casefold(letter) for letter in text]))
            steps.append(partial(alignment.compose, form=self.form))  # some letters, such as ΐ, are folded into parts
        offsets = np.arange(len(text) + 1)
        before = None
        while text != before:
            before = text
            for step in steps:
                text, moved = step(text)
                offsets = offsets[moved]
        return text, offsets

    def _replace_aligned(self, text: str) -> tuple[str, Ids]:
        parts = [self.replacements.get(letter, letter) for letter in text]
        if self._keeps_latin:
            for place in np.flatnonzero(kernel.latin_digits(code_points(text))):
                parts[place] = text[place]
        return alignment.replace(text, parts)

    @property
    def _keeps_latin(self) -> bool:
        return self.latin_words == "keep" and self.digits != "keep"

    def _replace(self, text: str) -> str:
        table, several = self._table
        codes = code_points(text)
        if kernel.first_change(codes, table) == len(codes):
            return text
        kept = kernel.latin_digits(codes) if self._keeps_latin else NOTHING_KEPT
        out = np.empty(len(codes), np.uint32)
        size = kernel.replace(codes, table, several, kept, out)
        if size > len(out):
            out = np.empty(size, np.uint32)
            kernel.replace(codes, table, several, kept, out)
        return to_text(out[:size])

    @cached_property
    def replacements(self) -> dict[str, str]:
        """The replacement of each character that changes.

        >>> Normalizer(tatweel="strip", invisible="keep").replacements
        {'\u200b': ' ', 'ـ': ''}
        """
        table = dict(LETTERS[self.letters] | MARBUTA[self.teh_marbuta] | HEH_YEH[self.heh_yeh])
        if self.letters != "keep":
            table |= presentation_forms()
        if self.alef_maksura == "yeh":
            table["ى"] = "ي" if self.letters == "arabic" else "ی"
        if self.digits != "keep":
            table |= {digit: chr(ZERO[self.digits] + value) for digit, value in decimal_digits().items()}
        if self.zero_width_space != "keep":
            table[ZERO_WIDTH_SPACE] = " " if self.zero_width_space == "space" else ""
        for policy, ranges in ((self.tatweel, TATWEEL), (self.diacritics, DIACRITICS), (self.invisible, INVISIBLE)):
            if policy == "strip":
                table |= dict.fromkeys(expand_ranges(ranges), "")
        return {letter: other for letter, other in table.items() if letter != other}

    @cached_property
    def _table(self) -> tuple[Codes, Codes]:
        """The replacements by code point, for the kernel."""
        table = np.arange(0x110000, dtype=np.uint32)
        several: list[int] = []
        for letter, others in self.replacements.items():
            if len(others) == 1:
                table[ord(letter)] = ord(others)
            else:
                table[ord(letter)] = kernel.SEVERAL + len(several)
                several += [len(others), *map(ord, others)]
        return table, np.array([*several, 0], np.uint32)


def blocks(text: str, border: str, size: int) -> Iterator[str]:
    """Splits a text into parts of at least `size` characters that end with the border, except the last.

    >>> list(blocks("a\\nbc\\nd\\ne", "\\n", 3))
    ['a\\nbc\\n', 'd\\ne']
    """
    start = 0
    while start < len(text):
        place = text.find(border, start + size)
        end = len(text) if place < 0 else place + len(border)
        yield text[start:end]
        start = end


def map_blocks(change: Callable[[str], str], text: str) -> str:
    """Applies a change block by block; it must not depend on other lines."""
    return change(text) if len(text) <= BLOCK else "".join(map(change, blocks(text, "\n", BLOCK)))


def compose(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """The text in NFC or NFKC, line by line, since few lines need it.

    >>> compose("cafe\u0301") == "caf\u00e9", compose("Ｔｅａ ﾃｨｰ", "NFKC")
    (True, 'Tea ティー')
    """
    if unicodedata.is_normalized(form, text):
        return text
    border = "\n" if "\n" in text else " "  # nothing composes with either
    parts = text.split(border)
    for i, part in enumerate(parts):
        if not unicodedata.is_normalized(form, part):
            parts[i] = unicodedata.normalize(form, part)
    return border.join(parts)


def expand_ranges(ranges: str) -> list[str]:
    """The characters of a set in the syntax of regular expressions: 'a-c' is a, b and c.

    >>> expand_ranges("a-cx")
    ['a', 'b', 'c', 'x']
    """
    pairs = re.findall("(.)(?:-(.))?", ranges, re.DOTALL)
    return [chr(code) for first, end in pairs for code in range(ord(first), ord(end or first) + 1)]


@cache
def presentation_forms() -> dict[str, str]:
    """The letters of each Arabic presentation form."""
    plain = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in PRESENTATION_FORMS}
    return {form: letters for form, letters in plain.items() if form != letters and " " not in letters}


@cache
def decimal_digits() -> dict[str, int]:
    """The value of every decimal digit of every script."""
    return {chr(code): unicodedata.decimal(chr(code), 0) for code in range(LAST_DIGIT) if chr(code).isdecimal()}


@cache
def loose_joiners() -> re.Pattern[str]:
    """Matches non-joiners without effect: repeated, at the edge of a word, or after a letter that never joins.

    At the end of a word one stays after the signs of Indic scripts, where it keeps a virama visible.
    """
    marks = [chr(code) for code in range(LAST_DIGIT) if unicodedata.category(chr(code))[0] == "M"]
    arabic = "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    others = "".join(mark for mark in marks if not re.match(f"[{arabic}]", mark))
    word = f"\\w{arabic}{others}\u200d"
    behind = "|".join(f"(?<=[{UNJOINED}]{f'[{arabic}]' * n}{ZWNJ}){ZWNJ}*" for n in range(3))
    edges = f"(?<![{word}{ZWNJ}]{ZWNJ}){ZWNJ}*|(?<![{others}{ZWNJ}]{ZWNJ}){ZWNJ}*(?![{word}{ZWNJ}])"
    return re.compile(f"{ZWNJ}(?:{edges}|{behind}|(?={ZWNJ}))")
