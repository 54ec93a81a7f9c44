"""A word on its way through ELMo: the numbers after each step of the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.explorer.models import Models
from firth.explorer.problems import PageError

LONGEST_SENTENCE = 60  # words
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Step:
    """One step: its key, the shape of its output as text, and the output, (rows, columns)."""

    key: str
    shape: str
    values: Floats


@dataclass(frozen=True)
class Trace:
    """A sentence in the network: its words, the steps of one word, and all layers of all words."""

    words: tuple[str, ...]
    place: int
    characters: tuple[str, ...]
    steps: tuple[Step, ...]
    layers: Floats  # (layers + 1, words, 2 · dim), as `embed` gives them

    def mix(self, weights: tuple[float, ...], gamma: float) -> Floats:
        """γ · Σ s_j · layer_j of the word, where s are the weights divided by their sum.

        >>> Trace(("tea",), 0, (), (), np.ones((3, 1, 2), np.float32)).mix((1, 1, 0), 2.0).tolist()
        [2.0, 2.0]
        """
        total = sum(weights)
        shares = np.array(weights) / total if total > 0 else np.full(len(weights), 1 / len(weights))
        return np.asarray(gamma * np.tensordot(shares, self.layers[:, self.place], 1), np.float32)


def trace_word(models: Models, name: str, sentence: str, place: int) -> Trace:
    """The way of one word of a sentence through a biLM. The layers are those that `embed` gives.

    >>> trace = trace_word(Models(), "elmo-en", "She drinks tea .", 2)
    >>> trace.words[trace.place], trace.steps[0].key, trace.steps[-1].key
    ('tea', 'characters', 'layers')
    """
    import torch

    bilm = models.load(name)
    words = tuple(bilm.tokenizer.words(sentence))
    if not words:
        raise PageError("sentence-empty")
    if len(words) > LONGEST_SENTENCE:
        raise PageError("sentence-long", count=len(words), most=LONGEST_SENTENCE)
    place = min(max(place, 0), len(words) - 1)
    layers = bilm.embed([list(words)], layers="all")[0]
    with torch.no_grad():
        spelled, steps = trace_characters(bilm.encoder, words[place])
    dim = layers.shape[2] // 2
    steps.append(Step("token", f"{dim}", layers[:1, place, :dim]))
    for depth in range(1, len(layers)):
        for key, part in (("forward", slice(None, dim)), ("backward", slice(dim, None))):
            steps.append(Step(f"{key}-{depth}", f"{dim}", layers[depth : depth + 1, place, part]))
    steps.append(Step("layers", f"{len(layers)} × {2 * dim}", layers[:, place]))
    return Trace(words, place, spelled, tuple(steps), layers)


def trace_characters(encoder: Any, word: str) -> tuple[tuple[str, ...], list[Step]]:
    """The steps from the characters of a word to its vector, where the encoder is a character CNN.

    >>> import torch
    >>> with torch.no_grad():
    ...     spelled, steps = trace_characters(Models().load("elmo-en").encoder, "tea")
    >>> spelled, steps[0].shape.split()[0]
    (('⟨', 't', 'e', 'a', '⟩'), '5')
    """
    from torch.nn import functional

    from firth.neural.layers import CharacterCnn

    if not isinstance(encoder, CharacterCnn):
        return (), []
    ids = encoder.spell([word])
    characters = functional.embedding(ids, encoder.table)  # (1, characters, character_dim)
    count = min(len(word.encode("utf-8", "surrogateescape")) + 2, ids.shape[1])
    maxima = encoder.maxima(characters)
    steps = [
        Step("characters", f"{count} × {characters.shape[2]}", characters[0, :count].numpy()),
        Step("filters", f"{maxima.shape[1]}", encoder.activation(maxima).numpy()),
    ]
    x = encoder.activation(maxima)
    for highway in encoder.highways:
        x = highway(x)
    if len(encoder.highways):
        steps.append(Step("highway", f"{x.shape[1]}", x.numpy()))
    return spell(word, count), steps


def spell(word: str, count: int) -> tuple[str, ...]:
    """The bytes of a word as the network reads them, with the marks of its beginning and end.

    >>> spell("tea", 5), spell("é", 4)
    (('⟨', 't', 'e', 'a', '⟩'), ('⟨', 'C3', 'A9', '⟩'))
    """
    bytes_of = word.encode("utf-8", "surrogateescape")[: count - 2]
    return ("⟨", *(chr(one) if 32 <= one < 127 else f"{one:02X}" for one in bytes_of), "⟩")
