"""Ray clusters of several nodes on this machine, killed nodes and killed drivers: are the results the same to the bit?

    python benchmarks/cluster_losses.py nodes [--words 200000] [--works counts ngram …] [--nodes 1 2 4]
    python benchmarks/cluster_losses.py killed-node
    python benchmarks/cluster_losses.py killed-driver
    python benchmarks/cluster_losses.py ray-train

`nodes` does each work on clusters of so many nodes; `killed-node` kills one of two nodes in the middle of each work;
`killed-driver` kills the process that runs the command, then runs it again. Every result is compared with that of one
process: counts with one thread, vectors with as many averaged copies. Tasks are small, so that there are many of them.
`ray-train` trains a small biLM with examples/ray_train.py on two workers, twice: one of them is killed in the second
training. The first is compared with one process, the second with the first.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import firth
from cluster import Copies
from firth.bulk.index import index_file
from firth.models import cooccurrence, ngram_counts, segmenter
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.studies.tasks.runs import TaskRun, gather
from firth.text import corpus
from train_static import write_text

LOOPBACK = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # nodes bind to loopback only
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",  # no task is killed because other programs fill the memory
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "GLOO_SOCKET_IFNAME": "lo",
}
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}
EVERY = 20_000  # words between two averages
BLOCK = 5_000  # tokens of a task that embeds
RECIPES: dict[str, Any] = {
    "counts": firth.Counts(kind="co-occurrence", window=5),
    "ngram": firth.Ngram(order=3),
    "phrases": firth.Phrases(passes=2),
    "segmenter": firth.Segmenter(),
    "glove": firth.Glove(dim=20, window=5, epochs=3),
    "word2vec": firth.Word2Vec(dim=20, epochs=1),
    "fasttext": firth.FastText(dim=20, epochs=1, buckets=20_000),
}
AVERAGED = "glove", "word2vec", "fasttext"
WORKS = (*RECIPES, "embed", "index", "study")
# The step whose reports are counted until somebody is killed, and how many are waited for.
MIDDLE = {
    "counts": ("counting", 2),
    "ngram": ("counting 3-grams", 2),
    "phrases": ("counting", 2),
    "segmenter": ("counting", 2),
    "glove": ("training", 3),
    "word2vec": ("training", 3),
    "fasttext": ("training", 3),
    "embed": ("", 4),
    "index": ("", 4),
    "study": ("trainings", 2),
}


def use_small_tasks() -> None:
    corpus.SHARD = 100_000
    cooccurrence.TASK_WORDS = ngram_counts.CHUNK = 20_000
    segmenter.TASK_CHARACTERS = 20_000


def write_texts(folder: Path, words: int) -> None:
    """English, and characters without spaces for the segmenter: the same text, each byte as a Chinese character."""
    write_text(folder / "text.txt", words)
    letters = (folder / "text.txt").read_bytes()[: 2 * words].replace(b" ", b"")
    table = {code: 0x4E00 + code for code in range(256) if code != 10}
    (folder / "characters.txt").write_text(letters.decode("latin-1").translate(table), encoding="utf-8")


def do(work: str, folder: Path, out: Path, runtime: Runtime, report: Report = silent) -> str:
    """Does the work and returns a hash of its result. What a killed process left in `out` is continued."""
    text = folder / "text.txt"
    if work == "embed":
        path = out / "vectors.safetensors"
        firth.embed_file("svd-en", text, path, block_tokens=BLOCK, runtime=runtime, report=report)
        return hash_files(path)
    if work == "index":
        index_file("svd-en", text, out / "index", block_tokens=BLOCK, runtime=runtime, report=report)
        return hash_files(out / "index")
    if work == "study":
        runs = [TaskRun("ner", seed=seed, quick=True) for seed in (1, 2, 3)]
        found = gather(runs, out / "study", runtime, report)
        kept = [[found[run]["test"], [epoch["loss"] for epoch in found[run]["epochs"]]] for run in runs]
        return hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:16]
    source = firth.Corpus(folder / "characters.txt" if work == "segmenter" else text)
    options = {"checkpoint": out / "state"} if work in AVERAGED else {}
    parts = RECIPES[work].fit(source, runtime=runtime, report=report, **options).to_parts()
    digest = hashlib.sha256()
    for name in sorted(parts.arrays):
        digest.update(name.encode() + parts.arrays[name].tobytes())
    for name in sorted(parts.vocabularies):
        digest.update("\n".join(parts.vocabularies[name]).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def hash_files(path: Path) -> str:
    """A hash of the arrays of an output; its settings name the folder."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*.safetensors")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def expect(work: str, folder: Path, workers: int) -> str:
    """The hash of the work in this process."""
    with tempfile.TemporaryDirectory() as out:
        runtime = Copies(1, copies=workers, every=EVERY) if work in AVERAGED else Runtime(1)
        return do(work, folder, Path(out), runtime)


@contextmanager
def ray_nodes(count: int) -> Iterator[Any]:
    """A cluster of so many nodes with one core each."""
    import ray
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args=NODE)
    for _ in range(count - 1):
        nodes.add_node(**NODE)
    try:
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


def connect(nodes: Any, folder: Path | None = None) -> Any:
    from firth.distributed.cluster import connect

    return connect(nodes.address, threads=1, round_words=EVERY, folder=folder)


def in_the_middle(work: str, act: Callable[[], None]) -> Callable[[Progress], None]:
    """A function for reports that acts once, in the middle of the work."""
    step, wanted = MIDDLE[work]
    seen = 0

    def watch(progress: Progress) -> None:
        nonlocal seen
        if progress.step.startswith(step):
            seen += 1
            if seen == wanted:
                act()

    return watch


def compare_nodes(works: list[str], counts: list[int], folder: Path) -> None:
    print("| work | nodes | equal to one process | seconds |\n|---|---|---|---|", flush=True)
    for count in counts:
        with ray_nodes(count) as nodes:
            cluster = connect(nodes)
            for work in works:
                wanted = expect(work, folder, cluster.workers)
                with tempfile.TemporaryDirectory() as out:
                    clock = time.perf_counter()
                    found = do(work, folder, Path(out), cluster)
                print(f"| {work} | {count} | {found == wanted} | {time.perf_counter() - clock:.1f} |", flush=True)


def kill_nodes(works: list[str], folder: Path) -> None:
    print("| work | a node was killed | equal to one process | seconds |\n|---|---|---|---|", flush=True)
    with ray_nodes(1) as nodes:
        for work in works:
            victim = nodes.add_node(**NODE)
            cluster = connect(nodes)
            wanted = expect(work, folder, cluster.workers)
            killed = []

            def kill(victim: Any = victim, killed: list[bool] = killed) -> None:
                nodes.remove_node(victim, allow_graceful=False)
                killed.append(True)

            with tempfile.TemporaryDirectory() as out:
                clock = time.perf_counter()
                found = do(work, folder, Path(out), cluster, in_the_middle(work, kill))
            seconds = time.perf_counter() - clock
            print(f"| {work} | {bool(killed)} | {found == wanted} | {seconds:.1f} |", flush=True)
            if not killed:
                nodes.remove_node(victim)


def kill_drivers(works: list[str], folder: Path) -> None:
    print(
        "| work | the driver was killed | equal to one process | seconds of the rest |\n|---|---|---|---|", flush=True
    )
    with ray_nodes(2) as nodes:
        for work in works:
            wanted = expect(work, folder, 2)
            with tempfile.TemporaryDirectory() as out:
                command = [sys.executable, __file__, "drive", work, str(folder), out, nodes.address]
                died = subprocess.run([*command, "die"], check=False, capture_output=True, text=True)
                clock = time.perf_counter()
                again = subprocess.run([*command, "live"], check=True, capture_output=True, text=True)
            seconds = time.perf_counter() - clock
            is_equal = again.stdout.split()[-1] == wanted
            print(f"| {work} | {died.returncode == -signal.SIGKILL} | {is_equal} | {seconds:.1f} |", flush=True)


def drive(work: str, folder: str, out: str, address: str, how: str) -> None:
    """The driver of `kill_drivers`, which prints the hash of the result unless it dies."""
    from firth.distributed.cluster import connect

    cluster = connect(address, threads=1, round_words=EVERY, folder=Path(out, "tasks"))
    report = in_the_middle(work, lambda: os.kill(os.getpid(), signal.SIGKILL)) if how == "die" else silent
    print(do(work, Path(folder), Path(out), cluster, report))


def compare_ray_train(folder: Path) -> None:
    import torch

    place = Path(__file__).parents[1] / "examples" / "ray_train.py"
    spec = importlib.util.spec_from_file_location("ray_train", place)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    options = {"preset": "tiny", "batch": 32, "unroll": 10, "steps": 60, "save_every": 10, "dropout": 0.1}
    settings = {"text": str(folder / "text.txt"), "device": "cpu", "threads": 1, "options": options}
    train = example.train
    train({**settings, "state": str(folder / "one"), "out": str(folder / "alone")})
    mark = folder / "killed"
    with ray_nodes(2) as nodes:
        connect(nodes)
        example.launch({**settings, "state": str(folder / "two"), "out": str(folder / "together")}, 2)
        example.train = lambda settings: train_and_die(train, settings, mark)
        example.launch({**settings, "state": str(folder / "three"), "out": str(folder / "again")}, 2)
    alone, together, again = (firth.load(folder / name).state_dict() for name in ("alone", "together", "again"))
    largest = max(float((values - together[name]).abs().max()) for name, values in alone.items())
    weight = max(float(values.abs().max()) for values in alone.values())
    equal = all(torch.equal(values, again[name]) for name, values in together.items())
    print(f"Two workers and one process: largest difference of a weight {largest:.2g} (largest weight {weight:.2g}).")
    print(f"A worker was killed: {mark.exists()}; the weights are equal to the bit: {equal}.")


def train_and_die(train: Callable[[Any], None], settings: Any, mark: Path) -> None:
    """The training of a worker. That of rank 1 is killed once, after the first checkpoint."""

    def wait_and_kill() -> None:
        while not any(Path(settings["state"]).glob("state-*.safetensors")):
            time.sleep(0.005)
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)

    if os.environ["RANK"] == "1" and not mark.exists():
        threading.Thread(target=wait_and_kill, daemon=True).start()
    train(settings)


def main() -> None:
    for name, value in LOOPBACK.items():
        os.environ.setdefault(name, value)  # Ray reads them when it is imported
    if sys.argv[1:2] == ["drive"]:
        use_small_tasks()
        drive(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("nodes", "killed-node", "killed-driver", "ray-train"))
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--works", nargs="+", choices=WORKS, default=list(WORKS))
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    use_small_tasks()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder, options.words)
        if options.what == "nodes":
            compare_nodes(options.works, options.nodes, folder)
        elif options.what == "killed-node":
            kill_nodes(options.works, folder)
        elif options.what == "killed-driver":
            kill_drivers(options.works, folder)
        else:
            compare_ray_train(folder)


if __name__ == "__main__":
    main()
