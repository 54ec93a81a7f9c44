"""Which words stand near which: exact counts, in threads, in bounded memory, the same bits however they were made.

The text is taken in pieces that fit in memory. A piece gives one run: all its rows, in order. Runs that outgrow the
memory limit go to disk, and at the end the runs are added up, some rows at a time. Every number on the way is a whole
number of units (1/distance is counted in units of 1/lcm(1..window)), so neither threads, pieces nor spilling can change
the sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from firth.errors import OptionError
from firth.kernels import counts as kernel
from firth.models.spill import Numbers, RowBlock, RowBuilder, RunStore, SortedRun, gather, merged, shares
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary

SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
PLENTY = 10**9  # bytes of memory that are always there
LARGEST_EXACT = 22  # lcm(1..22) leaves 35 bits for the sum; lcm(1..23) would leave 30


class Tokens(Protocol):
    """A counted text: a `TokenFile`, or anything with the same arrays."""

    @property
    def ids(self) -> NDArray[np.uint32]: ...
    @property
    def sentences(self) -> NDArray[np.uint64]: ...
    @property
    def documents(self) -> NDArray[np.uint64]: ...
    @property
    def vocabulary(self) -> Vocabulary: ...


def size_in_bytes(size: int | str) -> int:
    """A number of bytes, said as a number or as text.

    >>> size_in_bytes("2 GB"), size_in_bytes("500kb"), size_in_bytes(4096)
    (2000000000, 500000, 4096)
    """
    if isinstance(size, int):
        amount, unit = str(size), ""
    else:
        unit = size.strip().lstrip("0123456789.").strip()
        amount = size.strip()[: len(size.strip()) - len(unit)].strip() if unit else size.strip()
    try:
        found = int(float(amount) * SIZES[unit.upper()])
    except (KeyError, ValueError, OverflowError) as error:
        raise OptionError(f"memory_limit is {size!r}, but must be bytes, as 2000000000 or '2 GB'") from error
    if found < 1:
        raise OptionError(f"memory_limit is {size!r}, but must be at least 1 byte")
    return found


def units(window: int, harmonic: bool) -> tuple[Numbers, int]:
    """What a pair at each distance adds, in whole units, and how many units are one.

    Flat counts are whole already. 1/distance is exact in units of 1/lcm(1..window) up to a window of 22; beyond, it is
    rounded to units of about 2^-30, an error below window / 2^31 of each weight.

    >>> units(3, harmonic=True)
    (array([0, 6, 3, 2]), 6)
    """
    weights = np.zeros(window + 1, np.int64)
    if not harmonic:
        weights[1:] = 1
        return weights, 1
    one = math.lcm(*range(1, min(window, LARGEST_EXACT) + 1)) * (1 if window <= LARGEST_EXACT else 4)
    weights[1:] = [(2 * one + distance) // (2 * distance) for distance in range(1, window + 1)]
    return weights, one


@dataclass(frozen=True)
class Near:
    """What counts as near: places before and after a word, what each distance weighs, what a dropped word leaves."""

    before: int
    after: int
    harmonic: bool = False
    keep_places: bool = False

    @property
    def window(self) -> int:
        return max(self.before, self.after)


def count_pairs(
    tokens: Tokens,
    kept: NDArray[np.int32],
    size: int,
    near: Near,
    *,
    memory_limit: int = 2 * 10**9,
    folder: str | None = None,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> csr_matrix:
    """X(w, c), the weighted count of c near w, for the `size` words that `kept` maps the text's ids to (-1: dropped).

    Above the memory limit, counts are laid aside in `folder` (the system's folder for passing files, if None). The
    limit bounds the work; the finished matrix, 12 bytes a cell, comes on top.
    """
    runtime = runtime or Runtime.from_env()
    weights, one = units(near.window, near.harmonic)
    with ExitStack() as stack:
        shelf = RunStore(stack, memory_limit // 2, folder)
        runs: list[SortedRun] = []
        for piece, own, last in pieces(tokens, kept, near, max(1024, memory_limit // 32), report):
            rows = piece_rows(piece, own, size, near, weights, memory_limit, runtime)
            if last and not runs:
                return gather(rows, size, one)
            runs.append(shelf.keep(rows))
            del rows, piece
        report(Progress("merging", 0, len(runs), unit="runs"))
        total = gather(merged(runs, size, memory_limit, runtime), size, one)
        report(Progress("merging", len(runs), len(runs), unit="runs"))
        return total


def pieces(
    tokens: Tokens, kept: NDArray[np.int32], near: Near, length: int, report: Report
) -> Iterator[tuple[NDArray[np.int32], int, bool]]:
    """The text as kernels read it, about `length` words at a time: (text, where its own words start, is it the last).

    A piece may end inside a sentence: the next one then begins with the last words of this one, which are not its own.
    """
    ids, sentences, total = np.asarray(tokens.ids), np.asarray(tokens.sentences), len(tokens.ids)
    carried = np.empty(0, np.int32)
    sentence = 0
    for start in range(0, max(total, 1), length):
        stop = min(start + length, total)
        ended = int(np.searchsorted(sentences, np.uint64(stop), side="right")) - 1
        text = np.full(len(carried) + (stop - start) + max(0, ended - sentence) + 2, kernel.END, np.int32)
        text[1 : 1 + len(carried)] = carried
        own = 1 + len(carried)
        filled, sentence = kernel.filter_text(ids, start, stop, sentences, sentence, kept, near.keep_places, text, own)
        text = text[: filled + 1]
        text[filled] = kernel.END
        tail = text[max(1, filled - near.window) : filled]
        ends = np.flatnonzero(tail == kernel.END)
        carried = tail[ends[-1] + 1 :].copy() if len(ends) else tail.copy()
        yield text, own, stop == total
        report(Progress("counting", stop, total, unit="words"))


def piece_rows(
    text: NDArray[np.int32],
    own: int,
    size: int,
    near: Near,
    weights: Numbers,
    memory_limit: int,
    runtime: Runtime,
) -> Iterator[RowBlock]:
    """All rows of one piece of text, in order, some rows at a time."""
    starts = np.zeros(size + 1, np.int64)
    kernel.count_words(text, starts[1:])
    np.cumsum(starts, out=starts)
    positions = np.empty(starts[-1], np.int32)
    kernel.sort_positions(text, starts[:-1].copy(), positions)
    most = np.minimum(np.diff(starts) * (near.before + near.after), size)

    def some_rows(rows: slice) -> RowBlock:
        desk = RowBuilder(size, rows.stop - rows.start, int(most[rows].sum()))
        filled = kernel.count_rows(
            text, own, positions, starts, rows.start, rows.stop, near.before, near.after, weights, *desk.arrays
        )
        return desk.block(filled)

    return runtime.stream(some_rows, shares(most, memory_limit, runtime))


def count_documents(
    tokens: Tokens, kept: NDArray[np.int32], size: int, *, runtime: Runtime | None = None
) -> csr_matrix:
    """How often each of the `size` kept words stands in each document: one row a document."""
    runtime = runtime or Runtime.from_env()
    edges = np.asarray(tokens.sentences)[np.asarray(tokens.documents, np.int64)].astype(np.int64)
    most = np.minimum(np.diff(edges), size)

    def some_rows(rows: slice) -> RowBlock:
        desk = RowBuilder(size, rows.stop - rows.start, int(most[rows].sum()))
        return desk.block(
            kernel.count_documents(np.asarray(tokens.ids), edges[rows.start : rows.stop + 1], kept, *desk.arrays)
        )

    return gather(runtime.stream(some_rows, shares(most, PLENTY, runtime)), size, 1)
