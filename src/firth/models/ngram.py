"""The recipe of n-gram language models: count every run of up to n words, then smooth (see `kneser_ney.py`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import ngram as kernel
from firth.models.kneser_ney import estimate
from firth.models.ngram_counts import UNKNOWN, count_ngrams
from firth.models.ngram_model import NgramModel
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.vocabulary import Vocabulary

SPECIAL = ("<unk>", "<s>", "</s>")
READ_AS = {"<unk>": UNKNOWN, "<UNK>": UNKNOWN, "<s>": None, "</s>": None}  # words of a text that mean something else


@dataclass(frozen=True)
class Ngram(Recipe):
    """Interpolated modified Kneser-Ney of any order.

    >>> corpus = Corpus.of(["strong tea . strong coffee . powerful computer ."], documents="line")
    >>> model = Ngram(order=2).fit(corpus)
    >>> model.probability("tea", ["strong"]) > model.probability("tea", ["powerful"])
    True
    """

    commands = (
        "firth train ngram corpus.txt --order 3 --out model.arpa",
        "firth train ngram corpus.txt --order 5 --prune 0 0 1 --out model/",
    )

    order: int = option(3, "words looked at together: the one that is predicted and those before it", minimum=1)
    min_count: int = option(1, "rarer words become <unk>", minimum=1)
    prune: tuple[int, ...] = option(
        (0,), "n-grams seen at most so often are dropped, a number an order from 1 up; the last holds for the rest"
    )
    discount_fallback: tuple[float, ...] | None = option(
        (0.5, 1.0, 1.5), "discounts where the text is too small to estimate them"
    )
    interpolate_unigrams: bool = option(True, "unseen words share with seen ones; if not, <unk> takes all that is left")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.prune or self.prune[0] != 0 or list(self.prune) != sorted(self.prune):
            problem = f"Ngram: prune is {self.prune}, but must begin with 0 and never fall"
            raise OptionError(f"{problem}. Rare words are dropped by min_count")
        if len(self.prune) > self.order:
            raise OptionError(f"Ngram: prune has {len(self.prune)} numbers, but the order is {self.order}")
        fallback = self.discount_fallback
        if fallback is not None and (len(fallback) != 3 or any(not 0 < d <= k for k, d in enumerate(fallback, 1))):
            raise OptionError(f"Ngram: discount_fallback is {fallback}, but must be three numbers up to 1, 2 and 3")

    def fit(self, corpus: Corpus, *, runtime: Runtime | None = None, report: Report = silent) -> NgramModel:
        """The model of a corpus. The same text gives the same model, whatever the number of threads."""
        runtime = runtime or Runtime.from_env()
        tokens = corpus.tokens(report=report)
        if len(tokens.sentences) < 2:
            raise OptionError("the corpus holds no sentence, so there is nothing to count")
        vocabulary, table = choose_words(tokens.vocabulary, self.min_count)
        counted = count_ngrams(tokens, table, len(vocabulary), self.order, runtime, report)
        estimated = estimate(
            counted,
            prune=self.prune,
            fallback=self.discount_fallback,
            interpolate_unigrams=self.interpolate_unigrams,
            runtime=runtime,
            report=report,
        )
        metadata = {
            "recipe": {"name": "ngram", **self.as_dict()},
            "tokens": len(tokens),
            "sentences": len(tokens.sentences) - 1,
            "discounts": [list(one) for one in estimated.discounts],
            "fallback_discounts": list(estimated.fallbacks),
        }
        return NgramModel(
            vocabulary,
            estimated.levels,
            estimated.starts,
            estimated.words,
            estimated.log10,
            estimated.backoffs,
            metadata=metadata,
        )


def choose_words(full: Vocabulary, min_count: int) -> tuple[Vocabulary, NDArray[np.uint32]]:
    """The words of the model, <unk>, <s> and </s> first, and for every id of the text the id in the model.

    <s> and </s> that stand in the text are not words: they are left out, every sentence gets its own. A text that
    already says <unk> means it.
    """
    whole = full.cut(min_count)
    ordinary = np.ones(len(whole), bool)
    table = np.full(len(full), UNKNOWN, np.uint32)
    for word, meaning in READ_AS.items():
        found = full.find(word)
        if found >= 0:
            table[found] = kernel.DROPPED if meaning is None else meaning
            ordinary[found : min(found + 1, len(whole))] = False
    chosen = np.flatnonzero(ordinary)
    table[chosen] = np.arange(len(chosen)) + len(SPECIAL)
    special = Vocabulary(SPECIAL)
    shift = len(special.blob)
    blob = np.concatenate([special.blob, whole.blob])
    starts = np.concatenate([special.starts, whole.starts[chosen] + shift])
    ends = np.concatenate([special.ends, whole.ends[chosen] + shift])
    return Vocabulary.from_arrays(blob, starts, ends), table
