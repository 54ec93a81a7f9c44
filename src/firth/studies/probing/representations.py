"""How a biLM represents a context best: layers, combinations and the bag of context on three tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from firth.options import option, redefine
from firth.probes import contexts as probe
from firth.probes.bag import BAG, BagReader
from firth.probes.readers import MEAN, LayerReader, is_named, load_vectors, open_bilm, strip_folders
from firth.probes.representations import RepresentationReader
from firth.probes.sense_files import SEMCOR, read_semcor
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable
from firth.studies.probing.contexts import read_wic_parts
from firth.studies.probing.senses import FOUR, SenseTests, measure_separation
from firth.studies.probing.study import (
    BAG_TEXT,
    ProbeStudy,
    compare_with_bag,
    evaluate_models,
    score_rows,
)
from firth.studies.results import data_file

SHOWN = "nearest", "ambiguous", "wic"  # in the chart and in the comparison with the bag
NOT_IN_CHART = "mean", "layers", "centered", "whitened", "states 1", " + ", "substitutes, "  # rows of the table alone
LAYERS = (*(f"biLM layer {layer}" for layer in range(9)), MEAN)
SAMPLE, EVERY = 3000, 12  # sentences of SemCor for means and whitening, and the distance between them
COLUMNS = {
    "passed": "sense test, words of 35",
    "nearest": "sense test, nearest %",
    "four": "WSD, four sets",
    "ambiguous": "WSD, ambiguous",
    "wic": "WiC",
}


@dataclass(frozen=True)
class Representations(ProbeStudy):
    """Which combination of biLM layers represents a context best, against the bag of context."""

    name: ClassVar[str] = "representations"
    title: ClassVar[str] = "Representations of a word in context"
    quick: ClassVar[dict[str, Any]] = {"sentences": 1000, "pairs": 150}

    static: str = redefine(ProbeStudy, "static", "word2vec-en+glove-en")
    wordnet: str = option(
        "auto", "The folder of WordNet's index.sense; 'auto': FIRTH_WORDNET or Debian's folder; 'none': no WordNet."
    )
    sentences: int | None = option(None, "Read only the first sentences of SemCor; default: all sentences.", minimum=1)
    pairs: int | None = option(None, "Use only the first pairs of WiC; default: all pairs.", minimum=2)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Evaluates every representation on the sense test, on word senses and on WiC."""
        tests, wic = SenseTests.read(self.wordnet, self.sentences), read_wic_parts(self.pairs)

        def score(reader: LayerReader) -> dict[str, dict[str, Any]]:
            senses, separation = tests.score_reader(reader, report), measure_separation(reader)
            pairs = score_wic(reader, *wic.values())
            return {
                name: {**separation[name], "four": senses[name][FOUR], "ambiguous": senses[name]["ambiguous"]}
                | {"wic": pairs[name]}
                for name in reader.names
            }

        options = {name: getattr(self, name) for name in ("sentences", "pairs", "precision")}
        options["wordnet"] = tests.wordnet is not None
        scores: dict[str, dict[str, Any]] = {
            name: dict.fromkeys(COLUMNS) | {"four": one[FOUR], "ambiguous": one["ambiguous"]}
            for name, one in tests.score_baselines().items()
        }
        for _, _, result in evaluate_models(work, self.name, self.readers(runtime), options, score):
            scores |= result
        return self.summarize(scores)

    def readers(self, runtime: Runtime) -> Iterator[tuple[str, LayerReader]]:
        """The representations of the biLM, with each bag beside its neighbor states, and the bags."""
        sample = [one.words for one in islice(read_semcor(data_file(SEMCOR)), 0, SAMPLE * EVERY, EVERY)]
        names = self.static.split("+") if is_named(self.static) else []
        bags = [BagReader(Path(name).name, load_vectors(name), runtime.place) for name in names]
        if is_named(self.elmo):
            bilm = open_bilm(self.elmo, runtime).bilm
            yield self.elmo, RepresentationReader(bilm, sample, bags, self.precision)
        yield from zip(names, bags)

    def summarize(self, scores: dict[str, dict[str, Any]]) -> Findings:
        """The page of the scores of all representations."""
        table = ResultTable("Three tests", ("representation", *COLUMNS.values()), score_rows(scores, COLUMNS))
        alone = {name: one for name, one in scores.items() if not (name.startswith("biLM") and name.endswith(BAG))}
        layers = {name: one for name, one in alone.items() if name in LAYERS or name.endswith(BAG)}
        compared = {
            f"{COLUMNS[key]}, {which}": {name: one[key] for name, one in rows.items()}
            for which, rows in (("layers", layers), ("all representations", alone))
            for key in SHOWN
        }
        series = {
            name: [one[key] for key in SHOWN]
            for name, one in scores.items()
            if one["wic"] is not None and not any(word in name for word in NOT_IN_CHART)
        }
        charts = {"tests": BarChart(self.title, "%", tuple(COLUMNS[key] for key in SHOWN), series)}
        values = {"options": strip_folders(self.as_dict()), "scores": scores}
        return self.findings(f"{compare_with_bag(compared)}\n\n{self.describe()}", [table], charts, values)

    def describe(self) -> str:
        """The text of the page."""
        return (
            "Nothing is trained here but the threshold of WiC, which is the best one of the training part; the score "
            "is the accuracy on the dev part. The sense test and word sense disambiguation (WSD) are those of the "
            "study senses.\n\n"
            f"{BAG_TEXT}\n\n"
            "Neighbor states are the forward state of the previous word and the backward state of the next word: what "
            "the biLM knows about the place without the word itself. Substitutes are the mean output vector of the "
            "words that the softmax predicts there from both sides, by their probabilities; output vectors are the "
            "rows of the softmax, whitened with the frequencies of the words. The bag of the biLM is the "
            "mean of its whitened top layer over the other words, with the weights of the bag of context. Means "
            f"and whitening of layers are those of {SAMPLE:,} sentences of SemCor, whose annotations are not used. "
            '`A + B` are two vectors of length 1 beside each other. Context is `layers="context"` of `BiLM.embed`: '
            "the substitutes, beside the mean output vector of the other words, which is longer by √2. That factor, "
            "and the whitening by frequencies, were chosen on the training part of WiC; the sense test was looked at "
            f"as well.\n\nModels: {self.models}."
        )


def score_wic(reader: LayerReader, train: list[probe.ContextPair], dev: list[probe.ContextPair]) -> dict[str, float]:
    """The accuracy on the dev part of WiC in percent, with the best threshold of the training part, by layer."""
    tuning, testing = probe.cosines(reader, train), probe.cosines(reader, dev)
    gold, dev_gold = probe.gold_ratings(train), probe.gold_ratings(dev)
    thresholds = [probe.best_threshold(one, gold) for one in tuning]
    return {
        name: round(100 * probe.accuracy(one, dev_gold, threshold), 2)
        for name, one, threshold in zip(reader.names, testing, thresholds)
    }
