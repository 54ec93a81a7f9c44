"""Families of word vectors side by side: how good, how fast, how large, and how all that grows with the text."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from firth.errors import OptionError
from firth.evaluate.lookup import Lookup
from firth.options import option
from firth.probes.readers import model_names
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.studies.families import tables
from firth.studies.families.models import common_words, describe_model, megabytes, open_models, restrict
from firth.studies.families.tables import Results, task_table
from firth.studies.families.texts import known_words, read_sentences, write_known_questions, write_text
from firth.studies.families.training import ELMO, FAMILIES, Job, measure, measure_fastest, score_set, warm_up
from firth.studies.findings import Findings
from firth.studies.results import TEXT, load_or_compute
from firth.studies.study import Study
from firth.studies.tasks.runs import Result, TaskRun, gather, main_score
from firth.studies.tasks.settings import SETTINGS
from firth.studies.tasks.study import mean_and_deviation
from firth.tasks.sources import is_bilm

MILLION = 1_000_000
SETS = ("wordsim353", "simlex999", "men", "rarewords", "semeval2017-en", "google", "msr")  # put to finished models
CURVES = ("wordsim353", "simlex999", "google")  # put to models while the text grows
PRESETS = ("tiny", "small", "medium", "original")


@dataclass(frozen=True)
class Families(Study):
    """Counts, word2vec, GloVe, fastText and ELMo compared: quality, time, memory, tasks."""

    name: ClassVar[str] = "families"
    title: ClassVar[str] = "Families of word vectors compared"
    quick: ClassVar[dict[str, Any]] = {
        "sizes": (50_000, 100_000),
        "dim": 20,
        "contexts": 0,
        "elmo_minutes": 0.02,
        "elmo_presets": ("tiny",),
        "models": ("svd-en", "word2vec-en", "elmo-en"),
        "tasks": (),
    }

    models: tuple[str, ...] = option(
        ("svd-en", "word2vec-en", "fasttext-en", "glove-en", "elmo-en"), "finished models that are compared"
    )
    contexts: int = option(400_000, "words of text that a biLM reads for mean context vectors; 0: none", minimum=0)
    families: tuple[str, ...] = option(tuple(FAMILIES), "families that are trained")
    sizes: tuple[int, ...] = option(
        (MILLION, 2 * MILLION, 4 * MILLION, 8 * MILLION, 16 * MILLION), "words of text that families are trained on"
    )
    dim: int = option(100, "length of the vectors that are trained", minimum=1)
    training_threads: int = option(1, "threads of each training that is measured", minimum=1)
    turns: int = option(1, "times that each training is measured; the fastest counts", minimum=1)
    elmo_presets: tuple[str, ...] = option(("tiny", "small"), "sizes of ELMo whose speed in training is measured")
    elmo_minutes: float = option(1.0, "how long each is trained for that; 0: not at all", minimum=0)
    tasks: tuple[str, ...] = option(("wikigold",), "tasks that are trained on each of the models")
    seeds: int = option(2, "trainings of each, with different random numbers", minimum=1)
    jobs: int = option(1, "trainings of tasks at a time, each in a process of its own", minimum=1)
    runs: str | None = option(None, "the work folder of these trainings; its own if not given")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.models and self.families and self.sizes) or min(self.sizes) < 1:
            raise OptionError("Families: name at least one model, one family and one size of at least 1 word")
        for option_name, given, legal in (
            ("families", self.families, FAMILIES),
            ("elmo_presets", self.elmo_presets, PRESETS),
            ("tasks", self.tasks, SETTINGS),
        ):
            for one in given:
                if one not in legal:
                    raise OptionError(f"Families: {option_name} has {one!r}, but must be of {', '.join(legal)}")

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Judges the finished models, by words and by tasks, then trains each family on each size in a process."""
        finished = self.finished(work, runtime, report)
        place = Path(self.runs or work)
        results = by_embedding(gather(self.task_runs(), place, runtime, report, jobs=self.jobs))
        trained = self.trained(work, report)
        elmo = self.elmo(work, report)
        made, charts = tables.intrinsic_tables(finished)
        for more, pictures in (tables.cost_tables(trained), tables.curve_tables(trained), tables.elmo_table(elmo)):
            made += more
            charts |= pictures
        options = {
            **self.as_dict(),
            "models": [model_names(name) for name in self.models],
            "runs": model_names(self.runs) or None,
        }
        values = {"options": options, "text": TEXT, "finished": finished, "trained": trained, "elmo": elmo}
        if results:
            table, chart = task_table(results)
            made.append(table)
            charts["tasks"] = chart
            values["tasks"] = results
        seconds = {"judging finished models": finished["seconds"]}
        for name, found in (("training families", trained), ("training ELMo", elmo)):
            seconds[name] = sum(one["reading"]["wall"] + one["training"]["wall"] for one in found)
        text = tables.describe(self.as_dict(), TEXT, seconds)
        return Findings(self.name, self.title, text, tuple(made), charts, values | {"seconds": seconds})

    def finished(self, work: Path, runtime: Runtime, report: Report) -> Any:
        """What the finished models score: each with all its words, and all with the words that all of them have."""
        identity = {"models": {name: megabytes(name) for name in self.models}, "contexts": self.contexts, "sets": SETS}

        def compute() -> dict[str, Any]:
            began = time.monotonic()
            models = open_models(self.models, self.contexts, read_sentences, report)
            words = common_words(models)
            found = []
            for done, (name, model) in enumerate(models.items()):
                report(Progress("judging models", done, len(models), "models"))
                own, same = Lookup(model.vectors), Lookup(restrict(model.vectors, words))
                told = describe_model(name, model)
                told["own"] = {one: score_set(own, one, runtime) for one in SETS}
                told["same"] = {one: score_set(same, one, runtime) for one in SETS}
                found.append(told)
            seconds = round(time.monotonic() - began, 1)
            return {"common_words": len(words), "models": found, "seconds": seconds}

        return load_or_compute(work / "finished.json", identity, compute)

    def trained(self, work: Path, report: Report) -> list[Any]:
        """What each family costs and scores on each size."""
        sizes = sorted(set(self.sizes))
        least = FAMILIES["PPMI"].as_dict()["min_count"]  # as all families have it
        asked = f"asked-{sizes[0]}"
        for words in sizes:
            write_text(work / f"text-{words}.txt", words)
        write_known_questions(known_words(work / f"text-{sizes[0]}.txt", least), CURVES, work / asked)
        recipes = {name: self.with_dim(name) for name in self.families}
        jobs = [
            Job(name, recipes[name], work, words, CURVES, asked, self.training_threads)
            for words in sizes
            for name in recipes
        ]
        for recipe in recipes.values():
            warm_up(recipe, Runtime(1))  # what is compiled here, processes load and need not compile
        found = []
        for done, job in enumerate(jobs):
            report(Progress(f"training {job.family}", done, len(jobs), "trainings", {"words": job.words}))
            found.append({"family": job.family, "words": job.words, **measure_fastest(job, self.turns)})
        return found

    def with_dim(self, family: str) -> Any:
        """The recipe of a family; PPMI has as many numbers as words."""
        recipe = FAMILIES[family]
        return recipe if family == "PPMI" else replace(recipe, dim=self.dim)  # type: ignore[call-arg]

    def elmo(self, work: Path, report: Report) -> list[Any]:
        """How fast ELMo is trained on a CPU, and in how much memory."""
        words = min(self.sizes)
        found: list[Any] = []
        for preset in self.elmo_presets if self.elmo_minutes else ():
            report(Progress(f"training ELMo, {preset}", len(found), len(self.elmo_presets), "trainings"))
            recipe = replace(ELMO, preset=preset, minutes=self.elmo_minutes)  # type: ignore[arg-type]
            job = Job(f"ELMo {preset}", recipe, work, words, threads=self.training_threads)
            found.append({"preset": preset, **measure(job)})
        return found

    def task_runs(self) -> list[TaskRun]:
        """The trainings of tasks: every model alone, and each biLM beside the word vectors that come last."""
        bilms = [name for name in self.models if is_bilm(name)]
        static = [name for name in self.models if name not in bilms]
        words = [*((name, None) for name in static), *((None, name) for name in bilms)]
        words += [(static[-1], name) for name in bilms if static]
        return [
            TaskRun(task, *pair, characters=False, stretched=pair[0] is not None, seed=seed)
            for seed in range(1, self.seeds + 1)
            for task in self.tasks
            for pair in words
        ]


def by_embedding(results: Mapping[TaskRun, Result]) -> Results:
    """The mean and the deviation of test scores, by embedding and task, in percent.

    >>> runs = [TaskRun("ner", "glove-en", elmo, characters=False, stretched=True) for elmo in (None, "models/elmo-en")]
    >>> by_embedding({run: {"test": {"f1": 0.25 if run.elmo else 0.125}} for run in runs})
    {'glove-en': {'ner': (12.5, 0.0)}, 'glove-en + elmo-en': {'ner': (25.0, 0.0)}}
    """
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run, result in results.items():
        scores[model_names(run.static, run.elmo).replace(", ", " + ")][run.setting].append(main_score(result))
    return {name: {task: mean_and_deviation(found) for task, found in tasks.items()} for name, tasks in scores.items()}
