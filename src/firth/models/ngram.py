"""The recipe of n-gram language models: count n-grams up to an order, then smooth them (see `kneser_ney.py`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import ngram as kernel
from firth.models.kneser_ney import estimate
from firth.models.ngram_counts import UNKNOWN, count_ngrams
from firth.models.ngram_model import NgramModel
from firth.models.phrases import extend_vocabulary
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.bar import shows_progress
from firth.text.corpus import Corpus, Source
from firth.text.vocabulary import Vocabulary

SPECIAL = ("<unk>", "<s>", "</s>")
MARKERS_IN_TEXT = {"<unk>": UNKNOWN, "<UNK>": UNKNOWN, "<s>": None, "</s>": None}  # None: dropped


@dataclass(frozen=True)
class Ngram(Recipe):
    """An n-gram model of any order with interpolated modified Kneser-Ney smoothing.

    >>> corpus = Corpus.of(["strong tea . strong coffee . powerful computer ."], documents="line")
    >>> model = Ngram(order=2).fit(corpus)
    >>> model.probability("tea", ["strong"]) > model.probability("tea", ["powerful"])
    True
    """

    commands = (
        "firth train ngram corpus.txt --order 3 --out model.arpa",
        "firth train ngram corpus.txt --order 5 --prune 0 0 1 --out model/",
    )

    order: int = option(
        3, "Length n of the longest n-grams: the predicted word and n - 1 words of context.", minimum=1, maximum=1_000
    )
    min_count: int = option(1, "Replace words with a lower count by <unk>.", minimum=1)
    prune: tuple[int, ...] = option(
        (0,), "Drop n-grams with at most this count: one number per order from 1 up, the last for all higher orders."
    )
    discount_fallback: tuple[float, ...] | None = option(
        (0.5, 1.0, 1.5),
        "Discounts of counts 1, 2 and 3+ for orders whose discounts cannot be estimated; none raises an error.",
    )
    interpolate_unigrams: bool = option(
        True, "Interpolate unigrams with the uniform distribution; if off, <unk> gets all of the discounted mass."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.prune or self.prune[0] != 0 or list(self.prune) != sorted(self.prune):
            problem = f"Ngram: prune is {self.prune}, but must begin with 0 and never decrease"
            raise OptionError(f"{problem}. Use min_count to drop rare words")
        if len(self.prune) > self.order:
            raise OptionError(f"Ngram: prune has {len(self.prune)} numbers, but the order is {self.order}")
        fallback = self.discount_fallback
        if fallback is not None and (len(fallback) != 3 or any(not 0 < d <= k for k, d in enumerate(fallback, 1))):
            raise OptionError(
                f"Ngram: discount_fallback is {fallback}, but must be three numbers above 0 and at most 1, 2 and 3"
            )

    @shows_progress
    def fit(
        self, corpus: Source, *, runtime: Runtime | None = None, report: Report = silent, progress: bool = False
    ) -> NgramModel:
        """Fits the model to a corpus. The result does not depend on the number of threads."""
        runtime = runtime or Runtime.from_env()
        corpus = Corpus.of(corpus)
        tokens = corpus.tokens(report, runtime)
        if len(tokens.sentences) < 2:
            raise OptionError("the corpus has no sentence. Give a text that is not empty")
        vocabulary, table = choose_words(tokens.vocabulary, self.min_count)
        counts = count_ngrams(tokens, table, len(vocabulary), self.order, runtime, report)
        ngrams = estimate(
            counts,
            prune=self.prune,
            fallback=self.discount_fallback,
            interpolate_unigrams=self.interpolate_unigrams,
            runtime=runtime,
            report=report,
        )
        metadata = {
            "recipe": {"name": "ngram", **self.as_dict()},
            "tokenizer": corpus.tokenizer.as_dict(),
            "tokens": len(tokens),
            "sentences": len(tokens.sentences) - 1,
            "discounts": [list(discounts) for discounts in ngrams.discounts],
            "fallback_discounts": list(ngrams.fallbacks),
        }
        trie = (ngrams.starts, ngrams.words, ngrams.log10, ngrams.backoffs)
        return NgramModel(vocabulary, ngrams.levels, *trie, metadata=metadata)


def choose_words(full: Vocabulary, min_count: int) -> tuple[Vocabulary, NDArray[np.uint32]]:
    """The words of the model, <unk>, <s> and </s> first, and for every id of the text the id in the model.

    <s> and </s> in the text are dropped, since every sentence gets its own; <unk> in the text is the unknown word.
    """
    frequent = full.cut(min_count)
    ordinary = np.ones(len(frequent), bool)
    table = np.full(len(full), UNKNOWN, np.uint32)
    for word, id in MARKERS_IN_TEXT.items():
        at = full.find(word)
        if at >= 0:
            table[at] = kernel.DROPPED if id is None else id
            ordinary[at : min(at + 1, len(frequent))] = False
    chosen = np.flatnonzero(ordinary)
    table[chosen] = np.arange(len(chosen)) + len(SPECIAL)
    return extend_vocabulary(Vocabulary(SPECIAL), frequent.take(chosen)), table
