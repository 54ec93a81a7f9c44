"""Word by word through an n-gram model: a state holds the context, and each word gives a score and the next state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firth.kernels import ngram as kernel

if TYPE_CHECKING:
    from firth.models.ngram_model import NgramModel


@dataclass(frozen=True)
class NgramState:
    """A context: the node of its last word, of its last two words, …, as far as they are in the model."""

    nodes: tuple[int, ...] = ()


class WordScore(NamedTuple):
    """The log10 probability of a word, the length of the matched n-gram, whether the word is unknown, and the state."""

    log10: float
    length: int
    unknown: bool
    state: NgramState


def begin_sentence(model: NgramModel) -> NgramState:
    """The state at the beginning of a sentence, after <s>."""
    return NgramState((model.begin,) if model.order > 1 else ())


def advance(model: NgramModel, state: NgramState, word: str) -> WordScore:
    """The score of a word after a context, and the context after it. <s> and </s> are words here.

    >>> from firth.models.ngram import Ngram
    >>> model = Ngram(order=2).fit(["strong tea", "strong coffee"])
    >>> first = advance(model, begin_sentence(model), "strong")
    >>> first.length, advance(model, first.state, "rain").unknown
    (2, True)
    """
    id = find_id(model, word)
    context, after = np.full(model.order + 1, kernel.NONE), np.full(model.order + 1, kernel.NONE)
    context[1 : 1 + len(state.nodes)] = state.nodes
    trie = model.starts, model.words, model.log10, model.backoffs
    value, length = kernel.step(*trie, model.order, context, after, np.uint32(id))
    nodes = after[1 : model.order].tolist()
    while nodes and nodes[-1] == kernel.NONE:
        nodes.pop()
    return WordScore(float(value), int(length), id == model.unknown, NgramState(tuple(nodes)))


def find_id(model: NgramModel, word: str) -> int:
    """The id of a word; that of <unk> where the word is unknown."""
    markers = {"<s>": model.begin, "</s>": model.end, "<unk>": model.unknown}
    if word in markers:
        return markers[word]
    id = int(model.tokenizer.find([word], model.vocabulary)[1][0])
    return id if id >= 0 else model.unknown
