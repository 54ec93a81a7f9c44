"""One family of word vectors, trained in a process of its own, so that its time and its memory are its own.

`measure` starts this module, gives it a job and reads what it found; a job that was done before is not done again. The
clock starts after a first small training, which loads the compiled kernels.
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

from firth import evaluate
from firth.errors import FirthError
from firth.evaluate import Score, questions
from firth.evaluate.lookup import Lookup
from firth.files import Name
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.elmo import Elmo
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.trained_recipe import versions
from firth.models.word2vec import Word2Vec
from firth.options import Recipe
from firth.runtime import Runtime
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
    "GloVe": Glove(window=5, x_max=10),  # 100 is for billions of words: in millions hardly a pair has its full weight
    "fastText": FastText(),
}
ELMO = Elmo(preset="small", vocabulary=20_000, negatives=2048, batch=32)
FIRST = "the king rules the land .\nthe queen rules the land .\nold rain falls on the cold land .\n" * 40
Result = TypeVar("Result")


@dataclass(frozen=True)
class Job:
    """What a process is to train: a recipe, on the first words of the text that lie in a folder.

    `asked` names the folder of questions that every size can be asked; `sets` are asked as they are, too. A job can be
    done in several turns.
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
        """The file that is read: words with blanks between them, a sentence a line."""
        return self.folder / f"text-{self.words}.txt"

    def as_dict(self) -> dict[str, Any]:
        """The job by name, without its folder: folders move."""
        rest: dict[str, Any] = {"words": self.words, "sets": list(self.sets), "asked": self.asked}
        rest |= {"threads": self.threads, "turn": self.turn}
        return {"family": self.family, "kind": type(self.recipe).__name__, "recipe": self.recipe.as_dict(), **rest}


KINDS: dict[str, type[Recipe]] = {one.__name__: one for one in (Counts, Word2Vec, Glove, FastText, Elmo)}


def measure(job: Job) -> Any:
    """What the process of a job found: seconds, megabytes and scores; kept in its folder, and found there again."""
    name = f"{job.family.replace(' ', '-').lower()}-{job.words}-{job.turn}.json"
    return load_or_compute(job.folder / name, job.as_dict(), lambda: _run_in_process(job))


def measure_fastest(job: Job, turns: int) -> Any:
    """What the turn of a job found that took the processor the shortest time, and the times of all its turns."""
    found = [measure(replace(job, turn=turn + 1)) for turn in range(turns)]
    times = [cpu_seconds(one) for one in found]
    return {**found[times.index(min(times))], "cpu_of_turns": times}


def cpu_seconds(found: Mapping[str, Any]) -> float:
    """Seconds of the processor for a whole training, with reading the text.

    >>> cpu_seconds({"reading": {"cpu": 0.5}, "training": {"cpu": 2.0}})
    2.5
    """
    return round(float(found["reading"]["cpu"] + found["training"]["cpu"]), 3)


def _run_in_process(job: Job) -> Any:
    """A job done in a process of its own."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(job.threads))
    command = [sys.executable, "-m", "firth.studies.families.training"]
    given = json.dumps(job.as_dict() | {"folder": str(job.folder.resolve())})
    ended = subprocess.run(
        command, env=os.environ | threads, input=given, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise FirthError(f"training {job.family} on {job.words:,} words failed: {last}")
    return json.loads(ended.stdout)


def train(job: Job) -> dict[str, Any]:
    """Does a job in this process: reads the text, trains on it, then judges what came of it."""
    runtime = Runtime(job.threads)
    cut = Tokenizer(mode="whitespace", normalizer=None)
    warm_up(job.recipe, runtime)
    before = peak_memory(runtime)
    corpus = Corpus([job.text], tokenizer=cut, threads=job.threads)
    reading, tokens = measure_time(corpus.tokens)
    training, made = measure_time(lambda: job.recipe.fit(corpus, runtime=runtime))  # type: ignore[attr-defined]
    found: dict[str, Any] = {"versions": versions(), "tokens": len(tokens), "types": len(tokens.vocabulary)}
    found |= {"reading": reading, "training": training}
    found |= {"megabytes_before": before, "megabytes": peak_memory(runtime)}
    if isinstance(job.recipe, Elmo):
        told = made.metadata
        rate = told["tokens_seen"] / told["seconds"]
        return found | {"tokens_seen": told["tokens_seen"], "tokens_a_second": round(rate, 1)}
    found["vocabulary"] = len(made.vocabulary)
    lookup = SparseLookup(made) if isinstance(made, CountMatrix) else Lookup(made, compose=False)
    found["whole"] = {name: score_set(lookup, name, runtime) for name in job.sets}
    folder = job.folder / job.asked
    return found | {"same": {name: score_set(lookup, folder / f"{name}.txt", runtime) for name in job.sets}}


def warm_up(recipe: Recipe, runtime: Runtime) -> None:
    """A training on a few lines, so that the next one finds its kernels compiled and loaded."""
    smaller: dict[str, Any] = {"min_count": 1}
    if isinstance(recipe, Elmo):
        smaller |= {"preset": "tiny", "minutes": None, "steps": 2, "batch": 4, "unroll": 4, "min_count": 1}
    elif not isinstance(recipe, Counts):
        smaller |= {"epochs": 1, "dim": 8} | ({"buckets": 100} if isinstance(recipe, FastText) else {})
    else:
        smaller |= {"dim": 2}
    corpus = Corpus.of([FIRST], tokenizer=Tokenizer(mode="whitespace", normalizer=None), threads=runtime.threads)
    type(recipe).from_dict(recipe.as_dict() | smaller).fit(corpus, runtime=runtime)  # type: ignore[attr-defined]


def score_set(lookup: Lookup, source: Name, runtime: Runtime) -> dict[str, Any]:
    """The score on a set in percent, and how many of its questions could be asked.

    Of fastText only the words of its list are asked, so that all families answer the same questions.
    """
    if questions.task_of(source) == "analogy":
        score = evaluate.analogies(lookup, source, runtime=runtime)
    else:
        score = evaluate.similarity(lookup, source)
    return as_percent(score)


def as_percent(score: Score) -> dict[str, Any]:
    """A score in percent, with its interval and how many questions it is of.

    >>> as_percent(Score("similarity", "men", "spearman", 0.51234, (0.5, 0.6), used=90, total=100))
    {'value': 51.23, 'interval': [50.0, 60.0], 'used': 90, 'total': 100}
    """
    value = None if score.value is None else round(100 * score.value, 2)
    interval = None if score.interval is None else [round(100 * edge, 2) for edge in score.interval]
    return {"value": value, "interval": interval, "used": score.used, "total": score.total}


def measure_time(work: Callable[[], Result]) -> tuple[dict[str, float], Result]:
    """The seconds that work took, by the clock and of the processor, and what came of it."""
    wall, cpu = time.perf_counter(), time.process_time()
    made = work()
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {name: round(value, 3) for name, value in seconds.items()}, made


def peak_memory(runtime: Runtime) -> float:
    """The most memory that this process has had so far, in megabytes."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return round(runtime.memory() / 1e6, 1)
    # Linux counts what the parent had when it started a process as that process's own, but not here.
    [kilobytes] = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    return round(int(kilobytes) * 1024 / 1e6, 1)


def job_of(given: Mapping[str, Any]) -> Job:
    """The job that JSON spells out."""
    values = dict(given)
    recipe = KINDS[values.pop("kind")].from_dict(values.pop("recipe"))
    folder, sets = Path(values.pop("folder")), tuple(values.pop("sets"))
    return Job(recipe=recipe, folder=folder, sets=sets, **values)


if __name__ == "__main__":
    json.dump(train(job_of(json.load(sys.stdin))), sys.stdout)
