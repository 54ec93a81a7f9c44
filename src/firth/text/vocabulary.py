"""The words of a model and their ids.

In a vocabulary with counts an id is a rank: id 0 is the most frequent word, and a cut by count is a prefix. The
vocabulary of a vector file has the order of that file. The words are bytes in one buffer, possibly a memory-mapped
file: a million words open in milliseconds, and invalid UTF-8 is kept (as surrogate escapes in `str`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import FormatError, OptionError, UnknownWord
from firth.files import COMPRESSIONS, Name, map_file, read_bytes, write_bytes
from firth.kernels import words as kernel
from firth.uncached import Uncached

Bytes = NDArray[np.uint8]
Ids = NDArray[np.int64]
SMALL = 1 << 20  # bytes of a word list that is read without a compiled kernel
ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
LONGEST_PACKED = 1 << 30  # largest decompressed word list, in bytes
MOST_TOKENS = 1 << 60  # sums of counts must not overflow


def to_bytes(word: str) -> bytes:
    """A word as UTF-8; surrogate escapes become the original bytes."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return word.encode("utf-8", "surrogatepass")


def to_word(raw: bytes) -> str:
    """Bytes as a word; bytes that are not UTF-8 are kept as surrogate escapes.

    >>> to_bytes(to_word(b"caf\\x82")) == b"caf\\x82"
    True
    """
    return raw.decode("utf-8", "surrogateescape")


def make_printable(text: str) -> str:
    """A text that can be printed: bytes that were not UTF-8, kept as lone surrogates, become question marks.

    >>> make_printable(to_word(b"caf\\xe9"))
    'caf?'
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def pack(words: Iterable[str]) -> tuple[Bytes, Ids, Ids]:
    """Words in one buffer: (blob, starts, ends)."""
    if isinstance(words, Vocabulary):
        return words.blob, words.starts, words.ends
    try:
        encoded = [to_bytes(word) for word in words]
    except AttributeError as error:
        raise OptionError(f"{error.obj!r:.80} is no word. Words must be text") from error
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64) if encoded else np.zeros(0, np.int64)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1]
    return np.frombuffer(b"".join(encoded), np.uint8), starts, ends


@checked
class Vocabulary(Uncached, Sequence[str]):
    """Words with ids and, if known, counts.

    >>> vocabulary = Vocabulary.from_counts({"cat": 1, "the": 9, "mat": 1})
    >>> vocabulary.words
    ('the', 'cat', 'mat')
    >>> vocabulary.id("cat"), "dog" in vocabulary, vocabulary[0]
    (1, False, 'the')
    >>> vocabulary.ids(["the", "dog"])
    array([ 0, -1])
    """

    def __init__(self, words: Iterable[str], counts: Iterable[int] | NDArray[np.int64] | None = None) -> None:
        self._adopt(*pack(words), None if counts is None else check_counts(counts))

    def _adopt(self, blob: Bytes, starts: Ids, ends: Ids, counts: Ids | None) -> None:
        if counts is not None and len(counts) != len(starts):
            raise OptionError(f"a vocabulary of {len(starts)} words has {len(counts)} counts")
        self.blob, self.starts, self.ends, self.counts = blob, starts, ends, counts

    @classmethod
    def from_arrays(cls, blob: Bytes, starts: Ids, ends: Ids, counts: Ids | None = None) -> Vocabulary:
        """A vocabulary over an existing buffer (see `kernels/words.py`), without a copy."""
        vocabulary = cls.__new__(cls)
        vocabulary._adopt(blob, starts, ends, counts)
        return vocabulary

    @classmethod
    def from_counts(cls, counts: Mapping[str, int]) -> Vocabulary:
        """Words by decreasing count; words with equal counts are ordered by their bytes."""
        words = sorted(counts, key=lambda word: (-counts[word], to_bytes(word)))
        return cls(words, [counts[word] for word in words])

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, id: int) -> str: ...
    @overload
    def __getitem__(self, id: slice) -> tuple[str, ...]: ...
    def __getitem__(self, id: int | slice) -> str | tuple[str, ...]:
        if isinstance(id, slice):
            return tuple(self[i] for i in range(*id.indices(len(self))))
        return to_word(self.blob[self.starts[id] : self.ends[id]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), 65536):
            yield from map(to_word, self._raw(first, first + 65536))

    def _raw(self, first: int, last: int) -> Iterator[bytes]:
        blob = self.blob.data
        for start, end in zip(self.starts[first:last].tolist(), self.ends[first:last].tolist()):
            yield bytes(blob[start:end])

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(word) >= 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        if (self.counts is None) != (other.counts is None) or len(self) != len(other):
            return False
        same_counts = self.counts is None or np.array_equal(self.counts, other.counts)  # type: ignore[arg-type]
        return same_counts and self.words == other.words

    def __hash__(self) -> int:
        return hash((len(self), self[:4]))

    def __repr__(self) -> str:
        tokens = "" if self.counts is None else f", {self.total:,} tokens"
        first = ", ".join(self[:3]) + (", …" if len(self) > 3 else "")
        return f"Vocabulary({len(self):,} words{tokens}: {first})"

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words, in the order of their ids."""
        return tuple(self)

    @property
    def total(self) -> int:
        """The sum of the counts."""
        return 0 if self.counts is None else int(self.counts.sum())

    @cached_property
    def slots(self) -> NDArray[np.uint64]:
        """The hash table of the words (see `kernels/words.py`)."""
        slots = np.zeros(1 << max(4, (2 * len(self)).bit_length()), np.uint64)
        kernel.index(self.blob, self.starts, self.ends, slots)
        return slots

    def find(self, word: str) -> int:
        """The id of a word, or -1."""
        raw = np.frombuffer(to_bytes(word), np.uint8)
        return int(kernel.find(raw, 0, len(raw), self.blob, self.starts, self.ends, self.slots))

    def id(self, word: str) -> int:
        """The id of a word; an unknown word raises `UnknownWord`, which lists near spellings."""
        id = self.find(word)
        if id < 0:
            raise UnknownWord(word, self.near(word))
        return id

    def ids(self, words: Iterable[str]) -> Ids:
        """The ids of words, -1 for each unknown word."""
        blob, starts, ends = pack(words)
        ids = np.empty(len(starts), np.int64)
        kernel.find_all(blob, starts, ends, self.blob, self.starts, self.ends, self.slots, ids)
        return ids

    def near(self, word: str, topn: int = 3) -> list[str]:
        """Words with a similar spelling, by edit distance and then by id.

        >>> Vocabulary(["queen", "king", "queens"]).near("quen")
        ['queen', 'queens']
        """
        variants = [form for form in (word.lower(), word.capitalize(), word.upper()) if form != word and form in self]
        raw = np.frombuffer(to_bytes(word), np.uint8)
        most = 1 if len(raw) < 4 else 2
        if len(raw) > 100:
            return variants[:topn]
        distances = np.empty(len(self), np.int64)
        kernel.edit_distances(raw, self.blob, self.starts, self.ends, most, distances)
        close = np.flatnonzero(distances <= most)
        close = close[np.argsort(distances[close], kind="stable")][: topn + len(variants)]
        return list(dict.fromkeys(variants + [self[int(i)] for i in close]))[:topn]

    def cut(self, min_count: int) -> Vocabulary:
        """The words with a count of at least min_count. Ids do not change, since an id is a rank by count.

        >>> Vocabulary(("the", "cat"), (9, 1)).cut(2).words
        ('the',)
        """
        if self.counts is None:
            raise OptionError("this vocabulary has no counts, so it cannot be cut by count. Use top(n)")
        if np.any(self.counts[1:] > self.counts[:-1]):
            raise OptionError("this vocabulary is not ordered by count, so a cut would change its ids")
        return self.top(int(np.searchsorted(-self.counts, -min_count, side="right")))

    def top(self, n: int) -> Vocabulary:
        """The first n words."""
        counts = None if self.counts is None else self.counts[:n]
        return Vocabulary.from_arrays(self.blob, self.starts[:n], self.ends[:n], counts)

    def most_common(self, n: int) -> list[tuple[str, int]]:
        """The first n words with their counts, 0 if unknown."""
        counts = [0] * min(n, len(self)) if self.counts is None else self.counts[:n].tolist()
        return list(zip(self[:n], counts))

    def take(self, ids: Sequence[int] | Ids) -> Vocabulary:
        """The words with these ids, in this order."""
        index = check_ids(ids, len(self))
        counts = None if self.counts is None else self.counts[index]
        return Vocabulary.from_arrays(self.blob, self.starts[index], self.ends[index], counts)

    def merge(self, other: Vocabulary) -> Vocabulary:
        """The union of both vocabularies, with counts added, in the order of the new counts.

        >>> Vocabulary(["a", "b"], [3, 2]).merge(Vocabulary(["b", "c"], [5, 1])).words
        ('b', 'a', 'c')
        """
        if self.counts is None or other.counts is None:
            raise OptionError("a vocabulary without counts cannot be merged")
        ids = other.ids(self)
        counts = self.counts.copy()
        counts[ids >= 0] += other.counts[ids[ids >= 0]]
        is_new = np.ones(len(other), bool)
        is_new[ids[ids >= 0]] = False
        blob = np.concatenate([self.blob, other.blob])
        shift = len(self.blob)
        return Vocabulary.from_arrays(
            blob,
            np.concatenate([self.starts, other.starts[is_new] + shift]),
            np.concatenate([self.ends, other.ends[is_new] + shift]),
            np.concatenate([counts, other.counts[is_new]]),
        ).ranked()

    def ranked(self) -> Vocabulary:
        """The same words by decreasing count, equal counts by their bytes."""
        return self if self.counts is None else self.take(rank(self.blob, self.starts, self.ends, self.counts))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the words in their order."""
        digest = hashlib.sha256()
        for first in range(0, len(self), 65536):
            digest.update(b"".join(raw + b"\n" for raw in self._raw(first, first + 65536)))
        return digest.hexdigest()[:16]

    def save(self, path: Name) -> None:
        """Writes lines `word TAB count`, by id; a newline in a word is written as \\n and a backslash as \\\\.

        The suffixes .xz, .gz, .bz2 and .zst compress the file.
        """
        counts = np.zeros(len(self), np.int64) if self.counts is None else self.counts
        with write_bytes(path) as file:
            for first in range(0, len(self), 65536):
                part = slice(first, first + 65536)
                starts, ends = self.starts[part], self.ends[part]
                lines = np.empty(int(2 * (ends - starts).sum()) + 22 * len(starts), np.uint8)
                used = int(kernel.write_counts(self.blob, starts, ends, counts[part], lines))
                file.write(lines[:used].data)

    @classmethod
    def load(cls, path: Name) -> Vocabulary:
        """Opens a file of `save`. The file is memory-mapped unless it is compressed.

        If all counts are zero, the vocabulary has no counts.
        """
        is_packed = Path(path).suffix[1:] in COMPRESSIONS.values()
        raw = read_bytes(path, LONGEST_PACKED) if is_packed else map_file(path)
        if not raw:
            return cls(())
        blob = np.frombuffer(raw, np.uint8)
        invalid, starts, ends, counts = scan_small(raw[:]) if len(raw) < SMALL else scan_large(blob)
        if invalid >= 0:
            raise FormatError(path, "expected a word, a tab and a count", line=invalid + 1)
        if float(counts.sum(dtype=np.float64)) > MOST_TOKENS:
            raise FormatError(path, "the counts add up to more than any text has", cure="The file is broken")
        known_counts = counts if counts.any() else None
        if raw.find(b"\\") < 0:
            return cls.from_arrays(blob, starts, ends, known_counts)
        if len(raw) < SMALL:
            return cls.from_arrays(*unescape_small(raw[:], starts, ends), known_counts)
        plain = np.empty(int((ends - starts).sum()), np.uint8)
        used = int(kernel.unescape(blob, starts, ends, plain))
        return cls.from_arrays(plain[:used], starts, ends, known_counts)


def scan_large(blob: Bytes) -> tuple[int, Ids, Ids, Ids]:
    """Lines `word TAB count`: the index of the first line without a count, or -1; starts and ends of words; counts."""
    size = int(kernel.count_lines(blob))
    starts, ends, counts = (np.empty(size, np.int64) for _ in range(3))
    return int(kernel.scan_counts(blob, starts, ends, counts)), starts, ends, counts


def scan_small(raw: bytes) -> tuple[int, Ids, Ids, Ids]:
    """As `scan_large`, without a compiled kernel: importing the compiler takes longer than reading a short list.

    >>> scan_small(b"the\\t9\\ntea\\t2\\n")
    (-1, array([0, 6]), array([3, 9]), array([9, 2]))
    """
    starts, ends, counts, start = [], [], [], 0
    invalid = -1
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n")):
        word, _, count = line.rpartition(b"\t")
        if not count.isdigit() or len(count) > 18 or len(count) == len(line):
            invalid = number
            break
        starts.append(start)
        ends.append(start + len(word))
        counts.append(int(count))
        start += len(line) + 1
    return invalid, np.array(starts, np.int64), np.array(ends, np.int64), np.array(counts, np.int64)


def unescape_small(raw: bytes, starts: Ids, ends: Ids) -> tuple[Bytes, Ids, Ids]:
    """As the kernel `unescape`, without a compiled kernel: the words one after another, their starts and ends.

    >>> blob, starts, ends = unescape_small(rb"a\\nb c\\\\", np.array([0, 5]), np.array([4, 8]))
    >>> blob.tobytes(), starts.tolist(), ends.tolist()
    (b'a\\nbc\\\\', [0, 3], [3, 5])
    """
    words = [raw[start:end] for start, end in zip(starts.tolist(), ends.tolist())]
    words = [ESCAPED.sub(lambda pair: b"\n" if pair[1] == b"n" else pair[1], word) for word in words]
    stops = np.cumsum([len(word) for word in words], dtype=np.int64)
    return np.frombuffer(b"".join(words), np.uint8), np.append(0, stops[:-1]), stops


def check_counts(counts: Iterable[int]) -> Ids:
    """Counts as an array; a count that is no whole number is an error."""
    try:
        return np.asarray(list(counts), np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"the counts are {counts!r:.80}, but must be whole numbers") from error


def check_ids(ids: Sequence[int] | Ids, size: int) -> Ids:
    """Ids as an array; an id outside a vocabulary of this size is an error.

    >>> check_ids([0, 7], 3)
    Traceback (most recent call last):
    firth.errors.OptionError: the id 7 is not below 3, the number of words
    """
    try:
        index = np.asarray(ids)
        index = index.astype(np.int64, casting="same_kind" if index.size else "unsafe")
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"the ids are {ids!r:.80}, but must be whole numbers") from error
    if index.size and (int(index.max()) >= size or int(index.min()) < -size):
        worst = int(index.max()) if int(index.max()) >= size else int(index.min())
        raise OptionError(f"the id {worst} is not below {size}, the number of words")
    return index


def rank(blob: Bytes, starts: Ids, ends: Ids, counts: Ids) -> Ids:
    """The order of words by decreasing count, equal counts by their bytes.

    Most words are rare, so ties are frequent. The first eight bytes of a word, as a big-endian number, resolve almost
    all of them; only the remaining runs are compared byte by byte.
    """
    heads = np.empty(len(starts), np.uint64)
    kernel.load_prefixes(blob, starts, ends, heads)
    by_head = np.argsort(heads)
    order = by_head[np.argsort(-counts[by_head], kind="stable")]
    same = (counts[order][1:] == counts[order][:-1]) & (heads[order][1:] == heads[order][:-1])
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
    firsts, lasts = edges[::2], edges[1::2] + 1
    short = lasts - firsts <= 32
    kernel.sort_runs(blob, starts, ends, order, firsts[short], lasts[short])
    for first, last in zip(firsts[~short].tolist(), lasts[~short].tolist()):
        run = order[first:last]
        run[:] = sorted(run.tolist(), key=lambda i: blob[starts[i] : ends[i]].tobytes())
    return order


def read_word_list(path: Name) -> list[str]:
    """The words of a file with one word per line; a count after a tab is ignored."""
    lines = read_bytes(path).split(b"\n")
    return [to_word(line.rsplit(b"\t", 1)[0].rstrip(b"\r")) for line in lines if line.strip()]


def read_counts(path: Name) -> Vocabulary | list[str]:
    """The words of a file, with counts if every line has one after a tab; without, the words alone.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "words").write_text("tea\\t2\\nrain\\t9\\n")
    ...     read_counts(Path(folder, "words")).most_common(2)
    [('rain', 9), ('tea', 2)]
    """
    lines = [line.rstrip(b"\r") for line in read_bytes(path).split(b"\n") if line.strip()]
    pairs = [line.rsplit(b"\t", 1) for line in lines]
    if not all(len(pair) == 2 and pair[1].strip().isdigit() and len(pair[1]) <= 18 for pair in pairs):
        return read_word_list(path)
    return Vocabulary.from_counts({to_word(word): int(count) for word, count in pairs})


def match_case(words: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Words in the case of a vocabulary: in lowercase if it has only that form.

    >>> match_case(["The", "Tea", "The-Tea"], Vocabulary(["the", "Tea"]))
    ['the', 'Tea', 'The-Tea']
    """
    return [word if word in vocabulary or word.lower() not in vocabulary else word.lower() for word in words]
