"""Words in context by an encoder that learnt to say a text for a text (CoVe: McCann et al. 2017)."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from firth.errors import OptionError
from firth.neural.inference.embed import BATCH_TOKENS, Sentences, batches, to_word_lists
from firth.neural.inference.sentence_arrays import Floats, Pooling, pool
from firth.tasks.model import TaskModel, evaluation_mode
from firth.tasks.seq2seq.network import EncoderDecoder

Layers = Literal["top", "all", "mix"] | int


class Cove:
    """The encoder of a trained `seq2seq` model, as an embedding: it has `embed`, as a biLM has.

    `layers` is how many it has; `dim` is the length of a word's vector, 2 · hidden.
    """

    def __init__(self, model: TaskModel) -> None:
        if not isinstance(model.network, EncoderDecoder):
            raise OptionError(
                f"a model of the task {model.task.name} has no encoder to embed with. Name one of seq2seq"
            )
        self.model, self.network = model, model.network
        self.dim, self.layers = 2 * self.network.task.hidden, self.network.task.layers

    def embed(
        self,
        sentences: Sentences,
        *,
        layers: Layers = "top",
        pooling: Pooling | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> list[Floats]:
        """An array for each sentence: (length, dim), or (layers, length, dim) for all layers.

        A sentence is a list of words, or text, which is cut into words. `layers` is "top", "all", "mix" (their mean) or
        a number from 1 on. A sentence has the same vectors in any company.
        """
        if layers not in ("top", "all", "mix", *range(1, self.layers + 1)) or isinstance(layers, bool):
            problem = f"layers is {layers!r}, but must be 'top', 'all', 'mix' or a number from 1 to {self.layers}"
            raise OptionError(problem)
        lists = to_word_lists(sentences)
        arrays: list[Floats] = [np.zeros(0, np.float32)] * len(lists)
        with evaluation_mode(self.model):
            for places in batches([max(1, len(words)) for words in lists], batch_tokens):
                found = torch.stack(self.network.states(self.model.inputs([lists[place] for place in places])))
                if layers == "mix":
                    found = found.mean(0)
                elif layers != "all":
                    found = found[-1 if layers == "top" else int(layers) - 1]
                for row, place in enumerate(places):
                    array = found[..., row, : len(lists[place]), :].cpu().numpy().copy()
                    arrays[place] = pool(array, pooling)
        return arrays
