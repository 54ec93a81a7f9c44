"""The text, tables and charts of the page that compares families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from firth.data import SETS
from firth.show.charts import BarChart, Chart, LineChart, Value
from firth.studies.families.training import cpu_seconds
from firth.studies.findings import Cell, ResultTable
from firth.studies.tasks.study import MeanScore, format_score

TaskScores = Mapping[str, Mapping[str, MeanScore | None]]  # by embedding and task
TablesAndCharts = tuple[list[ResultTable], dict[str, Chart]]
NAMES = {
    "wordsim353": "WordSim-353",
    "simlex999": "SimLex-999",
    "men": "MEN",
    "rarewords": "RareWords",
    "semeval2017-en": "SemEval-2017",
    "google": "Google analogies",
    "msr": "MSR analogies",
}
ON_A_GPU = "`benchmarks/RESULTS.md` has the rates on one H200: 705 k tokens/s (original) and 2,485 k (`elmo-en`)."
ON_TASKS = (
    "Test scores of the networks that the settings of studies have, with these words and without characters: means "
    "over the seeds that are finished, with their deviation where there are several. Word vectors are stretched so "
    "that their numbers have a mean square of one: those of an SVD are small, and a network would learn slowly."
)
FINISHED = """\
**Finished models** are put the same questions: Spearman's correlation with people's judgement for pairs of words, and
the share of right answers (3CosAdd) for analogies, in percent. The first table and chart keep every model to the words
that all of them have, so that all answer the same questions from the same words. ELMo has no vector for a word alone:
layer 0 is what it makes of the spelling, the layers above are means over places where a word occurs, in {contexts:,}
words of text."""
TRAINED = """\
**Training** is measured on the first words of `{text}`, whole sentences, cut into words. Every family has vectors of
{dim} numbers (PPMI a number a word), a window of 5, words that occur 5 times, and else the options that firth gives it:
word2vec and fastText 5 epochs, GloVe 25; but for GloVe an x_max of 10, and for PPMI and SVD harmonic weights and
contexts to the power 0.75. fastText has room for two million n-grams. A training is a process of its own (threads:
{training_threads}), after a small first one that loads the kernels. Seconds are those of the processor, reading and
training together: where a machine is shared they waver less than those of the clock, which are in the JSON file, but
waver they do. Of as many turns as there were ({turns}) the fastest counts. Memory is the peak of the process, Python
and NumPy included. All sizes are asked the questions that the smallest one can be asked. One seed each."""
TAKEN = "By the clock: {taken}. The paper has no such comparison, so there is nothing to differ from."


def describe(options: Mapping[str, Any], text: str, seconds: Mapping[str, float]) -> str:
    """The text of the page; `seconds` are wall-clock times by step."""
    taken = ", ".join(f"{name} {value / 60:.1f} minutes" for name, value in seconds.items())
    return "\n\n".join((FINISHED, TRAINED, TAKEN)).format(**options, text=text, taken=taken)


def intrinsic_tables(finished: Mapping[str, Any]) -> TablesAndCharts:
    """The scores of the finished models on the intrinsic sets, their coverage and their sizes."""
    models: Sequence[Mapping[str, Any]] = finished["models"]
    sets = list(models[0]["same"])
    names = [NAMES.get(one, one) for one in sets]
    first = models[0]["same"]
    used = ", ".join(f"{name} {first[one]['used']:,} of {first[one]['total']:,}" for one, name in zip(sets, names))
    common = f"{finished['common_words']:,} words"
    same = _score_table(f"The same {common}: scores in percent", models, "same", sets, f"Asked: {used}.")
    own = _score_table("Each with all of its words: scores in percent", models, "own", sets)
    rows = tuple((one["model"], *(_percent(one["own"][name]) for name in sets)) for one in models)
    coverage = ResultTable(
        "Each with all of its words: percent of each set that could be asked", ("model", *names), rows
    )
    sizes = ResultTable(
        "Sizes",
        ("model", "words", "dim", "MB on disk"),
        tuple((one["model"], one["words"], one["dim"], one["megabytes"]) for one in models),
    )
    series = {one["model"]: [one["same"][name]["value"] for name in sets] for one in models}
    chart = BarChart(
        f"The same questions to every model ({common})", "Spearman or accuracy, percent", tuple(names), series
    )
    return [same, own, coverage, sizes], {"intrinsic": chart}


def _score_table(
    title: str, models: Sequence[Mapping[str, Any]], kind: str, sets: Sequence[str], note: str = ""
) -> ResultTable:
    rows = tuple((one["model"], *(_round(one[kind][name]["value"]) for name in sets)) for one in models)
    return ResultTable(title, ("model", *(NAMES.get(one, one) for one in sets)), rows, note)


def _percent(score: Mapping[str, Any]) -> float:
    return round(100 * score["used"] / score["total"], 1) if score["total"] else 0.0


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def cost_tables(trained: Sequence[Mapping[str, Any]]) -> TablesAndCharts:
    """Time and memory by the size of the text, and the exponents of their growth."""
    seconds = {(one["family"], one["words"]): cpu_seconds(one) for one in trained}
    memory = {(one["family"], one["words"]): one["megabytes"] for one in trained}
    added = {(one["family"], one["words"]): one["megabytes"] - one["megabytes_before"] for one in trained}
    families, sizes = _families(trained), _sizes(trained)
    rate = {(family, words): round(seconds[family, words] / words * 1e6, 2) for family, words in seconds}
    note = "The last column is the power of the words that {} with, over these sizes: 1 is in step with the text."
    title = "Seconds of one processor for a million words, reading and all epochs"
    time_note, memory_note = map(note.format, ("the whole time grows", "the memory beyond that of Python grows"))
    cost = [
        _table_by_size(title, families, sizes, rate, seconds, time_note),
        _table_by_size("Peak memory in MB", families, sizes, memory, added, memory_note),
    ]
    words = "words of text"
    charts: dict[str, Chart] = {
        "time": LineChart(
            "Time to train", words, "processor seconds a million words", _lines(families, sizes, rate), log_x=True
        ),
        "memory": LineChart(
            "Memory to train", words, "peak of the process, MB", _lines(families, sizes, memory), log_x=True
        ),
    }
    return cost, charts


def power(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """The exponent of the growth of values with the size: the slope of their logarithms.

    >>> power([1, 2, 4], [3, 12, 48]), power([1], [3])
    (2.0, None)
    """
    if len(sizes) < 2 or min(values) <= 0:
        return None
    return round(float(np.polyfit(np.log(sizes), np.log(values), 1)[0]), 2) + 0.0  # + 0.0 turns -0.0 into 0.0


def _table_by_size(
    title: str,
    families: Sequence[str],
    sizes: Sequence[int],
    values: Mapping[tuple[str, int], float],
    growing: Mapping[tuple[str, int], float],
    note: str,
) -> ResultTable:
    rows: list[tuple[Cell, ...]] = []
    for family in families:
        growth = power(sizes, [growing[family, words] for words in sizes])
        rows.append((family, *(values[family, words] for words in sizes), growth))
    return ResultTable(title, ("family", *map(format_size, sizes), "grows with"), tuple(rows), note)


def format_size(words: int) -> str:
    """A number of words as a column title.

    >>> format_size(16_000_000), format_size(50_000)
    ('16 M words', '50 k words')
    """
    return f"{words / 1e6:g} M words" if words >= 1_000_000 else f"{words / 1e3:g} k words"


def curve_tables(trained: Sequence[Mapping[str, Any]]) -> TablesAndCharts:
    """Scores by the size of the text, on the questions that all sizes can answer."""
    families, sizes = _families(trained), _sizes(trained)
    score_tables: list[ResultTable] = []
    charts: dict[str, Chart] = {}
    for name in trained[0]["same"]:
        values = {(one["family"], one["words"]): one["same"][name]["value"] for one in trained}
        used = trained[0]["same"][name]["used"]
        whole = trained[0]["whole"][name]["total"]
        title = f"{NAMES.get(name, name)}, {used:,} of its {whole:,} questions"
        rows = tuple((family, *(_round(values[family, words]) for words in sizes)) for family in families)
        score_tables.append(ResultTable(f"{title}: percent", ("family", *map(format_size, sizes)), rows))
        known = {key: value for key, value in values.items() if value is not None}
        is_analogy = name in SETS and SETS[name].task == "analogy"
        unit = "right answers, percent" if is_analogy else "Spearman's correlation, percent"
        charts[name] = LineChart(title, "words of text", unit, _lines(families, sizes, known), log_x=True)
    return score_tables, charts


def _lines(
    families: Sequence[str], sizes: Sequence[int], values: Mapping[tuple[str, int], float]
) -> dict[str, list[tuple[float, float]]]:
    return {one: [(words, values[one, words]) for words in sizes if (one, words) in values] for one in families}


def _families(trained: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(one["family"] for one in trained))


def _sizes(trained: Sequence[Mapping[str, Any]]) -> list[int]:
    return sorted({one["words"] for one in trained})


def elmo_table(measured: Sequence[Mapping[str, Any]]) -> TablesAndCharts:
    """The training speed of ELMo on a CPU; its seconds are for one pass, those of the other families for all epochs."""
    if not measured:
        return [], {}
    rows = []
    for one in measured:
        seconds = one["training"]["cpu"] / one["tokens_seen"] * 1e6
        rows.append((one["preset"], one["tokens_a_second"], round(seconds, 1), one["megabytes"]))
    columns = ("ELMo", "tokens a second", "processor seconds for a million tokens, once", "peak MB")
    return [ResultTable("Training ELMo on a CPU", columns, tuple(rows), ON_A_GPU)], {}


def task_table(results: TaskScores) -> tuple[ResultTable, BarChart]:
    """A table and a chart of the mean scores and standard deviations by embedding and task.

    >>> table, chart = task_table({"glove-en": {"ner": (70.0, 0.5)}, "elmo-en": {"ner": (80.0, 0.25), "srl": (60, 1)}})
    >>> table.columns, table.rows
    (('embedding', 'ner', 'srl'), (('glove-en', '70.0 ± 0.5', None), ('elmo-en', '80.0 ± 0.2', '60.0 ± 1.0')))
    >>> chart.series["glove-en"]
    [(70.0, 0.5), None]
    """
    tasks = list(dict.fromkeys(task for scores in results.values() for task in scores))
    rows: list[tuple[Cell, ...]] = []
    series: dict[str, list[Value]] = {}
    for embedding, scores in results.items():
        by_task: list[MeanScore | None] = [scores.get(task) for task in tasks]
        rows.append((embedding, *map(format_score, by_task)))
        series[embedding] = list(by_task)
    title = "The same tasks on every embedding"
    table = ResultTable(f"{title}: percent", ("embedding", *tasks), tuple(rows), ON_TASKS)
    return table, BarChart(title, "percent", tuple(tasks), series)
