"""Parts of speech by a linear classifier on each layer: Table 6 of the ELMo paper."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from firth.options import option
from firth.probes.linear import LayerTable, LinearProbe
from firth.probes.readers import (
    BilmReader,
    LayerReader,
    block_size,
    is_named,
    model_names,
    split_blocks,
    strip_folders,
)
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable
from firth.studies.probing.study import ProbeStudy, compare_with_paper, format_times, score_rows
from firth.studies.results import data_file
from firth.tasks.columns import read_sentences, select_field

BASELINE, TRAINING = "most frequent tag of the word", "training words"
UPOS, XPOS = 3, 4  # columns of CoNLL-U
FILES = {
    "ewt": tuple(f"data/tasks/pos/ewt-{part}.conllu.xz" for part in ("train", "dev", "test")),
    "perdt": tuple(f"data/tasks/pos/perdt-fa-{part}.conllu.xz" for part in ("dev", "test")),
}
PAPER = {
    "Collobert et al. 2011": 97.3,
    "Ma and Hovy 2016": 97.6,
    "Ling et al. 2015": 97.8,
    "CoVe layer 1": 93.3,
    "CoVe layer 2": 92.8,
    "biLM layer 1": 97.3,
    "biLM layer 2": 96.8,
}


BESIDE = {
    "ewt": (
        "The English XPOS are tags of the Penn Treebank. The paper used the Wall Street Journal part of that treebank, "
        "which is licensed and not at hand. News are more regular than mail, blogs and reviews, so the numbers stand "
        "beside each other and are not to be compared directly; the order of the layers is. The paper's biLM was "
        "trained on a billion words.\n\n"
    ),
    "perdt": "",
}


BELOW = (
    "lies below the most frequent tag of the word. The baseline stores a tag for every word form. A classifier that is "
    "linear in the numbers of a vector cannot: the last column has its accuracy on its own training words."
)


class TaggedSentence(NamedTuple):
    """The words of a sentence and their tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class PartsOfSpeech(ProbeStudy):
    """Parts of speech by a linear probe, layer by layer: Table 6."""

    name: ClassVar[str] = "pos"
    title: ClassVar[str] = "Parts of speech by a linear classifier on one layer"
    quick: ClassVar[dict[str, Any]] = {"sentences": 600, "epochs": 8}

    treebank: Literal["ewt", "perdt"] = option(
        "ewt", "The English Web Treebank, or the Persian PerDT, whose dev part is used for training."
    )
    sentences: int | None = option(
        None, "Use only the first training sentences, and a quarter as many to test; default: all sentences."
    )
    epochs: int = option(30, "Maximum number of passes over the training words.", minimum=1)
    seed: int = option(1, "Seed of the random numbers.", minimum=0)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Trains and tests a linear probe on every layer, for universal tags and for the treebank's own tags."""
        texts = {"UPOS": self.read(UPOS), "XPOS": self.read(XPOS)}
        scores: dict[str, dict[str, Any]] = {}
        for kind, (train, _, test) in texts.items():
            scores[kind] = {BASELINE: accuracies(predict_baseline(train, test), WordGroups(train, test))}
            scores[kind][BASELINE][TRAINING] = percent(predict_baseline(train, train))
        options = {name: getattr(self, name) for name in ("treebank", "sentences", "epochs", "seed")}
        score = partial(self.score_reader, texts=texts, report=report)
        results, seconds = self.evaluate(work, runtime, options, score)
        for result in results:
            for kind in texts:
                scores[kind] |= result[kind]
        return self.summarize(scores, seconds, texts)

    def read(self, column: int) -> tuple[list[TaggedSentence], list[TaggedSentence], list[TaggedSentence]]:
        """The training, dev and test sentences, with the tags of one column of the file."""
        parts = [list(read_treebank(data_file(name), column)) for name in FILES[self.treebank]]
        if len(parts) == 2:  # every tenth sentence of the training part is held out
            train, test = parts
            dev = train[9::10]
            parts = [[one for place, one in enumerate(train) if place % 10 != 9], dev, test]
        if self.sentences is not None:
            few = max(1, self.sentences // 4)
            parts = [parts[0][: self.sentences], parts[1][:few], parts[2][:few]]
        return parts[0], parts[1], parts[2]

    def score_reader(self, reader: LayerReader, texts: dict[str, Any], report: Report) -> dict[str, Any]:
        """The scores of one model, by kind of tag and layer."""
        tables = [read_layers(reader, part, report) for part in next(iter(texts.values()))]
        scores: dict[str, Any] = {}
        for kind, (train, dev, test) in texts.items():
            tags = sorted({tag for sentence in train for tag in sentence.tags})
            tag_ids = {tag: id for id, tag in enumerate(tags)}
            labels = [
                np.array([tag_ids.get(tag, -1) for sentence in part for tag in sentence.tags])
                for part in (train, dev, test)
            ]
            probe = LinearProbe(epochs=self.epochs, seed=self.seed)
            fitted = probe.fit(tables[0], labels[0], tables[1], labels[1], classes=len(tags), report=report)
            groups, predictions = WordGroups(train, test), fitted.predict(tables[2])
            scores[kind] = {
                name: accuracies(predicted == labels[2], groups) | {TRAINING: percent(known), "epochs": epochs}
                for name, predicted, known, epochs in zip(
                    reader.names, predictions, fitted.predict(tables[0]) == labels[0], fitted.epochs
                )
            }
        return scores

    def summarize(self, scores: dict[str, Any], seconds: dict[str, float], texts: Any) -> Findings:
        """The page of the scores of all models."""
        columns = "all", "unseen", "ambiguous", TRAINING
        tables = []
        for kind, (train, _, test) in texts.items():
            groups = WordGroups(train, test)
            note = (
                f"Test words: {len(groups.unseen):,}; unseen in training {int(groups.unseen.sum()):,}; ambiguous, with "
                f"more than one such tag in training, {int(groups.ambiguous.sum()):,}."
            )
            title = f"Accuracy in % on the test part, {kind}"
            tables.append(ResultTable(title, ("method", *columns), score_rows(scores[kind], columns), note))
        if self.treebank == "ewt":
            here = {name: one["all"] for name, one in scores["XPOS"].items()}
            tables.insert(0, compare_with_paper(("here, XPOS", "paper, Table 6 (PTB)"), here, PAPER))
        methods = tuple(scores["UPOS"])
        series = {kind: [one[method]["all"] for method in methods] for kind, one in scores.items()}
        chart = BarChart(self.title, "accuracy in %", methods, series)
        values = {"options": strip_folders(self.as_dict()), "scores": scores, "paper": PAPER, "seconds": seconds}
        lower = {
            name: None
            for by_method in scores.values()
            for name, one in by_method.items()
            if is_named(self.static) and name in model_names(self.static) and one["all"] < by_method[BASELINE]["all"]
        }
        about = "".join(f"{name} {BELOW}\n\n" for name in lower)
        about += self.describe(seconds, [sum(len(one.words) for one in part) for part in texts["UPOS"]])
        return self.findings(about, tables, {"layers": chart}, values)

    def describe(self, seconds: dict[str, float], words: Sequence[int]) -> str:
        """The text of the page."""
        names = {"ewt": "the English Web Treebank of Universal Dependencies", "perdt": "the Persian treebank PerDT"}
        held_out = (
            "" if self.treebank == "ewt" else " Its dev part trains, but for every tenth sentence, which is held out."
        )
        return (
            f"Multinomial logistic regression on the frozen, standardized vectors of words in {names[self.treebank]}: "
            f"{words[0]:,} words to train, {words[1]:,} to stop by, {words[2]:,} to test.{held_out} One classifier a "
            f"layer, full softmax, Adam, at most {self.epochs} epochs; each keeps the weights that were best on the "
            f"held-out words. UPOS are universal tags; XPOS are the treebank's own.\n\n{BESIDE[self.treebank]}"
            f"Models: {self.models}; seed {self.seed}. {format_times(seconds)}"
        )


def read_treebank(path: Path, column: int) -> Iterator[TaggedSentence]:
    """The sentences of a CoNLL-U file without its multiword tokens (1-2) and empty nodes (1.1)."""
    for rows in read_sentences(path):
        words = [row for row in rows if row.fields[0].isdecimal()]
        if words:
            yield TaggedSentence(
                tuple(row.fields[1] for row in words), tuple(select_field(path, row, column) for row in words)
            )


def read_layers(reader: LayerReader, text: Sequence[TaggedSentence], report: Report) -> LayerTable:
    """The layers of all words in float16; the mean of a biLM's layers is not stored but computed when it is used."""
    with_mean = isinstance(reader, BilmReader)
    size = sum(len(sentence.words) for sentence in text)
    empty = reader.read([])[: len(reader.names) - with_mean]
    table = empty.new_empty(empty.shape[0], size, empty.shape[2], dtype=torch.float16)
    done = 0
    for block in split_blocks([sentence.words for sentence in text], block_size(reader), len):
        vectors = reader.read(block)[: len(table)]
        table[:, done : done + vectors.shape[1]] = vectors
        done += vectors.shape[1]
        report(Progress("reading", done, size, "words"))
    return LayerTable(table, with_mean)


class WordGroups:
    """Which test words do not occur in training, and which occur there with more than one tag."""

    def __init__(self, train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> None:
        tags: dict[str, set[str]] = defaultdict(set)
        for sentence in train:
            for word, tag in zip(*sentence):
                tags[word].add(tag)
        words = [word for sentence in test for word in sentence.words]
        self.unseen = np.array([word not in tags for word in words], bool)
        self.ambiguous = np.array([len(tags.get(word, ())) > 1 for word in words], bool)


def accuracies(correct: NDArray[np.bool_], groups: WordGroups) -> dict[str, Any]:
    """Accuracy in percent on all words, on unseen words, and on ambiguous words."""
    masks = {"all": np.ones(len(correct), bool), "unseen": groups.unseen, "ambiguous": groups.ambiguous}
    return {name: percent(correct[mask]) if mask.any() else None for name, mask in masks.items()}


def percent(correct: NDArray[np.bool_]) -> float:
    """The share of correct answers in percent.

    >>> percent(np.array([True, False, True]))
    66.67
    """
    return round(100 * float(correct.mean()), 2)


def predict_baseline(train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> NDArray[np.bool_]:
    """Which test words the baseline tags correctly: with the most frequent tag of the word, or of all words if unseen.

    >>> train = [TaggedSentence(("a", "play"), ("DET", "NOUN")), TaggedSentence(("we", "play"), ("PRON", "NOUN"))]
    >>> predict_baseline(train, [TaggedSentence(("a", "cup", "play"), ("DET", "NOUN", "VERB"))]).tolist()
    [True, True, False]
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    total: Counter[str] = Counter()
    for sentence in train:
        total.update(sentence.tags)
        for word, tag in zip(*sentence):
            counts[word][tag] += 1
    default = total.most_common(1)[0][0]
    best = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return np.array([best.get(word, default) == tag for sentence in test for word, tag in zip(*sentence)], bool)
