"""The script of a text: Latin, Arabic, Cyrillic, … A model answers text in any script, and is right in its own only."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

COMMON = 0.1  # share of the words from which a script is common


def find_script(word: str) -> str | None:
    """The script of the first letter of a word, as Unicode names it; None without letters.

    >>> [find_script(word) for word in ("tea", "چای", "чай", "茶", "42", "😀")]
    ['LATIN', 'ARABIC', 'CYRILLIC', 'CJK', None, None]
    """
    letter = next(filter(str.isalpha, word), None)
    return None if letter is None else unicodedata.name(letter, "UNKNOWN").split()[0]


def common_scripts(words: Iterable[str]) -> frozenset[str]:
    """The scripts of at least a tenth of the words, not counting words without letters.

    >>> common_scripts(["tea", "milk", ",", "42"])
    frozenset({'LATIN'})
    """
    counts = Counter(filter(None, map(find_script, words)))
    return frozenset(script for script, count in counts.items() if count >= COMMON * counts.total())


def warn_of_script(words: Iterable[str], known: Collection[str]) -> str | None:
    """A warning if more than half of the words are in scripts that are not known; None if no script is known.

    >>> warn_of_script("علی در تهران است .".split(), {"LATIN"})
    '100 % of the words (4 of 4) are in ARABIC script, but the model was made for LATIN: the answer is unreliable'
    >>> warn_of_script("Ali lives in تهران .".split(), {"LATIN"})
    """
    scripts = Counter(filter(None, map(find_script, words)))
    foreign = Counter({script: count for script, count in scripts.items() if script not in known})
    if not known or foreign.total() <= scripts.total() / 2:
        return None
    script, made_for = foreign.most_common(1)[0][0], " and ".join(sorted(known))
    total, share = foreign.total(), f"{100 * foreign.total() / scripts.total():.0f} %"
    where = f"{share} of the words ({total:,} of {scripts.total():,}) are in {script} script"
    return f"{where}, but the model was made for {made_for}: the answer is unreliable"
