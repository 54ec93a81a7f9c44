"""Parts of speech by a linear classifier on each layer: Table 6 of the ELMo paper."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from firth.options import option
from firth.probes.linear import LinearProbe
from firth.probes.linear import Table as WordTable
from firth.probes.readers import BilmReader, Reader, block_size, blocks, called, open_readers, plain_options
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.show.charts import Bars
from firth.studies.findings import Findings, Table
from firth.studies.probing import judged_in_turn
from firth.studies.results import data_file
from firth.studies.study import Study
from firth.tasks.columns import read_sentences, select_field

BASELINE = "most frequent tag of the word"
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


class Tagged(NamedTuple):
    """The words of a sentence and their tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class PartsOfSpeech(Study):
    """A linear classifier of parts of speech on each layer."""

    name: ClassVar[str] = "pos"
    title: ClassVar[str] = "Parts of speech by a linear classifier on one layer"
    quick: ClassVar[dict[str, Any]] = {"sentences": 600, "epochs": 8}

    elmo: str = option("elmo-en", "a biLM: a name that ships, or a folder; none: without")
    static: str = option("glove-en", "word vectors; several as one+another; none: without")
    cove: str | None = option(None, "a seq2seq model whose encoder is judged, too")
    treebank: Literal["ewt", "perdt"] = option(
        "ewt", "English Web Treebank, or the Persian PerDT (its dev part trains)"
    )
    sentences: int | None = option(None, "so many training sentences, and a quarter of it to test; all if not given")
    epochs: int = option(30, "times that the training words are read, at most", minimum=1)
    seed: int = option(1, "where the random numbers start", minimum=0)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Trains and tests the probes of every model, on universal and on the treebank's own tags."""
        scores: dict[str, dict[str, Any]] = {"UPOS": {}, "XPOS": {}}
        texts = {"UPOS": self.read(UPOS), "XPOS": self.read(XPOS)}
        for kind, (train, _, test) in texts.items():
            scores[kind][BASELINE] = scored(most_frequent(train, test), Judge(train, test))
        seconds: dict[str, float] = {}
        options = {name: getattr(self, name) for name in ("treebank", "sentences", "epochs", "seed")}
        readers = open_readers(runtime, elmo=self.elmo, static=self.static, cove=self.cove)
        judge = partial(self.probed, texts=texts, report=report)
        for model, _, result in judged_in_turn(work, self.name, readers, options, judge):
            seconds[model] = result["seconds"]
            for kind in texts:
                scores[kind] |= result[kind]
        return self.findings(scores, seconds, texts)

    def read(self, column: int) -> tuple[list[Tagged], list[Tagged], list[Tagged]]:
        """The sentences to train, to stop by, and to test."""
        parts = [list(treebank(data_file(name), column)) for name in FILES[self.treebank]]
        if len(parts) == 2:  # every tenth sentence of the training part is held out
            train, test = parts
            dev = train[9::10]
            parts = [[one for place, one in enumerate(train) if place % 10 != 9], dev, test]
        if self.sentences is not None:
            few = max(1, self.sentences // 4)
            parts = [parts[0][: self.sentences], parts[1][:few], parts[2][:few]]
        return parts[0], parts[1], parts[2]

    def probed(self, reader: Reader, texts: dict[str, Any], report: Report) -> dict[str, Any]:
        """The scores of one model, by kind of tag and layer."""
        began = time.monotonic()
        tables = [word_table(reader, part, report) for part in next(iter(texts.values()))]
        found: dict[str, Any] = {}
        for kind, (train, dev, test) in texts.items():
            tags = sorted({tag for sentence in train for tag in sentence.tags})
            numbers = {tag: number for number, tag in enumerate(tags)}
            labels = [
                np.array([numbers.get(tag, -1) for one in part for tag in one.tags]) for part in (train, dev, test)
            ]
            probe = LinearProbe(epochs=self.epochs, seed=self.seed)
            linear = probe.fit(tables[0], labels[0], tables[1], labels[1], classes=len(tags), report=report)
            judge, predicted = Judge(train, test), linear.predict(tables[2])
            found[kind] = {
                name: scored(said == labels[2], judge) | {"epochs": epochs}
                for name, said, epochs in zip(reader.names, predicted, linear.epochs)
            }
        return found | {"seconds": round(time.monotonic() - began, 1)}

    def findings(self, scores: dict[str, Any], seconds: dict[str, float], texts: Any) -> Findings:
        """The tables and the chart."""
        columns = "all", "unseen", "ambiguous"
        tables = []
        for kind, (train, _, test) in texts.items():
            sizes = Judge(train, test)
            note = (
                f"Test words: {len(sizes.unseen):,}; unseen in training {int(sizes.unseen.sum()):,}; ambiguous, with "
                f"more than one such tag in training, {int(sizes.ambiguous.sum()):,}."
            )
            title = f"Accuracy in % on the test part, {kind}"
            tables.append(Table(title, ("method", *columns), rows_of(scores[kind], columns), note))
        if self.treebank == "ewt":
            names = list(dict.fromkeys([*PAPER, *scores["XPOS"]]))
            here = {name: one["all"] for name, one in scores["XPOS"].items()}
            rows = tuple((name, here.get(name), PAPER.get(name)) for name in names)
            tables.insert(0, Table("Beside the paper", ("method", "here, XPOS", "paper, Table 6 (PTB)"), rows))
        order = list(scores["UPOS"])
        series = {kind: [found[name]["all"] for name in order] for kind, found in scores.items()}
        chart = Bars(self.title, "accuracy in %", tuple(order), series)
        values = {"options": plain_options(self.as_dict()), "scores": scores, "paper": PAPER, "seconds": seconds}
        about = self.told(seconds, [sum(len(one.words) for one in part) for part in texts["UPOS"]])
        return Findings(self.name, self.title, about, tuple(tables), {"layers": chart}, values)

    def told(self, seconds: dict[str, float], words: Sequence[int]) -> str:
        """What was run, in words."""
        names = {"ewt": "the English Web Treebank of Universal Dependencies", "perdt": "the Persian treebank PerDT"}
        times = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
        held = (
            "" if self.treebank == "ewt" else " Its dev part trains, but for every tenth sentence, which is held out."
        )
        return (
            f"Multinomial logistic regression on the frozen, standardized vectors of words in {names[self.treebank]}: "
            f"{words[0]:,} words to train, {words[1]:,} to stop by, {words[2]:,} to test.{held} One classifier a "
            f"layer, full softmax, Adam, at most {self.epochs} epochs; each keeps the weights that were best on the "
            f"held-out words. UPOS are universal tags; XPOS are the treebank's own.\n\n{BESIDE[self.treebank]}"
            f"Models: {called(self.elmo, self.static, self.cove)}; seed {self.seed}. "
            f"Time: {times}; {sum(seconds.values()):.0f} s in all."
        )


def rows_of(found: dict[str, Any], columns: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    """The scores of methods as rows of a table.

    >>> rows_of({"mean": {"all": 94.0, "unseen": 80.0}}, ["all"])
    (('mean', 94.0),)
    """
    return tuple((name, *(one[column] for column in columns)) for name, one in found.items())


def treebank(path: Path, column: int) -> Iterator[Tagged]:
    """The sentences of a CoNLL-U file; joined words (1-2) and words that are not written (1.1) are left out."""
    for rows in read_sentences(path):
        words = [row for row in rows if row.fields[0].isdecimal()]
        if words:
            yield Tagged(tuple(row.fields[1] for row in words), tuple(select_field(path, row, column) for row in words))


def word_table(reader: Reader, text: Sequence[Tagged], report: Report) -> WordTable:
    """The layers of all words, as halves; the mean of a biLM's layers is not kept, for it can be taken again."""
    with_mean = isinstance(reader, BilmReader)
    size = sum(len(sentence.words) for sentence in text)
    empty = reader.read([])[: len(reader.names) - with_mean]
    table = empty.new_empty(empty.shape[0], size, empty.shape[2], dtype=torch.float16)
    done = 0
    for block in blocks([sentence.words for sentence in text], block_size(reader), len):
        vectors = reader.read(block)[: len(table)]
        table[:, done : done + vectors.shape[1]] = vectors
        done += vectors.shape[1]
        report(Progress("reading", done, size, "words"))
    return WordTable(table, with_mean)


class Judge:
    """Which test words were never seen in training, and which were seen with more than one tag."""

    def __init__(self, train: Sequence[Tagged], test: Sequence[Tagged]) -> None:
        tags: dict[str, set[str]] = defaultdict(set)
        for sentence in train:
            for word, tag in zip(*sentence):
                tags[word].add(tag)
        words = [word for sentence in test for word in sentence.words]
        self.unseen = np.array([word not in tags for word in words], bool)
        self.ambiguous = np.array([len(tags.get(word, ())) > 1 for word in words], bool)


def scored(right: NDArray[np.bool_], judge: Judge) -> dict[str, Any]:
    """The share of right answers in percent, of all words, of the unseen, and of the ambiguous."""
    parts = {"all": np.ones(len(right), bool), "unseen": judge.unseen, "ambiguous": judge.ambiguous}
    return {name: round(100 * float(right[part].mean()), 2) if part.any() else None for name, part in parts.items()}


def most_frequent(train: Sequence[Tagged], test: Sequence[Tagged]) -> NDArray[np.bool_]:
    """Which test words the baseline gets right: the commonest tag of the word, or of all words for one never seen.

    >>> train = [Tagged(("a", "play"), ("DET", "NOUN")), Tagged(("we", "play"), ("PRON", "NOUN"))]
    >>> most_frequent(train, [Tagged(("a", "cup", "play"), ("DET", "NOUN", "VERB"))]).tolist()
    [True, True, False]
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    total: Counter[str] = Counter()
    for sentence in train:
        total.update(sentence.tags)
        for word, tag in zip(*sentence):
            counts[word][tag] += 1
    [(usual, _)] = islice(total.most_common(1), 1)
    best = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return np.array([best.get(word, usual) == tag for one in test for word, tag in zip(*one)], bool)
