"""Families of word vectors compared: quality, training time and memory, and how these grow with the text."""

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
from firth.studies.families.tables import TaskScores
from firth.studies.families.texts import known_words, read_sentences, write_known_questions, write_text
from firth.studies.families.training import ELMO, FAMILIES, Job, measure, measure_fastest, score_set, warm_up
from firth.studies.findings import Findings
from firth.studies.results import TEXT, load_or_compute
from firth.studies.study import Study
from firth.studies.tasks.runs import Result, TaskRun, gather, is_converged, main_score
from firth.studies.tasks.settings import SETTINGS
from firth.studies.tasks.study import mean_and_deviation
from firth.tasks.sources import is_bilm

MILLION = 1_000_000
SETS = ("wordsim353", "simlex999", "men", "rarewords", "semeval2017-en", "google", "msr")  # for finished models
CURVES = ("wordsim353", "simlex999", "google")  # for models trained on texts of growing size
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
        ("svd-en", "word2vec-en", "fasttext-en", "glove-en", "elmo-en"), "Finished models to compare."
    )
    contexts: int = option(400_000, "Words of text that a biLM reads for mean context vectors; 0: none.", minimum=0)
    families: tuple[str, ...] = option(tuple(FAMILIES), "Families to train.")
    sizes: tuple[int, ...] = option(
        (MILLION, 2 * MILLION, 4 * MILLION, 8 * MILLION, 16 * MILLION), "Sizes of the training texts, in words."
    )
    dim: int = option(100, "Dimension of the trained vectors.", minimum=1)
    training_threads: int = option(1, "Threads of each measured training.", minimum=1)
    turns: int = option(1, "Repetitions of each measured training; the fastest counts.", minimum=1)
    elmo_presets: tuple[str, ...] = option(("tiny", "small"), "Presets of ELMo whose training speed is measured.")
    elmo_minutes: float = option(1.0, "Minutes of training for each preset of ELMo; 0: none.", minimum=0)
    tasks: tuple[str, ...] = option(("wikigold",), "Tasks to train on each model.")
    seeds: int = option(2, "Trainings of each task and model, with different seeds.", minimum=1)
    jobs: int = option(1, "Trainings of tasks at a time, each in its own process.", minimum=1)
    runs: str | None = option(None, "The work folder of the task trainings; default: that of this study.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.models and self.families and self.sizes) or min(self.sizes) < 1:
            raise OptionError("Families: name at least one model, one family and one size of at least 1 word")
        for option_name, values, legal in (
            ("families", self.families, FAMILIES),
            ("elmo_presets", self.elmo_presets, PRESETS),
            ("tasks", self.tasks, SETTINGS),
        ):
            for value in values:
                if value not in legal:
                    raise OptionError(f"Families: {option_name} has {value!r}, but must be of {', '.join(legal)}")

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Evaluates the finished models on word tests and in tasks, then measures the training of each family."""
        finished = self.evaluate_finished(work, runtime, report)
        results = gather(self.task_runs(), Path(self.runs or work), runtime, report, jobs=self.jobs)
        results = {run: result for run, result in results.items() if is_converged(result)}
        task_scores = group_by_embedding(results)
        trained = self.measure_families(work, report)
        elmo = self.measure_elmo(work, report)
        page_tables, charts = tables.intrinsic_tables(finished)
        for more, pictures in (tables.cost_tables(trained), tables.curve_tables(trained), tables.elmo_table(elmo)):
            page_tables += more
            charts |= pictures
        options = {
            **self.as_dict(),
            "models": [model_names(name) for name in self.models],
            "runs": model_names(self.runs) or None,
        }
        values = {"options": options, "text": TEXT, "finished": finished, "trained": trained, "elmo": elmo}
        if task_scores:
            table, charts["tasks"] = tables.task_table(task_scores)
            page_tables.append(table)
            values["tasks"] = task_scores
        seconds = {"judging finished models": finished["seconds"]}
        for name, measured in (("training families", trained), ("training ELMo", elmo)):
            seconds[name] = sum(one["reading"]["wall"] + one["training"]["wall"] for one in measured)
        about = tables.describe(self.as_dict(), TEXT, seconds)
        return self.findings(about, page_tables, charts, values | {"seconds": seconds})

    def evaluate_finished(self, work: Path, runtime: Runtime, report: Report) -> Any:
        """The scores of the finished models: each with all its words, and all with their common words."""
        identity = {"models": {name: megabytes(name) for name in self.models}, "contexts": self.contexts, "sets": SETS}

        def compute() -> dict[str, Any]:
            began = time.monotonic()
            models = open_models(self.models, self.contexts, read_sentences, report)
            words = common_words(models)
            scores = []
            for done, (name, model) in enumerate(models.items()):
                report(Progress("judging models", done, len(models), "models"))
                own, same = Lookup(model.vectors), Lookup(restrict(model.vectors, words))
                scores.append(
                    {
                        **describe_model(name, model),
                        "own": {one: score_set(own, one, runtime) for one in SETS},
                        "same": {one: score_set(same, one, runtime) for one in SETS},
                    }
                )
            seconds = round(time.monotonic() - began, 1)
            return {"common_words": len(words), "models": scores, "seconds": seconds}

        return load_or_compute(work / "finished.json", identity, compute)

    def measure_families(self, work: Path, report: Report) -> list[Any]:
        """The cost and the scores of each family on each size of text."""
        sizes = sorted(set(self.sizes))
        least = FAMILIES["PPMI"].as_dict()["min_count"]  # the same in all families
        questions = f"asked-{sizes[0]}"
        for words in sizes:
            write_text(work / f"text-{words}.txt", words)
        write_known_questions(known_words(work / f"text-{sizes[0]}.txt", least), CURVES, work / questions)
        recipes = {name: self.with_dim(name) for name in self.families}
        jobs = [
            Job(name, recipes[name], work, words, CURVES, questions, self.training_threads)
            for words in sizes
            for name in recipes
        ]
        for recipe in recipes.values():
            warm_up(recipe, Runtime(1))  # compiles the kernels once for all processes
        measured = []
        for done, job in enumerate(jobs):
            report(Progress(f"training {job.family}", done, len(jobs), "trainings", {"words": job.words}))
            measured.append({"family": job.family, "words": job.words, **measure_fastest(job, self.turns)})
        return measured

    def with_dim(self, family: str) -> Any:
        """The recipe of a family with the dimension of this study; PPMI has one dimension per word."""
        recipe = FAMILIES[family]
        return recipe if family == "PPMI" else replace(recipe, dim=self.dim)  # type: ignore[call-arg]

    def measure_elmo(self, work: Path, report: Report) -> list[Any]:
        """The training speed and memory of ELMo on a CPU."""
        words = min(self.sizes)
        measured: list[Any] = []
        for preset in self.elmo_presets if self.elmo_minutes else ():
            report(Progress(f"training ELMo, {preset}", len(measured), len(self.elmo_presets), "trainings"))
            recipe = replace(ELMO, preset=preset, minutes=self.elmo_minutes)  # type: ignore[arg-type]
            job = Job(f"ELMo {preset}", recipe, work, words, threads=self.training_threads)
            measured.append({"preset": preset, **measure(job)})
        return measured

    def task_runs(self) -> list[TaskRun]:
        """The trainings of tasks: on every model alone, and on each biLM together with the last word vectors."""
        bilms = [name for name in self.models if is_bilm(name)]
        static = [name for name in self.models if name not in bilms]
        embeddings = [*((name, None) for name in static), *((None, name) for name in bilms)]
        embeddings += [(static[-1], name) for name in bilms if static]
        return [
            TaskRun(task, *pair, characters=False, stretched=pair[0] is not None, seed=seed)
            for seed in range(1, self.seeds + 1)
            for task in self.tasks
            for pair in embeddings
        ]


def group_by_embedding(results: Mapping[TaskRun, Result]) -> TaskScores:
    """The mean and standard deviation of the test scores by embedding and task, in percent.

    >>> runs = [TaskRun("ner", "glove-en", elmo, characters=False, stretched=True) for elmo in (None, "models/elmo-en")]
    >>> group_by_embedding({run: {"test": {"f1": 0.25 if run.elmo else 0.125}} for run in runs})
    {'glove-en': {'ner': (12.5, 0.0)}, 'glove-en + elmo-en': {'ner': (25.0, 0.0)}}
    """
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run, result in results.items():
        scores[model_names(run.static, run.elmo).replace(", ", " + ")][run.setting].append(main_score(result))
    return {name: {task: mean_and_deviation(one) for task, one in tasks.items()} for name, tasks in scores.items()}
