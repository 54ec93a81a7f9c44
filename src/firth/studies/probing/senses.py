"""Word senses by the nearest neighbor, layer by layer: Table 5 of the ELMo paper."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from firth.options import option
from firth.probes import wordnet as words
from firth.probes.readers import LayerReader, model_names, open_readers, read_places, strip_folders
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
from firth.probes.wordnet import WordNet, lexeme_of
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable
from firth.studies.probing.study import evaluate_models
from firth.studies.results import data_file
from firth.studies.study import Study

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
class Senses(Study):
    """Word senses by the nearest neighbor, layer by layer: Table 5."""

    name: ClassVar[str] = "senses"
    title: ClassVar[str] = "Word senses by the nearest neighbor"
    quick: ClassVar[dict[str, Any]] = {"sentences": 1000}

    elmo: str = option("elmo-en", "a biLM: a name that ships, or a folder; none: without")
    static: str = option("glove-en", "word vectors; several as one+another; none: without")
    cove: str | None = option(None, "a seq2seq model whose encoder is judged, too")
    wordnet: str = option("auto", "the folder of WordNet's index.sense; auto: FIRTH_WORDNET or Debian's; none: without")
    sentences: int | None = option(None, "so many sentences of SemCor, the first; all if not given", minimum=1)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Reads SemCor and the evaluation framework with every model."""
        tests = read_framework(data_file(FRAMEWORK))
        marks = [mark for sentence in tests for mark in sentence.marks]
        lexemes = [mark.lexeme for mark in marks]
        wordnet = words.find_wordnet(self.wordnet)
        counts = count_senses(read_semcor(data_file(SEMCOR), self.sentences), lexemes_of(tests))
        frequent = most_frequent_senses(lexemes, counts)
        first: Answers = [None] * len(marks) if wordnet is None else first_senses(lexemes, wordnet)
        ambiguous = {name for name, keys in senses_per_lexeme(counts).items() if keys > 1}
        scores: dict[str, Any] = {}
        if wordnet is not None:
            scores[FIRST] = score_groups(first, marks, ambiguous)
        scores[FREQUENT] = score_groups(fill_missing(frequent, first), marks, ambiguous)
        seconds: dict[str, float] = {}
        options = {"sentences": self.sentences, "wordnet": wordnet is not None}

        def answer(reader: LayerReader) -> Any:
            return self.answered(reader, tests, counts, wordnet, first, ambiguous, report)

        for model, _, result in evaluate_models(work, self.name, self.readers(runtime), options, answer):
            scores |= result["scores"]
            seconds[model] = result["seconds"]
        return self.findings(scores, seconds, marks, counts)

    def readers(self, runtime: Runtime) -> Any:
        """The models that are judged."""
        return open_readers(runtime, elmo=self.elmo, static=self.static, cove=self.cove)

    def answered(
        self,
        reader: LayerReader,
        tests: Sequence[AnnotatedSentence],
        counts: dict[str, int],
        wordnet: WordNet | None,
        first: Answers,
        ambiguous: set[words.Lexeme],
        report: Report,
    ) -> dict[str, Any]:
        """The scores of one model by the names of its layers, and how long it took."""
        began = time.monotonic()
        means = SenseMeans.read(reader, read_semcor(data_file(SEMCOR), self.sentences), counts, wordnet, report)
        marks = [mark for sentence in tests for mark in sentence.marks]
        places = [sentence.place(mark) for sentence in tests for mark in sentence.marks]
        vectors = read_places(reader, places, report, "reading test words")
        answers = means.nearest(vectors, [mark.lexeme for mark in marks])
        scores = {
            name: score_groups(fill_missing(said, first), marks, ambiguous) for name, said in zip(reader.names, answers)
        }
        return {"scores": scores, "seconds": round(time.monotonic() - began, 1)}

    def findings(
        self,
        scores: dict[str, Any],
        seconds: dict[str, float],
        marks: Sequence[Annotation],
        counts: dict[str, int],
    ) -> Findings:
        """The tables and the chart."""
        sizes = {name: len(mine) for name, mine in group_rows(marks).items()}
        columns = (*SETS, FOUR, "all five")
        by_set = ResultTable(
            "F1 by set",
            ("method", *columns, "ambiguous"),
            tuple((name, *(one[column] for column in columns), one["ambiguous"]) for name, one in scores.items()),
            f"Instances: {', '.join(f'{name} {sizes[name]:,}' for name in columns)}. Ambiguous: those of the four sets "
            "whose lemma has more than one sense in the part of SemCor that was read; all others have no choice.",
        )
        by_tag = ResultTable(
            "F1 by part of speech, four sets",
            ("method", *TAGS),
            tuple((name, *(one[tag] for tag in TAGS)) for name, one in scores.items()),
            f"Instances: {', '.join(f'{tag} {sizes[tag]:,}' for tag in TAGS)}.",
        )
        names = list(dict.fromkeys([*PAPER, *scores]))
        beside = ResultTable(
            "Beside the paper",
            ("method", "here, four sets", "paper, Table 5"),
            tuple((name, scores[name][FOUR] if name in scores else None, PAPER.get(name)) for name in names),
        )
        chart = BarChart(
            self.title, "F1 in %", columns, {name: [one[column] for column in columns] for name, one in scores.items()}
        )
        values = {
            "options": strip_folders(self.as_dict()),
            "scores": scores,
            "paper": PAPER,
            "seconds": seconds,
            "instances": sizes,
        }
        about = self.told(seconds, sum(counts.values()), len(counts))
        return Findings(self.name, self.title, about, (beside, by_set, by_tag), {"sets": chart}, values)

    def told(self, seconds: dict[str, float], tagged: int, senses: int) -> str:
        """What was run, in words."""
        text = (
            "all of SemCor 3.0" if self.sentences is None else f"the first {self.sentences:,} sentences of SemCor 3.0"
        )
        times = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
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
            "static vectors have no context: what they tell apart are the inflected forms of a lemma.\n\n"
            f"Models: {model_names(self.elmo, self.static, self.cove)}. Time: {times}; "
            f"{sum(seconds.values()):.0f} s in all. The paper's biLM was trained on a billion words."
        )


def score_groups(answers: Answers, marks: Sequence[Annotation], ambiguous: set[words.Lexeme]) -> dict[str, float]:
    """F1 in percent for each set, the four together, all five, and each part of speech."""
    scores = {}
    for name, mine in group_rows(marks, ambiguous).items():
        scores[name] = round(score_answers([answers[row] for row in mine], [marks[row] for row in mine]).value, 2)
    return scores


def group_rows(marks: Sequence[Annotation], ambiguous: set[words.Lexeme] | None = None) -> dict[str, list[int]]:
    """The rows of instances by the groups that are judged together."""
    sets = [mark.id.partition(".")[0] for mark in marks]
    four = [row for row, name in enumerate(sets) if name != DEVELOPMENT]
    found = {name: [row for row, mine in enumerate(sets) if mine == name] for name in SETS}
    found |= {FOUR: four, "all five": list(range(len(marks)))}
    found["ambiguous"] = [row for row in four if marks[row].lexeme in (ambiguous or ())]
    return found | {tag: [row for row in four if marks[row].pos == tag] for tag in TAGS}


def senses_per_lexeme(counts: dict[str, int]) -> dict[words.Lexeme, int]:
    """How many senses of each lexeme were seen.

    >>> senses_per_lexeme({"tea%1:13:00::": 4, "tea%1:13:01::": 2})
    {Lexeme(lemma='tea', pos='NOUN'): 2}
    """
    found: dict[words.Lexeme, int] = {}
    for key in counts:
        found[lexeme_of(key)] = found.get(lexeme_of(key), 0) + 1
    return found
