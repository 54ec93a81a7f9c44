"""Work on a Ray cluster: what it costs on one machine, and what averaging costs in quality.

    python benchmarks/cluster.py overhead RESULTS.jsonl [--words 10000000] [--workers 1 2 4] [--cores N]
    python benchmarks/cluster.py quality RESULTS.jsonl [--words 17000000] [--workers 2 4 8] [--every 50000 500000]
    python benchmarks/cluster.py data RESULTS.jsonl [--words 1000000] [--workers 2]   # plain tasks or Ray Data?
    python benchmarks/cluster.py memory RESULTS.jsonl [--words 4000000]   # of the driver, and of one process
    python benchmarks/cluster.py show RESULTS.jsonl

`overhead` does some works in one process, with one thread and with two, then on a cluster of processes of this machine,
in the same run, and compares the results: they must be equal to the bit (those of word2vec to as many averaged copies).
CPU seconds are those of the driver and of all workers together, without the processes of Ray itself. What it takes to
start Ray and its workers is told on its own. `quality` trains vectors alone and with the averaged copies of several
workers. These copies depend on the number of workers and on the interval alone, so that they are computed here one
after another, without Ray. `memory` counts pairs and n-grams of texts of three sizes in one process and as the driver
of two workers; each count is a process of its own, whose memory is looked at every 20 milliseconds.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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
OVERHEAD: dict[str, Any] = {
    "pairs, window 5": Counts(kind="co-occurrence", window=5, min_count=5),
    "n-grams of order 3": Ngram(order=3),
    "word2vec, dim 100, 1 epoch": Word2Vec(epochs=1, subsample=1e-3),
    "vectors of lines": None,
}
TRAINED: dict[str, Any] = {"word2vec": Word2Vec(), "fasttext": FastText(buckets=200_000), "glove": Glove(window=10)}


@dataclass(frozen=True)
class Copies(Runtime):
    """The averaging of a cluster without Ray: copies are trained one after another."""

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
    time.sleep(0.5)  # so that the next task goes to another worker


def start_workers(cluster: Runtime, text: str) -> None:
    list(cluster.scatter(warm_up, range(3 * cluster.workers), shared=text))


def measure_overhead(text: Path, words: int, workers: list[int], out: Path) -> None:
    import ray

    from firth.distributed.cluster import connect

    short = text.with_name("short.txt")
    short.write_text("hot tea in the cold rain .\n" * 50, encoding="utf-8")
    warm_up(str(short), 0)
    expected: dict[str, str] = {}
    for threads in (1, 2):
        for name in OVERHEAD:
            result, seconds, cpu = measure(do, name, text, Runtime(threads))
            expected.setdefault(name, result)
            equal = result == expected[name] if threads == 1 or not isinstance(OVERHEAD[name], Word2Vec) else None
            row = {"work": name, "where": f"{threads} threads", "words": words, "equal": equal}
            write(out, kind="overhead", **row, seconds=seconds, cpu=cpu)
    for count in workers:
        clock = time.perf_counter()
        ray.init("local", num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        cluster = connect("local", threads=1, round_words=EVERY)
        started = time.perf_counter() - clock
        _, warm, cpu = measure(start_workers, cluster, str(short))
        where = f"{count} workers"
        write(out, kind="start", where=where, seconds=started, warm=warm, cpu=cpu)
        for name, recipe in OVERHEAD.items():
            wanted = expected[name]
            if isinstance(recipe, Word2Vec) and count > 1:
                wanted = do(name, text, Copies(1, copies=count, every=EVERY))
            result, seconds, cpu = measure(do, name, text, cluster)
            row = {"work": name, "where": where, "words": words, "equal": result == wanted}
            write(out, kind="overhead", **row, seconds=seconds, cpu=cpu)
        ray.shutdown()


def measure_quality(
    text: Path, words: int, workers: list[int], every: list[int], recipes: list[str], out: Path
) -> None:
    corpus = make_corpus(text)
    settings = [(1, 0), *((count, interval) for count in workers for interval in every)]
    for name in recipes:
        recipe = replace(TRAINED[name], **({} if name == "glove" else {"subsample": 1e-3}))
        for count, interval in settings:
            runtime = Runtime(1) if interval == 0 else Copies(1, copies=count, every=interval)
            vectors = recipe.fit(corpus, runtime=runtime)
            loss = vectors.metadata["loss"][-1]
            values = {"recipe": name, "workers": count, "every": interval, "words": words, "loss": loss}
            write(out, kind="quality", **values, **evaluate(vectors))


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
    for row in (row for row in rows if row["kind"] == "overhead"):
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
    print(f"\n| recipe | workers | words between averages | {' | '.join(SETS)} |\n|---|---|---|{'---|' * len(SETS)}")
    for row in (row for row in rows if row["kind"] == "quality"):
        scores = " | ".join(f"{row[name]:.1f}" for name in SETS)
        print(f"| {row['recipe']} | {row['workers']} | {row['every'] or 'no averages'} | {scores} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("overhead", "quality", "data", "memory", "show"))
    parser.add_argument("results", type=Path)
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=None)
    parser.add_argument("--every", type=int, nargs="+", default=[50_000, 500_000])
    parser.add_argument("--recipes", nargs="+", default=list(TRAINED))
    options = parser.parse_args()
    if options.what == "show":
        show(options.results)
        return
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "text.txt")
        write_text(text, options.words)
        if options.what == "overhead":
            measure_overhead(text, options.words, options.workers or [1, 2, 4], options.results)
        elif options.what == "data":
            measure_data(text, options.words, options.workers or [2], options.results)
        elif options.what == "memory":
            measure_memory(text, options.words, options.results)
        else:
            workers = options.workers or [2, 4, 8]
            measure_quality(text, options.words, workers, options.every, options.recipes, options.results)


if __name__ == "__main__":
    main()
