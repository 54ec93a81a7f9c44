"""Representations of a word in context that follow from the layers of a biLM without training.

The top layer at a word is trained to predict the next word, not to describe the word's context. Three combinations
describe it better. The *neighbor states* of a word are the forward state of the previous word and the backward state of
the next word: all that the biLM knows about the place without the word itself. The *substitutes* are the mean of the
words that the softmax predicts there from both states. The *bag* is the weighted mean of a whitened layer over the
other words of the sentence. *Context* is `layers="context"` of `BiLM.embed`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from firth.neural.bilm import BiLM
from firth.neural.context import average_contexts, find_content
from firth.neural.inference.layers_of import Precision
from firth.neural.substitutes import Substitutes, Whitening, shift_states
from firth.probes.bag import BagReader
from firth.probes.readers import BilmReader, Words, unit
from firth.text.vocabulary import Vocabulary

AROUND = 2  # words on each side in the mean of neighboring positions


class RepresentationReader:
    """The layers of a biLM, and combinations of them. `sample` are sentences to compute means and whitening from.

    Each of the `bags` of context has a row beside the neighbor states.

    >>> from firth.neural.architecture import Architecture
    >>> reader = RepresentationReader(BiLM(Architecture.named("tiny")), [["A", "cup", "of", "tea"]])
    >>> reader.names[-3:], reader.read([["A", "cup"], ["Rain"]]).shape
    (('biLM neighbor states 2', 'biLM bag 2', 'biLM neighbor states 2 and bag'), torch.Size([12, 3, 64]))
    """

    def __init__(
        self,
        bilm: BiLM,
        sample: Sequence[Words],
        bags: Sequence[BagReader] = (),
        precision: Precision = "float32",
    ) -> None:
        self.layers, self.bags = BilmReader(bilm, precision), bags
        self.device = self.layers.device
        self.vocabulary = bilm.vocabulary or Vocabulary(())
        self.top = bilm.architecture.layers
        self.whitening = Whitening.fit(self.layers.read(sample)[self.top])
        self.substitutes = Substitutes.of(bilm)
        self.names: tuple[str, ...] = (*self.layers.names, *self.combine([]))

    @torch.no_grad()
    def read(self, sentences: Sequence[Words]) -> Tensor:
        """All representations, padded with zeros to the longest: (representations, words, dim)."""
        layers = self.layers.read(sentences)
        rows = [*layers, *self.combine(sentences, layers).values()]
        longest = max(one.shape[1] for one in rows)
        return torch.stack([pad(one, (0, longest - one.shape[1])) for one in rows])

    def combine(self, sentences: Sequence[Words], layers: Tensor | None = None) -> dict[str, Tensor]:
        """The combinations of layers by name."""
        layers = self.layers.read(sentences) if layers is None else layers
        below, top, whitened = layers[self.top - 1], layers[self.top], self.whitening(layers[self.top])
        words = [word for sentence in sentences for word in sentence]
        used = torch.tensor(find_content(words, self.vocabulary), dtype=torch.bool, device=self.device)
        bag = average_contexts(whitened, sentences, used)
        lengths = [len(sentence) for sentence in sentences]
        centered = top - self.whitening.center
        states = shift_states(torch.stack([below, top]), lengths)
        one, two = self.top - 1, self.top
        found = {
            f"biLM layers {one} and {two}": join(below, top),
            f"biLM layer {two}, centered": centered,
            f"biLM layer {two}, whitened": whitened,
            f"biLM layer {two}, mean of {2 * AROUND + 1} words": average_neighbors(centered, lengths),
            f"biLM neighbor states {one}": states[0],
            f"biLM neighbor states {two}": states[1],
            f"biLM bag {two}": bag,
            f"biLM neighbor states {two} and bag": join(states[1], bag),
        }
        if self.substitutes is not None:
            likely = self.substitutes(states[1])
            found["biLM substitutes"] = likely
            found["biLM substitutes and bag"] = join(likely, bag)
            found[f"biLM substitutes, neighbor states {two} and bag"] = join(likely, states[1], bag)
            found["biLM context"] = self.embed_contexts(sentences)
        for other in self.bags:
            found[f"biLM neighbor states {two} + {other.names[0]}"] = join(states[1], other.read(sentences)[0])
        return found

    def embed_contexts(self, sentences: Sequence[Words]) -> Tensor:
        """What `embed` gives with `layers="context"`, (words, 2 · dim)."""
        bilm = self.layers.bilm
        lists = [list(words) for words in sentences]
        arrays = bilm.embed(lists, layers="context", precision=self.layers.precision)
        none = np.zeros((0, 2 * bilm.architecture.dim), np.float32)
        return torch.from_numpy(np.concatenate([none, *arrays])).to(self.device)


def join(*rows: Tensor) -> Tensor:
    """Vectors of length 1 beside each other."""
    return torch.cat([unit(one) for one in rows], -1)


def average_neighbors(rows: Tensor, lengths: Sequence[int], around: int = AROUND) -> Tensor:
    """The mean of each word and the words around it, within its sentence.

    >>> average_neighbors(torch.tensor([[1.0], [3.0], [8.0], [5.0]]), [3, 1], around=1).tolist()
    [[2.0], [4.0], [5.5], [5.0]]
    """
    found, start = torch.zeros_like(rows), 0
    for length in lengths:
        places = torch.arange(length, device=rows.device)
        near = ((places[:, None] - places).abs() <= around).to(rows.dtype)
        found[start : start + length] = near @ rows[start : start + length] / near.sum(1, keepdim=True)
        start += length
    return found
