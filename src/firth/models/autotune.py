"""Autotune: a random search for the options of a classifier that score best on labeled validation lines.

The first trial has the given options. Each further one changes the free options of the best trial so far: numbers are
multiplied by 2^x with a normal x whose spread shrinks as the time runs out.
"""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from firth.errors import Diverged, FormatError, OptionError
from firth.files import Name, atomic_file, parse_json, read_lines
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.models.quantization import quantize
from firth.models.supervised_vectors import SupervisedVectors
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus, Source
from firth.text.vocabulary import to_bytes
from firth.vectors.rows import CENTROIDS, ProductRows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

TRIALS = "trials.jsonl"
METRICS = "f1", "precision", "recall"
CURVES = {"precisionAtRecall": "precision_at_recall", "recallAtPrecision": "recall_at_precision"}  # fastText's names
UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
QUANTIZED_OUTPUT = 256  # labels from which the output layer of a size-limited model is quantized too
NGRAM_LENGTHS = ((0, 0), (2, 5), (3, 6))  # the choices of minn and maxn
FACTORS = {  # least and greatest value, and the spread of the exponents at the beginning and at the end
    "epochs": (1, 100, 2.0, 1.0),
    "learning_rate": (0.01, 5.0, 1.5, 0.7),
    "dim": (2, 1000, 1.2, 0.4),
    "buckets": (10_000, 10_000_000, 1.5, 0.8),
}


@dataclass(frozen=True)
class Trial:
    """The options of one training and its score; None if it diverged or the model is too large."""

    recipe: FastTextClassifier
    score: float | None
    dsub: int = 2

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        return {"score": self.score, "dsub": self.dsub, "recipe": self.recipe.as_dict()}


@dataclass(frozen=True)
class Autotune(Recipe):
    """Search for the options of a classifier.

    >>> lines = ["__label__drink hot tea", "__label__sky hot sun", "__label__drink cold milk"] * 20
    >>> model = Autotune(trials=2).fit(FastTextClassifier(dim=4), lines, validation=lines)
    >>> model.metadata["autotune"]["score"], len(model.metadata["autotune"]["trials"])
    (1.0, 2)
    """

    validation: str | None = option(None, "File of labeled lines. Searches for the options that score best on it.")
    duration: float = option(300.0, "Seconds for the search, if no number of trials is given.", minimum=0)
    trials: int | None = option(
        None, "Number of trials. With one thread, the result then depends on the seed alone.", minimum=1
    )
    metric: str = option(
        "f1",
        "Score to maximize: f1, precision, recall, precisionAtRecall:X or recallAtPrecision:X, with X in percent. A "
        "further :LABEL is the score of one label.",
    )
    predictions: int = option(1, "Labels predicted per line for the score; -1 is all.", minimum=-1)
    model_size: str | None = option(None, "Largest size of the file, such as 2M. The model is then quantized.")
    fixed: tuple[str, ...] = option((), "Options that are not searched. Those without their default are fixed too.")
    seed: int = option(1, "Seed of the search.", minimum=0, maximum=2**32)

    def __post_init__(self) -> None:
        super().__post_init__()
        Metric.parse(self.metric)
        for name in self.fixed:
            if name not in FastTextClassifier.__dataclass_fields__:
                raise OptionError(f"Autotune: fixed names {name!r}, which is no option of the classifier")
        if self.model_size is not None:
            parse_size(self.model_size)

    def fit(
        self,
        recipe: FastTextClassifier,
        corpus: Source,
        *,
        validation: Name | Iterable[str] | None = None,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        start: WordVectors | None = None,
    ) -> SupervisedVectors:
        """The model of the best trial. Options of `recipe` that differ from their defaults stay as they are.

        Ctrl-C ends the search early, with the best model so far. `checkpoint` names a folder that keeps the trials:
        the same search continues after them.
        """
        lines = self.validation if validation is None else validation
        if lines is None:
            raise OptionError("Autotune: validation is missing. Name a file of labeled lines")
        if not isinstance(lines, (str, PathLike)):
            lines = list(lines)
        if start is not None:
            recipe = replace(recipe, dim=start.dim)
        corpus = Corpus.of(corpus, tokenizer=FastTextClassifier.tokenizer)
        search = _Search(self, recipe, corpus, lines, runtime or Runtime.from_env(), report, start)
        if checkpoint is not None:
            search.continue_from(Path(checkpoint))
        return search.run()


def _read_trial(path: Path, number: int, line: str) -> Trial:
    cure = "Delete the file to search again"
    found = parse_json(line, path, line=number, cure=cure)
    try:
        recipe, dsub = FastTextClassifier.from_dict(found["recipe"]), int(found["dsub"])
        score = None if found["score"] is None else float(found["score"])
    except (OptionError, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise FormatError(path, f"is not a trial: {error}", line=number, cure=cure) from error
    return Trial(recipe, score, dsub)


class _TimeIsUp(Exception):
    """Ends a training in the middle."""


class _Search:
    """The trials so far and the best model."""

    def __init__(
        self,
        options: Autotune,
        recipe: FastTextClassifier,
        corpus: Corpus,
        validation: Name | list[str],
        runtime: Runtime,
        report: Report,
        start: WordVectors | None,
    ) -> None:
        self.options, self.recipe, self.corpus, self.validation = options, recipe, corpus, validation
        self.runtime, self.report, self.start = runtime, report, start
        self.free = [name for name in SEARCHED if name not in find_fixed(recipe, options.fixed, start)]
        self.trials: list[Trial] = []
        self.best: Trial | None = None
        self.model: SupervisedVectors | None = None
        self.file: Path | None = None
        self.began = time.monotonic()

    @property
    def share(self) -> float:
        """The share of the search that is done."""
        if self.options.trials is not None:
            return len(self.trials) / self.options.trials
        return (time.monotonic() - self.began) / max(self.options.duration, 1e-9)

    def continue_from(self, folder: Path) -> None:
        """Reads the trials of an earlier search with the same options, and keeps the further ones there."""
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / TRIALS
        identity = self._identity()
        if self.file.exists():
            lines = list(read_lines(self.file))
            if not lines or parse_json(lines[0][1], self.file) != identity:
                raise OptionError(f"{self.file}: holds the trials of another search. Use another folder")
            for number, line in lines[1:][: self.options.trials]:
                self._add(_read_trial(self.file, number, line), None)
        self._write()

    def _identity(self) -> dict[str, Any]:
        options = self.options.as_dict()
        kept = {name: options[name] for name in ("metric", "predictions", "model_size", "fixed", "seed")}
        kept["fixed"] = list(self.options.fixed)
        return {"search": kept, "recipe": self.recipe.as_dict(), "corpus": self.corpus.tokens(self.report).fingerprint}

    def _write(self) -> None:
        if self.file is None:
            return
        lines = [self._identity(), *(trial.as_dict() for trial in self.trials)]
        with atomic_file(self.file) as draft:
            draft.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def run(self) -> SupervisedVectors:
        """Runs trials until the search ends, and returns the best model."""
        try:
            while self.share < 1 or (self.options.trials is None and not self.trials):
                self._try(*self._propose())
        except _TimeIsUp:
            pass
        except KeyboardInterrupt:
            if self.best is None:
                raise
        if self.best is None:
            if self.trials:
                raise OptionError(
                    "Autotune: no trial gave a model: each diverged or was too large. Raise model_size, or lower "
                    "learning_rate"
                )
            seconds = self.options.duration
            raise OptionError(f"Autotune: no trial ended within {seconds:g} seconds. Raise duration")
        if self.model is None:  # the best trial is of an earlier run
            self.model = self._train(self.best, silent)
        found = {"metric": self.options.metric, "score": self.best.score, "options": self.options.as_dict()}
        self.model.metadata["autotune"] = found | {"trials": [trial.as_dict() for trial in self.trials]}
        return self.model

    def _try(self, recipe: FastTextClassifier, dsub: int) -> None:
        trial, model = Trial(recipe, None, dsub), None
        try:
            model = self._train(trial, self._watch)
            classifier, metric = Classifier(model, runtime=self.runtime), Metric.parse(self.options.metric)
            trial = replace(trial, score=metric.measure(classifier, self.validation, self.options.predictions))
        except (Diverged, MemoryError, _TooLarge):
            model = None
        self._add(trial, model)
        self._write()
        best = None if self.best is None else self.best.score
        done, total, unit = len(self.trials), self.options.trials, "trials"
        self.report(Progress("searching", done, total, unit, {"best": -1.0 if best is None else best}))

    def _train(self, trial: Trial, report: Report) -> SupervisedVectors:
        model = trial.recipe.fit(self.corpus, runtime=self.runtime, report=report, start=self.start)
        if self.options.model_size is None:
            return model
        return shrink(model, parse_size(self.options.model_size), trial.dsub, runtime=self.runtime)

    def _watch(self, progress: Progress) -> None:
        """Ends a training that takes longer than the search."""
        if self.options.trials is None and self.share >= 1:
            raise _TimeIsUp

    def _add(self, trial: Trial, model: SupervisedVectors | None) -> None:
        self.trials.append(trial)
        if trial.score is None:
            return
        if self.best is None or self.best.score is None or trial.score > self.best.score:
            self.best, self.model = trial, model

    def _propose(self) -> tuple[FastTextClassifier, int]:
        """The options of the next trial."""
        if not self.trials:
            return self.recipe, 2
        rng = np.random.default_rng([self.options.seed, len(self.trials)])
        best = self.best or self.trials[0]
        return propose(best.recipe, self.free, min(1.0, self.share), rng), int(2 ** rng.integers(1, 4))


class _TooLarge(Exception):
    """A model cannot be made small enough."""


SEARCHED = (*FACTORS, "word_ngrams", "minn", "maxn")


def find_fixed(recipe: FastTextClassifier, named: Iterable[str], start: WordVectors | None = None) -> set[str]:
    """The options that a search must not change: the named ones, those without their default, and dim with a start.

    >>> sorted(find_fixed(FastTextClassifier(epochs=7), ["dim"]))
    ['dim', 'epochs']
    """
    fixed = set(named) | ({"dim"} if start is not None else set())
    for field in dataclasses.fields(recipe):
        if getattr(recipe, field.name) != field.default:
            fixed.add(field.name)
    return fixed | ({"minn", "maxn"} if fixed & {"minn", "maxn"} else set())


def propose(
    best: FastTextClassifier, free: Iterable[str], share: float, rng: np.random.Generator
) -> FastTextClassifier:
    """Other options near the best ones; `share` of the search is done."""
    free = set(free)
    values: dict[str, Any] = {}
    for name, (least, greatest, first, last) in FACTORS.items():  # every number is drawn, free or not
        spread = first + (last - first) * share
        value = getattr(best, name) * 2.0 ** rng.normal(0, spread)
        values[name] = type(getattr(best, name))(min(greatest, max(least, value)))
    values["word_ngrams"] = int(np.clip(best.word_ngrams + round(rng.normal(0, 2.0 - share)), 1, 5))
    values["minn"], values["maxn"] = NGRAM_LENGTHS[int(rng.integers(0, len(NGRAM_LENGTHS)))]
    if share > 0.5 and rng.random() < 0.5:
        values["minn"], values["maxn"] = best.minn, best.maxn
    return replace(best, **{name: value for name, value in values.items() if name in free})


@dataclass(frozen=True)
class Metric:
    """What a search maximizes: a score at k labels per line, or one end of the curve of precision and recall."""

    name: str
    value: float | None = None  # the recall or precision that is asked for
    label: str = ""  # of one label; of all if empty

    @classmethod
    def parse(cls, text: str) -> Metric:
        """The metric that a text in fastText's form names.

        >>> Metric.parse("f1:__label__tea"), Metric.parse("precisionAtRecall:30")
        (Metric(name='f1', value=None, label='__label__tea'), Metric(name='precisionAtRecall', value=0.3, label=''))
        """
        name, _, rest = text.partition(":")
        if name in METRICS:
            return cls(name, None, rest)
        number, _, label = rest.partition(":")
        is_number = re.fullmatch(r"\d+(\.\d*)?|\.\d+", number) is not None
        if name not in CURVES or not is_number or not 0 <= float(number) <= 100:
            raise OptionError(
                f"Autotune: metric is {text!r}, but must be {', '.join(METRICS)}, precisionAtRecall:X or "
                "recallAtPrecision:X with X from 0 to 100, or one of these with a label, such as f1:__label__a"
            )
        return cls(name, float(number) / 100, label)

    def measure(self, classifier: Classifier, lines: Name | Iterable[str], k: int) -> float:
        """Its value on labeled lines, with k predictions per line."""
        if self.label and self.label not in classifier.labels:
            raise OptionError(f"Autotune: metric names {self.label!r}, which is no label of the model")
        if self.value is None:
            score = classifier.test(lines, k)
            return float(getattr(score.by_label[self.label] if self.label else score, self.name))
        curve = classifier.precision_recall_curve(lines, k, self.label or None)
        return float(getattr(curve, CURVES[self.name])(self.value))


def parse_size(text: str) -> int:
    """A number of bytes with a unit.

    >>> parse_size("2M"), parse_size("300000")
    (2000000, 300000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)B?", text.strip().upper())
    if found is None:
        raise OptionError(f"Autotune: model_size is {text!r}, but must be a number of bytes, such as 500K or 2M")
    return int(float(found[1]) * UNITS[found[2]])


def shrink(model: SupervisedVectors, limit: int, dsub: int = 2, *, runtime: Runtime | None = None) -> SupervisedVectors:
    """The model, quantized and pruned until its `.ftz` file has at most `limit` bytes."""
    labels = len(model.labels)
    keep, fitting = model.rows.shape[0], None
    for _ in range(8):
        small = quantize(model, keep, dsub, output=labels >= QUANTIZED_OUTPUT, runtime=runtime)
        size = file_size(small)
        if size <= limit:
            fitting = small
            break
        rest = size - row_bytes(small)  # what pruning does not change
        keep = int(keep * 0.98 * (limit - rest) / max(1, size - rest))
        if keep < 1:
            break
    if fitting is None:
        raise _TooLarge
    return SupervisedVectors.from_vectors(fitting)


def row_bytes(model: SubwordVectors) -> int:
    """The bytes of the rows of words and n-grams in an `.ftz` file, with the words themselves."""
    pruned = 0 if model.subwords.pruned is None else 8 * len(model.subwords.pruned)
    words = sum(len(to_bytes(word)) + 10 for word in model.vocabulary)
    rows = model.rows
    if not isinstance(rows, ProductRows):
        return words + pruned + 4 * rows.shape[0] * rows.shape[1]
    return words + pruned + rows.codes.size + (0 if rows.norm_codes is None else len(rows.norm_codes))


def file_size(model: SubwordVectors) -> int:
    """The bytes of a model's `.bin` or `.ftz` file: header, dictionary, input and output matrix."""
    size = 8 + 56 + 28 + 2 + row_bytes(model) + _table_bytes(model.rows)
    if model.output is None:
        return size + 16 + 4 * len(model) * model.dim
    size += sum(len(to_bytes(label)) + 10 for label in model.output.labels or ())
    rows = model.output.rows
    if isinstance(rows, ProductRows):
        codes = rows.codes.size + (0 if rows.norm_codes is None else len(rows.norm_codes))
        return size + codes + _table_bytes(rows)
    return size + 16 + 4 * rows.shape[0] * rows.shape[1]


def _table_bytes(rows: Any) -> int:
    """The bytes of a matrix without its rows: its shape and, if it is quantized, its centroids."""
    if not isinstance(rows, ProductRows):
        return 16
    norms = 0 if rows.norm_codes is None else 16 + 4 * CENTROIDS
    return 21 + 16 + 4 * CENTROIDS * rows.dim + norms
