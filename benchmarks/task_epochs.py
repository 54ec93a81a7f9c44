"""Speedup of task training by a cache of the frozen biLM's layers, and the share of the biLM in the time of an epoch.

    python benchmarks/task_epochs.py [--device cuda] [--sizes small original] [--examples 200]

The biLMs have the published sizes and random weights, which do not affect the speed. For each size and task, there is
one training without the cache and one with it. The time of an epoch is the median without the first epoch. The speedup
depends on the size of the task's network relative to the biLM.
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


def measure_epoch(
    name: str, count: int, sources: Sources, cache: float, runtime: Runtime
) -> tuple[float, float, float]:
    """Median seconds per epoch, words per second, and the share of the biLM in the time; without the first epoch."""
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu or cuda; default: cpu.")
    parser.add_argument(
        "--sizes", nargs="*", default=["small", "original"], help="Sizes of the biLM; default: small original."
    )
    parser.add_argument("--examples", type=int, default=200, help="Training examples; default: 200.")
    args = parser.parse_args()
    runtime = Runtime.from_env(device=args.device)
    print(f"{'biLM':9} {'task':23} {'cache':>6} {'s/epoch':>9} {'words/s':>9} {'in biLM':>8} {'faster':>8}")
    for size in args.sizes:
        sources = Sources(bilm=BiLM(Architecture.named(size)))
        for name in CASES:
            slow = None
            for cache in (0.0, 16.0):
                seconds, speed, share = measure_epoch(name, args.examples, sources, cache, runtime)
                slow = slow or seconds
                row = f"{seconds:9.2f} {speed:9.0f} {share:8.0%} {slow / seconds:7.1f}×"
                print(f"{size:9} {name:23} {'yes' if cache else 'no':>6} {row}", flush=True)


if __name__ == "__main__":
    main()
