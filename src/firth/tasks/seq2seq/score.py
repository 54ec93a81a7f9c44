"""BLEU: how many of the answer's n-grams, of one to four words, stand in the true text too (Papineni et al. 2002).

Counted over all texts together, with one reference a text, as sacrebleu does with its own defaults for smoothing (each
order without a hit counts half of the one before) on words that are parted already. Orders that no answer is long
enough for are left out, so that a correct answer of three words is worth 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

ORDERS = 4
Words = Sequence[str]


def bleu(truths: Sequence[Words], answers: Sequence[Words]) -> float:
    """The BLEU of answers, between 0 and 1: the geometric mean of the precisions, less where answers are too short.

    >>> bleu(["the cat is on the mat".split()], ["the cat is on a mat".split()])  # (5·3·2·1 / 6·5·4·3) ** (1/4)
    0.537284965911771
    """
    hits, possible = [0] * ORDERS, [0] * ORDERS
    for truth, answer in zip(truths, answers, strict=True):
        for order in range(ORDERS):
            there, said = _ngrams(truth, order + 1), _ngrams(answer, order + 1)
            hits[order] += sum((said & there).values())
            possible[order] += said.total()
    if not hits[0]:
        return 0.0
    logs, halved = [], 1.0
    for hit, all_ in zip(hits, possible):
        if not all_:
            break
        if not hit:
            halved *= 2
        logs.append(math.log((hit or 1 / halved) / all_))
    brevity = min(0.0, 1 - sum(map(len, truths)) / sum(map(len, answers)))
    return math.exp(brevity + sum(logs) / len(logs))


def _ngrams(words: Words, order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order))))
