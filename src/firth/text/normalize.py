"""One spelling for what is one word: Unicode's composed form, and what Persian and Arabic keyboards tear apart.

What is on by default harms no script: composition (NFC), invisible direction marks stripped, and joiners cleaned that
nobody can see. The rest is asked for: `Normalizer.persian()`, `Normalizer.arabic()`, or option by option.

A text is normal when no rule finds anything to do; normalizing repeats the rules until that is so, hence
`normalizer(normalizer(text)) == normalizer(text)`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from firth.kernels import normalize as kernel
from firth.options import Recipe, option
from firth.text import alignment

Ids = NDArray[np.int64]
Codes = NDArray[np.uint32]

BLOCK = 1 << 16  # characters handled at once: what the kernels touch then stays near the processor
ZWNJ = "\u200c"
# Direction marks, embeddings and isolates; soft hyphen, word joiner, byte-order mark; deprecated formatting.
INVISIBLE = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u00ad\u2060\ufeff\u206a-\u206f"
ZERO_WIDTH_SPACE = "\u200b"
TATWEEL = "\u0640"
# Vowel signs and Koranic marks; the hamza and madda that are part of a letter stay.
DIACRITICS = "\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
# Letters that never join the next one, by Unicode's joining types R and U: a joiner behind them cannot be seen.
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
LAST_DIGIT = 0x20000  # planes beyond hold neither digits nor signs that join letters
ZERO = {"ascii": 0x30, "persian": 0x6F0, "arabic": 0x660}


@dataclass(frozen=True)
class Normalizer(Recipe):
    """Makes equal what readers take for equal.

    >>> Normalizer()("cafe\u0301 \u200fword\u200c")
    'café word'
    >>> Normalizer(fold_case=True)("Straße")
    'strasse'
    >>> Normalizer.persian()("كتاب\u200c\u200cهاي ١٢")
    'کتاب\u200cهای ۱۲'
    """

    fold_case: bool = option(False, "fold upper and lower case into one (full Unicode case folding)")
    letters: Literal["keep", "persian", "arabic"] = option("keep", "unify yeh, kaf and presentation forms")
    alef_maksura: Literal["keep", "yeh"] = option("keep", "write the dotless ى as yeh")
    teh_marbuta: Literal["keep", "heh", "teh"] = option("keep", "what becomes of ة")
    heh_yeh: Literal["keep", "heh", "hamza", "yeh"] = option("keep", "what becomes of ۀ")
    digits: Literal["keep", "ascii", "persian", "arabic"] = option("keep", "one set of decimal digits for all")
    tatweel: Literal["keep", "strip"] = option("keep", "the stretching stroke ـ")
    diacritics: Literal["keep", "strip"] = option("keep", "Arabic vowel signs and Koranic marks")
    zwnj: Literal["keep", "clean"] = option(
        "clean", "zero-width non-joiners: one at a time, none at the edges of a word or behind letters that never join"
    )
    invisible: Literal["keep", "strip"] = option("strip", "direction controls, soft hyphens, byte-order marks")
    zero_width_space: Literal["keep", "strip", "space"] = option(
        "space", "what becomes of the invisible word border of Khmer, Thai and web pages"
    )

    @classmethod
    def persian(cls, **options: Any) -> Self:
        """For Persian: Arabic ye and kaf, ى, tatweel, vowel signs and all digits are unified.

        >>> Normalizer.persian(digits="ascii")("سال ۱۴۰۲")
        'سال 1402'
        """
        chosen = {"letters": "persian", "alef_maksura": "yeh", "digits": "persian"}
        return cls(**{**chosen, "tatweel": "strip", "diacritics": "strip", **options})

    @classmethod
    def arabic(cls, **options: Any) -> Self:
        """For Arabic: Persian ye and kaf, presentation forms, tatweel and vowel signs are unified.

        >>> Normalizer.arabic()("کِتــاب")
        'كتاب'
        """
        return cls(**{"letters": "arabic", "tatweel": "strip", "diacritics": "strip", **options})

    def __call__(self, text: str) -> str:
        """The text, normal."""
        return map_blocks(self._normalize, text)

    def aligned(self, text: str) -> tuple[str, Ids]:
        """The text, normal, and for each of its characters and its end the place in the source that it came from.

        >>> Normalizer().aligned("cafe\u0301!")
        ('café!', array([0, 1, 2, 3, 5, 6]))
        """
        return self._align(text, self.fold_case)

    def spell(self, text: str) -> str:
        """The text, normal in all but its case: what a tokenizer reads, since capitals tell where sentences begin.

        >>> Normalizer(fold_case=True).spell("I said\u200f: Stop!")
        'I said: Stop!'
        """
        return map_blocks(self._spell, text)

    def spell_aligned(self, text: str) -> tuple[str, Ids]:
        """What `spell` gives, with the places in the source as `aligned` has them."""
        return self._align(text, False)

    def fold(self, text: str) -> str:
        """The text with its case folded, where `fold_case` asks for it."""
        return map_blocks(self._fold, text) if self.fold_case else text

    def _spell(self, text: str) -> str:
        if text.isascii() and self.digits in ("keep", "ascii"):
            return text
        before = None
        while text != before:
            before = compose(text)
            text = self._replace(before)
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
        if text.isascii():
            return text.lower()
        before = None
        while text != before:
            before, text = text, compose(text.casefold())
        return text

    def _align(self, text: str, folded: bool) -> tuple[str, Ids]:
        steps = [alignment.compose, self._replace_aligned]
        if self.zwnj == "clean":
            steps.append(lambda text: alignment.remove(text, loose_joiners()))
        if folded:
            steps.append(lambda text: alignment.replace(text, [letter.casefold() for letter in text]))
        offsets = np.arange(len(text) + 1)
        before = None
        while text != before:
            before = text
            for step in steps:
                text, moved = step(text)
                offsets = offsets[moved]
        return text, offsets

    def _replace_aligned(self, text: str) -> tuple[str, Ids]:
        return alignment.replace(text, [self.replacements.get(letter, letter) for letter in text])

    def _replace(self, text: str) -> str:
        table, several = self._table
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        if kernel.first_change(codes, table) == len(codes):
            return text
        out = np.empty(len(codes), np.uint32)
        size = kernel.replace(codes, table, several, out)
        if size > len(out):
            out = np.empty(size, np.uint32)
            kernel.replace(codes, table, several, out)
        return out[:size].tobytes().decode("utf-32-le", "surrogatepass")

    @cached_property
    def replacements(self) -> dict[str, str]:
        """What becomes of single characters.

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
        """The replacements as the kernel reads them, by code point."""
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
    """A text in parts of at least this many characters, each but the last ended by the border.

    >>> list(blocks("a\\nbc\\nd\\ne", "\\n", 3))
    ['a\\nbc\\n', 'd\\ne']
    """
    start = 0
    while start < len(text):
        found = text.find(border, start + size)
        end = len(text) if found < 0 else found + len(border)
        yield text[start:end]
        start = end


def map_blocks(change: Callable[[str], str], text: str) -> str:
    """A change that never looks beyond a line, made block by block."""
    return change(text) if len(text) <= BLOCK else "".join(map(change, blocks(text, "\n", BLOCK)))


def compose(text: str) -> str:
    """The text in Unicode's composed form (NFC), line by line, since few lines have anything to compose.

    >>> compose("cafe\u0301") == "caf\u00e9"
    True
    """
    if unicodedata.is_normalized("NFC", text):
        return text
    border = "\n" if "\n" in text else " "  # nothing composes with either
    parts = text.split(border)
    for i, part in enumerate(parts):
        if not unicodedata.is_normalized("NFC", part):
            parts[i] = unicodedata.normalize("NFC", part)
    return border.join(parts)


def expand_ranges(ranges: str) -> list[str]:
    """The characters of a set as regular expressions write it: 'a-c' is a, b and c.

    >>> expand_ranges("a-cx")
    ['a', 'b', 'c', 'x']
    """
    pairs = re.findall("(.)(?:-(.))?", ranges, re.DOTALL)
    return [chr(code) for first, end in pairs for code in range(ord(first), ord(end or first) + 1)]


@cache
def presentation_forms() -> dict[str, str]:
    """Arabic letters and ligatures in the shapes that old programs stored, by what they stand for."""
    plain = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in PRESENTATION_FORMS}
    return {form: letters for form, letters in plain.items() if form != letters and " " not in letters}


@cache
def decimal_digits() -> dict[str, int]:
    """Every decimal digit of every script, with its value."""
    return {chr(code): unicodedata.decimal(chr(code), 0) for code in range(LAST_DIGIT) if chr(code).isdecimal()}


@cache
def loose_joiners() -> re.Pattern[str]:
    """Finds zero-width non-joiners that do nothing: doubled, at a word's edge, or behind a letter that never joins.

    At the end of a word a joiner stays behind the signs of Indian scripts, where it keeps a virama visible.
    """
    marks = [chr(code) for code in range(LAST_DIGIT) if unicodedata.category(chr(code))[0] == "M"]
    arabic = "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    others = "".join(mark for mark in marks if not re.match(f"[{arabic}]", mark))
    word = f"\\w{arabic}{others}\u200d"
    behind = "|".join(f"(?<=[{UNJOINED}]{f'[{arabic}]' * n}{ZWNJ}){ZWNJ}*" for n in range(3))
    edges = f"(?<![{word}{ZWNJ}]{ZWNJ}){ZWNJ}*|(?<![{others}{ZWNJ}]{ZWNJ}){ZWNJ}*(?![{word}{ZWNJ}])"
    return re.compile(f"{ZWNJ}(?:{edges}|{behind}|(?={ZWNJ}))")
