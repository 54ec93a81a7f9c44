"""Words in context: WiC, SCWS and CoSimLex, each layer of a biLM against static vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from firth.evaluate.statistics import spearman
from firth.options import option
from firth.probes import contexts as probe
from firth.probes.readers import LayerReader, strip_folders
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable
from firth.studies.probing.study import BAG_TEXT, STATIC, ProbeStudy, compare_with_bag, format_times, score_rows
from firth.studies.results import data_file

FOLDER = "data/intrinsic/context"
MEASURES = {
    "wic": "WiC, accuracy",
    "scws": "SCWS, Spearman",
    "scws known": "SCWS, known pairs",
    "change": "CoSimLex, change",
    "rating": "CoSimLex, rating",
}


@dataclass(frozen=True)
class Contexts(ProbeStudy):
    """Words in context: WiC, SCWS and CoSimLex, biLM layers against static vectors."""

    name: ClassVar[str] = "contexts"
    title: ClassVar[str] = "Words judged in context"
    quick: ClassVar[dict[str, Any]] = {"pairs": 150}

    static: str = option("glove-en+word2vec-en+fasttext-en+svd-en", STATIC)
    context: Literal["sentence", "whole"] = option(
        "sentence", "Read only the sentence of the word, or the whole text as one sentence."
    )
    pairs: int | None = option(None, "Use only the first pairs of each set; default: all pairs.", minimum=2)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Evaluates every model on the three sets."""
        sets = self.read_sets()
        options = {"context": self.context, "pairs": self.pairs}
        score = partial(score_reader, sets=sets, report=report)
        results, seconds = self.evaluate(work, runtime, options, score)
        scores = {name: measures for result in results for name, measures in result["scores"].items()}
        return self.summarize(scores, seconds, {name: len(pairs) for name, pairs in sets.items()})

    def read_sets(self) -> dict[str, list[Any]]:
        """The pairs of the three sets."""
        whole = self.context == "whole"
        sets: dict[str, list[Any]] = {**read_wic_parts(self.pairs)}
        sets["scws"] = probe.read_scws(data_file(f"{FOLDER}/scws.txt"), whole=whole)[: self.pairs]
        sets["cosimlex"] = probe.read_cosimlex(data_file(f"{FOLDER}/cosimlex-en.csv"), whole=whole)[: self.pairs]
        return sets

    def summarize(self, scores: Any, seconds: dict[str, float], sizes: dict[str, int]) -> Findings:
        """The page of the scores of all models."""
        table = ResultTable(
            "Words in context",
            ("vectors", *MEASURES.values(), "SCWS pairs known"),
            score_rows(scores, (*MEASURES, "known")),
            f"WiC: {sizes['wic dev']:,} pairs of the dev part, threshold from {sizes['wic train']:,} training pairs; "
            f"half of the answers are yes, so chance is 50. SCWS: {sizes['scws']:,} pairs. CoSimLex: "
            f"{sizes['cosimlex']:,} pairs, each in two texts. All times 100.",
        )
        series = {name: [one[measure] for measure in MEASURES] for name, one in scores.items()}
        chart = BarChart(self.title, "accuracy or correlation × 100", tuple(MEASURES.values()), series)
        values = {"options": strip_folders(self.as_dict()), "scores": scores, "seconds": seconds, "pairs": sizes}
        compared = {title: {name: one[key] for name, one in scores.items()} for key, title in MEASURES.items()}
        about = f"{compare_with_bag(compared)}\n\n{self.describe(seconds)}"
        return self.findings(about, (table,), {"sets": chart}, values)

    def describe(self, seconds: dict[str, float]) -> str:
        """The text of the page."""
        read = "its own sentence" if self.context == "sentence" else "the whole text, as if it were one sentence"
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
            f"missing words alone. {BAG_TEXT} Nothing is trained but the threshold. The paper has none of these "
            "sets.\n\n"
            f"Models: {self.models}. {format_times(seconds)}"
        )


def read_wic_parts(pairs: int | None = None) -> dict[str, list[probe.ContextPair]]:
    """The training and the dev part of WiC, or the first pairs of each."""
    parts = {}
    for part in ("train", "dev"):
        files = [data_file(f"{FOLDER}/wic/{part}/{part}.{kind}.txt") for kind in ("data", "gold")]
        parts[f"wic {part}"] = probe.read_wic(*files)[:pairs]
    return parts


def score_reader(reader: LayerReader, sets: dict[str, list[Any]], report: Report) -> dict[str, Any]:
    """The measures of one model, by layer."""
    train, dev, scws = sets["wic train"], sets["wic dev"], sets["scws"]
    first, second = ([pair[text] for pair in sets["cosimlex"]] for text in (0, 1))
    cosines = [probe.cosines(reader, pairs, report) for pairs in (train, dev, scws, first, second)]
    golds = [probe.gold_ratings(pairs) for pairs in (train, dev, scws, first, second)]
    scores = {}
    for row, name in enumerate(reader.names):
        tuning, testing, alike, before, after = (one[row] for one in cosines)
        threshold = probe.best_threshold(tuning, golds[0])
        ratings = np.concatenate([before, after]), np.concatenate(golds[3:])
        measures = {
            "wic": probe.accuracy(testing, golds[1], threshold),
            "scws": spearman(alike, golds[2]),
            "scws known": spearman(alike[alike != 0], golds[2][alike != 0]),
            "change": probe.uncentered_correlation(after - before, golds[4] - golds[3]),
            "rating": probe.harmonic_correlation(*ratings),
        }
        scores[name] = {key: None if one is None else round(100 * one, 2) for key, one in measures.items()}
        scores[name] |= {"threshold": threshold, "known": int((alike != 0).sum())}
    return {"scores": scores}
