"""Coverage: how many words of a text a model does not know or cuts, and the warning that names their share.

Every method of a model that reads a text reports its coverage here. A warning is issued if most words are unknown, or
if one in a hundred is cut: ELMo reads at most 50 bytes of a word, and words that differ later have the same vector.
A single unknown word is worth no warning where the model makes a vector from its characters, as fastText and ELMo do.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from firth.errors import CoverageWarning

MOST = 0.5  # share of unknown words above which an answer says little
SOME = 0.01  # share of cut words from which it is worth a warning
BETWEEN = "firth", "contextlib", "torch", "sklearn", "joblib"  # packages whose functions wrap ours
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Coverage:
    """The number of words of a text, of those unknown to a model, and of those that it cuts after `longest` bytes.

    `composes` says that the model makes vectors of unknown words from their characters.

    >>> Coverage(words=12, unknown=9).warnings()
    ['75 % of the words (9 of 12) are unknown to this model: the answer says little about the text']
    >>> Coverage(words=12, unknown=6).warnings(), Coverage(words=1, unknown=1, composes=True).warnings()
    ([], [])
    """

    words: int = 0
    unknown: int = 0
    cut: int = 0
    longest: int = 0
    unit: str = "bytes"
    composes: bool = field(default=False, repr=False)

    def __add__(self, other: Coverage) -> Coverage:
        last = other if other.longest else self
        counts = self.words + other.words, self.unknown + other.unknown, self.cut + other.cut
        return Coverage(*counts, last.longest, last.unit, self.composes or other.composes)

    def warnings(self) -> list[str]:
        """A sentence for each problem, with the share of the words that have it."""
        found = []
        if self.unknown > max(MOST * self.words, self.composes):
            problem = f"{self._share(self.unknown)} are unknown to this model"
            found.append(f"{problem}: the answer says little about the text")
        if self.cut and self.cut >= SOME * self.words:
            problem = f"{self._share(self.cut)} are longer than {self.longest} {self.unit} and are cut there"
            cure = "Text without spaces between words needs a segmenter, such as segment='icu'"
            found.append(f"{problem}: different words can have the same vector. {cure}")
        return found

    def _share(self, count: int) -> str:
        return f"{100 * count / self.words:.0f} % of the words ({count:,} of {self.words:,})"


def measure(
    sentences: Iterable[Iterable[str]],
    find: Callable[[list[str]], Ids] | None = None,
    *,
    longest: int = 0,
    unit: str = "bytes",
    composes: bool = False,
) -> Coverage:
    """The coverage of sentences. Tokens without a letter or a digit, such as punctuation, do not count.

    `find` has the ids of words, -1 for those that are unknown; without it all are known. A word is cut if it has more
    than `longest` bytes (or characters); 0 is no limit.

    >>> find = lambda words: np.array([len(word) - 4 for word in words])
    >>> measure([["tea", "،", "چای"], ["x" * 60]], find, longest=48)
    Coverage(words=3, unknown=2, cut=1, longest=48, unit='bytes')
    """
    counts = Counter(chain.from_iterable(sentences))
    words = [word for word in counts if word.isalnum() or any(map(str.isalnum, word))]
    sizes = np.fromiter((counts[word] for word in words), np.int64, len(words))
    unknown = int(sizes[find(words) < 0].sum()) if find is not None and words else 0
    cut = sum(counts[word] for word in words if is_longer(word, longest, unit)) if longest else 0
    return Coverage(int(sizes.sum()), unknown, cut, longest, unit, composes)


def is_longer(word: str, longest: int, unit: str = "bytes") -> bool:
    """Whether a word has more than `longest` bytes in UTF-8, or characters.

    >>> is_longer("ab", 2), is_longer("چای", 5), is_longer("چای", 5, "characters")
    (False, True, False)
    """
    if unit != "bytes" or len(word) > longest:
        return len(word) > longest
    return 4 * len(word) > longest and len(word.encode("utf-8", "ignore")) > longest


class Collector:
    """The sum of the coverages that are reported while it collects."""

    def __init__(self) -> None:
        self.total = Coverage()


ACTIVE: ContextVar[Collector | None] = ContextVar("collector of coverage", default=None)


@contextmanager
def collect_coverage(*, warns: bool = True) -> Iterator[Collector]:
    """Sums the coverages that are reported in the block; one warning at its end, unless `warns` is off.

    >>> with collect_coverage(warns=False) as collector:
    ...     report_coverage(Coverage(words=2, unknown=2))
    ...     report_coverage(Coverage(words=1))
    >>> collector.total.words, collector.total.unknown
    (3, 2)
    """
    collector = Collector()
    token = ACTIVE.set(collector)
    try:
        yield collector
    finally:
        ACTIVE.reset(token)
    if warns:
        report_coverage(collector.total)


def report_coverage(coverage: Coverage) -> None:
    """Warns of the problems of a text, or adds them to those that `collect_coverage` collects."""
    collector = ACTIVE.get()
    if collector is not None:
        collector.total += coverage
        return
    for warning in coverage.warnings():
        warnings.warn(warning, CoverageWarning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """The number of frames up to the caller of this package, for `stacklevel`; libraries between them do not count."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in BETWEEN:
        level, frame = level + 1, frame.f_back
    return level


def join_warnings(warnings: Sequence[str]) -> str | None:
    """Several warnings as one text; None if there is none.

    >>> join_warnings([]), join_warnings(["a. b", "c"])
    (None, 'a. b; c')
    """
    return "; ".join(warnings) or None
