"""The character n-grams of a word and their rows, identical to fastText."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import subwords as kernel
from firth.runtime import Runtime
from firth.text.jamo import spell_jamo
from firth.text.vocabulary import Vocabulary, to_bytes, to_word
from firth.uncached import Uncached

Ids = NDArray[np.int64]
Units = Literal["characters", "jamo"]
MOST_CHARACTERS = 1000  # of an n-gram
MOST_BUCKETS = (1 << 31) - 1
MOST_PRUNED_BUCKETS = 1 << 24  # each has an entry in a table


@dataclass(frozen=True)
class Subwords(Uncached):
    """N-grams of minn to maxn characters, hashed into buckets.

    `pruned` maps the buckets that a pruned model keeps to their rows. The word `</s>` has no n-grams, except in the
    oldest fastText files, which have no magic number: for these `sentence_end` is set. With the units `jamo`, Hangul
    syllables are three characters each (see `jamo.py`).

    >>> Subwords(3, 4, 1000).ngrams("tea")
    ['<te', '<tea', 'tea', 'tea>', 'ea>']
    >>> Subwords(3, 4, 1000).rows(b"tea")
    array([  8,  59, 337, 757, 895])
    """

    minn: int
    maxn: int
    buckets: int
    pruned: Mapping[int, int] | None = None
    sentence_end: bool = False
    units: Units = "characters"

    def __post_init__(self) -> None:
        limits = {"minn": MOST_CHARACTERS, "maxn": MOST_CHARACTERS, "buckets": MOST_BUCKETS}
        if self.pruned is not None:
            limits["buckets"] = MOST_PRUNED_BUCKETS
        for name, most in limits.items():
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= most:
                raise OptionError(f"{name} is {value!r:.60}, but must be a whole number from 0 to {most:,}")
        if type(self.sentence_end) is not bool:
            raise OptionError(f"sentence_end is {self.sentence_end!r:.60}, but must be true or false")
        if self.units not in get_args(Units):
            raise OptionError(f"units is {self.units!r:.60}, but must be one of {', '.join(get_args(Units))}")
        if self.pruned and not all(0 <= bucket < self.buckets and row >= 0 for bucket, row in self.pruned.items()):
            raise OptionError(f"a pruned bucket must be a number below {self.buckets}, and its row at least 0")

    @property
    def used(self) -> bool:
        """Whether words have n-grams: not if maxn or buckets is 0 or all buckets are pruned."""
        return self.maxn > 0 and self.buckets > 0 and (self.pruned is None or len(self.pruned) > 0)

    @property
    def size(self) -> int:
        """The number of rows of n-grams."""
        return self.bucket_rows if self.used else 0

    @property
    def bucket_rows(self) -> int:
        """The number of rows of all buckets, whether or not words have n-grams of characters."""
        if self.pruned is None:
            return self.buckets
        return max(self.pruned.values()) + 1 if self.pruned else 0

    def ngrams(self, word: str) -> list[str]:
        """The n-grams of a word, wrapped in < and >, in the order of their rows; pruned ones are included."""
        wrapped, starts, ends, _ = self._cut(to_bytes(word))
        return [to_word(wrapped[start:end].tobytes()) for start, end in zip(starts.tolist(), ends.tolist())]

    def rows(self, word: bytes) -> Ids:
        """The rows of a word's n-grams, counted from the first bucket; those without a row are skipped."""
        rows = self._all_rows(word)
        return rows[rows >= 0]

    def pairs(self, word: str) -> list[tuple[str, int]]:
        """The n-grams of a word that have a row, each with its row.

        >>> Subwords(3, 3, 1000, pruned={337: 0}).pairs("tea")
        [('tea', 0)]
        """
        rows = self._all_rows(to_bytes(word)).tolist()
        return [(ngram, row) for ngram, row in zip(self.ngrams(word), rows) if row >= 0]

    def row_of(self, ngram: str) -> int:
        """The row of an n-gram; -1 if it has none.

        >>> Subwords(3, 4, 1000).row_of("<te")
        8
        """
        if not self.used:
            return -1
        raw, hashes = np.frombuffer(to_bytes(ngram), np.uint8), np.empty(1, np.uint64)
        kernel.hash_words(raw, np.zeros(1, np.int64), np.array([len(raw)], np.int64), hashes)
        bucket = int(hashes[0] & np.uint64(0xFFFFFFFF)) % self.buckets
        return bucket if self.pruned is None else self.pruned.get(bucket, -1)

    def _all_rows(self, word: bytes) -> Ids:
        *_, hashes = self._cut(word)
        if not self.used:
            return np.full(len(hashes), -1, np.int64)
        buckets = hashes.astype(np.int64) % self.buckets
        return buckets if self.pruned is None else self.pruned_rows[buckets].astype(np.int64)

    def _cut(self, word: bytes) -> tuple[NDArray[np.uint8], Ids, Ids, NDArray[np.uint32]]:
        raw = np.frombuffer(self._spell(word), np.uint8)
        wrapped = np.empty(len(raw) + 2, np.uint8)
        size = kernel.wrap(raw, 0, len(raw), wrapped, self.sentence_end)
        room = size * max(0, self.maxn - max(self.minn, 1) + 1)
        starts, ends, hashes = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint32)
        count = kernel.cut(wrapped, size, self.minn, self.maxn, starts, ends, hashes)
        return wrapped, starts[:count], ends[:count], hashes[:count]

    def _spell(self, word: bytes) -> bytes:
        return word if self.units == "characters" else to_bytes(spell_jamo(to_word(word)))

    def _spell_all(self, vocabulary: Vocabulary) -> tuple[NDArray[np.uint8], Ids, Ids]:
        """The words that n-grams are cut from: their bytes, and where each starts and ends."""
        if self.units == "characters":
            return vocabulary.blob, vocabulary.starts, vocabulary.ends
        words = [to_bytes(spell_jamo(word)) for word in vocabulary]
        ends = np.cumsum([len(word) for word in words], dtype=np.int64)
        return np.frombuffer(b"".join(words), np.uint8), np.append(0, ends)[:-1], ends

    @cached_property
    def pruned_rows(self) -> NDArray[np.int32]:
        """The row of each bucket, or -1; empty if the model is not pruned."""
        if self.pruned is None:
            return np.empty(0, np.int32)
        table = np.full(max(1, self.buckets), -1, np.int32)
        for bucket, row in self.pruned.items():
            table[bucket] = row
        return table

    def table(
        self, vocabulary: Vocabulary, runtime: Runtime | None = None, *, first: int | None = None
    ) -> tuple[Ids, Ids, Ids]:
        """The rows of every word of a vocabulary: (rows, pointers, lengths).

        The rows of word w are rows[p : p + lengths[w]] with p = pointers[w]: its own row w first, then those of its
        n-grams, which start after the rows of the words, or at `first`.

        >>> rows, pointers, lengths = Subwords(3, 3, 10).table(Vocabulary(["tea", "</s>"]))
        >>> rows[:4].tolist(), lengths.tolist()
        ([0, 10, 9, 7], [4, 1])
        """
        runtime = runtime or Runtime.from_env()
        size = len(vocabulary)
        pointers, lengths = np.zeros(size + 1, np.int64), np.empty(size, np.int64)
        maxn = self.maxn if self.used else 0
        words = self._spell_all(vocabulary)

        def count(share: slice) -> None:
            kernel.count_rows(
                words[0], words[1][share], words[2][share], self.minn, maxn, self.sentence_end, lengths[share]
            )

        runtime.map(count, runtime.shares(size))
        np.cumsum(lengths + 1, out=pointers[1:])
        rows = np.zeros(int(pointers[-1]), np.int64)  # unused entries of pruned n-grams must be valid ids
        pruned = self.pruned_rows

        def fill(share: slice) -> None:
            kernel.fill_rows(
                words[0],
                words[1][share],
                words[2][share],
                share.start,
                self.minn,
                maxn,
                self.sentence_end,
                max(1, self.buckets),
                pruned,
                size if first is None else first,
                pointers[share.start : share.stop + 1],
                rows,
                lengths[share],
            )

        runtime.map(fill, runtime.shares(size))
        return rows, pointers, lengths
