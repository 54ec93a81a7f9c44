"""The methods of KenLM's Python module over `NgramModel`, for code that is ported from it.

As in KenLM, a sentence is split at blanks and logarithms have base 10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from firth.arguments import checked
from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load
from firth.models.ngram_model import NgramModel
from firth.models.ngram_state import NgramState, advance, begin_sentence, find_id
from firth.models.perplexity import exponential


class State:
    """A context, which the methods of a model write.

    >>> from firth.models.ngram import Ngram
    >>> model, before, after = Model(Ngram(order=2).fit(["strong tea", "strong coffee"])), State(), State()
    >>> model.BeginSentenceWrite(before)
    >>> total = 0.0
    >>> for word in ["strong", "tea", "</s>"]:
    ...     total += model.BaseScore(before, word, after)
    ...     before, after = after, before
    >>> abs(total - model.score("strong tea")) < 1e-6
    True
    """

    def __init__(self) -> None:
        self.now = NgramState()
        self.words: tuple[int, ...] = ()  # the ids of the last words

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.now == other.now

    def __hash__(self) -> int:
        return hash(self.now)

    def __copy__(self) -> State:
        new = State()
        new.now, new.words = self.now, self.words
        return new

    def __deepcopy__(self, memo: object) -> State:
        return self.__copy__()


class FullScoreReturn(NamedTuple):
    """The score of a word: log10 probability, length of the matched n-gram, whether it is out of the vocabulary."""

    log_prob: float
    ngram_length: int
    oov: bool


@checked
class KenlmModel:
    """An n-gram model with KenLM's names; `Model` is the same class.

    >>> from firth.models.ngram import Ngram
    >>> model = Model(Ngram(order=2).fit(["strong tea", "strong coffee"]))
    >>> model.order, "tea" in model, model.score("strong tea") > model.score("tea strong")
    (2, True, True)
    >>> [(length, unknown) for _, length, unknown in model.full_scores("strong rain")]
    [(2, False), (1, True), (1, False)]
    """

    def __init__(self, model: NgramModel | Name) -> None:
        loaded = model if isinstance(model, NgramModel) else load(model)
        if not isinstance(loaded, NgramModel):
            raise OptionError(f"{model}: holds no n-gram model but a {type(loaded).__name__}")
        self.model = loaded

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self.model.order

    def __contains__(self, word: object) -> bool:
        return word in self.model.vocabulary

    def score(self, sentence: str, bos: bool = True, eos: bool = True) -> float:
        """The log10 probability of a sentence; `bos` begins it with <s>, `eos` ends it with </s>."""
        return sum(value for value, _, _ in self.full_scores(sentence, bos, eos))

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> Iterator[tuple[float, int, bool]]:
        """For each word, then </s>: log10 probability, length of the matched n-gram, whether the word is unknown."""
        words = sentence.split()
        scores = self.model.full_scores(words, bos=bos, eos=eos)
        if not self.blanks:
            return iter(scores)
        ids = [self.model.begin] * bos + [find_id(self.model, word) for word in (*words, *["</s>"] * eos)]
        places = range(int(bos), len(ids))
        return iter(
            [
                (value, self._match(tuple(ids[max(0, i + 1 - self.order) : i + 1]), length), unknown)
                for i, (value, length, unknown) in zip(places, scores)
            ]
        )

    @cached_property
    def blanks(self) -> frozenset[tuple[int, ...]]:
        """The n-grams that KenLM adds to a pruned model: see `find_blanks`."""
        return find_blanks(self.model)

    def _match(self, ids: tuple[int, ...], length: int) -> int:
        """KenLM's length of a match that ends these words: an added n-gram counts."""
        longer = range(len(ids), length, -1)
        return next((size for size in longer if ids[len(ids) - size :] in self.blanks), length)

    def BeginSentenceWrite(self, state: State) -> None:
        """Makes a state that of the beginning of a sentence."""
        state.now, state.words = begin_sentence(self.model), (self.model.begin,)

    def NullContextWrite(self, state: State) -> None:
        """Makes a state that of no context at all."""
        state.now, state.words = NgramState(), ()

    def BaseScore(self, in_state: State, word: str, out_state: State) -> float:
        """The log10 probability of a word after a state; `out_state` becomes the state after it."""
        return self.BaseFullScore(in_state, word, out_state).log_prob

    def BaseFullScore(self, in_state: State, word: str, out_state: State) -> FullScoreReturn:
        """As `BaseScore`, with the length of the matched n-gram and whether the word is out of the vocabulary."""
        words = (*in_state.words, find_id(self.model, word))[-self.order :]
        value, length, unknown, out_state.now = advance(self.model, in_state.now, word)
        out_state.words = words[-(self.order - 1) :] if self.order > 1 else ()
        return FullScoreReturn(value, self._match(words, length), unknown)

    def perplexity(self, sentence: str) -> float:
        """The perplexity of a sentence, </s> included."""
        return exponential(-self.score(sentence) / (len(sentence.split()) + 1) * math.log(10))


def find_blanks(model: NgramModel) -> frozenset[tuple[int, ...]]:
    """The n-grams that a pruned model lacks although a longer one ends with them, as ids of words.

    KenLM adds them when it opens a file, with the probability that backing off gives, and counts them as matches. The
    scores are the same with and without them. A model that is not pruned has none.

    >>> from firth.models.ngram import Ngram
    >>> find_blanks(Ngram(order=3).fit(["strong tea and milk"]))
    frozenset()
    """
    grams: list[tuple[int, ...]] = [(word,) for word in range(model.levels[0])]
    known, node = [set(grams)], 0
    for size in model.levels[1:]:
        longer: list[tuple[int, ...]] = []
        for gram in grams:
            first, last = int(model.starts[node]), int(model.starts[node + 1])
            longer += [(*gram, word) for word in model.words[first:last].tolist()]
            node += 1
        assert len(longer) == size, "the trie has another number of n-grams"
        grams = longer
        known.append(set(grams))
    blanks: set[tuple[int, ...]] = set()
    ends = set[tuple[int, ...]]()
    for shorter, longer_ones in zip(known[-2:0:-1], known[:1:-1]):
        ends = {gram[1:] for gram in longer_ones | ends} - shorter
        blanks |= ends
    return frozenset(blanks)


Model = KenlmModel
