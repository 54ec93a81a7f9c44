"""Contextual word vectors from the encoder of a seq2seq model (CoVe: McCann et al. 2017)."""

from __future__ import annotations

from typing import Literal

import torch

from firth.errors import OptionError
from firth.neural.device import CPU
from firth.neural.inference.layers_of import map_batches
from firth.neural.inference.sentence_arrays import Floats, Pooling, pool
from firth.tasks.model import TaskModel, evaluation_mode
from firth.tasks.seq2seq.network import EncoderDecoder
from firth.text.model_tokenizer import ModelTokenizer, Sentences
from firth.text.tokenize import Tokenizer

Layers = Literal["top", "all", "mix"] | int


class Cove:
    """The encoder of a trained `seq2seq` model as an embedding: it has `embed`, like a biLM.

    `layers` is the number of its layers; `dim` is the length of a word's vector, 2 · hidden.
    """

    def __init__(self, model: TaskModel) -> None:
        if not isinstance(model.network, EncoderDecoder):
            raise OptionError(
                f"a model of the task {model.task.name} has no encoder to embed with. Use a seq2seq model"
            )
        self.model, self.network = model, model.network
        self.dim, self.layers = 2 * self.network.task.hidden, self.network.task.layers

    def embed(
        self,
        sentences: Sentences,
        *,
        layers: Layers = "top",
        pooling: Pooling | None = None,
        batch_tokens: int = CPU.batch_tokens,
    ) -> list[Floats]:
        """An array for each sentence: (length, dim), or (layers, length, dim) for all layers.

        A sentence is a list of words, or text, which is tokenized. `layers` is "top", "all", "mix" (their mean) or a
        number from 1 on. The vectors of a sentence do not depend on the other sentences.
        """
        if layers not in ("top", "all", "mix", *range(1, self.layers + 1)) or isinstance(layers, bool):
            problem = f"layers is {layers!r}, but must be 'top', 'all', 'mix' or a number from 1 to {self.layers}"
            raise OptionError(problem)
        lists = list(ModelTokenizer(Tokenizer()).sentences(sentences))

        def embed_batch(batch: list[list[str]]) -> list[Floats]:
            states = torch.stack(self.network.states(self.model.inputs(batch)))  # (layers, batch, time, dim)
            if layers == "mix":
                states = states.mean(0)
            elif layers != "all":
                states = states[-1 if layers == "top" else int(layers) - 1]
            arrays = [states[..., row, : len(words), :].cpu().numpy().copy() for row, words in enumerate(batch)]
            return [pool(array, pooling) for array in arrays]

        with evaluation_mode(self.model):
            return map_batches(embed_batch, lists, [max(1, len(words)) for words in lists], batch_tokens)
