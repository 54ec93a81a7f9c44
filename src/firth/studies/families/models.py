"""Models of all families as word vectors, so that they can take the same tests.

A biLM has no vector of a word without context. Two replacements are used: layer 0, which depends only on the spelling,
and the mean of the higher layers over occurrences of the word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from firth.errors import OptionError
from firth.formats.registry import load
from firth.neural.device import CPU
from firth.pretrained import shipped
from firth.probes.readers import split_blocks
from firth.progress import Progress, Report
from firth.vectors.words import WordVectors

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

ENOUGH = 5  # occurrences of each word to average
LONGEST = 60  # words; longer sentences are mostly lists and are skipped


@dataclass(frozen=True)
class ModelVectors:
    """Word vectors of a model, or of one layer of it; `megabytes` is the size of the model on disk."""

    vectors: WordVectors
    megabytes: float


def open_models(
    names: Sequence[str], contexts: int, sentences: Callable[[], Iterable[Sequence[str]]], report: Report
) -> dict[str, ModelVectors]:
    """The word vectors of models by name; a biLM has one entry per layer, from `contexts` words of text."""
    found: dict[str, ModelVectors] = {}
    for name in names:
        model, size = load(name), megabytes(name)
        if isinstance(model, WordVectors):
            found[name] = ModelVectors(model, size)
            continue
        if getattr(model, "vocabulary", None) is None or not hasattr(model, "embed"):
            raise OptionError(f"models: {name} is neither word vectors nor a biLM with a vocabulary")
        words = [word for word in model.vocabulary if word not in ("<S>", "</S>", "<UNK>")]
        found[f"{name}, layer 0"] = ModelVectors(embed_alone(model, words), size)
        if contexts:
            for layer, vectors in average_contexts(
                model, words, select_sentences(sentences(), words, contexts), report
            ).items():
                found[f"{name}, layer {layer}"] = ModelVectors(vectors, size)
    return found


def megabytes(name: str) -> float:
    """The size of a model on disk in MB."""
    place = Path(os.fspath(shipped.locate(name)))
    if not place.exists():
        raise OptionError(f"models: {name} is neither a file nor a folder. {shipped.suggest(name)}")
    files = [one for one in place.rglob("*") if one.is_file()] if place.is_dir() else [place]
    return round(sum(one.stat().st_size for one in files) / 1e6, 2)


def embed_alone(bilm: BiLM, words: Sequence[str]) -> WordVectors:
    """Layer 0 of a biLM, which has no context, for each word.

    >>> from firth.neural.architecture import Architecture
    >>> from firth.neural.bilm import BiLM
    >>> embed_alone(BiLM(Architecture.named("tiny")), ["tea", "rain"])["tea"].shape
    (32,)
    """
    return WordVectors(words, np.concatenate(bilm.embed([[word] for word in words], layers=0)))


def select_sentences(sentences: Iterable[Sequence[str]], words: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Sentences with a word that has occurred fewer than five times so far, up to `most` words of text.

    >>> list(select_sentences([["tea"], ["tea", "rain"], ["rain"]], ["tea"], 10))
    [['tea'], ['tea', 'rain']]
    """
    missing = dict.fromkeys(words, ENOUGH)
    taken, incomplete = 0, len(missing)
    for sentence in sentences:
        if len(sentence) > LONGEST or not any(missing.get(word, 0) > 0 for word in sentence):
            continue
        for word in sentence:
            if word in missing:
                missing[word] -= 1
                incomplete -= missing[word] == 0
        taken += len(sentence)
        yield sentence
        if taken >= most or not incomplete:
            return


def average_contexts(
    bilm: BiLM, words: Sequence[str], sentences: Iterable[Sequence[str]], report: Report
) -> dict[int, WordVectors]:
    """For each layer above layer 0, the mean vector of each word over its occurrences; other words are left out."""
    ids = {word: id for id, word in enumerate(words)}
    layers, dim = bilm.architecture.layers, 2 * bilm.architecture.dim
    sums, counts = np.zeros((layers, len(words), dim)), np.zeros(len(words), np.int64)
    read = 0
    for block in split_blocks(map(list, sentences), CPU.block_words, len):
        for sentence, arrays in zip(block, bilm.embed(block, layers="all")):  # (layers + 1, length, dim)
            known = [(place, ids[word]) for place, word in enumerate(sentence) if word in ids]
            places, rows = [place for place, _ in known], [row for _, row in known]
            np.add.at(counts, rows, 1)
            for layer in range(layers):
                np.add.at(sums[layer], rows, arrays[layer + 1][places])
        read += sum(map(len, block))
        report(Progress("reading words in context", read, None, "words"))
    seen = np.flatnonzero(counts)
    vocabulary = [words[int(id)] for id in seen]
    means = sums[:, seen] / counts[seen][:, None]
    return {layer + 1: WordVectors(vocabulary, means[layer].astype(np.float32)) for layer in range(layers)}


def common_words(models: Mapping[str, ModelVectors]) -> list[str]:
    """The words of all models, in the order of the first model.

    >>> one, other = (ModelVectors(WordVectors(list(words), [[1], [2]]), 0.1) for words in ("ab", "bc"))
    >>> common_words({"one": one, "other": other})
    ['b']
    """
    first, *others = [model.vectors.vocabulary for model in models.values()]
    return [word for word in first if all(word in other for other in others)]


def restrict(vectors: WordVectors, words: Sequence[str]) -> WordVectors:
    """The vectors of these words only."""
    return WordVectors(words, vectors.of(words))


def describe_model(name: str, model: ModelVectors) -> dict[str, Any]:
    """The name and the sizes of a model."""
    return {"model": name, "words": len(model.vectors), "dim": model.vectors.dim, "megabytes": model.megabytes}
