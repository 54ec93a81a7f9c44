"""How much faster is an epoch of a task when a frozen biLM's layers are kept, and where does the time go?

    python benchmarks/task_epochs.py [--device cuda] [--sizes small original] [--examples 200]

Random biLMs of the published sizes: their speed does not depend on what they have learnt. For each size and task, one
training without a cache and one with it; an epoch's time is the median of those after the first. How much is won is
decided by how large the task's network is beside the biLM.
"""

import argparse
from itertools import pairwise
from statistics import median
from typing import Any

from firth.data import folder
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding
from firth.tasks.ner.task import Ner
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.sources import Sources
from firth.tasks.training import Training, fit

EPOCHS = 4
CASES: dict[str, tuple[Any, str, Any]] = {
    "ner": (Ner(), "ner/wikigold.conll", "input"),
    "sentiment, plain": (Sentiment(architecture="plain", phrases=False), "sentiment/sst5-train.txt", "input"),
    "sentiment, biattentive": (Sentiment(phrases=False), "sentiment/sst5-train.txt", "both"),
}


def epoch(name: str, count: int, sources: Sources, cache: float, runtime: Runtime) -> tuple[float, float, float]:
    """Seconds of a later epoch, words a second in it, and the biLM's share of it."""
    task, file, at = CASES[name]
    examples = task.read(folder() / "data/tasks" / file)
    examples = examples[:: max(1, len(examples) // count)]
    training = Training(epochs=EPOCHS, batch=32, cache=cache)
    embedding = Embedding(elmo="random", at=at, characters=16)
    lines = fit(task, embedding, examples, (), training, runtime=runtime, sources=sources).metadata["epochs"]
    times = [after["seconds"] - before["seconds"] for before, after in pairwise(lines)]
    bilm = [after["bilm_seconds"] - before["bilm_seconds"] for before, after in pairwise(lines)]
    return median(times), lines[-1]["words"] / EPOCHS / median(times), sum(bilm) / sum(times)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sizes", nargs="*", default=["small", "original"])
    parser.add_argument("--examples", type=int, default=200)
    given = parser.parse_args()
    runtime = Runtime.from_env(device=given.device)
    print(f"{'biLM':9} {'task':23} {'cache':>6} {'s/epoch':>9} {'words/s':>9} {'in biLM':>8} {'faster':>8}")
    for size in given.sizes:
        sources = Sources(bilm=BiLM(Architecture.named(size)))
        for name in CASES:
            slow = None
            for cache in (0.0, 16.0):
                seconds, speed, share = epoch(name, given.examples, sources, cache, runtime)
                slow = slow or seconds
                row = f"{seconds:9.2f} {speed:9.0f} {share:8.0%} {slow / seconds:7.1f}×"
                print(f"{size:9} {name:23} {'yes' if cache else 'no':>6} {row}", flush=True)


if __name__ == "__main__":
    main()
