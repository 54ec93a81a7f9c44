"""One family of word vectors, trained in a separate process to measure its time and memory.

`measure` runs this module with a job on standard input and reads the result; a finished job is not repeated. The time
is measured after a small first training, which loads the compiled kernels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from firth.errors import FirthError
from firth.evaluate import intrinsic, questions
from firth.evaluate.lookup import Lookup
from firth.evaluate.score import Score
from firth.files import Name
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.elmo import Elmo
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.trained_recipe import versions
from firth.models.word2vec import Word2Vec
from firth.options import Recipe
from firth.runtime import Runtime, thread_variables
from firth.studies.families.sparse_lookup import SparseLookup
from firth.studies.results import load_or_compute
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

COUNTED: dict[str, Any] = {"weighting": "harmonic", "context_smoothing": 0.75}
FAMILIES: dict[str, Recipe] = {
    "PPMI": Counts(kind="ppmi", min_count=5, **COUNTED),
    "SVD of PPMI": Counts(kind="svd", min_count=5, eigenvalue_power=0.0, **COUNTED),
    "skip-gram": Word2Vec(),
    "CBOW": Word2Vec(architecture="cbow"),
    "GloVe": Glove(window=5, x_max=10),  # the default of 100 is for billions of words
    "fastText": FastText(),
}
ELMO = Elmo(preset="small", vocabulary=20_000, negatives=2048, batch=32)
WARM_UP = "the king rules the land .\nthe queen rules the land .\nold rain falls on the cold land .\n" * 40
TOKENIZER = Tokenizer(mode="whitespace", normalizer=None)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Job:
    """A recipe to train on the text of a given size in a folder, `turn` times.

    The vectors are tested on the named `sets`, and on the subsets in the folder `asked`, which all sizes can answer.
    """

    family: str
    recipe: Recipe
    folder: Path
    words: int
    sets: tuple[str, ...] = ()
    asked: str = ""
    threads: int = 1
    turn: int = 1

    @property
    def text(self) -> Path:
        """The training text: one sentence per line, with spaces between the words."""
        return self.folder / f"text-{self.words}.txt"

    def as_dict(self) -> dict[str, Any]:
        """The fields of the job, without its folder."""
        rest: dict[str, Any] = {"words": self.words, "sets": list(self.sets), "asked": self.asked}
        rest |= {"threads": self.threads, "turn": self.turn}
        return {"family": self.family, "kind": type(self.recipe).__name__, "recipe": self.recipe.as_dict(), **rest}


KINDS: dict[str, type[Recipe]] = {one.__name__: one for one in (Counts, Word2Vec, Glove, FastText, Elmo)}


def measure(job: Job) -> Any:
    """The result of a job: seconds, megabytes and scores; loaded from its folder if it is there."""
    name = f"{job.family.replace(' ', '-').lower()}-{job.words}-{job.turn}.json"
    return load_or_compute(job.folder / name, job.as_dict(), lambda: _run_in_process(job))


def measure_fastest(job: Job, turns: int) -> Any:
    """The result of the turn with the least CPU time, and the times of all turns."""
    results = [measure(replace(job, turn=turn + 1)) for turn in range(turns)]
    times = [cpu_seconds(result) for result in results]
    return {**results[times.index(min(times))], "cpu_of_turns": times}


def cpu_seconds(result: Mapping[str, Any]) -> float:
    """The CPU seconds of a training, including the time to read the text.

    >>> cpu_seconds({"reading": {"cpu": 0.5}, "training": {"cpu": 2.0}})
    2.5
    """
    return round(float(result["reading"]["cpu"] + result["training"]["cpu"]), 3)


def _run_in_process(job: Job) -> Any:
    """The result of a job, run in a separate process."""
    command = [sys.executable, "-m", "firth.studies.families.training"]
    text = json.dumps(job.as_dict() | {"folder": str(job.folder.resolve())})
    process = subprocess.run(
        command,
        env=os.environ | thread_variables(job.threads),
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if process.returncode:
        last = (process.stderr.strip().splitlines() or ["no output"])[-1]
        raise FirthError(f"training {job.family} on {job.words:,} words failed: {last}")
    return json.loads(process.stdout)


def train(job: Job) -> dict[str, Any]:
    """Runs a job in this process: reads the text, trains, and evaluates the vectors."""
    runtime = Runtime(job.threads)
    warm_up(job.recipe, runtime)
    before = peak_memory(runtime)
    corpus = Corpus([job.text], tokenizer=TOKENIZER, threads=job.threads)
    reading, tokens = measure_time(corpus.tokens)
    training, model = measure_time(lambda: job.recipe.fit(corpus, runtime=runtime))  # type: ignore[attr-defined]
    result: dict[str, Any] = {"versions": versions(), "tokens": len(tokens), "types": len(tokens.vocabulary)}
    result |= {"reading": reading, "training": training}
    result |= {"megabytes_before": before, "megabytes": peak_memory(runtime)}
    if isinstance(job.recipe, Elmo):
        metadata = model.metadata
        rate = metadata["tokens_seen"] / metadata["seconds"]
        return result | {"tokens_seen": metadata["tokens_seen"], "tokens_a_second": round(rate, 1)}
    result["vocabulary"] = len(model.vocabulary)
    lookup = SparseLookup(model) if isinstance(model, CountMatrix) else Lookup(model, compose=False)
    result["whole"] = {name: score_set(lookup, name, runtime) for name in job.sets}
    folder = job.folder / job.asked
    return result | {"same": {name: score_set(lookup, folder / f"{name}.txt", runtime) for name in job.sets}}


def warm_up(recipe: Recipe, runtime: Runtime) -> None:
    """Trains on a few lines, so that the kernels of the next training are compiled and loaded."""
    smaller: dict[str, Any] = {"min_count": 1}
    if isinstance(recipe, Elmo):
        smaller |= {"preset": "tiny", "minutes": None, "steps": 2, "batch": 4, "unroll": 4, "min_count": 1}
    elif not isinstance(recipe, Counts):
        smaller |= {"epochs": 1, "dim": 8} | ({"buckets": 100} if isinstance(recipe, FastText) else {})
    else:
        smaller |= {"dim": 2}
    corpus = Corpus.of([WARM_UP], tokenizer=TOKENIZER, threads=runtime.threads)
    type(recipe).from_dict(recipe.as_dict() | smaller).fit(corpus, runtime=runtime)  # type: ignore[attr-defined]


def score_set(lookup: Lookup, source: Name, runtime: Runtime) -> dict[str, Any]:
    """The score on a set in percent, with its interval and coverage.

    Similarity is Spearman's correlation, analogies are the accuracy of 3CosAdd.
    """
    if questions.task_of(source) == "analogy":
        score = intrinsic.analogies(lookup, source, runtime=runtime)
    else:
        score = intrinsic.similarity(lookup, source)
    return as_percent(score)


def as_percent(score: Score) -> dict[str, Any]:
    """A score in percent, with its interval and coverage.

    >>> as_percent(Score("similarity", "men", "spearman", 0.51234, (0.5, 0.6), used=90, total=100))
    {'value': 51.23, 'interval': [50.0, 60.0], 'used': 90, 'total': 100}
    """
    value = None if score.value is None else round(100 * score.value, 2)
    interval = None if score.interval is None else [round(100 * edge, 2) for edge in score.interval]
    return {"value": value, "interval": interval, "used": score.used, "total": score.total}


def measure_time(work: Callable[[], Result]) -> tuple[dict[str, float], Result]:
    """The wall-clock and CPU seconds of a function, and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {name: round(value, 3) for name, value in seconds.items()}, result


def peak_memory(runtime: Runtime) -> float:
    """The peak memory of this process so far, in MB."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return round(runtime.memory() / 1e6, 1)
    # ru_maxrss of a child includes the memory of its parent at the fork; VmHWM does not
    [kilobytes] = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    return round(int(kilobytes) * 1024 / 1e6, 1)


def make_job(fields: Mapping[str, Any]) -> Job:
    """The job with these fields, as `Job.as_dict` returns them, and a folder."""
    values = dict(fields)
    recipe = KINDS[values.pop("kind")].from_dict(values.pop("recipe"))
    folder, sets = Path(values.pop("folder")), tuple(values.pop("sets"))
    return Job(recipe=recipe, folder=folder, sets=sets, **values)


if __name__ == "__main__":
    json.dump(train(make_job(json.load(sys.stdin))), sys.stdout)
