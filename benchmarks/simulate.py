"""What a text of any size costs: a simulation of shards, stragglers and failures, and a plan from measured rates.

    python benchmarks/simulate.py plan [--gigabytes 100 10000] [--nodes 4] [--cores 64] [--gpus 8] [--gigabits 10]
    python benchmarks/simulate.py growth --millions 1 2 4   # the numbers that `plan` extrapolates
    python benchmarks/simulate.py tasks --tasks 2000 --seconds 30 --workers 64 --spread 0.5 --lifetime 20
    python benchmarks/simulate.py compare                   # small cases against a Ray cluster on this machine

`plan` multiplies rates per core and per GPU that were measured (WORKS, from benchmarks/RESULTS.md), and sizes of types,
cells and n-grams that are extrapolated from measured ones (`growth`). `tasks` simulates
one stage on a cluster: tasks of random length, nodes that are lost, their tasks repeated. `compare` runs tasks that
sleep on real Ray clusters of one machine, one of which loses a node, beside the simulation of the same tasks.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

BYTES_PER_TOKEN = 5.14  # of English: en-01 has 184 MB and 35.8 million tokens
HOUR = 3600.0
NOTICE = 15.0  # seconds until Ray declares a silent node dead: five health checks, one every three seconds
DIM = 100
ROUND = 1_000_000  # words that a worker trains on between two averages
ROUND_ROWS = 200_000  # rows of both tables that a worker changes in such a round, at most
BUCKETS = 2_000_000  # rows of fastText for n-grams of characters
ELMO = 93.6e6  # parameters of the original size
ELMO_STEP = 8192 * 20  # tokens of a step: rows of a batch × steps of unrolling
CELL_BYTES, NGRAM_BYTES = 13, 52  # of the driver's memory at its peak, measured by `cluster.py memory`
TYPE_BYTES = 45  # of a word while text is read: its bytes, offset, count, and two slots of the hash table


@dataclass(frozen=True)
class Growth:
    """How many different things a text of n tokens has: `at` 4 million tokens `count`, then as n to the power."""

    count: float
    power: float
    at: float = 4e6

    def of(self, tokens: float) -> float:
        """The number in a text of so many tokens.

        >>> Growth(100, 0.5).of(16e6)
        200.0
        """
        return self.count * (tokens / self.at) ** self.power


# Measured by `simulate.py growth` on the first 1, 2 and 4 million words of English; beyond that, extrapolated.
TYPES = Growth(116_558, 0.533)
KEPT = Growth(34_482, 0.616)  # words that occur five times
CELLS = Growth(12_533_822, 0.873)  # of a window of 10
NGRAMS = Growth(10_920_889, 0.923)  # of the orders 1 to 5


@dataclass(frozen=True)
class Need:
    """What a work needs: bytes in memory of a worker and of the driver, on disk, and over the driver's network."""

    worker: float
    driver: float
    disk: float = 0.0
    network: float = 0.0


@dataclass(frozen=True)
class Size:
    """The size of a text and of a cluster: tokens, nodes, and cores or GPUs. All GPUs are in one machine."""

    tokens: float
    nodes: int
    workers: int


@dataclass(frozen=True)
class Work:
    """Tokens (or cells) per second of one core or one GPU, passes over them, and what the work needs."""

    rate: float
    need: Callable[[Size], Need]
    passes: int = 1
    gpu: bool = False
    cells: bool = False


def need_reading(size: Size) -> Need:
    """Workers hold a part of 64 MB and its ids; ids come back to the driver, which keeps all types."""
    ids = 4 * size.tokens
    return Need(3 * (64 << 20), TYPE_BYTES * TYPES.of(size.tokens), disk=ids, network=ids)


def need_counts(size: Size) -> Need:
    """A cell has 12 bytes in the matrix, and 16 on the way. A task counts four million words."""
    cells = CELLS.of(size.tokens)
    return Need(16 * CELLS.of(4e6), CELL_BYTES * cells, disk=12 * cells, network=4 * size.tokens + 16 * cells)


def need_ngrams(size: Size) -> Need:
    """An n-gram has 20 bytes in the trie and 16 as key and count. Workers get the trie of the orders before."""
    ngrams = NGRAMS.of(size.tokens)
    return Need(
        20 * ngrams,
        NGRAM_BYTES * ngrams,
        disk=40 * ngrams,
        network=4 * 4 * size.tokens + (16 + 20 * size.nodes) * ngrams,
    )


def need_rounds(rows: float, words: float, rounds: float, size: Size) -> Need:
    """Each node gets the rows in each round, and each worker returns those that it changed."""
    model = 4 * DIM * rows
    changed = 4 * DIM * min(rows, ROUND_ROWS)
    network = rounds * (size.nodes * model + size.workers * changed)
    return Need(2 * model, 2 * model, disk=4 * DIM * words, network=network + 4 * size.tokens)


def need_word2vec(size: Size) -> Need:
    words = KEPT.of(size.tokens)
    return need_rounds(2 * words, words, 5 * size.tokens / (ROUND * size.workers), size)


def need_fasttext(size: Size) -> Need:
    words = KEPT.of(size.tokens)
    return need_rounds(2 * words + BUCKETS, words + BUCKETS, 5 * size.tokens / (ROUND * size.workers), size)


def need_glove(size: Size) -> Need:
    """As counts; then cells of 12 bytes travel in each epoch. AdaGrad doubles the rows."""
    words, cells = KEPT.of(size.tokens), CELLS.of(size.tokens)
    rounds = need_rounds(4 * words, words, 25 * cells / (8 * ROUND * size.workers), size)
    return Need(rounds.worker, rounds.driver + CELL_BYTES * cells, 12 * cells, rounds.network + 25 * 12 * cells)


def need_gpu_words(size: Size) -> Need:
    """One GPU, no averages: both tables lie on it."""
    words = KEPT.of(size.tokens)
    return Need(8 * DIM * words, 8 * DIM * words, disk=4 * DIM * words)


def need_pretraining(size: Size) -> Need:
    """Weights, gradients and two moments in float32. Between machines, each step moves the gradients twice."""
    steps = 10 * size.tokens / ELMO_STEP
    return Need(16 * ELMO, 0, disk=12 * ELMO, network=steps * 2 * 4 * ELMO if size.nodes > 1 else 0.0)


def need_embedding(size: Size) -> Need:
    """A vector of 1,024 numbers in float16 for each token, onto the disk of the machine."""
    return Need(2e9, 2e9, disk=2048 * size.tokens)


# Tokens per second on one core or one GPU, as measured in benchmarks/RESULTS.md. GloVe's are cells.
WORKS = {
    "reading: text to token file": Work(3.6e6, need_reading),
    "counts: pairs in a window of 10": Work(6.12e6, need_counts),
    "n-grams of order 5, to an ARPA file": Work(0.34e6, need_ngrams),
    "GloVe: window 10, dim 100, 25 epochs": Work(17.8e6, need_glove, passes=25, cells=True),
    "word2vec: skip-gram, dim 100, 5 epochs": Work(2.73e6, need_word2vec, passes=5),
    "fastText: skip-gram, dim 100, 5 epochs": Work(0.595e6, need_fasttext, passes=5),
    "word2vec on one H200, dim 100, 5 epochs": Work(282e6, need_gpu_words, passes=5, gpu=True),
    "ELMo: pretraining, original size, 10 epochs": Work(705e3, need_pretraining, passes=10, gpu=True),
    "ELMo: embedding in bfloat16, all tokens": Work(1.03e6, need_embedding, gpu=True),
}


@dataclass(order=True)
class Worker:
    """A worker: when it is free, its number, and the task it runs."""

    free: float
    number: int
    task: int = field(default=-1, compare=False)


def simulate(
    durations: Sequence[float],
    workers: int,
    *,
    overhead: float = 0.0,
    losses: Sequence[float] = (),
    notice: float = 0.0,
    starts: Sequence[float] = (),
    pauses: Sequence[tuple[float, float]] = (),
) -> float:
    """The time until all tasks are done: each free worker takes the next task.

    `overhead` is added to each task. At each time in `losses` the last worker that is left is lost; its task is taken
    again, first, after `notice` seconds. The last worker stays. `starts` says when each worker is ready. In `pauses`
    (from when to when) no task begins: until Ray notices a loss, it may give all tasks to the lost node.

    >>> simulate([2, 2, 2, 2], 2), simulate([1, 1, 6], 2), simulate([2, 2, 2, 2], 2, losses=[1.0])
    (4.0, 7.0, 8.0)
    >>> simulate([2, 2, 2, 2], 2, losses=[1.0], notice=5.0), simulate([2, 2], 1, pauses=[(1.0, 6.0)])
    (8.0, 8.0)
    >>> simulate([2, 2, 2, 2], 2, starts=[0.0, 3.0])
    6.0
    """
    waiting = [(0.0, number) for number in range(len(durations))]  # from when, and which task
    heapq.heapify(waiting)
    free = [Worker(starts[number] if number < len(starts) else 0.0, number) for number in range(workers)]
    heapq.heapify(free)
    lost: dict[int, float] = dict(zip(range(workers - 1, 0, -1), sorted(losses)))
    end = 0.0
    while waiting:
        since, task = heapq.heappop(waiting)
        worker = heapq.heappop(free)
        start = max(since, worker.free)
        start = max([start, *(last for first, last in pauses if first < start < last)])
        stop = start + overhead + durations[task]
        gone = lost.get(worker.number, math.inf)
        if stop > gone:
            heapq.heappush(waiting, (max(start, gone) + notice if start < gone else since, task))
            continue  # the worker does not come back
        end = max(end, stop)
        heapq.heappush(free, Worker(stop, worker.number))
    return end


def draw_durations(count: int, seconds: float, spread: float, seed: int = 1) -> list[float]:
    """Lengths of tasks with this mean: log-normal, so that a few are much longer than the others."""
    draw = np.random.default_rng(seed)
    return (seconds * np.exp(draw.normal(-(spread**2) / 2, spread, count))).tolist()


def show_tasks(options: argparse.Namespace) -> None:
    durations = draw_durations(options.tasks, options.seconds, options.spread)
    ideal = sum(durations) / options.workers
    hours = options.lifetime  # mean lifetime of a worker
    rate = options.workers / (hours * HOUR) if hours else 0.0
    draw = np.random.default_rng(2)
    losses = np.cumsum(draw.exponential(1 / rate, options.workers)).tolist() if rate else []
    print("| case | seconds | of the ideal |\n|---|---|---|")
    cases = {
        "ideal: the sum of all tasks / workers": ideal,
        "tasks of different lengths": simulate(durations, options.workers, overhead=options.overhead),
        "and lost workers": simulate(
            durations, options.workers, overhead=options.overhead, losses=losses, notice=options.notice
        ),
        "a quarter as many tasks, four times as long": simulate(
            draw_durations(max(1, options.tasks // 4), 4 * options.seconds, options.spread),
            options.workers,
            overhead=options.overhead,
        ),
    }
    for name, seconds in cases.items():
        print(f"| {name} | {seconds:,.0f} | {seconds / ideal:.2f} |")


def show_plan(options: argparse.Namespace) -> None:
    """Time, memory, disk, network and money for each family and size of text."""
    for gigabytes in options.gigabytes:
        tokens = gigabytes * 1e9 / BYTES_PER_TOKEN
        print(
            f"\n{gigabytes:,} GB of text, {tokens / 1e9:,.0f} billion tokens, {options.nodes} nodes with "
            f"{options.cores} cores in all, or one with {options.gpus} GPUs; {options.gigabits:g} Gbit/s\n"
        )
        print(
            "| work | core or GPU hours | hours of computing | hours of moving | memory of a worker | of the driver "
            "| disk | network | cost | a month of the disk |\n|---|---|---|---|---|---|---|---|---|---|"
        )
        for name, work in WORKS.items():
            many, price = (options.gpus, options.gpu_hour) if work.gpu else (options.cores, options.core_hour)
            workers = 1 if "one H200" in name else many
            need = work.need(Size(tokens, 1 if work.gpu else options.nodes, workers))
            items = CELLS.of(tokens) if work.cells else tokens
            hours = items * work.passes / work.rate / HOUR
            moving = max(need.network / (options.gigabits / 8), need.disk / options.disk) / 1e9 / HOUR
            sizes = " | ".join(show_bytes(size) for size in (need.worker, need.driver, need.disk, need.network))
            cost = max(hours, moving * workers) * price  # cores that wait are paid for, too
            unit = "GPU" if work.gpu else "core"
            month = need.disk / 1e9 * options.disk_month
            times = f"{hours:,.1f} {unit} | {hours / workers:,.2f} | {moving:,.2f}"
            print(f"| {name} | {times} | {sizes} | {show_money(cost)} | {show_money(month)} |")


def show_bytes(size: float) -> str:
    """A size with a unit.

    >>> show_bytes(0), show_bytes(2.5e8), show_bytes(3e9), show_bytes(4.2e13)
    ('', '0.2 GB', '3 GB', '42 TB')
    """
    if not size:
        return ""
    if size >= 1e13:
        return f"{size / 1e12:,.0f} TB"
    return f"{size / 1e9:,.1f} GB" if size < 1e9 else f"{size / 1e9:,.0f} GB"


def show_money(amount: float) -> str:
    """An amount, with cents below ten.

    >>> show_money(0.062), show_money(22931.6)
    ('0.06', '22,932')
    """
    return f"{amount:,.2f}" if amount < 10 else f"{amount:,.0f}"


def show_growth(millions: Sequence[int]) -> None:
    """Types, words kept, cells and n-grams of the first words of English, and the power between the last two sizes."""
    from firth.models.counts import Counts
    from firth.models.ngram import Ngram
    from firth.runtime import Runtime
    from firth.text.corpus import Corpus
    from firth.text.tokenize import Tokenizer
    from train_static import write_text

    print(
        "| words | types | words that occur 5 times | cells, window 10 | n-grams up to order 5 |\n|---|---|---|---|---|"
    )
    rows: list[list[float]] = []
    for million in millions:
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder, "text.txt")
            write_text(text, million * 1_000_000)
            corpus = Corpus([text], tokenizer=Tokenizer(mode="whitespace", normalizer=None))
            counts = Counts(kind="co-occurrence", window=10, min_count=5).fit(corpus, runtime=Runtime(1))
            ngrams = Ngram(order=5).fit(corpus, runtime=Runtime(1))
            types = len(corpus.tokens().vocabulary)
        rows.append([million * 1e6, types, len(counts.rows), counts.matrix.nnz, sum(ngrams.levels)])
        print("| " + " | ".join(f"{value:,.0f}" for value in rows[-1]) + " |", flush=True)
    before, last = rows[-2:]
    powers = [math.log(b / a) / math.log(last[0] / before[0]) for a, b in zip(before[1:], last[1:])]
    print("| power | " + " | ".join(f"{power:.3f}" for power in powers) + " |")


@dataclass(frozen=True)
class Sleep:
    """A task that slept: its number, the process that ran it, when it began and ended, and how long it was to sleep."""

    number: int
    process: int
    begin: float
    end: float
    planned: float
    node: str = ""


def sleep(_: Any, task: tuple[int, float]) -> Sleep:
    import ray

    begin = time.time()
    time.sleep(task[1])
    return Sleep(task[0], os.getpid(), begin, time.time(), task[1], ray.get_runtime_context().get_node_id())


def find_overhead(tasks: Sequence[Sleep]) -> float:
    """The mean time that a task costs a worker beside its planned length: the pause before it, and a late end.

    >>> find_overhead([Sleep(0, 1, 0.0, 2.0, 2.0), Sleep(1, 1, 2.5, 4.75, 2.0), Sleep(2, 2, 0.25, 1.25, 1.0)])
    0.25
    """
    by_process: dict[int, list[Sleep]] = {}
    for task in sorted(tasks, key=lambda task: task.begin):
        by_process.setdefault(task.process, []).append(task)
    late = sum(task.end - task.begin - task.planned for task in tasks)
    pauses = sum(after.begin - before.end for some in by_process.values() for before, after in itertools.pairwise(some))
    return (late + pauses) / len(tasks)


def find_pause(tasks: Sequence[Sleep], killed: float) -> list[tuple[float, float]]:
    """The pause after the loss of a node in which no task began, though all others had ended: from when to when.

    >>> tasks = [Sleep(0, 1, 0.0, 2.0, 2.0), Sleep(1, 1, 2.0, 3.0, 1.0), Sleep(2, 1, 9.0, 10.0, 1.0)]
    >>> find_pause(tasks, killed=2.5), find_pause(tasks[:2], killed=1.0)
    ([(2.0, 9.0)], [])
    """
    begins = sorted(task.begin for task in tasks)
    longest = max(task.planned for task in tasks)
    return [(one, other) for one, other in itertools.pairwise(begins) if other > killed and other - one > longest]


def kill_node(nodes: Any, node: Any, workers: Iterable[int]) -> float:
    """Kills a node and its workers, as when a machine goes away; returns when. A thread waits until Ray cleaned up."""
    for process in workers:
        os.kill(process, signal.SIGKILL)
    node.all_processes["raylet"][0].process.kill()
    killed = time.time()
    threading.Thread(target=nodes.remove_node, args=(node, False)).start()
    return killed


def compare(repeats: int, losses_only: bool) -> None:
    """Tasks that sleep, on Ray clusters of this machine, and in the simulation."""
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # loopback only
    import ray
    from ray.cluster_utils import Cluster as Nodes

    from firth.distributed.cluster import connect

    print(
        "| workers | nodes lost | start of all workers | measured | simulated | ratio | a task costs beside its length "
        "| until Ray noticed | simulated with these | ratio | load |"
        f"\n{'|---' * 11}|"
    )
    durations, empty = draw_durations(32, 0.5, 0.6), 0.0
    cases = [(4, True)] if losses_only else [(1, False), (2, False), (4, False), (4, True)]
    for workers, is_lost in cases * repeats:
        node = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}
        nodes = Nodes(initialize_head=True, head_node_args=node)
        others = [nodes.add_node(**node) for _ in range(workers - 1)]
        cluster = connect(nodes.address, threads=1)
        clock, ready = time.time(), dict[int, str]()
        while len(ready) < workers:  # Ray starts the process of a node when a task waits for it
            ready |= {task.process: task.node for task in cluster.scatter(sleep, [(0, 0.2)] * 4 * workers)}
        start = time.time() - clock
        if not empty:
            clock = time.time()
            list(cluster.scatter(sleep, [(0, 0.0)] * 50))
            empty = (time.time() - clock) * workers / 50
        clock, killed = time.time(), 0.0
        tasks: list[Sleep] = []
        for done, task in enumerate(cluster.scatter(sleep, list(enumerate(durations)), in_order=False), 1):
            tasks.append(task)
            if is_lost and done == 8:
                last = others[-1]
                killed = kill_node(nodes, last, [one for one, place in ready.items() if place == last.node_id])
        measured = time.time() - clock
        losses = [killed - clock] if is_lost else []
        before = [task for task in tasks if not is_lost or task.end < killed]
        overhead = find_overhead(before)
        pauses = [(one - clock, other - clock) for one, other in find_pause(tasks, killed)] if is_lost else []
        planned = [simulate(durations, workers, overhead=empty, losses=losses)]
        if is_lost:
            late = {"notice": NOTICE, "pauses": [(killed - clock, killed - clock + NOTICE)]}
            planned.append(simulate(durations, workers, overhead=empty, losses=losses, **late))
        end = max((other for _, other in pauses), default=killed - clock)
        again = end - (killed - clock) if is_lost else 0.0
        fitted = simulate(durations, workers, overhead=overhead, losses=losses, notice=again, pauses=pauses)
        row = f"{workers} | {len(losses)} | {start:.1f} s | {measured:.1f} s"
        row += f" | {' or '.join(f'{one:.1f}' for one in planned)} s"
        row += f" | {' or '.join(f'{measured / one:.2f}' for one in planned)} | {1000 * overhead:.0f} ms"
        row += f" | {f'{again:.1f} s' if is_lost else ''} | {fitted:.1f} s | {measured / fitted:.2f}"
        print(f"| {row} | {os.getloadavg()[0]:.0f} |", flush=True)
        ray.shutdown()
        nodes.shutdown()
    print(f"\nAn empty task costs {1000 * empty:.1f} ms.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    plan = commands.add_parser("plan")
    plan.add_argument("--gigabytes", type=int, nargs="+", default=[100, 10_000])
    plan.add_argument("--nodes", type=int, default=4)
    plan.add_argument("--gigabits", type=float, default=10.0, help="Network of the driver, in Gbit/s.")
    plan.add_argument("--disk", type=float, default=1.37, help="Speed of the driver's disk, in GB/s.")
    plan.add_argument("--cores", type=int, default=64)
    plan.add_argument("--gpus", type=int, default=8)
    plan.add_argument("--core-hour", type=float, default=0.04)
    plan.add_argument("--gpu-hour", type=float, default=3.0)
    plan.add_argument("--disk-month", type=float, default=0.08, help="Price of a gigabyte on disk for a month.")
    tasks = commands.add_parser("tasks")
    tasks.add_argument("--tasks", type=int, default=2000)
    tasks.add_argument("--seconds", type=float, default=30.0)
    tasks.add_argument("--workers", type=int, default=64)
    tasks.add_argument("--spread", type=float, default=0.5)
    tasks.add_argument("--overhead", type=float, default=0.005)
    tasks.add_argument("--lifetime", type=float, default=0.0, help="Mean hours until a worker is lost; 0: never.")
    tasks.add_argument("--notice", type=float, default=30.0)
    growth = commands.add_parser("growth")
    growth.add_argument("--millions", type=int, nargs="+", default=[1, 2, 4])
    compared = commands.add_parser("compare")
    compared.add_argument("--repeats", type=int, default=1)
    compared.add_argument("--losses-only", action="store_true")
    options = parser.parse_args()
    actions = {
        "plan": show_plan,
        "tasks": show_tasks,
        "growth": lambda options: show_growth(options.millions),
        "compare": lambda options: compare(options.repeats, options.losses_only),
    }
    actions[options.what](options)


if __name__ == "__main__":
    main()
