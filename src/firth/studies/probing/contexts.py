"""Words in context: WiC, SCWS and CoSimLex, each layer of a biLM against static vectors."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from firth.evaluate.statistics import spearman
from firth.options import option
from firth.probes import contexts as probe
from firth.probes.readers import LayerReader, model_names, open_readers, strip_folders
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable
from firth.studies.probing.study import evaluate_models
from firth.studies.results import data_file
from firth.studies.study import Study

FOLDER = "data/intrinsic/context"
MEASURES = {
    "wic": "WiC, accuracy",
    "scws": "SCWS, Spearman",
    "scws known": "SCWS, known pairs",
    "change": "CoSimLex, change",
    "rating": "CoSimLex, rating",
}


@dataclass(frozen=True)
class Contexts(Study):
    """Words in context: WiC, SCWS and CoSimLex, biLM layers against static vectors."""

    name: ClassVar[str] = "contexts"
    title: ClassVar[str] = "Words judged in context"
    quick: ClassVar[dict[str, Any]] = {"pairs": 150}

    elmo: str = option("elmo-en", "a biLM: a name that ships, or a folder; none: without")
    static: str = option("glove-en+word2vec-en+fasttext-en+svd-en", "word vectors; several as one+another")
    cove: str | None = option(None, "a seq2seq model whose encoder is judged, too")
    context: Literal["sentence", "whole"] = option("sentence", "read the word's sentence, or the whole text at once")
    pairs: int | None = option(None, "so many pairs of each set, the first; all if not given", minimum=2)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Asks every model about the three sets."""
        sets = self.sets()
        scores: dict[str, Any] = {}
        seconds: dict[str, float] = {}
        options = {"context": self.context, "pairs": self.pairs}
        readers = open_readers(runtime, elmo=self.elmo, static=self.static, cove=self.cove)
        judge = partial(score_reader, sets=sets, report=report)
        for model, _, result in evaluate_models(work, self.name, readers, options, judge):
            scores |= result["scores"]
            seconds[model] = result["seconds"]
        return self.findings(scores, seconds, {name: len(one) for name, one in sets.items()})

    def sets(self) -> dict[str, list[Any]]:
        """The pairs of the three sets."""
        whole = self.context == "whole"
        found: dict[str, list[Any]] = {}
        for part in ("train", "dev"):
            names = [data_file(f"{FOLDER}/wic/{part}/{part}.{kind}.txt") for kind in ("data", "gold")]
            found[f"wic {part}"] = probe.read_wic(*names)[: self.pairs]
        found["scws"] = probe.read_scws(data_file(f"{FOLDER}/scws.txt"), whole=whole)[: self.pairs]
        found["cosimlex"] = probe.read_cosimlex(data_file(f"{FOLDER}/cosimlex-en.csv"), whole=whole)[: self.pairs]
        return found

    def findings(self, scores: Any, seconds: dict[str, float], sizes: dict[str, int]) -> Findings:
        """The table and the chart."""
        table = ResultTable(
            "Words in context",
            ("vectors", *MEASURES.values(), "SCWS pairs known"),
            tuple((name, *(one[measure] for measure in MEASURES), one["known"]) for name, one in scores.items()),
            f"WiC: {sizes['wic dev']:,} pairs of the dev part, threshold from {sizes['wic train']:,} training pairs; "
            f"half of the answers are yes, so chance is 50. SCWS: {sizes['scws']:,} pairs. CoSimLex: "
            f"{sizes['cosimlex']:,} pairs, each in two texts. All times 100.",
        )
        series = {name: [one[measure] for measure in MEASURES] for name, one in scores.items()}
        chart = BarChart(self.title, "accuracy or correlation × 100", tuple(MEASURES.values()), series)
        values = {"options": strip_folders(self.as_dict()), "scores": scores, "seconds": seconds, "pairs": sizes}
        return Findings(self.name, self.title, self.told(seconds), (table,), {"sets": chart}, values)

    def told(self, seconds: dict[str, float]) -> str:
        """What was run, in words."""
        read = "its own sentence" if self.context == "sentence" else "the whole text, as if it were one sentence"
        times = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
        return (
            "How alike two words are is the cosine of their vectors where they stand. WiC asks whether a word means "
            "the same in two sentences: yes where the cosine is above the threshold that is best on the training "
            "pairs. SCWS has two words, each in a text of its own, and the mean of ten ratings: Spearman's "
            "correlation. CoSimLex has two words together in one text and in another: `change` is the uncentered "
            "Pearson correlation of the changes from one text to the other; `rating` is the harmonic mean of Pearson's "
            "and Spearman's correlation of the cosines in all texts with the ratings there.\n\n"
            f"A word is read in {read}. Static vectors look up the form that stands in the text, in small letters "
            "where they know it only so; a word without a vector is like no other (cosine 0), and SCWS is told for "
            "the pairs that have vectors, too. What they score on WiC and on change comes from inflected forms and "
            "missing words alone. Nothing is trained but the threshold. The paper has none of these sets.\n\n"
            f"Models: {model_names(self.elmo, self.static, self.cove)}. Time: {times}; "
            f"{sum(seconds.values()):.0f} s in all."
        )


def score_reader(reader: LayerReader, sets: dict[str, list[Any]], report: Report) -> dict[str, Any]:
    """The measures of one model, by the names of its layers, and how long it took."""
    began = time.monotonic()
    train, dev, scws = sets["wic train"], sets["wic dev"], sets["scws"]
    first, second = ([pair[text] for pair in sets["cosimlex"]] for text in (0, 1))
    found = [probe.cosines(reader, pairs, report) for pairs in (train, dev, scws, first, second)]
    golds = [probe.gold_ratings(pairs) for pairs in (train, dev, scws, first, second)]
    scores = {}
    for row, name in enumerate(reader.names):
        tuned, told, alike, before, after = (one[row] for one in found)
        cut = probe.best_threshold(tuned, golds[0])
        ratings = np.concatenate([before, after]), np.concatenate(golds[3:])
        measures = {
            "wic": probe.accuracy(told, golds[1], cut),
            "scws": spearman(alike, golds[2]),
            "scws known": spearman(alike[alike != 0], golds[2][alike != 0]),
            "change": probe.uncentered_correlation(after - before, golds[4] - golds[3]),
            "rating": probe.harmonic_correlation(*ratings),
        }
        scores[name] = {key: None if one is None else round(100 * one, 2) for key, one in measures.items()}
        scores[name] |= {"threshold": cut, "known": int((alike != 0).sum())}
    return {"scores": scores, "seconds": round(time.monotonic() - began, 1)}
