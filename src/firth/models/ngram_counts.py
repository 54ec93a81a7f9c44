"""Counting n-grams: one pass over the text for every order, each building on the one before.

An n-gram is a key of two numbers: its first n - 1 words, which are a node of the trie counted so far, and its last
word. The keys of a chunk of text are sorted and reduced to distinct ones with counts, and the chunks' runs are merged.
Memory grows with the number of different n-grams; the text stays in its file, and so does what is known of its places.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.kernels import ngram as kernel
from firth.progress import Progress, Report
from firth.runtime import Runtime
from firth.text.tokenfile import TokenFile

CHUNK = 1 << 21  # tokens that one thread counts at a time
UNKNOWN, BEGIN, END = range(3)  # the first three words of every model that is counted here
Ids = NDArray[np.int64]
Words = NDArray[np.uint32]
Run = tuple[NDArray[np.uint64], Ids]  # distinct keys, sorted, and their counts


@dataclass(frozen=True)
class Counted:
    """Counted n-grams in a trie (see `kernels/ngram.py`): how many a level has, children, last words and counts."""

    levels: tuple[int, ...]
    starts: Ids
    words: Words
    counts: Ids

    @property
    def edges(self) -> list[int]:
        """The nodes at which the levels begin, and the end."""
        return [0, *itertools.accumulate(self.levels)]


def count_ngrams(tokens: TokenFile, table: Words, size: int, order: int, runtime: Runtime, report: Report) -> Counted:
    """All n-grams of up to `order` words of a text in which word `id` is table[id], one of `size` words.

    Orders that no sentence is long enough for are left out.
    """
    counts = count_words(tokens, table, size)
    counted = Counted((size,), np.array([size], np.int64), np.arange(size, dtype=np.uint32), counts)
    chunks = cut_sentences(tokens, runtime)
    places = len(tokens) + 2 * (len(tokens.sentences) - 1)
    with tempfile.TemporaryFile() as file:
        nodes = np.asarray(np.memmap(file, np.int64, "w+", shape=(places,)))
        for n in range(2, order + 1):
            level = _Level(tokens, table, nodes, counted)
            runs = runtime.stream(level.count, chunks)
            found = merge_runs(_reported(runs, f"counting {n}-grams", len(tokens), report))
            if len(found[0]) == 0:
                break
            counted = add_level(counted, *found)
    return counted


def count_words(tokens: TokenFile, table: Words, size: int) -> Ids:
    """How often each word of the model stands in the text, every sentence with its <s> and </s>."""
    seen = table != kernel.DROPPED
    counts = np.zeros(size, np.int64)
    if tokens.vocabulary.counts is not None:
        np.add.at(counts, table[seen], tokens.vocabulary.counts[seen])
    counts[[BEGIN, END]] = len(tokens.sentences) - 1
    return counts


def cut_sentences(tokens: TokenFile, runtime: Runtime) -> list[tuple[int, int]]:
    """Runs of sentences (first, last) of about CHUNK tokens each, and one for every thread if there can be."""
    total, sentences = len(tokens), len(tokens.sentences) - 1
    wanted = max(-(-total // CHUNK), min(runtime.threads, total // 4096), 1)
    cuts = np.searchsorted(tokens.sentences, np.array([total * i // wanted for i in range(1, wanted)], np.uint64))
    return list(itertools.pairwise(np.unique(np.concatenate([[0], cuts, [sentences]])).tolist()))


@dataclass(frozen=True)
class _Level:
    """A pass over the text that counts the n-grams one word longer than those counted so far.

    nodes[t] is the n-gram that ends at the place t of the text, as the last pass left it.
    """

    tokens: TokenFile
    table: Words
    nodes: Ids
    counted: Counted

    def count(self, chunk: tuple[int, int]) -> tuple[int, Run]:
        """How many tokens a chunk has, and its n-grams."""
        first, last = chunk
        offsets = np.asarray(self.tokens.sentences[first : last + 1])
        start, stop = int(offsets[0]), int(offsets[-1])
        text = np.empty(stop - start + 2 * (last - first), np.uint32)
        ids = np.asarray(self.tokens.ids[start:stop])
        text = text[: kernel.frame_sentences(ids, offsets, self.table, BEGIN, END, text)]
        nodes = self.nodes[start + 2 * first :][: len(text)]
        levels = self.counted.levels
        if len(levels) == 1:
            nodes[:] = text
        else:
            kernel.extend(text, BEGIN, self.counted.starts, self.counted.words, nodes)
        buffers = np.empty((2, len(text)), np.uint64)
        size = kernel.make_keys(text, BEGIN, nodes, sum(levels[:-1]), levels[0], buffers[0])
        keys = kernel.sort_keys(buffers[0, :size], buffers[1, :size], levels[-1] * levels[0])
        counts = np.empty(size, np.int64)
        distinct = kernel.count_sorted(keys, counts)
        return stop - start, (keys[:distinct].copy(), counts[:distinct].copy())


def _reported(runs: Iterable[tuple[int, Run]], step: str, total: int, report: Report) -> Iterator[Run]:
    done = 0
    for tokens, run in runs:
        yield run
        done += tokens
        report(Progress(step, done, total, "words"))


def merge_runs(runs: Iterable[Run]) -> Run:
    """All runs as one. Only runs of like length are merged, so that every key is moved but a few times."""
    waiting: list[Run] = []
    for run in runs:
        waiting.append(run)
        while len(waiting) > 1 and len(waiting[-2][0]) <= 2 * len(waiting[-1][0]):
            waiting.append(_merge(waiting.pop(), waiting.pop()))
    while len(waiting) > 1:
        waiting.append(_merge(waiting.pop(), waiting.pop()))
    return waiting[0] if waiting else (np.empty(0, np.uint64), np.empty(0, np.int64))


def _merge(one: Run, other: Run) -> Run:
    room = len(one[0]) + len(other[0])
    keys, counts = np.empty(room, np.uint64), np.empty(room, np.int64)
    size = kernel.merge_counts(*one, *other, keys, counts)
    return keys[:size].copy(), counts[:size].copy()


def add_level(counted: Counted, keys: NDArray[np.uint64], counts: Ids) -> Counted:
    """The trie with the n-grams of one order more."""
    children, words = np.empty(counted.levels[-1] + 1, np.int64), np.empty(len(keys), np.uint32)
    kernel.unpack(keys, counted.levels[0], len(counted.words), children, words)
    return Counted(
        (*counted.levels, len(keys)),
        np.concatenate([counted.starts[:-1], children]),
        np.concatenate([counted.words, words]),
        np.concatenate([counted.counts, counts]),
    )
