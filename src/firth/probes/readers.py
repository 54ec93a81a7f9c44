"""Frozen vectors of words in context: the layers of a biLM, of a seq2seq encoder, or static word vectors.

A reader returns one vector per layer for each word; `names` are the names of its layers, such as those of a biLM and
their mean. It reads a block of sentences at once, and the vectors stay on its device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from firth.errors import OptionError
from firth.formats.registry import load
from firth.neural.bilm import BiLM
from firth.neural.device import work_sizes
from firth.neural.inference.layers_of import Precision, layers_of
from firth.probes.bag import BagReader
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.tasks.model import TaskModel, open_task
from firth.tasks.seq2seq.cove import Cove
from firth.tasks.static_words import StaticWords
from firth.vectors.words import WordVectors

Words = Sequence[str]
Item = TypeVar("Item")
MEAN = "biLM mean"
MODELS = "elmo", "static", "cove"  # the options that name models


class WordSpan(NamedTuple):
    """A word in its sentence, or several that form one: words[start:stop]."""

    words: Words
    start: int
    stop: int


class LayerReader(Protocol):
    """Layers of word vectors; `read` returns (layers, words, dim) for the words of all sentences in order."""

    names: tuple[str, ...]
    device: torch.device

    def read(self, sentences: Sequence[Words]) -> Tensor: ...


class BilmReader:
    """All layers of a biLM, from layer 0, which has no context, upwards, and their mean.

    >>> from firth.neural.architecture import Architecture
    >>> reader = BilmReader(BiLM(Architecture.named("tiny")))
    >>> reader.names, reader.read([["A", "cup"], ["Rain"]]).shape
    (('biLM layer 0', 'biLM layer 1', 'biLM layer 2', 'biLM mean'), torch.Size([4, 3, 32]))
    """

    def __init__(self, bilm: BiLM, precision: Precision = "float32") -> None:
        self.bilm, self.precision = bilm, precision
        self.names = (*(f"biLM layer {layer}" for layer in range(bilm.architecture.layers + 1)), MEAN)
        self.device = next(bilm.parameters()).device

    def read(self, sentences: Sequence[Words]) -> Tensor:
        """The layers of all words, (layers + 2, words, 2 · dim)."""
        return layers_of(
            self.bilm, sentences, lambda layers: torch.cat([layers, layers.mean(0, keepdim=True)]), self.precision
        )


class StaticReader:
    """Static word vectors; a word without a vector is all zeros.

    >>> StaticReader("tea", WordVectors(["tea"], [[1, 2]])).read([["Tea", "milk"]])
    tensor([[[1., 2.],
             [0., 0.]]])
    """

    def __init__(self, name: str, vectors: WordVectors, place: str = "cpu") -> None:
        self.names: tuple[str, ...] = (name,)
        self.words = StaticWords(vectors).to(place)
        self.device = torch.device(place)

    @torch.no_grad()
    def read(self, sentences: Sequence[Words]) -> Tensor:
        """The vectors of all words, (1, words, dim)."""
        words = [word for sentence in sentences for word in sentence]
        if not words:
            return torch.zeros(1, 0, self.words.size, device=self.device)
        found: Tensor = self.words(words)
        return found[None]


class CoveReader:
    """The layers of the encoder of a seq2seq model."""

    def __init__(self, model: TaskModel) -> None:
        self.cove = Cove(model)
        self.names = tuple(f"CoVe layer {layer}" for layer in range(1, self.cove.layers + 1))
        self.device = next(model.network.parameters()).device

    def read(self, sentences: Sequence[Words]) -> Tensor:
        """The layers of all words, (layers, words, dim)."""
        arrays = self.cove.embed(sentences, layers="all")
        if not arrays:
            return torch.zeros(len(self.names), 0, self.cove.dim, device=self.device)
        return torch.from_numpy(np.concatenate(arrays, axis=1)).to(self.device)


def is_named(model: str | None) -> bool:
    """Whether an option names a model: None, "" and "none" do not.

    >>> is_named("glove-en"), is_named("none"), is_named(None)
    (True, False, False)
    """
    return model not in (None, "", "none")


def model_names(*models: str | None) -> str:
    """The names of models for a report, without their folders.

    >>> model_names("models/large", "glove-en+svd-en", None, "none")
    'large, glove-en, svd-en'
    """
    names = [name for model in models if is_named(model) for name in str(model).split("+")]
    return ", ".join(Path(name).name for name in names)


def strip_folders(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a study, with the folders removed from the names of models.

    >>> strip_folders({"static": "models/glove+svd-en", "elmo": None, "word": "a/b"})
    {'static': 'glove+svd-en', 'elmo': None, 'word': 'a/b'}
    """
    models = {
        name: model_names(value).replace(", ", "+") for name, value in options.items() if name in MODELS and value
    }
    return {**options, **models}


def open_bilm(name: str, runtime: Runtime, precision: Precision = "float32") -> BilmReader:
    """A reader of the biLM with this name or in this folder."""
    model = load(name)
    if not isinstance(model, BiLM):
        raise OptionError(f"{name}: is a {type(model).__name__}. Name a biLM, such as elmo-en")
    return BilmReader(model.to(runtime.place).eval(), precision)


def load_vectors(name: str) -> WordVectors:
    """The word vectors with this name or in this file."""
    model = load(name)
    if not isinstance(model, WordVectors):
        raise OptionError(f"{name}: is a {type(model).__name__}. Name word vectors, such as glove-en")
    return model


def open_cove(name: str, runtime: Runtime) -> CoveReader:
    """A reader of the encoder of a seq2seq model."""
    return CoveReader(open_task(name).to(runtime.place).eval())


def open_readers(
    runtime: Runtime,
    *,
    elmo: str | None = None,
    static: str | None = None,
    cove: str | None = None,
    precision: Precision = "float32",
) -> Iterator[tuple[str, LayerReader]]:
    """The name and the reader of each model, opened one at a time; `static` may name several, joined with +.

    Static vectors have two readers: the vector of the word itself, and the bag of its context.
    """
    if is_named(elmo):
        yield str(elmo), open_bilm(str(elmo), runtime, precision)
    if is_named(static):
        for name in str(static).split("+"):
            vectors = load_vectors(name)
            yield name, StaticReader(Path(name).name, vectors, runtime.place)
            yield name, BagReader(Path(name).name, vectors, runtime.place)
    if is_named(cove):
        yield str(cove), open_cove(str(cove), runtime)


def model_identity(model: str, reader: LayerReader) -> dict[str, Any]:
    """The name of a model, of its layers, and the mean vector length of a sample sentence by layer."""
    norms = reader.read([["The", "old", "play", "was", "well", "known", "there", "."]]).norm(dim=-1).mean(1)
    return {"model": model, "names": list(reader.names), "lengths": [round(norm, 2) for norm in norms.tolist()]}


def block_size(reader: LayerReader) -> int:
    """Words per block; a GPU needs larger blocks to be busy."""
    return work_sizes(reader.device).block_words


def split_blocks(sentences: Iterable[Item], size: int, words: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Sentences in blocks of at least `size` words, counted by `words`; the last block may be smaller.

    >>> list(split_blocks([["a"], ["b", "c"], ["d"]], 2, len))
    [[['a'], ['b', 'c']], [['d']]]
    """
    block: list[Item] = []
    count = 0
    for sentence in sentences:
        block.append(sentence)
        count += words(sentence)
        if count >= size:
            yield block
            block, count = [], 0
    if block:
        yield block


def span_means(vectors: Tensor, starts: Sequence[int], stops: Sequence[int]) -> Tensor:
    """The mean vector of each span: (layers, words, dim) to (layers, spans, dim).

    >>> span_means(torch.tensor([[[1.0], [2.0], [6.0]]]), [0, 1], [1, 3])
    tensor([[[1.],
             [4.]]])
    """
    first, last = np.asarray(starts, np.int64), np.asarray(stops, np.int64)
    lengths = last - first
    if (lengths == 1).all():
        return vectors[:, torch.from_numpy(first).to(vectors.device)]
    owners = np.repeat(np.arange(len(first)), lengths)
    rows = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(first, lengths)
    sums = vectors.new_zeros(vectors.shape[0], len(first), vectors.shape[2])
    chosen = vectors[:, torch.from_numpy(rows).to(vectors.device)]
    sums.index_add_(1, torch.from_numpy(owners).to(vectors.device), chosen)
    return sums / torch.from_numpy(lengths).to(vectors.device)[:, None]


def read_spans(
    reader: LayerReader, spans: Sequence[WordSpan], report: Report = silent, step: str = "reading"
) -> Tensor:
    """The vectors of words in context, (layers, spans, dim); several words that form one are averaged.

    Consecutive spans of the same sentence are read together.

    >>> tea = StaticReader("tea", WordVectors(["green", "tea"], [[1, 0], [0, 1]]))
    >>> read_spans(tea, [WordSpan(["some", "green", "tea"], 1, 3)])
    tensor([[[0.5000, 0.5000]]])
    """
    found: list[Tensor] = []
    sentences = [list(group) for _, group in groupby(spans, key=lambda span: span.words)]
    done = read = 0
    for block in split_blocks([group[0].words for group in sentences], block_size(reader), len):
        groups = sentences[read : read + len(block)]
        offsets = np.cumsum([0, *map(len, block)]).tolist()
        starts = [offset + span.start for offset, group in zip(offsets, groups) for span in group]
        stops = [offset + span.stop for offset, group in zip(offsets, groups) for span in group]
        found.append(span_means(reader.read(block), starts, stops))
        read, done = read + len(block), done + len(starts)
        report(Progress(step, done, len(spans), "words"))
    return torch.cat(found, dim=1) if found else reader.read([])


def unit(vectors: Tensor) -> Tensor:
    """Vectors scaled to length 1 along the last axis; zeros stay zeros.

    >>> unit(torch.tensor([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    return torch.nn.functional.normalize(vectors, dim=-1)
