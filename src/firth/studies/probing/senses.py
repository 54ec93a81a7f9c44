"""Word senses by the nearest neighbor, layer by layer: Table 5 of the ELMo paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from firth.options import option
from firth.probes.readers import LayerReader, read_spans, strip_folders
from firth.probes.sense_files import (
    DEVELOPMENT,
    FRAMEWORK,
    SEMCOR,
    SETS,
    AnnotatedSentence,
    Annotation,
    count_senses,
    lexemes_of,
    read_framework,
    read_semcor,
)
from firth.probes.senses import SenseMeans, fill_missing, first_senses, most_frequent_senses, score_answers
from firth.probes.separation import read_sense_table, separate_layers, summarize_separations
from firth.probes.wordnet import Lexeme, WordNet, find_wordnet, lexeme_of
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable
from firth.studies.probing.study import (
    BAG_TEXT,
    ProbeStudy,
    compare_with_bag,
    compare_with_paper,
    format_times,
    score_rows,
)
from firth.studies.results import data_file

FIRST, FREQUENT, FOUR = "WordNet first sense", "most frequent in SemCor", "four sets"
TAGS = "NOUN", "VERB", "ADJ", "ADV"
PAPER = {
    FIRST: 65.9,
    "Raganato et al. 2017": 69.9,
    "Iacobacci et al. 2016": 70.1,
    "CoVe layer 1": 59.4,
    "CoVe layer 2": 64.7,
    "biLM layer 1": 67.4,
    "biLM layer 2": 69.0,
}
Answers = Sequence[str | None]


@dataclass(frozen=True)
class Senses(ProbeStudy):
    """Word senses by the nearest neighbor, layer by layer: Table 5."""

    name: ClassVar[str] = "senses"
    title: ClassVar[str] = "Word senses by the nearest neighbour"
    quick: ClassVar[dict[str, Any]] = {"sentences": 1000}

    wordnet: str = option(
        "auto", "The folder of WordNet's index.sense; 'auto': FIRTH_WORDNET or Debian's folder; 'none': no WordNet."
    )
    sentences: int | None = option(None, "Read only the first sentences of SemCor; default: all sentences.", minimum=1)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Computes sense vectors from SemCor with every model and tests them on the evaluation framework."""
        tests = SenseTests.read(self.wordnet, self.sentences)
        scores = tests.score_baselines()

        def score_reader(reader: LayerReader) -> dict[str, Any]:
            return {"scores": tests.score_reader(reader, report), "separation": measure_separation(reader)}

        options = {"sentences": self.sentences, "wordnet": tests.wordnet is not None}
        results, seconds = self.evaluate(work, runtime, options, score_reader)
        separation: dict[str, Any] = {}
        for result in results:
            scores |= result["scores"]
            separation |= result["separation"]
        return self.summarize(scores, separation, seconds, tests.annotations, tests.counts)

    def summarize(
        self,
        scores: dict[str, Any],
        separation: dict[str, Any],
        seconds: dict[str, float],
        annotations: Sequence[Annotation],
        counts: dict[str, int],
    ) -> Findings:
        """The page of the scores of all models."""
        sizes = {name: len(mine) for name, mine in group_rows(annotations).items()}
        columns = (*SETS, FOUR, "all five")
        here = {name: one[FOUR] for name, one in scores.items()}
        beside = compare_with_paper(("here, four sets", "paper, Table 5"), here, PAPER)
        by_set = ResultTable(
            "F1 by set",
            ("method", *columns, "ambiguous"),
            score_rows(scores, (*columns, "ambiguous")),
            f"Instances: {', '.join(f'{name} {sizes[name]:,}' for name in columns)}. Ambiguous: those of the four sets "
            "whose lemma has more than one sense in the part of SemCor that was read; all others have no choice.",
        )
        by_tag = ResultTable(
            "F1 by part of speech, four sets",
            ("method", *TAGS),
            score_rows(scores, TAGS),
            f"Instances: {', '.join(f'{tag} {sizes[tag]:,}' for tag in TAGS)}.",
        )
        series = {name: [one[column] for column in columns] for name, one in scores.items()}
        chart = BarChart(self.title, "F1 in %", columns, series)
        values = {
            "options": strip_folders(self.as_dict()),
            "scores": scores,
            "separation": separation,
            "paper": PAPER,
            "seconds": seconds,
            "instances": sizes,
        }
        test = ResultTable(
            "The sense test: 35 words with two senses each",
            ("vectors", "words that pass", "nearest occurrence of the same sense %"),
            score_rows(separation, ("passed", "nearest")),
            "Four sentences per sense. A word passes if its occurrences in one sense are more similar than those in "
            "different senses; by chance half of them do. Chance of the last column: 43 %.",
        )
        compared = {
            "Ambiguous words": {name: one["ambiguous"] for name, one in scores.items()},
            "Nearest occurrence in the sense test": {name: one["nearest"] for name, one in separation.items()},
        }
        about = f"{compare_with_bag(compared)}\n\n{self.describe(seconds, sum(counts.values()), len(counts))}"
        return self.findings(about, (beside, by_set, by_tag, test), {"sets": chart}, values)

    def describe(self, seconds: dict[str, float], tagged: int, senses: int) -> str:
        """The text of the page."""
        text = (
            "all of SemCor 3.0" if self.sentences is None else f"the first {self.sentences:,} sentences of SemCor 3.0"
        )
        return (
            f"The vector of a sense is the mean of the vectors of its occurrences in {text} ({tagged:,} occurrences of "
            f"{senses:,} senses of the lemmas that are asked about). A word gets the sense whose vector is nearest to "
            "its own (cosine) among the senses seen of its lemma and part of speech, and WordNet's first sense where "
            "none was seen. A word of several parts is the mean of them. Nothing is trained.\n\n"
            "Test sets: the evaluation framework of Raganato et al. (2017). The four sets are senseval2, senseval3, "
            f"semeval2013 and semeval2015, taken together; {DEVELOPMENT} is what the literature tunes on and is told "
            "apart. They are the ELMo paper's four: only over these has WordNet's first sense its 65.9; over all five "
            "it has 65.2, as Raganato et al. say. Each answer that is one of the gold senses is right; where every "
            "instance is answered, F1 is accuracy.\n\n"
            "Names that SemCor tags as person, group or location are left out, as in the framework's own copy. The "
            f"static vectors have no context: what they tell apart are the inflected forms of a lemma. {BAG_TEXT}\n\n"
            f"Models: {self.models}. {format_times(seconds)} The paper's biLM was trained on a billion words."
        )


@dataclass(frozen=True)
class SenseTests:
    """The test instances, the senses of their lemmas in SemCor with their counts, and WordNet."""

    tests: Sequence[AnnotatedSentence]
    counts: dict[str, int]
    wordnet: WordNet | None
    sentences: int | None

    @classmethod
    def read(cls, wordnet: str, sentences: int | None) -> SenseTests:
        """The tests of the evaluation framework, with the first sentences of SemCor."""
        tests = read_framework(data_file(FRAMEWORK))
        counts = count_senses(read_semcor(data_file(SEMCOR), sentences), lexemes_of(tests))
        return cls(tests, counts, find_wordnet(wordnet), sentences)

    @cached_property
    def annotations(self) -> list[Annotation]:
        """All test instances."""
        return [annotation for sentence in self.tests for annotation in sentence.annotations]

    @cached_property
    def lexemes(self) -> list[Lexeme]:
        """The lexemes of the test instances."""
        return [annotation.lexeme for annotation in self.annotations]

    @cached_property
    def first(self) -> Answers:
        """WordNet's first sense of each instance; None without WordNet."""
        if self.wordnet is None:
            return [None] * len(self.annotations)
        return first_senses(self.lexemes, self.wordnet)

    @cached_property
    def ambiguous(self) -> set[Lexeme]:
        """The lexemes with more than one sense in SemCor."""
        return {lexeme for lexeme, senses in senses_per_lexeme(self.counts).items() if senses > 1}

    def score(self, answers: Answers) -> dict[str, float]:
        """The scores of answers by group; an instance without an answer gets the first sense."""
        return score_groups(fill_missing(answers, self.first), self.annotations, self.ambiguous)

    def score_baselines(self) -> dict[str, dict[str, float]]:
        """The scores of WordNet's first sense, if there is WordNet, and of the most frequent sense in SemCor."""
        first = {} if self.wordnet is None else {FIRST: self.score(self.first)}
        return first | {FREQUENT: self.score(most_frequent_senses(self.lexemes, self.counts))}

    def score_reader(self, reader: LayerReader, report: Report = silent) -> dict[str, dict[str, float]]:
        """The scores of each layer of a model."""
        semcor = read_semcor(data_file(SEMCOR), self.sentences)
        means = SenseMeans.read(reader, semcor, self.counts, self.wordnet, report)
        spans = [sentence.span(annotation) for sentence in self.tests for annotation in sentence.annotations]
        answers = means.nearest(read_spans(reader, spans, report, "reading test words"), self.lexemes)
        return {name: self.score(one) for name, one in zip(reader.names, answers)}


def measure_separation(reader: LayerReader) -> dict[str, dict[str, float]]:
    """How many words of the sense test pass, and the share of nearest occurrences of the same sense, by layer."""
    found = {}
    for name, separations in separate_layers(reader, read_sense_table()).items():
        total = summarize_separations(separations)
        found[name] = {"passed": total["passed"], "nearest": round(100 * total["nearest"], 1)}
    return found


def score_groups(
    answers: Answers, annotations: Sequence[Annotation], ambiguous: Collection[Lexeme]
) -> dict[str, float]:
    """F1 in percent for each set, four sets together, all five, ambiguous words, and each part of speech."""
    scores = {}
    for name, rows in group_rows(annotations, ambiguous).items():
        result = score_answers([answers[row] for row in rows], [annotations[row] for row in rows])
        scores[name] = round(result.value, 2)
    return scores


def group_rows(annotations: Sequence[Annotation], ambiguous: Collection[Lexeme] = ()) -> dict[str, list[int]]:
    """The rows of the test instances in each group that is scored."""
    sets = [annotation.id.partition(".")[0] for annotation in annotations]
    four = [row for row, name in enumerate(sets) if name != DEVELOPMENT]
    groups = {name: [row for row, other in enumerate(sets) if other == name] for name in SETS}
    groups |= {FOUR: four, "all five": list(range(len(annotations)))}
    groups["ambiguous"] = [row for row in four if annotations[row].lexeme in ambiguous]
    return groups | {tag: [row for row in four if annotations[row].pos == tag] for tag in TAGS}


def senses_per_lexeme(counts: Iterable[str]) -> Counter[Lexeme]:
    """The number of senses of each lexeme.

    >>> senses_per_lexeme({"tea%1:13:00::": 4, "tea%1:13:01::": 2})
    Counter({Lexeme(lemma='tea', pos='NOUN'): 2})
    """
    return Counter(map(lexeme_of, counts))
