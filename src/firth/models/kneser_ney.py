"""Interpolated modified Kneser-Ney smoothing (Chen and Goodman, 1998), from counted n-grams to probabilities.

Every seen n-gram gives up a little of its count, one of three discounts of its order, and what is given up after a
context goes to the words that shorter contexts find likely. A shorter n-gram is not counted by how often it was seen
but by how many different words stood before it: "Francisco" is frequent, but follows one word only. The estimates are
those of KenLM's lmplz.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import ngram as kernel
from firth.models.ngram_counts import BEGIN, UNKNOWN, Counted, Ids, Words
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime

Floats = NDArray[np.float64]
NEVER = -99.0  # log10 of the probability of what cannot happen, by the custom of ARPA files


@dataclass(frozen=True)
class Estimated:
    """The probabilities of n-grams, and what every context leaves to shorter ones; both as log10."""

    levels: tuple[int, ...]
    starts: Ids
    words: Words
    log10: NDArray[np.float32]
    backoffs: NDArray[np.float32]
    discounts: tuple[tuple[float, float, float], ...]
    fallbacks: tuple[int, ...]  # the orders whose discounts could not be estimated


def discounts_of(found: Sequence[int]) -> tuple[float, float, float] | None:
    """The three discounts of an order, from found[k], the number of its n-grams with (adjusted) count k, k up to 4.

    Y = n1 / (n1 + 2 n2) and Dk = k - (k + 1) Y n(k+1) / nk. None where they cannot be estimated: some n1, n2 or n3 is
    zero, or a discount is negative or larger than the count, as happens with small or artificial text.

    >>> discounts_of([0, 4, 2, 1, 1])
    (0.5, 1.25, 1.0)
    >>> discounts_of([0, 4, 2, 0, 1])
    """
    if not all(found[1:4]):
        return None
    shared = found[1] / (found[1] + 2 * found[2])
    first, second, third = (k - (k + 1) * shared * found[k + 1] / found[k] for k in (1, 2, 3))
    usable = 0 <= first <= 1 and 0 <= second <= 2 and 0 <= third <= 3
    return (first, second, third) if usable else None


def estimate(
    counted: Counted,
    *,
    prune: Sequence[int] = (0,),
    fallback: tuple[float, ...] | None = (0.5, 1.0, 1.5),
    interpolate_unigrams: bool = True,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> Estimated:
    """The smoothed model of counted n-grams. prune[n - 1] is for order n; the last one holds for all higher orders."""
    runtime = runtime or Runtime.from_env()
    edges, order = counted.edges, len(counted.levels)
    suffixes = link(counted, runtime)
    adjusted = np.empty(edges[-1], np.int64)
    kernel.adjust_counts(counted.starts, suffixes, edges[1], BEGIN, counted.counts, adjusted)
    kept = keep(counted, prune)
    probs, gammas = np.zeros(edges[-1]), np.empty(edges[-2])
    discounts, fallbacks = [], []
    for n in range(1, order + 1):
        found = np.zeros(5, np.int64)
        kernel.count_counts(adjusted[edges[n - 1] : edges[n]], found)
        own = discounts_of(found.tolist())
        if own is None:
            own = _fall_back(n, fallback)
            fallbacks.append(n)
        discounts.append(own)
        table = np.array([0.0, *own])
        if n == 1:
            probs[: edges[1]] = unigrams(adjusted[: edges[1]], table, interpolate_unigrams)
        else:
            shares = _shares(runtime, edges[n - 2], edges[n - 1])
            arguments = (adjusted, kept, suffixes, table, probs, gammas)
            runtime.map(lambda share: kernel.interpolate(counted.starts, *share, *arguments), shares)  # noqa: B023
        report(Progress("smoothing", n, order, "orders"))
    return _finish(counted, kept, probs, gammas, discounts, fallbacks)


def _fall_back(order: int, fallback: tuple[float, ...] | None) -> tuple[float, float, float]:
    if fallback is None:
        raise OptionError(
            f"the discounts of order {order} cannot be estimated: the text is too small or too regular. "
            "Give more text, a lower order, or discount_fallback=(0.5, 1, 1.5)"
        )
    return fallback[0], fallback[1], fallback[2]


def _shares(runtime: Runtime, first: int, last: int) -> list[tuple[int, int]]:
    return [(first + share.start, first + share.stop) for share in runtime.shares(last - first)]


def link(counted: Counted, runtime: Runtime) -> Ids:
    """For every n-gram of two words or more, the node of the n-gram without its first word."""
    edges = counted.edges
    suffixes = np.full(edges[-1], kernel.NONE)
    for n in range(1, len(counted.levels)):
        shares = _shares(runtime, edges[n - 1], edges[n])
        runtime.map(lambda share: kernel.link_suffixes(counted.starts, counted.words, *share, suffixes), shares)
    return suffixes


def keep(counted: Counted, prune: Sequence[int]) -> NDArray[np.bool_]:
    """Which n-grams are seen more often than their order's threshold. Words are never pruned.

    Thresholds do not fall with the order, so the prefix and the suffix of a kept n-gram are kept.
    """
    kept = np.ones(len(counted.counts), bool)
    for n, (first, last) in enumerate(itertools.pairwise(counted.edges)):
        if n > 0:
            kept[first:last] = counted.counts[first:last] > prune[min(n, len(prune) - 1)]
    return kept


def unigrams(adjusted: Ids, discounts: Floats, interpolate: bool) -> Floats:
    """The probabilities of single words: discounted, and the rest spread evenly over all words and <unk>.

    Without interpolation the rest goes to <unk> alone. <s> is never predicted.
    """
    taken = discounts[np.minimum(adjusted, 3)]
    total = adjusted.sum()
    probs = np.maximum(adjusted - taken, 0) / total
    left = taken.sum() / total
    if interpolate:
        probs += left / (len(adjusted) - 1)
    else:
        probs[UNKNOWN] += left
    probs[BEGIN] = 0
    return np.asarray(probs, np.float64)


def _finish(
    counted: Counted,
    kept: NDArray[np.bool_],
    probs: Floats,
    gammas: Floats,
    discounts: list[tuple[float, float, float]],
    fallbacks: list[int],
) -> Estimated:
    """Probabilities to log10, pruned n-grams and empty orders left out."""
    edges = counted.edges
    levels = [int(kept[first:last].sum()) for first, last in itertools.pairwise(edges)]
    while levels[-1] == 0:
        levels.pop()
    starts, words = counted.starts, counted.words
    if sum(levels) < edges[-1]:
        places = np.concatenate([[0], np.cumsum(kept)])
        starts = np.append(places[starts[:-1][kept[: len(starts) - 1]]], places[-1])
        words, probs, gammas = words[kept], probs[kept], gammas[kept[: len(gammas)]]
    inner = sum(levels[:-1])
    return Estimated(
        tuple(levels),
        starts[: inner + 1],
        words,
        _log10(probs),
        _log10(gammas[:inner]),
        tuple(discounts),
        tuple(fallbacks),
    )


def _log10(values: Floats) -> NDArray[np.float32]:
    return np.asarray(np.log10(np.maximum(values, 10.0**NEVER)), np.float32)
