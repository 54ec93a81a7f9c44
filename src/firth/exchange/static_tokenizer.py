"""The tokenizer of word vectors in the language of the `tokenizers` library: a table for tokenizer.json.

A text is normalized by replacements, split by one pattern, and each piece is looked up whole. The model is a BPE
without merges that knows whole words only: every piece and every word begins with a mark that no word contains, so that
no single character is a word, and a piece that is not a word becomes nothing at all. firth's tokenizer is a program,
not a pattern: abbreviations, sentence ends and languages other than English are where the two differ (docs/exchange.md
has the measured agreement).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from firth.errors import OptionError
from firth.text.normalize import (
    DIACRITICS,
    HEH_YEH,
    INVISIBLE,
    LETTERS,
    MARBUTA,
    TATWEEL,
    UNJOINED,
    ZERO,
    ZWNJ,
    Normalizer,
)
from firth.text.tokenize import Tokenizer
from firth.vectors.rows import Floats
from firth.vectors.words import WordVectors

MARKS = "".join(map(chr, range(0xE000, 0xE100)))  # for private use: one that no word contains begins every piece
APOSTROPHE = "['’]"
END = r"(?![\p{L}\p{N}_])"
CLITIC = rf"(?:[smdSMD]|re|ve|ll|RE|VE|LL){END}"
NOT = rf"[nN]{APOSTROPHE}[tT]{END}"
LETTER = r"[[\p{L}\p{M}\p{N}_]&&[^\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]]"
INNER = (  # what joins the parts of a word
    r"(?:[-‐‑\u200c\u200d]|\.(?=[a-z\p{N}])|(?<=\p{N})[.,:/–](?=\p{N})|(?<=\p{N})\.(?=\p{Lu})"
    rf"|(?<=\p{{Lu}})&(?=\p{{Lu}})|(?!{APOSTROPHE}{CLITIC}){APOSTROPHE}(?![tT]{END}))"
)
REST = rf"(?:{INNER}{LETTER}+)*(?:-(?![-\p{{L}}\p{{N}}]))?"
PATTERNS = (
    r"(?:https?://|www\.)[^\s<>\"]*[\p{L}\p{N}/]",
    r"[\p{L}\p{N}._+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+",
    r"(?<![\p{L}\p{N}_])[@#][\p{L}\p{N}_]+",
    rf"[\p{{L}}]+?(?={NOT})",
    NOT,
    rf"{APOSTROPHE}{CLITIC}",
    rf"(?i:(?<![\p{{L}}\p{{N}}_])(?:can(?=not{END})|(?:gon|wan)(?=na{END})|got(?=ta{END})))",
    rf"(?<![\p{{L}}\p{{N}}_.])(?:\p{{L}}\.){{2,}}(?:-{LETTER}+)*",
    r"(?<![\p{L}\p{N}_.])(?!I\.)\p{Lu}\.(?=\s*\p{Lu})",
    r"(?<![\p{L}\p{N}])(?:C(?:\+\+|#)|\p{Lu}{1,3}\$)",
    r"(?<![\p{L}\p{N}.])\.\p{N}+",
    r"\p{N}+(?:[.,]\p{N}+)*°",
    rf"(?:(?<!\S)-(?!-))?{LETTER}+{REST}",
    r"\p{Han}|\p{Hiragana}+|[\p{Katakana}ー]+|[\p{Thai}\p{M}]+",
    r"\.{2,}|-{2,}|,{2,}|``|''",
    r"\S",
)
SPLIT = "|".join(PATTERNS)
# What the pattern leaves whole for certain: letters and digits, with hyphens or apostrophes inside.
ONE_PIECE = re.compile(r"(?!.*['’](?:[smdt]|re|ve|ll)$)\w+(?:(?:[-‐‑\u200c\u200d]|['’])\w+)*", re.IGNORECASE)


def build_tokenizer(vectors: WordVectors) -> tuple[dict[str, Any], list[int]]:
    """The table of tokenizer.json, and the id of the word of each further token, in the order of their numbers.

    Words that the pattern splits, such as abbreviations, are further tokens: their numbers follow those of the words.
    """
    words = list(vectors.vocabulary)
    mark = next((one for one in MARKS if not any(one in word for word in words)), None)
    if mark is None:
        raise OptionError("every character for private use stands in a word, so that none is left to mark words with")
    known = {mark + word: id for id, word in enumerate(words) if is_text(word)}
    table: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers(running_tokenizer(vectors).normalizer)},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splits(), add_mark(mark)]},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": True,
            "vocab": known,
            "merges": [],
        },
    }
    further = find_split_words(vectors)
    table["added_tokens"] = [
        {
            "id": len(words) + place,
            "content": words[id],
            "single_word": True,
            "lstrip": False,
            "rstrip": False,
            "normalized": True,
            "special": False,
        }
        for place, id in enumerate(further)
    ]
    return table, further


def is_text(word: str) -> bool:
    """Whether a word is valid UTF-8 and not empty: no other can stand in a JSON file, and no text contains another."""
    return bool(word) and word.encode("utf-8", "ignore").decode() == word


def running_tokenizer(vectors: WordVectors) -> Tokenizer:
    """The tokenizer of running text of vectors; one with a segmenter cannot be exported."""
    tokenizer = vectors.tokenizer.running
    if tokenizer.segment is not None:
        problem = "the text of these vectors was segmented, which no pattern can do"
        raise OptionError(f"{problem}. Pass texts with blanks between words, and vectors.with_tokenizer(Tokenizer())")
    return tokenizer


def splits() -> list[dict[str, Any]]:
    """Splits at the pattern, then removes white space."""
    blank = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "Removed", "invert": False}
    return [{"type": "Split", "pattern": {"Regex": SPLIT}, "behavior": "Isolated", "invert": False}, blank]


def add_mark(mark: str) -> dict[str, Any]:
    """Puts the mark before each piece."""
    return {"type": "Metaspace", "replacement": mark, "prepend_scheme": "always", "split": False}


def find_split_words(vectors: WordVectors) -> list[int]:
    """The ids of words that stay whole in firth, but that the pattern would split, such as `Dr.` and `e-mail's`.

    Only words with a letter or digit and something that is neither are asked about.
    """
    running = running_tokenizer(vectors)
    keeps_known = vectors.tokenizer.tokenizer.mode == "whitespace"
    found = []
    for id, word in enumerate(vectors.vocabulary):
        if word.isalnum() or not is_text(word) or not any(map(str.isalnum, word)) or any(map(str.isspace, word)):
            continue
        if not is_one_piece(word) and (keeps_known or word in running.words(f"of {word} and")):
            found.append(id)
    return found


def is_one_piece(word: str) -> bool:
    """Whether the pattern leaves a word whole for certain: letters and digits, with hyphens or apostrophes inside.

    >>> is_one_piece("well-known"), is_one_piece("می\u200cروم"), is_one_piece("Dr."), is_one_piece("it's")
    (True, True, False, False)
    """
    return ONE_PIECE.fullmatch(word) is not None


def normalizers(normalizer: Normalizer | None) -> list[dict[str, Any]]:
    """The options of a normalizer as replacements. Half-spaces that are missing are not restored."""
    if normalizer is None:
        return []
    steps: list[dict[str, Any]] = [{"type": normalizer.form}]
    if normalizer.invisible == "strip":
        steps.append(replace(f"[{INVISIBLE}]", ""))
    if normalizer.zero_width_space != "keep":
        steps.append(replace("\u200b", " " if normalizer.zero_width_space == "space" else ""))
    letters: dict[str, str] = {
        **LETTERS[normalizer.letters],
        **MARBUTA[normalizer.teh_marbuta],
        **HEH_YEH[normalizer.heh_yeh],
    }
    if normalizer.alef_maksura == "yeh":
        letters["ى"] = "ي" if normalizer.letters == "arabic" else "ی"
    steps += [replace(re.escape(old), new) for old, new in letters.items()]
    if normalizer.tatweel == "strip":
        steps.append(replace(TATWEEL, ""))
    if normalizer.diacritics == "strip":
        steps.append(replace(f"[{DIACRITICS}]", ""))
    if normalizer.digits != "keep":
        steps += digit_steps(normalizer)
    if normalizer.zwnj == "clean":
        steps += [replace(ZWNJ + "+", ZWNJ), replace(f"(?<=[{UNJOINED}]){ZWNJ}", "")]
        steps += [replace(rf"(?<![\p{{L}}\p{{M}}]){ZWNJ}|{ZWNJ}(?![\p{{L}}\p{{M}}])", "")]
    if normalizer.turkic and normalizer.fold_case:
        steps += [replace("I", "ı"), replace("İ", "i")]
    if normalizer.fold_case:
        steps.append({"type": "Lowercase"})
    return steps


def digit_steps(normalizer: Normalizer) -> list[dict[str, Any]]:
    """The digits of the three scripts as those of one; with latin_words="keep", not those next to a Latin letter."""
    target = ZERO[normalizer.digits]
    near = r"[A-Za-z0-9@#._/-]*[A-Za-z]"
    keep = normalizer.latin_words == "keep"
    steps = []
    for zero in ZERO.values():
        for digit in range(10 if zero != target else 0):
            pattern = chr(zero + digit)
            steps.append(replace(f"(?<![A-Za-z]){pattern}(?!{near})" if keep else pattern, chr(target + digit)))
    return steps


def replace(pattern: str, content: str) -> dict[str, Any]:
    """A step that replaces what a pattern matches."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def lookup_rows(vectors: WordVectors, further: Sequence[int]) -> Floats:
    """The row of each token: of the words, then of the further tokens."""
    matrix = vectors.matrix
    return np.concatenate([matrix, matrix[list(further)]]) if further else matrix
