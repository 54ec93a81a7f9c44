"""The input vectors of every task: static vectors, ELMo, a character CNN, or several of these concatenated.

`Embedding` has the options. `Inputs` computes the vectors and has their trainable parts: the weights of ELMo's layers,
the character CNN and the changes to word vectors. `Text` is a batch of vectors, the input of a network.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn

from firth.errors import OptionError
from firth.neural.bilm import BiLM
from firth.neural.inference.transfer import to_device
from firth.neural.mix import ScalarMix
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.tasks.frozen import ROOM, FrozenLayers
from firth.tasks.layers import sequence_mask
from firth.tasks.sources import Sources, is_bilm, split_names
from firth.tasks.static_words import CharacterWords, LearnedWords, StaticWords, build_vocabulary
from firth.text.vocabulary import Vocabulary

Sentences = Sequence[Sequence[str]]
OFTEN = 2  # minimum count of a word with a vector trained from scratch


@dataclass(frozen=True)
class Sizes:
    """Dimensions of a network's input vectors, and of those concatenated to its first layer's output (0: none)."""

    input: int
    extra: int = 0


@dataclass(frozen=True)
class Text:
    """A batch of sentences as vectors, padded with zeros. There is at least one time step."""

    vectors: Tensor  # (batch, time, Sizes.input)
    lengths: Tensor  # (batch), always on the CPU, as packing requires
    mask: Tensor  # (batch, time), true at words
    extra: Tensor | None = None  # (batch, time, Sizes.extra): ELMo's second mix, for the output

    def with_extra(self, encoded: Tensor) -> Tensor:
        """Hidden states (batch, time, size), concatenated with `extra` if there is one."""
        return encoded if self.extra is None else torch.cat([encoded, self.extra], 2)

    def select(self, rows: slice | list[int], time: int | None = None) -> Text:
        """Some rows of the batch, which may repeat, cut to `time` steps."""
        extra = None if self.extra is None else self.extra[rows, :time]
        return Text(self.vectors[rows, :time], self.lengths[rows], self.mask[rows, :time], extra)


@dataclass(frozen=True)
class Embedding(Recipe):
    """The options of input vectors. All selected kinds are concatenated.

    >>> Embedding(static="glove-en", elmo="elmo-en", at="both", mix_decay=0.001).at
    'both'
    """

    static: str | None = option(None, "Word vectors: a path or the name of a shipped model; several are joined by +.")
    stretched: bool = option(False, "Scale the word vectors by one factor to a mean square of one.")
    tuned: bool = option(False, "Fine-tune the word vectors of the words in the training text.")
    words: int = option(0, "Dimension of word vectors trained from scratch; 0 disables them.", minimum=0)
    characters: int = option(0, "Filters of a CNN over the characters of a word; 0 disables it.", minimum=0)
    elmo: str | None = option(None, "A biLM: a path or the name of a shipped model.")
    at: Literal["input", "output", "both"] = option(
        "input", "Concatenate ELMo to the network's input, to its first layer's output, or to both."
    )
    layers: Literal["mix", "top"] | int = option(
        "mix", "Weighted sum of all biLM layers with learned weights, the top layer, or a layer number.", minimum=0
    )
    mix_decay: float = option(0.0, "λ of the penalty λ‖w‖² on the layer weights.", minimum=0)
    fine_tune: bool = option(False, "Train the biLM too. Otherwise it runs once over each sentence.")
    dropout: float = option(0.5, "Dropout of ELMo's vectors.", minimum=0, maximum=0.99)

    @classmethod
    def of(cls, names: str, **options: Any) -> Self:
        """The embedding of names such as `glove-en+elmo-en`: each is a path or the name of a shipped model.

        Paths are made absolute, so that a saved model finds them from any working directory.
        """
        paths = [str(Path(name).resolve()) if Path(name).exists() else name for name in split_names(names)]
        bilms = [name for name in paths if is_bilm(name)]
        static = [name for name in paths if name not in bilms]
        if len(bilms) > 1:
            raise OptionError(f"{names}: two biLMs cannot be joined, {bilms[0]} and {bilms[1]}. Leave one out")
        return cls(static="+".join(static) or None, elmo=bilms[0] if bilms else None, **options)

    def learns_words(self) -> bool:
        """Whether it needs the vocabulary of the training text."""
        return bool(self.words) or (self.tuned and self.static is not None)


class Inputs(nn.Module):
    """Computes the `Text` of sentences by the options of an embedding.

    >>> inputs = Inputs(Embedding(characters=8))
    >>> text = inputs([["A", "cup", "of", "tea"], ["Rain"]])
    >>> text.vectors.shape, text.lengths, inputs.sizes
    (torch.Size([2, 4, 8]), tensor([4, 1]), Sizes(input=8, extra=0))
    """

    def __init__(
        self,
        embedding: Embedding,
        sources: Sources | None = None,
        vocabulary: Vocabulary | None = None,
        *,
        room: int = ROOM,
    ) -> None:
        """`vocabulary` is that of the training text, for learned vectors; `room` is an argument of `FrozenLayers`."""
        super().__init__()
        self.embedding, self.vocabulary = embedding, vocabulary or Vocabulary(())
        self.sources = sources or Sources.open(embedding.static, embedding.elmo)
        self.anchor = nn.Parameter(torch.zeros(0), requires_grad=False)  # has the device of the module
        self.static = nn.ModuleList(StaticWords(vectors, embedding.stretched) for vectors in self.sources.static)
        self.changes: LearnedWords | None = None
        if embedding.tuned and self.sources.static:
            size = sum(vectors.dim for vectors in self.sources.static)
            self.changes = LearnedWords(self.vocabulary, size, added=True)
        self.learnt = LearnedWords(self.vocabulary, embedding.words, added=False) if embedding.words else None
        self.spelled = CharacterWords(embedding.characters) if embedding.characters else None
        self.mixes = nn.ModuleDict()
        self.bilm = self.sources.bilm
        if embedding.fine_tune:
            self.bilm = copy.deepcopy(self.bilm)  # the source itself stays unchanged
        if self.bilm is not None:
            self._add_mixes(self.bilm, room)
        self.sizes = self._sizes()

    def _add_mixes(self, bilm: BiLM, room: int) -> None:
        embedding, top = self.embedding, bilm.architecture.layers
        layer = {"mix": None, "top": top}.get(str(embedding.layers), embedding.layers)
        if isinstance(layer, int) and layer > top:
            raise OptionError(f"Embedding: layers is {layer}, but the biLM has layers 0 to {top}")
        bilm.requires_grad_(embedding.fine_tune)
        self.frozen = FrozenLayers(bilm, layer if isinstance(layer, int) else None, room)
        for place in ("input", "output"):
            if embedding.at in (place, "both"):
                self.mixes[place] = ScalarMix(self.frozen.layers, dropout=embedding.dropout)

    def _sizes(self) -> Sizes:
        elmo = 0 if self.bilm is None else self.frozen.dim
        parts = [*self.static, self.learnt, self.spelled]
        size = sum(int(part.size) for part in parts if part is not None) + elmo * ("input" in self.mixes)
        if not size:
            raise OptionError("Embedding: the network's input has no vectors. Set static, elmo, characters or words")
        return Sizes(size, elmo * ("output" in self.mixes))

    def forward(self, sentences: Sentences) -> Text:
        lengths = torch.tensor([len(words) for words in sentences], dtype=torch.int64)
        time = max(1, int(lengths.max()) if len(lengths) else 0)
        mask = to_device(sequence_mask(lengths, time).numpy(), self.anchor.device)
        parts = [self.without_context(sentences, time)]
        extra = None
        if self.bilm is not None:
            layers = self.in_context(self.bilm, sentences, mask)
            if "input" in self.mixes:
                parts.append(self.mixes["input"](layers))
            if "output" in self.mixes:
                extra = self.mixes["output"](layers)
        return Text(torch.cat(parts, 2), lengths, mask, extra)

    def without_context(self, sentences: Sentences, time: int) -> Tensor:
        """Vectors without context, (batch, time, size). Each distinct word is computed once."""
        numbers: dict[str, int] = {}
        rows = np.zeros((len(sentences), time), np.int64)  # row 0 is padding
        for row, words in zip(rows, sentences):
            row[: len(words)] = [numbers.setdefault(word, len(numbers) + 1) for word in words]
        distinct = list(numbers) or [""]
        parts = [static(distinct) for static in self.static]
        if self.changes is not None:
            parts = [torch.cat(parts, 1) + self.changes(distinct)]
        parts += [part(distinct) for part in (self.learnt, self.spelled) if part is not None]
        table = torch.cat(parts, 1) if parts else self.anchor.new_zeros(len(distinct), 0)
        padding = table.new_zeros(1, table.shape[1])  # `pad` of torch 2.4 refuses a table without columns
        table = torch.cat([padding, table])
        return table[to_device(rows, table.device)]

    def in_context(self, bilm: BiLM, sentences: Sentences, mask: Tensor) -> Tensor:
        """The layers of the biLM, (layers, batch, time, dim)."""
        if not self.embedding.fine_tune:
            return self.frozen.of([tuple(words) for words in sentences]).movedim(2, 0)
        layers: Tensor = bilm(sentences)[0]
        if self.frozen.layer is not None:
            layers = layers[self.frozen.layer : self.frozen.layer + 1]
        inner = layers[:, :, 1 : mask.shape[1] + 1]  # without <S>; the mask removes </S>
        return inner * mask[:, :, None]

    def read_ahead(self, sentences: Iterable[Sequence[str]], report: Report = silent) -> None:
        """Fills the cache of a frozen biLM with sentences that will be needed."""
        if self.bilm is not None and not self.embedding.fine_tune:
            self.frozen.read_ahead((tuple(words) for words in sentences), report)

    @property
    def penalty(self) -> Tensor:
        """The penalty λ‖w‖² on the layer weights, a term of the loss."""
        total = self.anchor.new_zeros(())
        if self.embedding.mix_decay:
            for mix in self._mixes.values():
                total = total + mix.penalty(self.embedding.mix_decay)
        return total

    @property
    def shares(self) -> dict[str, list[float]]:
        """The weight of each layer in the mix at the input and at the output."""
        return {place: mix.shares.tolist() for place, mix in self._mixes.items()}

    @property
    def _mixes(self) -> dict[str, ScalarMix]:
        return {place: mix for place, mix in self.mixes.items() if isinstance(mix, ScalarMix)}

    @property
    def bilm_seconds(self) -> float:
        """The time spent in the frozen biLM so far."""
        return 0.0 if self.bilm is None else self.frozen.seconds

    def state(self) -> dict[str, Tensor]:
        """The trainable tensors by name, without those of the sources."""
        learning = {name for name, parameter in self.named_parameters() if parameter.requires_grad}
        return {name: tensor for name, tensor in self.state_dict().items() if name in learning}

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Sets the tensors of `state`."""
        if tensors.keys() != self.state().keys():
            different = sorted(tensors.keys() ^ self.state().keys())
            raise OptionError(f"the tensors of the inputs do not fit the embedding: {', '.join(different)}")
        self.load_state_dict(dict(tensors), strict=False)


def build_inputs(
    embedding: Embedding, sources: Sources, sentences: Iterable[Sequence[str]], room: int = ROOM
) -> Inputs:
    """Untrained inputs for a training text."""
    vocabulary = Vocabulary(())
    if embedding.learns_words():
        vocabulary = build_vocabulary(sentences, 1 if embedding.tuned else OFTEN)
    return Inputs(embedding, sources, vocabulary, room=room)
