"""The nearest neighbors of "play", without and with context (Table 4 of the ELMo paper), and shares over many words."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from firth.errors import OptionError
from firth.files import read_lines
from firth.neural.inference.layers_of import Precision
from firth.options import option
from firth.probes.ambiguous import (
    AnnotatedUse,
    Group,
    Kind,
    count_labels,
    find_uses,
    group_and_label,
    most_ambiguous,
    sample_uses,
)
from firth.probes.bag import BAG
from firth.probes.nearest import NeighborShares, neighbor_shares, neighbors
from firth.probes.readers import (
    LayerReader,
    StaticReader,
    WordSpan,
    model_names,
    open_readers,
    read_spans,
    strip_folders,
)
from firth.probes.sense_files import SEMCOR, AnnotatedSentence, read_semcor
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.show.charts import BarChart
from firth.studies.findings import Cell, Findings, ResultTable
from firth.studies.probing.study import (
    BAG_TEXT,
    ELMO,
    PRECISION,
    STATIC,
    compare_with_bag,
    describe_precision,
    evaluate_models,
)
from firth.studies.results import TEXT, data_file
from firth.studies.study import Study
from firth.text.tokenize import Tokenizer
from firth.vectors.occurrences import find_marked_word

KINDS: tuple[Kind, ...] = "pos", "sense"
NO_CONTEXT = "biLM layer 0"
AROUND = 14  # words shown on each side
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
    title: ClassVar[str] = "Nearest neighbours of a word, without and with context"
    quick: ClassVar[dict[str, Any]] = {"words": 4, "uses": 30, "lines": 10_000, "sentences": 15_000}

    elmo: str = option("elmo-en", ELMO)
    static: str = option("glove-en+word2vec-en", STATIC)
    word: str = option("play", "The word whose neighbors are shown, as written in the text.")
    sources: tuple[str, ...] = option(
        (), "Query sentences with the word in [brackets]; there are built-in ones for play."
    )
    neighbours: int = option(3, "Neighbors shown for each query.", minimum=1)
    lines: int = option(
        200_000, "Lines of untagged English text to search for the word, in addition to SemCor.", minimum=0
    )
    words: int = option(50, "Number of ambiguous words of SemCor to measure.", minimum=1)
    uses: int = option(200, "Maximum number of occurrences of each ambiguous word.", minimum=2)
    sentences: int | None = option(None, "Read only the first sentences of SemCor; default: all sentences.", minimum=1)
    precision: Precision = option("float32", PRECISION)

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Finds the neighbors of the word, and measures how often neighbors of many words share their label."""
        began = time.monotonic()
        sources = self.source_spans()
        uses = [use for use in find_uses(self.semcor()) if use.word == self.word]
        uses += self.find_in_text(report)
        groups = {kind: self.groups(kind) for kind in KINDS}
        tables: list[ResultTable] = []
        counts: dict[str, Any] = {}
        options = {name: getattr(self, name) for name in ("words", "uses", "sentences", "precision")}

        def score(reader: LayerReader) -> Any:
            return {kind: measure_shares(reader, kind, groups[kind], report) for kind in KINDS}

        readers = open_readers(runtime, elmo=self.elmo, static=self.static, precision=self.precision)
        for _, reader, result in evaluate_models(work, self.name, readers, options, score):
            if isinstance(reader, StaticReader):
                tables.insert(0, self.static_neighbors(reader))
            else:
                tables += self.contextual_neighbors(reader, sources, uses, report)
            counts |= {name: {kind: result[kind][name] for kind in KINDS} for name in reader.names}
        return self.summarize(tables, counts, groups, len(uses), time.monotonic() - began)

    def source_spans(self) -> list[WordSpan]:
        """The word in the query sentences."""
        texts = self.sources or (PLAY if self.word == "play" else ())
        if not texts:
            raise OptionError(f"no sentence is known for {self.word!r}. Give some: sources='She [{self.word}] it .'")
        marked = [find_marked_word(text, Tokenizer(mode="whitespace")) for text in texts]
        return [WordSpan(words, place, place + 1) for words, place in marked]

    def semcor(self) -> Iterator[AnnotatedSentence]:
        """The part of SemCor that is read."""
        return read_semcor(data_file(SEMCOR), self.sentences)

    def find_in_text(self, report: Report) -> Iterator[AnnotatedUse]:
        """The first occurrence of the word in each line of the English text."""
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
                yield AnnotatedUse(WordSpan(words, place, place + 1), "", "", f"line {number}")

    def groups(self, kind: Kind) -> dict[Group, list[AnnotatedUse]]:
        """Samples of the occurrences of the most ambiguous words."""
        counts = count_labels(find_uses(self.semcor()), kind)
        sizes = {group: counts[group].total() for group in most_ambiguous(counts, self.words)}
        return sample_uses(find_uses(self.semcor()), kind, sizes, self.uses)

    def static_neighbors(self, reader: StaticReader) -> ResultTable:
        """The nearest words by static vectors."""
        vectors = reader.words.file.vectors
        near = vectors.most_similar(self.word, topn=10) if self.word in vectors else []
        rows = tuple((word, round(float(cosine), 3)) for word, cosine in near)
        return ResultTable(f"{reader.names[0]}: nearest to {self.word!r}", ("word", "cosine"), rows)

    def contextual_neighbors(
        self, reader: LayerReader, sources: Sequence[WordSpan], uses: Sequence[AnnotatedUse], report: Report
    ) -> list[ResultTable]:
        """The nearest occurrences to each query: one table per layer that has context."""
        if not uses:
            raise OptionError(f"{self.word!r} does not occur in the text. Name another word, or read more lines")
        vectors = read_spans(reader, [use.span for use in uses], report, "reading occurrences")
        places, cosines = neighbors(vectors, read_spans(reader, sources), self.neighbours)
        tables = []
        for layer, name in enumerate(reader.names):
            if name == NO_CONTEXT:
                continue
            rows: list[tuple[Cell, ...]] = []
            for source, nearest, scores in zip(sources, places[layer], cosines[layer]):
                query = format_bold(source)
                for place, cosine in zip(nearest.tolist(), scores.tolist()):
                    use = uses[place]
                    rows.append((query, format_bold(use.span), round(cosine, 3), use.pos or None, use.sense or None))
                    query = ""  # only in the first of its rows
            columns = "source", "nearest occurrences", "cosine", "POS", "sense"
            title = f"{name}: nearest to {self.word!r} in context"
            tables.append(ResultTable(title, columns, tuple(rows)))
        return tables

    def summarize(
        self, tables: list[ResultTable], counts: Any, groups: Any, occurrences: int, seconds: float
    ) -> Findings:
        """The page of the scores of all models."""
        chance = {kind: next(iter(counts.values()))[kind]["chance"] for kind in KINDS} if counts else {}
        rows = [("chance", *(chance.get(kind) for kind in KINDS))]
        rows += [(name, *(one[kind]["same"] for kind in KINDS)) for name, one in counts.items()]
        sizes = {kind: sum(map(len, groups[kind].values())) for kind in KINDS}
        note = (
            f"Same part of speech: {sizes['pos']:,} occurrences of {len(groups['pos'])} words, nouns and verbs. "
            f"Same sense: {sizes['sense']:,} occurrences of {len(groups['sense'])} words of one part of speech each "
            "that SemCor has in several senses. Neighbours are occurrences of the same word in other documents; where "
            "several are equally near, each counts for its part."
        )
        columns = "vectors", "same part of speech", "same sense"
        shares = ResultTable("Share of nearest neighbours in %", columns, tuple(rows), note)
        series = {str(name): [value if isinstance(value, float) else None for value in row] for name, *row in rows}
        chart = BarChart("Nearest occurrences of ambiguous words", "share in %", columns[1:], series)
        values = {
            "options": strip_folders(self.as_dict()),
            "counts": counts,
            "seconds": round(seconds, 1),
            "occurrences": occurrences,
        }
        tables = [shares, *self.tables_by_word(counts), *tables]
        compared = {
            columns[1 + place]: {name: one[kind]["same"] for name, one in counts.items()}
            for place, kind in enumerate(KINDS)
        }
        about = f"{compare_with_bag(compared)}\n\n{self.describe(occurrences, seconds)}"
        return self.findings(about, tables, {"shares": chart}, values)

    def tables_by_word(self, counts: Any) -> list[ResultTable]:
        """A table with the shares of each word whose senses are compared, if there is a biLM."""
        names = [name for name in counts if name.startswith("biLM") or name.endswith(BAG)]
        if not any(name.startswith("biLM") for name in names):
            return []
        first = counts[names[0]]["sense"]["words"]
        rows = tuple(
            (word, one["asked"], one["chance"], *(counts[name]["sense"]["words"][word]["same"] for name in names))
            for word, one in first.items()
        )
        return [ResultTable("Same sense, word by word, in %", ("word", "occurrences", "chance", *names), rows)]

    def describe(self, occurrences: int, seconds: float) -> str:
        """The text of the page."""
        more = f", and the first {self.lines:,} lines of English text, which has no tags" if self.lines else ""
        return (
            f"Static vectors have one list of neighbours for {self.word!r}, with all its uses in it. A biLM has "
            f"neighbours for each occurrence: of {occurrences:,} sentences with {self.word!r} (SemCor 3.0{more}), "
            "those whose vector of the word is nearest by the cosine. The source sentences are ours.\n\n"
            "A few sentences prove little, so the same is counted over many words: the share of occurrences in SemCor "
            "whose nearest other occurrence, in another document, has the same part of speech (noun or verb), and the "
            f"same sense. The words are the {self.words} whose second most frequent use is the most frequent. Static "
            "vectors, and layer 0, which sees no context, cannot do better than chance here: all occurrences of a word "
            f"are one vector. {BAG_TEXT} The paper shows two sentences and no count.\n\n"
            f"Models: {model_names(self.elmo, self.static)}{describe_precision(self.precision)}. Time: {seconds:.0f} s."
        )


def measure_shares(
    reader: LayerReader, kind: Kind, groups: dict[Group, list[AnnotatedUse]], report: Report
) -> dict[str, Any]:
    """The shares of nearest neighbors with the same label, by layer: of all words together, and of each word."""
    shares: dict[str, dict[str, Any]] = {name: {} for name in reader.names}
    for number, (group, uses) in enumerate(groups.items(), 1):
        labels = [pair[1] for use in uses if (pair := group_and_label(use, kind))]
        vectors = read_spans(reader, [use.span for use in uses])
        for name, share in zip(reader.names, neighbor_shares(vectors, labels, [use.document for use in uses])):
            shares[name][" ".join(group).strip()] = share
        report(Progress(f"same {kind}", number, len(groups), "words"))
    return {name: sum_shares(by_word) for name, by_word in shares.items()}


def sum_shares(by_word: dict[str, NeighborShares]) -> dict[str, Any]:
    """The shares of all words together and of each word, in percent."""
    asked = sum(one.asked for one in by_word.values())

    def percent(value: float, size: int) -> float:
        return round(100 * value / max(1, size), 2)

    return {
        "same": percent(sum(one.same for one in by_word.values()), asked),
        "chance": percent(sum(one.chance for one in by_word.values()), asked),
        "words": {
            word: {"same": percent(one.same, one.asked), "chance": percent(one.chance, one.asked), "asked": one.asked}
            for word, one in by_word.items()
        },
    }


def format_bold(span: WordSpan) -> str:
    """A sentence as Markdown with the word in bold, cut to the words around it.

    >>> format_bold(WordSpan(["to", "play", "*", "ball"], 1, 2))
    'to **play** \\\\* ball'
    """
    begin, end = max(0, span.start - AROUND), min(len(span.words), span.stop + AROUND)
    words = ["".join(f"\\{sign}" if sign in "*_`[]<>" else sign for sign in word) for word in span.words]
    middle = f"**{' '.join(words[span.start : span.stop])}**"
    visible = [*words[begin : span.start], middle, *words[span.stop : end]]
    return " ".join([*(["…"] if begin else []), *visible, *(["…"] if end < len(words) else [])])
