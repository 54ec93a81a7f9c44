"""BLEU (Papineni et al. 2002): the n-grams, of one to four words, that answers share with their references.

Computed over all texts together, with one reference for each text, as sacrebleu does on tokenized text with its default
smoothing (each order without a match counts half of the one before). Orders that no answer is long enough for are left
out, so that a correct answer of three words scores 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from firth.tasks.seq2seq.data import Seq2SeqExample

ORDERS = 4
Words = Sequence[str]


def score_texts(examples: Sequence[Seq2SeqExample], answers: Sequence[str]) -> dict[str, float]:
    """BLEU, and the share of answers that equal their target.

    >>> score_texts([Seq2SeqExample(("tea",), ("du", "thé"))], ["du thé"])
    {'bleu': 1.0, 'exact': 1.0}
    """
    predicted, gold = [tuple(answer.split()) for answer in answers], [example.gold for example in examples]
    exact = sum(one == other for one, other in zip(predicted, gold, strict=True)) / max(1, len(gold))
    return {"bleu": bleu(gold, predicted), "exact": exact}


def bleu(references: Sequence[Words], answers: Sequence[Words]) -> float:
    """The BLEU of answers, from 0 to 1: the geometric mean of the n-gram precisions, times the brevity penalty.

    >>> bleu(["the cat is on the mat".split()], ["the cat is on a mat".split()])  # (5·3·2·1 / 6·5·4·3) ** (1/4)
    0.537284965911771
    """
    matches, totals = [0] * ORDERS, [0] * ORDERS
    for reference, answer in zip(references, answers, strict=True):
        for order in range(ORDERS):
            expected, ngrams = _ngrams(reference, order + 1), _ngrams(answer, order + 1)
            matches[order] += sum((ngrams & expected).values())
            totals[order] += ngrams.total()
    if not matches[0]:
        return 0.0
    log_precisions, smoothing = [], 1.0
    for matched, total in zip(matches, totals):
        if not total:
            break
        if not matched:
            smoothing *= 2
        log_precisions.append(math.log((matched or 1 / smoothing) / total))
    brevity = min(0.0, 1 - sum(map(len, references)) / sum(map(len, answers)))
    return math.exp(brevity + sum(log_precisions) / len(log_precisions))


def _ngrams(words: Words, order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order))))
