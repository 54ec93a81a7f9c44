"""What requests ask of models, as works for the batcher. Each result is that of the same call of the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.formats.native import BILM
from firth.pooling import TextPooling
from firth.server.batching import Work
from firth.server.served import OpenModel
from firth.text.coverage import collect_coverage, join_warnings
from firth.text.tokenize import Tokenizer
from firth.vectors.neighbors import AnalogyMethod

Mix = tuple[tuple[float, ...], float]  # the weights of the layers before the softmax, and γ
Layer = str | int | Mix


def tokenize(opened: OpenModel, texts: Sequence[str]) -> list[list[str]]:
    """The words of texts, as the model splits them."""
    words = opened.tokenizer.words
    return [words(text) for text in texts]


def encode(
    opened: OpenModel, texts: Sequence[str], pooling: TextPooling, normalize: bool, layers: Layer | None
) -> Work:
    """The vector of each text: `model.encode(texts, ...)`."""
    check_layers(opened, layers)
    if hasattr(opened.model, "infer"):  # a document vector is inferred: texts of one call share their random numbers
        if pooling != "mean":
            raise OptionError(f"pooling is {pooling!r}, but vectors of documents are not pooled")

        def infer(model: Any, items: Sequence[str]) -> Sequence[Any]:
            with collect_coverage(warns=False):
                return list(model.encode(list(items), normalize=normalize))

        costs, warning = rough_costs_of([[text] for text in texts]), warn_of(opened, texts)
        return Work(("infer", normalize), infer, texts, costs, divisible=False, warning=warning)
    items = tokenize(opened, texts)

    def run(model: Any, items: Sequence[list[str]]) -> Sequence[Any]:
        chosen = {} if layers is None else {"layers": as_layers(model, layers)}
        with collect_coverage(warns=False):
            return list(model.encode(list(items), pooling=pooling, normalize=normalize, **chosen))

    return Work(("encode", pooling, normalize, layers), run, items, costs_of(items), warning=warn_of(opened, items))


def embed(opened: OpenModel, texts: Sequence[str], layers: Layer | None) -> Work:
    """The words of each text with their vectors: `model.embed(texts, ...)`."""
    check_layers(opened, layers)
    items = tokenize(opened, texts)

    def run(model: Any, items: Sequence[list[str]]) -> Sequence[tuple[list[str], NDArray[np.float32]]]:
        chosen = {} if layers is None else {"layers": as_layers(model, layers)}
        with collect_coverage(warns=False):
            return list(zip(items, model.embed(list(items), **chosen)))

    return Work(("embed", layers), run, items, costs_of(items), warning=warn_of(opened, items))


def neighbors(words: Sequence[str], negative: Sequence[str], top: int) -> Work:
    """The neighbors of words together: `model.most_similar(words, negative, top)`."""

    def run(model: Any, items: Sequence[Any]) -> Sequence[Any]:
        return [model.most_similar(list(plus), list(minus), topn=top) for plus, minus in items]

    return Work(("neighbors", top), run, [(tuple(words), tuple(negative))], [len(words) + len(negative)])


def analogy(a: str, b: str, c: str, top: int, method: AnalogyMethod) -> Work:
    """The completion of an analogy: `model.analogy(a, b, c, top)`."""

    def run(model: Any, items: Sequence[Any]) -> Sequence[Any]:
        return [model.analogy(*item, topn=top, method=method) for item in items]

    return Work(("analogy", top, method), run, [(a, b, c)], [3])


def score(opened: OpenModel, texts: Sequence[str]) -> Work:
    """The probability of each sentence: `model.score(text)`, one call each."""
    items = tokenize(opened, texts)

    def run(model: Any, items: Sequence[list[str]]) -> Sequence[Any]:
        with collect_coverage(warns=False):
            if opened.kind == BILM:
                return [model.score([item])[0].as_dict() for item in items]
            return [model.score(item).as_dict() for item in items]

    return Work(("score",), run, items, costs_of(items), warning=warn_of(opened, items))


def ask(opened: OpenModel, inputs: Sequence[Sequence[str]]) -> Work:
    """The answers of a task model to each input: `model.ask(*texts)`."""

    def run(model: Any, items: Sequence[Sequence[str]]) -> Sequence[Any]:
        return [model.ask(*texts) for texts in items]

    return Work(("ask",), run, inputs, rough_costs_of(inputs), warning=warn_of_task(opened, inputs))


def labels(opened: OpenModel, inputs: Sequence[Sequence[str]], top: int) -> Work:
    """The labels of each input with their probabilities, the most probable first."""
    classifier = opened.classifier

    def classify(model: Any, items: Sequence[Sequence[str]]) -> Sequence[Any]:
        if any(len(texts) != 1 for texts in items):
            raise OptionError("a classifier labels single texts, but an input has several")
        assert classifier is not None
        with collect_coverage(warns=False):
            return [classifier.predict(texts[0], top) if texts[0].strip() else [] for texts in items]

    def answer(model: Any, items: Sequence[Sequence[str]]) -> Sequence[Any]:
        answers = [model.ask(*texts)[0] for texts in items]
        return [sorted(one["labels"].items(), key=lambda pair: -pair[1])[:top] for one in answers]

    if classifier is None:
        return Work(("labels", top), answer, inputs, rough_costs_of(inputs), warning=warn_of_task(opened, inputs))
    warning = join_warnings(classifier.coverage([text for texts in inputs for text in texts]).warnings())
    return Work(("labels", top), classify, inputs, rough_costs_of(inputs), warning=warning)


def warn_of(opened: OpenModel, texts: Sequence[str | list[str]]) -> str | None:
    """What the library would warn of: most words are unknown to the model, or some are cut."""
    coverage = getattr(opened.model, "coverage", None)
    return None if coverage is None else join_warnings(coverage(texts).warnings())


def warn_of_task(opened: OpenModel, inputs: Sequence[Sequence[str]]) -> str | None:
    """The same of the texts of a task model, whose answers also have a warning each."""
    tokenizer = Tokenizer()
    warning: str | None = opened.model.warn_of([tokenizer.words(text) for texts in inputs for text in texts])
    return warning


def costs_of(lists: Sequence[Sequence[str]]) -> list[int]:
    """The number of tokens of each text."""
    return [len(words) for words in lists]


def rough_costs_of(inputs: Sequence[Sequence[str]]) -> list[int]:
    """The number of words of each input, split at white space, where a model tokenizes its texts itself."""
    return [sum(len(text.split()) for text in texts) for texts in inputs]


def check_layers(opened: OpenModel, layers: Layer | None) -> None:
    """Refuses layers where a model has none."""
    if layers is not None and opened.kind != BILM:
        raise OptionError(f"layers and mix are for biLMs, but this model has the kind {opened.kind}")


def as_layers(model: Any, layers: Layer) -> Any:
    """The value of `layers` for `embed`: a name, the number of a layer, or a mix with weights."""
    if not isinstance(layers, tuple):
        return layers
    from firth.neural.mix import ScalarMix

    weights, gamma = layers
    return ScalarMix(len(weights), weights=weights, gamma=gamma, trainable=False)
