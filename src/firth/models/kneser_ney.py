"""Interpolated modified Kneser-Ney smoothing (Chen and Goodman, 1998): from counts of n-grams to probabilities.

One of three discounts of its order is subtracted from the count of every n-gram, and the discounted mass of a context
is distributed by the next shorter context. Lower orders use continuation counts, the number of distinct words before
an n-gram: "Francisco" is frequent, but follows one word only. The estimates are those of KenLM's lmplz.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import ngram as kernel
from firth.models.ngram_counts import BEGIN, UNKNOWN, Ids, NgramCounts, Words
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime

Floats = NDArray[np.float64]
IMPOSSIBLE = -99.0  # log10 of probability 0, by the convention of ARPA files


@dataclass(frozen=True)
class SmoothedNgrams:
    """The trie of n-grams with probabilities and backoff weights, both as log10."""

    levels: tuple[int, ...]
    starts: Ids
    words: Words
    log10: NDArray[np.float32]
    backoffs: NDArray[np.float32]
    discounts: tuple[tuple[float, float, float], ...]
    fallbacks: tuple[int, ...]  # orders whose discounts cannot be estimated


def estimate_discounts(n: Sequence[int]) -> tuple[float, float, float] | None:
    """The three discounts of an order, from n[k], the number of its n-grams with (adjusted) count k, k up to 4.

    Y = n1 / (n1 + 2 n2) and Dk = k - (k + 1) Y n(k+1) / nk. None if n1, n2 or n3 is zero, or a discount is
    negative or larger than the count, as happens with small or artificial text.

    >>> estimate_discounts([0, 4, 2, 1, 1])
    (0.5, 1.25, 1.0)
    >>> estimate_discounts([0, 4, 2, 0, 1])
    """
    if not all(n[1:4]):
        return None
    y = n[1] / (n[1] + 2 * n[2])
    first, second, third = (k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3))
    usable = 0 <= first <= 1 and 0 <= second <= 2 and 0 <= third <= 3
    return (first, second, third) if usable else None


def estimate(
    counts: NgramCounts,
    *,
    prune: Sequence[int] = (0,),
    fallback: tuple[float, ...] | None = (0.5, 1.0, 1.5),
    interpolate_unigrams: bool = True,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> SmoothedNgrams:
    """Smooths counts of n-grams. prune[n - 1] is the threshold of order n; the last one is for all higher orders."""
    kept = keep(counts, prune)
    smoothed = _smooth(counts, kept, fallback, interpolate_unigrams, runtime or Runtime.from_env(), report)
    return _compact(counts, kept, *smoothed)


def _smooth(
    counts: NgramCounts,
    kept: NDArray[np.bool_],
    fallback: tuple[float, ...] | None,
    interpolate_unigrams: bool,
    runtime: Runtime,
    report: Report,
) -> tuple[Floats, Floats, list[tuple[float, float, float]], list[int]]:
    """The probabilities and the backoff weights of all n-grams, the discounts, and the orders of the fallback."""
    edges, order = counts.edges, len(counts.levels)
    suffixes = link_suffixes(counts, runtime)
    adjusted = np.empty(edges[-1], np.int64)
    kernel.adjust_counts(counts.starts, suffixes, edges[1], BEGIN, counts.counts, adjusted)
    probs, gammas = np.zeros(edges[-1]), np.empty(edges[-2])
    discounts: list[tuple[float, float, float]] = []
    fallbacks: list[int] = []
    for n in range(1, order + 1):
        counts_of_counts = np.bincount(np.minimum(adjusted[edges[n - 1] : edges[n]], 5), minlength=5)
        estimated = estimate_discounts(counts_of_counts.tolist())
        if estimated is None:
            fallbacks.append(n)
        discounts.append(estimated or _fall_back(n, fallback))
        table = np.array([0.0, *discounts[-1]])
        if n == 1:
            probs[: edges[1]] = unigram_probabilities(adjusted[: edges[1]], table, interpolate_unigrams)
        else:
            shares = _split_nodes(runtime, edges[n - 2], edges[n - 1])
            arguments = (adjusted, kept, suffixes, table, probs, gammas)
            runtime.map(lambda share: kernel.interpolate(counts.starts, *share, *arguments), shares)  # noqa: B023
        report(Progress("smoothing", n, order, "orders"))
    return probs, gammas, discounts, fallbacks


def _fall_back(order: int, fallback: tuple[float, ...] | None) -> tuple[float, float, float]:
    if fallback is None:
        raise OptionError(
            f"the discounts of order {order} cannot be estimated: the text is too small or too regular. "
            "Give more text, a lower order, or discount_fallback=(0.5, 1, 1.5)"
        )
    return fallback[0], fallback[1], fallback[2]


def _split_nodes(runtime: Runtime, first: int, last: int) -> list[tuple[int, int]]:
    return [(first + share.start, first + share.stop) for share in runtime.shares(last - first)]


def link_suffixes(counts: NgramCounts, runtime: Runtime) -> Ids:
    """The suffix of every n-gram of two or more words: the node of the n-gram without its first word."""
    edges = counts.edges
    suffixes = np.full(edges[-1], kernel.NONE)
    for n in range(1, len(counts.levels)):
        shares = _split_nodes(runtime, edges[n - 1], edges[n])
        runtime.map(lambda share: kernel.link_suffixes(counts.starts, counts.words, *share, suffixes), shares)
    return suffixes


def keep(counts: NgramCounts, prune: Sequence[int]) -> NDArray[np.bool_]:
    """Mask of the n-grams with a count above the threshold of their order. Unigrams are never pruned.

    Thresholds do not decrease with the order, so the prefix and the suffix of a kept n-gram are kept.
    """
    kept = np.ones(len(counts.counts), bool)
    for n, (first, last) in enumerate(itertools.pairwise(counts.edges)):
        if n > 0:
            kept[first:last] = counts.counts[first:last] > prune[min(n, len(prune) - 1)]
    return kept


def unigram_probabilities(adjusted: Ids, discounts: Floats, interpolate: bool) -> Floats:
    """Discounted probabilities of unigrams, interpolated with the uniform distribution over all words and <unk>.

    Without interpolation, <unk> gets all of the discounted mass. <s> has probability 0.
    """
    discount = discounts[np.minimum(adjusted, 3)]
    total = adjusted.sum()
    probs = np.maximum(adjusted - discount, 0) / total
    gamma = discount.sum() / total
    if interpolate:
        probs += gamma / (len(adjusted) - 1)
    else:
        probs[UNKNOWN] += gamma
    probs[BEGIN] = 0
    return np.asarray(probs, np.float64)


def _compact(
    counts: NgramCounts,
    kept: NDArray[np.bool_],
    probs: Floats,
    gammas: Floats,
    discounts: list[tuple[float, float, float]],
    fallbacks: list[int],
) -> SmoothedNgrams:
    """The trie with log10 values, without pruned n-grams and empty orders."""
    edges = counts.edges
    levels = [int(kept[first:last].sum()) for first, last in itertools.pairwise(edges)]
    while levels[-1] == 0:
        levels.pop()
    starts, words = counts.starts, counts.words
    if sum(levels) < edges[-1]:
        nodes = np.concatenate([[0], np.cumsum(kept)])
        starts = np.append(nodes[starts[:-1][kept[: len(starts) - 1]]], nodes[-1])
        words, probs, gammas = words[kept], probs[kept], gammas[kept[: len(gammas)]]
    inner = sum(levels[:-1])
    trie = (tuple(levels), starts[: inner + 1], words, _log10(probs), _log10(gammas[:inner]))
    return SmoothedNgrams(*trie, tuple(discounts), tuple(fallbacks))


def _log10(values: Floats) -> NDArray[np.float32]:
    """The logarithms of values, which are overwritten: there may be billions."""
    np.maximum(values, 10.0**IMPOSSIBLE, out=values)
    return np.log10(values, out=values).astype(np.float32)
