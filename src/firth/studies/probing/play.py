"""The nearest neighbors of "play", without and with context: Table 4 of the ELMo paper, and a count."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from firth.errors import OptionError
from firth.files import read_lines
from firth.options import option
from firth.probes.ambiguous import (
    Group,
    Kind,
    Use,
    count_labels,
    find_uses,
    group_and_label,
    most_ambiguous,
    sample_uses,
)
from firth.probes.nearest import neighbors, shares
from firth.probes.readers import LayerReader, Place, StaticReader, model_names, open_readers, read_places, strip_folders
from firth.probes.sense_files import SEMCOR, AnnotatedSentence, read_semcor
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Cell, Findings, ResultTable
from firth.studies.probing.study import evaluate_models
from firth.studies.results import TEXT, data_file
from firth.studies.study import Study
from firth.text.tokenize import Tokenizer
from firth.vectors.occurrences import find_marked_word

KINDS: tuple[Kind, ...] = "pos", "sense"
AROUND = 14  # words that are shown on each side
PLAY = (
    "The shortstop dived to his left and made the [play] of the night .",
    "After two years in television she was offered the lead in a Broadway [play] .",
    "On Sundays the children [play] in the yard until it gets dark .",
    "He learnt to [play] the violin before he could read .",
    "Schools [play] an important part in the life of the village .",
)


@dataclass(frozen=True)
class Play(Study):
    """The nearest neighbors of a word, without its context and in it: Table 4."""

    name: ClassVar[str] = "play"
    title: ClassVar[str] = "Nearest neighbors of a word, without and with context"
    quick: ClassVar[dict[str, Any]] = {"words": 4, "uses": 30, "lines": 10_000, "sentences": 15_000}

    elmo: str = option("elmo-en", "a biLM: a name that ships, or a folder; none: without")
    static: str = option("glove-en+word2vec-en", "word vectors; several as one+another; none: without")
    word: str = option("play", "the word whose neighbors are shown, as it is written")
    sources: tuple[str, ...] = option((), "sentences in which the word stands in [brackets]; play has some of ours")
    neighbours: int = option(3, "neighbors that are shown of each", minimum=1)
    lines: int = option(200_000, "lines of English text that are searched for the word beside SemCor", minimum=0)
    words: int = option(50, "ambiguous words of SemCor that are counted", minimum=1)
    uses: int = option(200, "occurrences of each that are looked at, at most", minimum=2)
    sentences: int | None = option(None, "so many sentences of SemCor, the first; all if not given", minimum=1)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Finds the neighbors of the word, and counts those of many words."""
        began = time.monotonic()
        sources = self.marked()
        found = [*self.in_semcor(), *self.in_text(report)]
        groups = {kind: self.groups(kind) for kind in KINDS}
        tables: list[ResultTable] = []
        counts: dict[str, Any] = {}
        options = {name: getattr(self, name) for name in ("words", "uses", "sentences")}

        def judge(reader: LayerReader) -> Any:
            return {kind: measure_shares(reader, kind, groups[kind], report) for kind in KINDS}

        readers = open_readers(runtime, elmo=self.elmo, static=self.static)
        for _, reader, result in evaluate_models(work, self.name, readers, options, judge):
            if isinstance(reader, StaticReader):
                tables.insert(0, self.similar(reader))
            else:
                tables += self.shown(reader, sources, found, report)
            counts |= {name: {kind: result[kind][name] for kind in KINDS} for name in reader.names}
        return self.findings(tables, counts, groups, len(found), time.monotonic() - began)

    def marked(self) -> list[Place]:
        """The sentences to ask with."""
        given = self.sources or (PLAY if self.word == "play" else ())
        if not given:
            raise OptionError(f"no sentence is known for {self.word!r}. Give some: sources='She [{self.word}] it .'")
        found = []
        for text in given:
            words, place = find_marked_word(text, Tokenizer(mode="whitespace"))
            found.append(Place(words, place, place + 1))
        return found

    def semcor(self) -> Iterator[AnnotatedSentence]:
        """The part of SemCor that is read."""
        return read_semcor(data_file(SEMCOR), self.sentences)

    def in_semcor(self) -> list[Use]:
        """The occurrences of the word in SemCor."""
        return [use for use in find_uses(self.semcor()) if use.word == self.word]

    def in_text(self, report: Report) -> Iterator[Use]:
        """The occurrences of the word in English text, the first of each line."""
        if not self.lines:
            return
        for number, line in read_lines(data_file(TEXT)):
            if number > self.lines:
                return
            if number % 50_000 == 0:
                report(Progress("searching text", number, self.lines, "lines"))
            words = line.split() if self.word in line else []
            if self.word in words:
                place = words.index(self.word)
                yield Use(Place(words, place, place + 1), "", "", f"line {number}")

    def groups(self, kind: Kind) -> dict[Group, list[Use]]:
        """The occurrences of the most ambiguous words."""
        counts = count_labels(find_uses(self.semcor()), kind)
        sizes = {group: counts[group].total() for group in most_ambiguous(counts, self.words)}
        return sample_uses(find_uses(self.semcor()), kind, sizes, self.uses)

    def similar(self, reader: StaticReader) -> ResultTable:
        """The neighbors of the word itself."""
        vectors = reader.words.file.vectors
        near = vectors.most_similar(self.word, topn=10) if self.word in vectors else []
        rows = tuple((word, round(float(cosine), 3)) for word, cosine in near)
        return ResultTable(f"{reader.names[0]}: nearest to {self.word!r}", ("word", "cosine"), rows)

    def shown(
        self, reader: LayerReader, sources: Sequence[Place], found: Sequence[Use], report: Report
    ) -> list[ResultTable]:
        """The nearest occurrences of the word to each source, a table a layer but for layer 0, which has no context."""
        if not found:
            raise OptionError(f"{self.word!r} does not occur in the text. Name another word, or read more lines")
        vectors = read_places(reader, [use.place for use in found], report, "reading occurrences")
        places, cosines = neighbors(vectors, read_places(reader, sources), self.neighbours)
        tables = []
        for layer in range(1, len(reader.names)):
            rows: list[tuple[Cell, ...]] = []
            for source, mine, scores in zip(sources, places[layer], cosines[layer]):
                for rank, (row, cosine) in enumerate(zip(mine.tolist(), scores.tolist())):
                    use = found[row]
                    told = use.pos or None, use.sense or None
                    rows.append(
                        (format_bold(source) if rank == 0 else "", format_bold(use.place), round(cosine, 3), *told)
                    )
            columns = "source", "nearest occurrences", "cosine", "POS", "sense"
            tables.append(
                ResultTable(f"{reader.names[layer]}: nearest to {self.word!r} in context", columns, tuple(rows))
            )
        return tables

    def findings(self, tables: list[ResultTable], counts: Any, groups: Any, found: int, seconds: float) -> Findings:
        """The tables and the chart."""
        chance = {kind: next(iter(counts.values()))[kind]["chance"] for kind in KINDS} if counts else {}
        rows = [("chance", *(chance.get(kind) for kind in KINDS))]
        rows += [(name, *(one[kind]["same"] for kind in KINDS)) for name, one in counts.items()]
        sizes = {kind: sum(len(mine) for mine in groups[kind].values()) for kind in KINDS}
        note = (
            f"Same part of speech: {sizes['pos']:,} occurrences of {len(groups['pos'])} words, nouns and verbs. "
            f"Same sense: {sizes['sense']:,} occurrences of {len(groups['sense'])} words of one part of speech each "
            "that SemCor has in several senses. Neighbors are occurrences of the same word in other documents; where "
            "several are equally near, each counts for its part."
        )
        columns = "vectors", "same part of speech", "same sense"
        measure = ResultTable("Share of nearest neighbors in %", columns, tuple(rows), note)
        chart = BarChart(
            "Nearest occurrences of ambiguous words",
            "share in %",
            columns[1:],
            {str(row[0]): [value if isinstance(value, float) else None for value in row[1:]] for row in rows},
        )
        values = {
            "options": strip_folders(self.as_dict()),
            "counts": counts,
            "seconds": round(seconds, 1),
            "occurrences": found,
        }
        about = self.told(found, seconds)
        return Findings(
            self.name, self.title, about, (measure, *self.by_word(counts), *tables), {"shares": chart}, values
        )

    def by_word(self, counts: Any) -> Iterator[ResultTable]:
        """A row for each of the words whose senses are counted."""
        names = [name for name in counts if name.startswith("biLM")]
        if not names:
            return
        first = counts[names[0]]["sense"]["words"]
        rows = tuple(
            (word, one["asked"], one["chance"], *(counts[name]["sense"]["words"][word]["same"] for name in names))
            for word, one in first.items()
        )
        yield ResultTable("Same sense, word by word, in %", ("word", "occurrences", "chance", *names), rows)

    def told(self, found: int, seconds: float) -> str:
        """What was run, in words."""
        more = f", and the first {self.lines:,} lines of English text, which has no tags" if self.lines else ""
        return (
            f"Static vectors have one list of neighbors for {self.word!r}, with all its uses in it. A biLM has "
            f"neighbors for each occurrence: of {found:,} sentences with {self.word!r} (SemCor 3.0{more}), those "
            "whose vector of the word is nearest by the cosine. The source sentences are ours.\n\n"
            "A few sentences prove little, so the same is counted over many words: the share of occurrences in SemCor "
            "whose nearest other occurrence, in another document, has the same part of speech (noun or verb), and the "
            f"same sense. The words are the {self.words} whose second most frequent use is the most frequent. Static "
            "vectors, and layer 0, which sees no context, cannot do better than chance here: all occurrences of a word "
            "are one vector. The paper shows two sentences and no count.\n\n"
            f"Models: {model_names(self.elmo, self.static)}. Time: {seconds:.0f} s."
        )


def measure_shares(reader: LayerReader, kind: Kind, groups: dict[Group, list[Use]], report: Report) -> dict[str, Any]:
    """The share of neighbors that are alike, by the names of a reader: of all words together, and of each."""
    found: dict[str, dict[str, Any]] = {name: {} for name in reader.names}
    for number, (group, mine) in enumerate(groups.items(), 1):
        labels = [named[1] for named in (group_and_label(use, kind) for use in mine) if named is not None]
        vectors = read_places(reader, [use.place for use in mine])
        for name, share in zip(reader.names, shares(vectors, labels, [use.document for use in mine])):
            found[name][" ".join(group).strip()] = share
        report(Progress(f"same {kind}", number, len(groups), "words"))
    return {name: sum_shares(each) for name, each in found.items()}


def sum_shares(each: dict[str, Any]) -> dict[str, Any]:
    """Shares of words in percent, and those of all together."""
    asked = max(1, sum(one.asked for one in each.values()))

    def part(value: float, size: int) -> float:
        return round(100 * value / max(1, size), 2)

    return {
        "same": part(sum(one.same for one in each.values()), asked),
        "chance": part(sum(one.chance for one in each.values()), asked),
        "words": {
            word: {"same": part(one.same, one.asked), "chance": part(one.chance, one.asked), "asked": one.asked}
            for word, one in each.items()
        },
    }


def format_bold(place: Place) -> str:
    """A sentence as Markdown with the word in bold, cut to its nearest words.

    >>> format_bold(Place(["to", "play", "*", "ball"], 1, 2))
    'to **play** \\\\* ball'
    """
    begin, end = max(0, place.start - AROUND), min(len(place.words), place.stop + AROUND)
    words = ["".join(f"\\{sign}" if sign in "*_`[]<>" else sign for sign in word) for word in place.words]
    middle = f"**{' '.join(words[place.start : place.stop])}**"
    shown = [*words[begin : place.start], middle, *words[place.stop : end]]
    return " ".join([*(["…"] if begin else []), *shown, *(["…"] if end < len(words) else [])])
