"""What the probing studies share: frozen models are evaluated one after another, and finished results are reused."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from firth.neural.inference.layers_of import Precision
from firth.neural.substitutes import FREQUENT
from firth.options import option
from firth.probes.bag import BAG
from firth.probes.readers import LayerReader, is_named, model_identity, model_names, open_readers
from firth.runtime import Runtime
from firth.studies.findings import Cell, ResultTable
from firth.studies.results import load_or_compute
from firth.studies.study import Study

ELMO = "A biLM: the name of a shipped model, or a folder; 'none' leaves it out."
BAG_TEXT = (
    "The bag of context is the mean of the static vectors of the other words in the sentence, weighted by 1/√distance, "
    f"without the {FREQUENT} most frequent words, punctuation and the word itself. It knows which words are near; a "
    "contextual vector that does not exceed it has learned no more than that."
)
NO_COVE = (
    "CoVe is left out: it needs an encoder trained to translate millions of sentences, and no parallel text is at "
    "hand. An encoder trained on 120,000 pairs of neighboring English sentences instead was useless: below layer 0 of "
    "the biLM on senses, and its second layer had the right tag for a quarter of the words"
)
PRECISION = "Precision of the biLM; bfloat16 and int8 are faster on a CPU that has instructions for them."
STATIC = "Word vectors; join several names with +; 'none' leaves them out."


@dataclass(frozen=True)
class ProbeStudy(Study):
    """A study that compares the layers of a biLM with static vectors and with the encoder of a seq2seq model."""

    elmo: str = option("elmo-en", ELMO)
    static: str = option("glove-en", STATIC)
    cove: str | None = option(None, "A seq2seq model whose encoder layers are evaluated as well; default: none.")
    precision: Precision = option("float32", PRECISION)

    def evaluate(
        self,
        work: Path,
        runtime: Runtime,
        options: Mapping[str, Any],
        score: Callable[[LayerReader], dict[str, Any]],
    ) -> tuple[list[dict[str, Any]], dict[str, float]]:
        """The result of each model, and the seconds that each model took, by its name."""

        def score_timed(reader: LayerReader) -> dict[str, Any]:
            began = time.monotonic()
            return {**score(reader), "seconds": round(time.monotonic() - began, 1)}

        readers = open_readers(runtime, elmo=self.elmo, static=self.static, cove=self.cove, precision=self.precision)
        results, seconds = [], dict[str, float]()
        options = {**options, "precision": self.precision}
        for model, _, result in evaluate_models(work, self.name, readers, options, score_timed):
            results.append(result)
            seconds[model] = round(seconds.get(model, 0.0) + result["seconds"], 1)
        return results, seconds

    @property
    def models(self) -> str:
        """The names of all models, for the page; without CoVe, the reason."""
        names = model_names(self.elmo, self.static, self.cove) + describe_precision(self.precision)
        return names if is_named(self.cove) else f"{names}. {NO_COVE}"


def describe_precision(precision: Precision) -> str:
    """What a page says of a precision that is not the usual one.

    >>> describe_precision("bfloat16"), describe_precision("float32")
    (' (the biLM in bfloat16)', '')
    """
    return "" if precision == "float32" else f" (the biLM in {precision})"


def evaluate_models(
    work: Path,
    study: str,
    readers: Iterable[tuple[str, LayerReader]],
    options: Mapping[str, Any],
    score: Callable[[LayerReader], Any],
) -> Iterator[tuple[str, LayerReader, Any]]:
    """The name, the reader and the result of `score` for each model; finished results are loaded from `work`."""
    for number, (model, reader) in enumerate(readers):
        identity = {**options, **model_identity(model, reader)}
        result = load_or_compute(work / f"{study}-{number}.json", identity, partial(score, reader))
        yield model_names(model), reader, result


def format_times(seconds: Mapping[str, float]) -> str:
    """The time of each model and of all, for the page.

    >>> format_times({"glove-en": 2.2, "elmo-en": 30.0})
    'Time: glove-en 2 s, elmo-en 30 s; 32 s in all.'
    """
    times = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
    return f"Time: {times}; {sum(seconds.values()):.0f} s in all."


def score_rows(scores: Mapping[str, Mapping[str, Any]], columns: Iterable[str]) -> tuple[tuple[Cell, ...], ...]:
    """The scores of all methods as rows of a table.

    >>> score_rows({"mean": {"all": 94.0, "unseen": 80.0}}, ["all"])
    (('mean', 94.0),)
    """
    names = tuple(columns)
    return tuple((method, *(one[name] for name in names)) for method, one in scores.items())


def compare_with_bag(measures: Mapping[str, Mapping[str, float | None]]) -> str:
    """Whether the best layer of the biLM exceeds the best bag of context, by measure; losses first. For the page.

    >>> scores = {"biLM layer 1": 50.0, "biLM layer 2": 51.5, "glove-en": 60.0, "glove-en, bag of context": 53.0}
    >>> compare_with_bag({"WiC": scores, "SCWS": {**scores, "biLM layer 1": 70.0}})
    'WiC: the biLM loses to the bag of context, 51.5 (layer 2) against 53.0 (glove-en). SCWS: the biLM exceeds the
    bag of context, 70.0 (layer 1) against 53.0 (glove-en).'
    >>> compare_with_bag({"WiC": {"biLM layer 2": 53.01, "glove-en, bag of context": 53.0}})
    'WiC: the biLM is equal to the bag of context, 53.0 (layer 2) against 53.0 (glove-en).'
    """
    sentences: dict[str, list[str]] = {"loses to": [], "is equal to": [], "exceeds": []}
    for measure, scores in measures.items():
        known = {name: score for name, score in scores.items() if score is not None}
        layers = {name.removeprefix("biLM "): score for name, score in known.items() if name.startswith("biLM ")}
        bags = {name.removesuffix(f", {BAG}"): score for name, score in known.items() if name.endswith(BAG)}
        if not layers or not bags:
            continue
        layer, bag = max(layers, key=layers.__getitem__), max(bags, key=bags.__getitem__)
        numbers = f"{layers[layer]:.1f} ({layer}) against {bags[bag]:.1f} ({bag})"
        more = round(layers[layer], 1) - round(bags[bag], 1)
        verb = "exceeds" if more > 0 else "loses to" if more < 0 else "is equal to"
        sentences[verb].append(f"{measure}: the biLM {verb} the {BAG}, {numbers}.")
    return " ".join(chain(*sentences.values()))


def compare_with_paper(
    columns: tuple[str, str], scores: Mapping[str, float | None], paper: Mapping[str, float]
) -> ResultTable:
    """A table with the scores of this run beside those of the paper."""
    rows = tuple((name, scores.get(name), paper.get(name)) for name in dict.fromkeys([*paper, *scores]))
    return ResultTable("Beside the paper", ("method", *columns), rows)
