"""Where work runs: the device, the threads and the processes.

Processes that `torchrun` starts share the work; each has a rank. A single process is rank 0 of 1, so that callers need
not distinguish the two cases.
"""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from firth.arguments import checked
from firth.errors import OptionError
from firth.lazy import import_name

if TYPE_CHECKING:
    from torch import Tensor

DEVICES = "cpu", "cuda"
MOST_THREADS = 1024
THREAD_VARIABLES = "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"
Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _pool() -> ThreadPoolExecutor:
    """A permanent pool of threads; there are more than cores, since one task may wait for another."""
    return ThreadPoolExecutor(4 * _cores(), thread_name_prefix="firth")


def _cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_THREADS)


def thread_variables(count: int) -> dict[str, str]:
    """The environment variables of a new process in which the libraries for arithmetic start this many threads.

    `set_num_threads` of torch comes too late for what a library does before: processes beside each other, each with a
    thread for every core, hardly move.

    >>> thread_variables(2)["OMP_NUM_THREADS"]
    '2'
    """
    return dict.fromkeys(THREAD_VARIABLES, str(count))


def _number(name: str, default: int) -> int:
    """A number in an environment variable."""
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() else default


def _check_gpu() -> None:
    if not import_name("torch", "computing on a GPU", "elmo").cuda.is_available():
        raise OptionError(
            "device is 'cuda', but torch finds no NVIDIA GPU. Use device='cpu', or a torch that was built for CUDA"
        )


@checked
@dataclass(frozen=True)
class Runtime:
    """The device, the number of threads, and the rank among the processes of a job.

    On the device "cuda", whatever has a GPU implementation runs there, and everything else on the CPU.

    >>> Runtime(threads=2).map(abs, [-1, 2, -3])
    [1, 2, 3]
    >>> Runtime(threads=2).shares(5)
    [slice(0, 2, None), slice(2, 5, None)]
    """

    threads: int = field(default_factory=_cores)
    device: str = "cpu"
    rank: int = 0
    size: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.threads <= MOST_THREADS:
            raise OptionError(f"threads is {self.threads}, but must be between 1 and {MOST_THREADS}")
        if self.device not in DEVICES:
            raise OptionError(f"device is {self.device!r}, but must be one of {', '.join(map(repr, DEVICES))}")
        if self.device == "cuda" and not self.workers:  # the GPUs of a cluster are those of its nodes
            _check_gpu()

    @classmethod
    def from_env(cls, threads: int | None = None, device: str = "cpu") -> Runtime:
        """The runtime of this process: the rank and size that torchrun set, and the given number of threads.

        The default number of threads is the environment variable FIRTH_THREADS, or one per core; processes that
        torchrun started on the same machine share the cores.
        """
        ranks = _number("RANK", 0), max(1, _number("WORLD_SIZE", 1))
        if threads is not None:
            return cls(threads, device, *ranks)
        value = os.environ.get("FIRTH_THREADS", "")
        if value and not (value.isdecimal() and 0 < int(value[:9]) <= MOST_THREADS):
            problem = f"must be a whole number between 1 and {MOST_THREADS}"
            raise OptionError(f"FIRTH_THREADS is {value[:20]!r}, but {problem}")
        share = max(1, _cores() // max(1, _number("LOCAL_WORLD_SIZE", 1)))
        return cls(int(value) if value else share, device, *ranks)

    @property
    def workers(self) -> int:
        """The number of tasks that a cluster runs at once; 0 without a cluster, where threads do everything."""
        return 0

    @property
    def average_every(self) -> int:
        """On a cluster: the number of words that a worker trains on before its arrays are averaged with the others'."""
        return 0

    def forget_results(self) -> None:
        """Removes results of tasks that a cluster kept on disk, once the artifact is saved."""

    @property
    def is_main(self) -> bool:
        """Whether this is the process that writes files and reports."""
        return self.rank == 0

    @property
    def place(self) -> str:
        """The device as torch names it: each process on a machine has its own GPU."""
        return f"cuda:{_number('LOCAL_RANK', 0)}" if self.device == "cuda" else self.device

    def join(self) -> None:
        """Joins the process group, so that ranks can communicate until the process ends."""
        if self.device == "cuda":
            import torch

            torch.cuda.set_device(self.place)
        if self.size == 1:
            return
        from torch import distributed

        if distributed.is_initialized():
            return
        # torchrun restarts all processes if one is killed, and its store still has the addresses of the old ones.
        store, rank, size = next(iter(distributed.rendezvous("env://")))  # type: ignore[attr-defined]
        store = distributed.PrefixStore(agree_on_round(store, rank, size), store)  # type: ignore[attr-defined]
        backend = "nccl" if self.device == "cuda" else "gloo"
        distributed.init_process_group(backend, store=store, rank=rank, world_size=size)
        atexit.register(distributed.destroy_process_group)

    def shard(self, count: int) -> slice:
        """The slice of `count` items that belongs to this rank.

        >>> [Runtime(1, rank=rank, size=2).shard(5) for rank in (0, 1)]
        [slice(0, 2, None), slice(2, 5, None)]
        """
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        """Replaces every tensor by its sum over all ranks, with one all-reduce."""
        if self.size == 1:
            return
        import torch
        from torch import distributed

        parts = list(tensors)
        flat = torch.cat([part.reshape(-1) for part in parts])
        distributed.all_reduce(flat)
        for part, summed in zip(parts, torch.split(flat, [part.numel() for part in parts])):
            part.copy_(summed.view_as(part))

    def begin_add_up(self, flat: Tensor) -> Callable[[], None]:
        """Begins to replace a tensor by its sum over all ranks; the function that is returned waits for the end."""
        if self.size == 1:
            return lambda: None
        from torch import distributed

        work = distributed.all_reduce(flat, async_op=True)
        return lambda: work.wait()

    def gather(self, rows: Tensor) -> list[Tensor]:
        """The rows of every rank, in the order of ranks; their numbers may differ."""
        return self.begin_gather(rows)()

    def begin_gather(self, rows: Tensor) -> Callable[[], list[Tensor]]:
        """Begins to `gather` rows; the function that is returned waits for them. The counts are waited for here."""
        if self.size == 1:
            return lambda: [rows]
        import torch
        from torch import distributed

        counts = [torch.zeros(1, dtype=torch.int64, device=rows.device) for _ in range(self.size)]
        distributed.all_gather(counts, torch.tensor([len(rows)], device=rows.device))
        longest = max(int(count) for count in counts)
        padded = rows.new_zeros(longest, *rows.shape[1:])
        padded[: len(rows)] = rows
        gathered = [torch.empty_like(padded) for _ in range(self.size)]
        work = distributed.all_gather(gathered, padded, async_op=True)

        def finish() -> list[Tensor]:
            work.wait()
            return [part[: int(count)] for part, count in zip(gathered, counts)]

        return finish

    def copy_from(self, rank: int, tensor: Tensor) -> None:
        """Replaces a tensor by that of a rank, on every rank."""
        if self.size > 1:
            from torch import distributed

            distributed.broadcast(tensor, rank)

    def from_main(self, value: float) -> float:
        """The value of rank 0, on every rank."""
        if self.size == 1:
            return value
        import torch
        from torch import distributed

        received = torch.tensor([value], dtype=torch.float64, device=self.place)
        distributed.broadcast(received, 0)
        return float(received)

    def memory(self) -> int:
        """The peak memory use so far in bytes: of the GPU, or of this process; 0 where the system does not tell it."""
        if self.device == "cuda":
            import torch

            return int(torch.cuda.max_memory_allocated(self.place))
        try:
            import resource
        except ImportError:  # Windows
            return 0
        scale = 1 if sys.platform == "darwin" else 1024
        return scale * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def shares(self, count: int) -> list[slice]:
        """`count` items as one slice per thread, of nearly equal lengths, without empty slices."""
        edges = [count * i // self.threads for i in range(self.threads + 1)]
        return [slice(a, b) for a, b in itertools.pairwise(edges) if a < b]

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The function of every item, computed in threads, in the order of the items. The first error is raised.

        The calling thread works too and the others are reused, so that a call costs microseconds.
        """
        work = list(items)
        results: list[Result | None] = [None] * len(work)
        errors: dict[int, BaseException] = {}
        places = iter(range(len(work)))  # next() on it is atomic: every place is taken once

        def drain() -> None:
            for place in places:
                if errors:
                    return
                try:
                    results[place] = function(work[place])
                except BaseException as error:
                    errors[place] = error

        others = [_pool().submit(drain) for _ in range(min(self.threads, len(work)) - 1)]
        drain()
        for other in others:
            if not other.cancel():  # a thread that has not started has nothing left to do
                other.result()
        if errors:
            raise errors[min(errors)]
        return cast(list[Result], results)

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """As `map`, one result at a time; at most two items per thread are computed ahead."""
        if self.threads == 1:
            return map(function, items)
        return map_ahead(function, items, threads=self.threads, ahead=2 * self.threads)

    def scatter(
        self,
        function: Callable[[Any, Item], Result],
        items: Iterable[Item],
        *,
        shared: Any = None,
        stage: str = "",
        in_order: bool = True,
    ) -> Iterator[Result]:
        """function(shared, item) of every item, from threads or from the workers of a cluster.

        Without `in_order`, a cluster returns each result as soon as it is there.

        The function must be pure: a cluster runs it in other processes, and again if a worker is lost. Its result is
        a dictionary of arrays if a cluster is to keep results on disk; `stage` names what they depend on.

        >>> list(Runtime(threads=2).scatter(pow, [1, 2, 3], shared=2))
        [2, 4, 8]
        """
        return self.stream(partial(function, shared), items)

    def map_reduce(
        self,
        function: Callable[[Any, Item], Sequence[Result]],
        merge: Callable[[Sequence[Result]], Result],
        items: Iterable[Item],
        *,
        parts: int,
        shared: Any = None,
        stage: str = "",
        done: Callable[[int], None] = lambda number: None,
    ) -> Iterator[Result]:
        """The merged results of all items, one for each of `parts` ranges of keys, in their order.

        function(shared, item) returns one result for each range; `merge` joins results of one range to one, in any
        grouping. `done` is called with the number of finished items. A cluster merges ranges in tasks. Its results lie
        in the memory that the processes of a node share; a caller that copies each one before it takes the next keeps
        only one of them there.

        >>> list(Runtime(1).map_reduce(divmod, sum, [2, 3], parts=2, shared=7))   # 7 = 3·2 + 1 = 2·3 + 1
        [5, 2]
        """
        columns: list[list[Result]] = [[] for _ in range(parts)]
        for number, results in enumerate(self.scatter(function, items, shared=shared, stage=stage), 1):
            for column, result in zip(columns, results):
                column.append(result)
            done(number)
        for column in columns:
            yield merge(column)


def agree_on_round(store: Any, rank: int, size: int, seconds: float = 600.0) -> str:
    """A name for this start of the processes, the same on all ranks and another one after each restart.

    The store outlives restarts, and the number of restarts differs between machines: only where a process died is it
    counted. So rank 0 makes up a name and answers the ranks that ask for it. What older processes asked is answered,
    too, but nobody reads it.
    """
    name = uuid.uuid4().hex
    end = time.monotonic() + seconds
    if rank:
        store.set(f"firth/question/{rank}", name)
        answer = f"firth/answer/{name}"
        _wait_until(lambda: store.check([answer]), end)
        name = str(store.get(answer).decode())
        store.set(f"firth/ready/{name}/{rank}", "")
        return name
    others = range(1, size)

    def answer_all() -> bool:
        for other in others:
            if store.check([f"firth/question/{other}"]):
                store.set(f"firth/answer/{store.get(f'firth/question/{other}').decode()}", name)
        return all(store.check([f"firth/ready/{name}/{other}"]) for other in others)

    _wait_until(answer_all, end)
    return name


def _wait_until(is_done: Callable[[], bool], end: float) -> None:
    while not is_done():
        if time.monotonic() > end:
            raise OptionError(
                "the other processes of this job do not answer. Check that all machines run the same command"
            )
        time.sleep(0.02)


def map_ahead(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int, ahead: int
) -> Iterator[Result]:
    """The function of every item, in order, from threads that compute at most `ahead` items ahead.

    >>> list(map_ahead(abs, [-1, 2, -3], threads=1, ahead=2))
    [1, 2, 3]
    """
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
