"""The character n-grams of a word and their rows, identical to fastText."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import subwords as kernel
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary, to_bytes, to_word

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Subwords:
    """N-grams of minn to maxn characters, hashed into buckets.

    `pruned` maps the buckets that a pruned model keeps to their rows. The word `</s>` has no n-grams, except in the
    oldest fastText files, which have no magic number: for these `sentence_end` is set.

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

    def __post_init__(self) -> None:
        if self.minn < 0 or self.maxn < 0 or self.buckets < 0:
            raise OptionError(f"minn {self.minn}, maxn {self.maxn} and buckets {self.buckets} must be at least 0")
        if self.pruned and not all(0 <= bucket < self.buckets and row >= 0 for bucket, row in self.pruned.items()):
            raise OptionError(f"a pruned bucket must be a number below {self.buckets}, and its row at least 0")

    @property
    def used(self) -> bool:
        """Whether words have n-grams: not if maxn or buckets is 0 or all buckets are pruned."""
        return self.maxn > 0 and self.buckets > 0 and (self.pruned is None or len(self.pruned) > 0)

    @property
    def size(self) -> int:
        """The number of rows of n-grams."""
        if not self.used:
            return 0
        return self.buckets if self.pruned is None else max(self.pruned.values()) + 1

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

    def _all_rows(self, word: bytes) -> Ids:
        *_, hashes = self._cut(word)
        if not self.used:
            return np.full(len(hashes), -1, np.int64)
        buckets = hashes.astype(np.int64) % self.buckets
        return buckets if self.pruned is None else self._table[buckets]

    def _cut(self, word: bytes) -> tuple[NDArray[np.uint8], Ids, Ids, NDArray[np.uint32]]:
        raw = np.frombuffer(word, np.uint8)
        wrapped = np.empty(len(raw) + 2, np.uint8)
        size = kernel.wrap(raw, 0, len(raw), wrapped, self.sentence_end)
        room = size * max(0, self.maxn - max(self.minn, 1) + 1)
        starts, ends, hashes = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint32)
        count = kernel.cut(wrapped, size, self.minn, self.maxn, starts, ends, hashes)
        return wrapped, starts[:count], ends[:count], hashes[:count]

    @cached_property
    def _table(self) -> Ids:
        table = np.full(self.buckets, -1, np.int64)
        for bucket, row in (self.pruned or {}).items():
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
        words = (vocabulary.blob, vocabulary.starts, vocabulary.ends)

        def count(share: slice) -> None:
            kernel.count_rows(
                words[0], words[1][share], words[2][share], self.minn, maxn, self.sentence_end, lengths[share]
            )

        runtime.map(count, runtime.shares(size))
        np.cumsum(lengths + 1, out=pointers[1:])
        rows = np.zeros(int(pointers[-1]), np.int64)  # unused entries of pruned n-grams must be valid ids
        pruned = np.empty(0, np.int64) if self.pruned is None else self._table

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
