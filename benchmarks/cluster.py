"""Work on a Ray cluster: what it costs on one machine, and what averaging costs in quality.

    python benchmarks/cluster.py overhead RESULTS.jsonl [--words 10000000] [--threads 1 2] [--workers 1 2 4]
                                          [--rounds 3]
    python benchmarks/cluster.py quality RESULTS.jsonl [--words 17000000] [--workers 2 4 8] [--every 50000 500000]
                                         [--rates 1 2] [--seeds 1 2] [--jobs 4]
    python benchmarks/cluster.py data RESULTS.jsonl [--words 1000000] [--workers 2]   # plain tasks or Ray Data?
    python benchmarks/cluster.py memory RESULTS.jsonl [--words 4000000]   # of the driver, and of one process
    python benchmarks/cluster.py show RESULTS.jsonl

`overhead` does some works in one process, with one thread and with several, then on a cluster of processes of this
machine, in the same run, and compares the results: they must be equal to the bit (those of word2vec to as many averaged
copies). Vectors of lines are those of the first tenth of the text. A work is done `--rounds` times, but not again once
it took a second; `show` takes the fastest round. CPU seconds are those of the driver and of all workers
together, without the processes of Ray itself. What it takes to start Ray and its workers is told on its own.

`quality` trains vectors with one thread (with its learning rate times each of `--rates`) and with the averaged copies
of several workers. These copies depend on the number of workers and on the interval alone, so that they are computed
here without Ray, in FIRTH_THREADS threads. `--jobs` trainings run beside each other.

`memory` counts pairs and n-grams of texts of three sizes in one process and as the driver of two workers; each count is
a process of its own, whose memory is looked at every 20 milliseconds.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from firth.bulk.embed_file import embed_file
from firth.models.counts import Counts
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from quality_static import SETS, evaluate
from train_static import write_text

EVERY = 200_000  # words between two averages of `overhead`
LINES = 10  # vectors of lines are those of the first tenth of the text
ROUND_SECONDS = 1.0  # a work that took longer is not repeated
OVERHEAD: dict[str, Any] = {
    "pairs, window 5": Counts(kind="co-occurrence", window=5, min_count=5),
    "n-grams of order 3": Ngram(order=3),
    "word2vec, dim 100, 1 epoch": Word2Vec(epochs=1, subsample=1e-3),
    "vectors of lines": None,
}
TRAINED: dict[str, Any] = {"word2vec": Word2Vec(), "fasttext": FastText(buckets=200_000), "glove": Glove(window=10)}


@dataclass(frozen=True)
class Copies(Runtime):
    """The averaging of a cluster without Ray: copies are trained in threads."""

    copies: int = 1
    every: int = 200_000

    @property
    def workers(self) -> int:
        return self.copies

    @property
    def average_every(self) -> int:
        return self.every


def make_corpus(text: Path) -> Corpus:
    return Corpus([text], tokenizer=Tokenizer(mode="whitespace", normalizer=None), threads=1)


def cpu_seconds() -> float:
    """CPU seconds of this process and of the workers of its cluster."""
    import psutil

    own = psutil.Process()
    total = sum(own.cpu_times()[:2])
    for process in own.children(recursive=True):
        with suppress(psutil.Error):
            if "".join(process.cmdline()[:1]).startswith("ray::"):
                total += sum(process.cpu_times()[:2])
    return total


def measure(call: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    """The result of a call, its seconds, and its CPU seconds."""
    cpu, clock = cpu_seconds(), time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - clock, cpu_seconds() - cpu


def do(name: str, text: Path, runtime: Runtime) -> str:
    """Does a work on a text and returns a hash of its result."""
    digest = hashlib.sha256()
    if OVERHEAD[name] is None:
        with tempfile.TemporaryDirectory() as folder:
            embed_file("svd-en", text, Path(folder, "v.safetensors"), pooling="mean", runtime=runtime)
            for path in sorted(Path(folder).rglob("*.safetensors")):
                if path.is_file():
                    digest.update(path.read_bytes())
    else:
        parts = OVERHEAD[name].fit(make_corpus(text), runtime=runtime).to_parts()
        for array in parts.arrays.values():
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def warm_up(text: str, _: int) -> None:
    """What a worker does first: it imports firth and loads the kernels."""
    for name in OVERHEAD:
        do(name, Path(text), Runtime(1))
        do(name, Path(text), Copies(1, copies=2, every=50))  # the kernels of tasks
    time.sleep(0.5)  # so that the next task goes to another worker


def start_workers(cluster: Runtime, text: str) -> None:
    list(cluster.scatter(warm_up, range(3 * cluster.workers), shared=text))
    for name in OVERHEAD:
        do(name, Path(text), cluster)


def average_copies(name: str, text: Path, copies: int) -> str:
    """The hash of what as many averaged copies learn, to compare workers with."""
    return do(name, text, Copies(1, copies=copies, every=EVERY))


def start_pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))


def measure_overhead(text: Path, words: int, threads: list[int], workers: list[int], rounds: int, out: Path) -> None:
    import ray

    from firth.distributed.cluster import connect

    short, part = text.with_name("short.txt"), text.with_name("part.txt")
    short.write_text("hot tea in the cold rain .\n" * 50, encoding="utf-8")
    write_text(part, words // LINES)
    sizes = {name: (text, words) if recipe else (part, words // LINES) for name, recipe in OVERHEAD.items()}
    warm_up(str(short), 0)
    expected: dict[str, str] = {}
    copied: dict[tuple[str, int], str] = {}  # of averaged copies

    def repeat(where: str, runtime: Runtime) -> None:
        """Does each work, up to `rounds` times."""
        for name, (source, size) in sizes.items():
            wanted = expected.get(name)
            if isinstance(OVERHEAD[name], Word2Vec):
                wanted = copied.get((name, runtime.workers)) if runtime.workers > 1 else wanted
                wanted = None if runtime.threads > 1 else wanted  # threads share the rows, in no order
            spent = 0.0
            for _ in range(rounds):
                result, seconds, cpu = measure(do, name, source, runtime)
                equal = result == wanted if wanted else None
                write(out, kind="overhead", work=name, where=where, words=size, equal=equal, seconds=seconds, cpu=cpu)
                spent += seconds
                if spent > ROUND_SECONDS:
                    break
            if runtime.threads == 1:
                expected.setdefault(name, result)

    for count in threads:
        repeat(f"{count} threads", Runtime(count))
    pairs = [(name, count) for name in OVERHEAD for count in workers if isinstance(OVERHEAD[name], Word2Vec)]
    with start_pool(min(len(pairs), os.cpu_count() or 1)) as pool:
        hashes = pool.map(average_copies, *zip(*((name, text, count) for name, count in pairs)))
        copied.update(zip(pairs, hashes))
    for count in workers:
        clock = time.perf_counter()
        ray.init("local", num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        cluster = connect("local", threads=1, round_words=EVERY)
        started = time.perf_counter() - clock
        _, warm, cpu = measure(start_workers, cluster, str(short))
        write(out, kind="start", where=f"{count} workers", seconds=started, warm=warm, cpu=cpu)
        repeat(f"{count} workers", cluster)
        ray.shutdown()


@dataclass(frozen=True)
class Setting:
    """A training of `quality`: a recipe, averaged copies, words between two averages, and the factor of the rate."""

    recipe: str
    copies: int = 1
    every: int = 0
    factor: float = 1.0
    seed: int = 1

    def train(self, text: Path) -> dict[str, Any]:
        """The loss and the scores of the vectors."""
        recipe = replace(TRAINED[self.recipe], seed=self.seed)
        if self.recipe != "glove":
            recipe = replace(recipe, subsample=1e-3)
        if self.factor != 1.0:
            rate = recipe.first_rate if isinstance(recipe, Word2Vec) else recipe.learning_rate
            recipe = replace(recipe, learning_rate=self.factor * rate)
        threads = Runtime.from_env().threads
        runtime = Copies(threads, copies=self.copies, every=self.every) if self.every else Runtime(1)
        vectors, seconds, cpu = measure(lambda: recipe.fit(make_corpus(text), runtime=runtime))
        return {"loss": vectors.metadata["loss"][-1], "seconds": seconds, "cpu": cpu, **evaluate(vectors)}


def measure_quality(text: Path, words: int, settings: list[Setting], jobs: int, out: Path) -> None:
    with start_pool(jobs) as pool:
        running = {pool.submit(setting.train, text): setting for setting in settings}
        for ended in as_completed(running):
            setting = running[ended]
            values = {"recipe": setting.recipe, "workers": setting.copies, "every": setting.every}
            values |= {"factor": setting.factor, "seed": setting.seed, "words": words}
            write(out, kind="quality", **values, **ended.result())


Pairs = dict[str, np.ndarray[Any, Any]]


def count_shard(ids: Any, edges: tuple[int, int]) -> Pairs:
    """The pairs of neighboring words in a shard, as one number each, and how often they occur."""
    own = np.asarray(ids[edges[0] : edges[1] + 1], np.int64)
    keys, counts = np.unique(own[:-1] << 32 | own[1:], return_counts=True)
    return {"key": keys, "count": counts}


def count_ranges(shared: tuple[Any, int], edges: tuple[int, int]) -> list[Pairs]:
    """As `count_shard`, cut into ranges of keys."""
    ids, parts = shared
    pairs = count_shard(ids, edges)
    place = pairs["key"] * 0x9E3779B1 % parts
    return [{name: array[place == part] for name, array in pairs.items()} for part in range(parts)]


def merge_ranges(results: Sequence[Pairs]) -> Pairs:
    """The sum of the counts of a range of keys."""
    keys, places = np.unique(np.concatenate([one["key"] for one in results]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([one["count"] for one in results])).astype(np.int64)
    return {"key": keys, "count": counts}


def measure_data(text: Path, words: int, workers: list[int], out: Path) -> None:
    """The same counting and the same sums by key, with plain tasks and with Ray Data."""
    import ray
    import ray.data

    from firth.distributed.cluster import connect

    ids = np.array(make_corpus(text).tokens().ids)
    edges = [(first, min(first + 50_000, len(ids) - 1)) for first in range(0, len(ids) - 1, 50_000)]
    for count in workers:
        ray.init("local", num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        cluster = connect("local", threads=1)
        list(cluster.scatter(pow, range(4 * count), shared=2))

        def with_tasks(cluster: Runtime = cluster, parts: int = count) -> Pairs:
            found = cluster.map_reduce(count_ranges, merge_ranges, edges, parts=parts, shared=(ids, parts))
            return merge_ranges(list(found))

        def with_data(count: int = count) -> Pairs:
            held = ray.put(ids)

            def count_batch(batch: Pairs) -> Pairs:
                found = [count_shard(ray.get(held), pair) for pair in zip(batch["first"], batch["last"])]
                return {name: np.concatenate([one[name] for one in found]) for name in ("key", "count")}

            rows = ray.data.from_items([{"first": first, "last": last} for first, last in edges])
            sums = rows.map_batches(count_batch, batch_size=1).groupby("key", num_partitions=4 * count).sum("count")
            columns = sums.to_pandas()
            order = np.argsort(columns["key"].to_numpy())
            return {"key": columns["key"].to_numpy()[order], "count": columns["sum(count)"].to_numpy()[order]}

        expected: Pairs = {}
        for name, call in (("plain tasks", with_tasks), ("Ray Data", with_data)) * 2:
            found, seconds, cpu = measure(call)
            expected = expected or found
            equal = all(np.array_equal(array, found[key]) for key, array in expected.items())
            row = {"way": name, "workers": count, "words": words, "equal": equal}
            write(out, kind="data", **row, seconds=seconds, cpu=cpu)
        ray.shutdown()


COUNTED: dict[str, Any] = {
    "pairs, window 10": Counts(kind="co-occurrence", window=10, min_count=5),
    "n-grams of order 5": Ngram(order=5),
}


@dataclass
class MemoryPeak:
    """The largest memory of this process while it is watched: its own, and what it shares with other processes."""

    own: int = 0
    shared: int = 0

    def look(self) -> None:
        pages = [int(number) for number in Path("/proc/self/statm").read_text().split()[1:3]]
        own, shared = (os.sysconf("SC_PAGESIZE") * number for number in (pages[0] - pages[1], pages[1]))
        self.own, self.shared = max(self.own, own), max(self.shared, shared)


@contextmanager
def watch_memory() -> Iterator[MemoryPeak]:
    """The memory that this process takes in the meantime, beyond what it has now."""
    before, peak, is_over = MemoryPeak(), MemoryPeak(), threading.Event()
    before.look()

    def watch() -> None:
        while not is_over.wait(0.02):
            peak.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield peak
    is_over.set()
    watcher.join()
    peak.own, peak.shared = peak.own - before.own, peak.shared - before.shared


def count_and_watch(name: str, text: str, where: str) -> None:
    """Prints what a count needs, for `measure_memory`."""
    from firth.distributed.cluster import connect

    short = Path(text).with_name("short.txt")
    short.write_text("hot tea in the cold rain .\n" * 50, encoding="utf-8")
    COUNTED[name].fit(make_corpus(short), runtime=Runtime(1))  # loads the kernels
    corpus = make_corpus(Path(text))
    corpus.tokens()
    runtime = connect("local", threads=2) if where == "cluster" else Runtime(1)
    with watch_memory() as peak:
        found = COUNTED[name].fit(corpus, runtime=runtime)
    items = sum(found.levels) if isinstance(found, NgramModel) else found.matrix.nnz
    print(json.dumps({"items": items, "own": peak.own, "shared": peak.shared}))


def measure_memory(text: Path, words: int, out: Path) -> None:
    for part in (words // 4, words // 2, words):
        write_text(text, part)
        for name, where in itertools.product(COUNTED, ("one process", "cluster")):
            code = f"import cluster; cluster.count_and_watch({name!r}, {str(text)!r}, {where!r})"
            command = [sys.executable, "-c", code]
            ended = subprocess.run(command, cwd=Path(__file__).parent, check=True, stdout=subprocess.PIPE, text=True)
            write(out, kind="memory", work=name, where=where, words=part, **json.loads(ended.stdout.splitlines()[-1]))


def write(out: Path, **values: Any) -> None:
    print(values, flush=True)
    with open(out, "a", encoding="utf-8") as file:
        file.write(json.dumps(values) + "\n")


def show(path: Path) -> None:
    """The results as tables in Markdown."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    print("| work | where | seconds | CPU seconds | CPU, of one thread | equal |\n|---|---|---|---|---|---|")
    base: dict[str, float] = {}
    fastest: dict[tuple[str, str], Any] = {}
    for row in (row for row in rows if row["kind"] == "overhead"):
        known = fastest.setdefault((row["work"], row["where"]), row)
        equal = None if row["equal"] is None else row["equal"] and known["equal"]
        fastest[row["work"], row["where"]] = min(known, row, key=lambda one: one["seconds"]) | {"equal": equal}
    for row in fastest.values():
        base.setdefault(row["work"], row["cpu"])
        times = f"{row['seconds']:.1f} | {row['cpu']:.1f} | {row['cpu'] / base[row['work']]:.2f}"
        equal = {True: "yes", False: "NO", None: ""}[row["equal"]]  # threads of word2vec share the rows
        print(f"| {row['work']} | {row['where']} | {times} | {equal} |")
    for row in (row for row in rows if row["kind"] == "start"):
        print(f"{row['where']}: Ray {row['seconds']:.1f} s, workers {row['warm']:.1f} s ({row['cpu']:.1f} CPU seconds)")
    print(f"\n| work | words | where | cells or n-grams | own memory, MB | bytes each | shared, MB |\n{'|---' * 7}|")
    for row in (row for row in rows if row["kind"] == "memory"):
        sizes = f"{row['own'] / 1e6:,.0f} | {row['own'] / row['items']:.0f} | {row['shared'] / 1e6:,.0f}"
        print(f"| {row['work']} | {row['words']:,} | {row['where']} | {row['items']:,} | {sizes} |")
    columns = ("recipe", "workers", "words between averages", "rate", "seed", "loss", *SETS)
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    trained = [row for row in rows if row["kind"] == "quality"]
    for row in sorted(trained, key=lambda row: (row["recipe"], row["workers"], row["every"], row["factor"])):
        scores = " | ".join([f"{row['loss']:.3f}", *(f"{row[name]:.1f}" for name in SETS)])
        every, rate = row["every"] or "no averages", f"{row['factor']:g} times" if row["factor"] != 1 else "default"
        print(f"| {row['recipe']} | {row['workers']} | {every} | {rate} | {row['seed']} | {scores} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("overhead", "quality", "data", "memory", "show"))
    parser.add_argument("results", type=Path)
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--workers", type=int, nargs="+", default=None)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--every", type=int, nargs="+", default=[50_000, 500_000])
    parser.add_argument("--rates", type=float, nargs="+", default=[1.0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--recipes", nargs="+", default=list(TRAINED))
    options = parser.parse_args()
    if options.what == "show":
        show(options.results)
        return
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "text.txt")
        write_text(text, options.words)
        if options.what == "overhead":
            workers = options.workers or [1, 2, 4]
            measure_overhead(text, options.words, options.threads, workers, options.rounds, options.results)
        elif options.what == "data":
            measure_data(text, options.words, options.workers or [2], options.results)
        elif options.what == "memory":
            measure_memory(text, options.words, options.results)
        else:
            workers = sorted(options.workers or [2, 4, 8], reverse=True)  # the longest trainings first
            each = list(itertools.product(options.recipes, options.seeds))
            settings = [
                *(
                    Setting(name, count, every, seed=seed)
                    for count in workers
                    for every in options.every
                    for name, seed in each
                ),
                *(Setting(name, factor=factor, seed=seed) for factor in options.rates for name, seed in each),
            ]
            measure_quality(text, options.words, settings, options.jobs, options.results)


if __name__ == "__main__":
    main()
