"""A Ray cluster as a runtime: tasks on workers, results in order, errors as on one machine.

Ray schedules, moves data, and repeats the tasks of a lost worker. A task is a pure function, so that nothing is lost
and nothing counted twice. With a folder, finished results are kept on the driver's disk until the work is done.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import IO, Any, TypeVar

from firth.distributed.result_store import ResultStore
from firth.distributed.tasks import NodeDescription, TaskFailure, describe_node, merge_parts, run_parts, run_task
from firth.errors import ClusterError
from firth.files import Name
from firth.lazy import import_name
from firth.locks import lock_folder
from firth.runtime import Runtime

RETRIES = 8  # times that a task is repeated whose worker was lost
MEMORY_RETRIES = 5  # times that a task is repeated that was killed for lack of memory; Ray doubles the pause each time
AHEAD = 2  # tasks for each worker that are submitted ahead
FAN_IN = 16  # results of a range of keys that one task merges
ROUND_WORDS = 200_000  # words that a worker trains on between two averages
TIMEOUT = 300.0  # seconds until a node must answer; Ray itself declares a lost node dead much earlier
NOTICE = 30.0  # seconds until Ray has noticed that a node is lost
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"  # of HTTP/2, with empty settings
VERSIONS = re.compile(r"Ray: (\S+)\s+Python: (\S+)")  # in Ray's message about versions that differ
Item = TypeVar("Item")
Result = TypeVar("Result")


def import_ray() -> Any:
    """The module ray; if it is missing, the error names the extra."""
    os.environ.setdefault("RAY_task_oom_retries", str(MEMORY_RETRIES))  # Ray's default is to repeat forever
    return import_name("ray", "running on a cluster", "ray")


@dataclass(frozen=True)
class Cluster(Runtime):
    """The workers of a Ray cluster. `connect` makes one; recipes take it as their `runtime`.

    What cannot run on a cluster runs in threads of this process, as with any runtime.
    """

    address: str = "auto"
    slots: int = 1
    folder: Path | None = None
    round_words: int = ROUND_WORDS
    ray: Any = field(default=None, repr=False, compare=False)

    @property
    def workers(self) -> int:
        """The number of tasks that run at once, and of copies that a training averages."""
        return self.slots

    @property
    def average_every(self) -> int:
        """The number of words that a worker trains on before its arrays are averaged with the others'."""
        return self.round_words

    def scatter(
        self,
        function: Callable[[Any, Item], Result],
        items: Iterable[Item],
        *,
        shared: Any = None,
        stage: str = "",
        in_order: bool = True,
    ) -> Iterator[Result]:
        """function(shared, item) of every item, from the workers; without `in_order` as soon as it is there."""
        store = self._store(stage)
        handle, task = self._put(shared), self._task(run_task)
        pending: deque[tuple[int, Any, Any]] = deque()  # number, saved result, reference
        for number, item in enumerate(items):
            saved = None if store is None else store.load(number)
            pending.append((number, saved, None if saved is not None else task.remote(function, handle, item)))
            if len(pending) > AHEAD * self.slots:
                yield self._finish(self._next(pending, in_order), store)
        while pending:
            yield self._finish(self._next(pending, in_order), store)

    def _next(self, pending: deque[tuple[int, Any, Any]], in_order: bool) -> tuple[int, Any, Any]:
        """Takes the first task, or the first one that is finished."""
        if not in_order and pending[0][2] is not None:
            references = [reference for _, _, reference in pending if reference is not None]
            [ready, *_], _ = self.ray.wait(references)
            pending.rotate(-next(at for at, (_, _, one) in enumerate(pending) if one == ready))
        return pending.popleft()

    def _finish(self, task: tuple[int, Any, Any], store: ResultStore | None) -> Any:
        number, saved, reference = task
        if saved is not None:
            return saved
        result = self._get(reference)
        if store is not None:
            store.save(number, result)
        return result

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
        """The merged results of all items, one for each range of keys. Ranges are merged in tasks, as they come."""
        merging = self._task(merge_parts, "DEFAULT")  # where most of the results lie
        columns: list[list[Any]] = [[] for _ in range(parts)]
        for number, references in enumerate(self._map_parts(function, items, parts, shared, stage), 1):
            for column, reference in zip(columns, references):
                column.append(reference)
                if len(column) == FAN_IN:
                    column[:] = [merging.remote(merge, *column)]
            done(number)
        last = deque(merging.remote(merge, *column) for column in columns)
        columns.clear()
        while last:  # without its reference, a result is free as soon as the caller has let it go
            yield self._get(last.popleft())

    def _map_parts(
        self, function: Callable[[Any, Item], Any], items: Iterable[Item], parts: int, shared: Any, stage: str
    ) -> Iterator[list[Any]]:
        """References to the results of each item, one for each range. With a folder they pass through the driver."""
        if self.folder is not None:
            for results in self.scatter(function, items, shared=shared, stage=stage):
                yield [self._put(result) for result in results]
            return
        handle, task = self._put(shared), self._task(run_parts).options(num_returns=parts + 1)
        pending: deque[list[Any]] = deque()
        for item in items:
            pending.append(task.remote(function, handle, item, parts))
            if len(pending) > AHEAD * self.slots:
                yield self._wait(pending.popleft())
        while pending:
            yield self._wait(pending.popleft())

    def _wait(self, references: list[Any]) -> list[Any]:
        """The references to the results of a finished task; the last one says whether it failed."""
        self._get(references[-1])
        return references[:-1]

    def _task(self, function: Callable[..., Any], strategy: str = "SPREAD") -> Any:
        """A function as a task. By Ray's default strategy, tasks wait on one node while another one is idle.

        Ray fills the first node, and the others only as far as it knows them to be free. What it knows is up to a tenth
        of a second old. A task that waits on the first node then stays there, for seconds.
        """
        gpus = {"num_gpus": 1} if self.device == "cuda" else {}
        return self.ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy=strategy, **gpus)(function)

    def _put(self, value: Any) -> Any:
        with translate_errors(self):
            return self.ray.put(value)

    def _get(self, reference: Any) -> Any:
        with translate_errors(self):
            result = self.ray.get(reference)
        if isinstance(result, TaskFailure):
            raise result.error()
        return result

    def _store(self, stage: str) -> ResultStore | None:
        return ResultStore(self.folder, stage) if self.folder is not None and stage else None

    def forget_results(self) -> None:
        """Removes the results of tasks from the folder, once the artifact is saved."""
        for path in () if self.folder is None else self.folder.glob("tasks-*"):
            rmtree(path, ignore_errors=True)


@contextmanager
def translate_errors(cluster: Cluster) -> Iterator[None]:
    """Turns the errors of Ray itself into a ClusterError; errors of a task that are bugs keep their traceback."""
    exceptions, place = cluster.ray.exceptions, f"the cluster at {cluster.address}"
    try:
        yield
    except exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from None
    except (exceptions.ObjectStoreFullError, exceptions.OutOfMemoryError) as error:
        cure = "Start its nodes with more memory (ray start --object-store-memory), or use fewer workers on a node"
        raise ClusterError(place, "has too little memory", cure=cure) from error
    except exceptions.OutOfDiskError as error:
        cure = "Free disk space on its nodes, or start them with more memory (ray start --object-store-memory)"
        raise ClusterError(place, "has no disk space left for the results of tasks", cure=cure) from error
    except exceptions.RayError as error:
        problem = f"lost a task {RETRIES} times ({type(error).__name__})"
        raise ClusterError(place, problem, cure="See the logs of the cluster, then run the same command") from error


def connect(
    address: str = "auto",
    *,
    threads: int | None = None,
    device: str = "cpu",
    workers: int | None = None,
    folder: Name | None = None,
    round_words: int = ROUND_WORDS,
    paths: Iterable[Name] = (),
) -> Cluster:
    """Connects to a Ray cluster, checks its nodes, and returns a runtime for recipes.

    `address` is host:port, "auto" for the cluster of this machine (`ray start`), or "local" for workers of this machine
    that end with the process. `workers` is the number of tasks at once (default: one for each CPU of the cluster); a
    training of vectors averages as many copies, each after `round_words` words. `folder` keeps finished results until
    `forget_results`; one driver at a time may use it. `paths` are files that every node must see.
    """
    ray = import_ray()
    if not ray.is_initialized():
        _start(ray, address, threads)
    nodes = [node for node in ray.nodes() if node["Alive"]]
    driver = NodeDescription.here()
    names = [str(Path(path).absolute()) for path in paths]
    for node, described in zip(nodes, _describe(ray, nodes, names)):
        if isinstance(described, Exception):
            if _is_lost(ray, node["NodeID"], described):
                continue
            raise _explain_node(node, described)
        described.check(driver, int(node["Resources"].get("object_store_memory", 0)))
    slots = int(ray.cluster_resources().get("GPU" if device == "cuda" else "CPU", 0))
    if slots < 1:
        kind = "GPU" if device == "cuda" else "CPU"
        raise ClusterError(f"the cluster at {address}", f"has no {kind} for tasks", cure="Add a node that has one")
    if folder is not None:
        lock_folder(Path(folder))
    kept = None if folder is None else Path(folder)
    count = Runtime.from_env(threads).threads
    return Cluster(count, device, 0, 1, address, workers or slots, kept, round_words, ray)


def _start(ray: Any, address: str, threads: int | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    where: dict[str, Any] = {"address": address}
    if address == "local":
        where |= {"num_cpus": Runtime.from_env(threads).threads, "include_dashboard": False}
    elif address != "auto":
        _check_reachable(address)
    with capture_stderr() as said:
        try:
            ray.init(**where, **quiet)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise _explain_start(address, error, said) from error
    _silence(ray)


def _explain_start(address: str, error: Exception, said: IO[bytes]) -> ClusterError:
    """The error of a cluster that cannot be used, from what Ray raised and wrote."""
    said.seek(0)
    reason, written = " ".join(str(error).split())[:200], said.read()
    if type(error).__name__ == "AuthenticationError" or b"InvalidAuthToken" in written:
        cure = "Copy ~/.ray/auth_token from its head node, and set RAY_AUTH_MODE=token"
        return ClusterError(address, "the cluster asks for a token that this machine does not have", cure=cure)
    found = VERSIONS.findall(str(error))
    if len(found) == 2:
        (ray_there, python_there), (ray_here, python_here) = found
        versions = f"Ray {ray_there} and Python {python_there}, but {ray_here} and {python_here} are installed here"
        return ClusterError(address, f"the cluster has {versions}", cure="Install the same versions on all nodes")
    if address == "local":
        return ClusterError(address, f"Ray does not start here ({reason})", cure="Run without --cluster")
    if address == "auto" and isinstance(error, ConnectionError):
        cure = "Start one with `ray start --head`, or name its address"
        return ClusterError("auto", "no Ray cluster runs on this machine", cure=cure)
    cure = "Check the address, and `ray status` on the head node"
    return ClusterError(address, f"no Ray cluster can be used there ({reason})", cure=cure)


@contextmanager
def capture_stderr() -> Iterator[IO[bytes]]:
    """A file with what this process writes to standard error in the meantime, where Ray's C++ code writes warnings."""
    with tempfile.TemporaryFile() as said:
        try:
            kept = os.dup(2)
        except OSError:  # it is closed
            yield said
            return
        sys.stderr.flush()
        os.dup2(said.fileno(), 2)
        try:
            yield said
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


def _silence(ray: Any) -> None:
    """Stops messages of the nodes. Ray prints them on standard output, even with `log_to_driver=False`."""
    inside = getattr(getattr(ray, "_private", None), "worker", None)
    if inside is not None and hasattr(inside, "print_to_stdstream"):
        inside.print_to_stdstream = lambda *arguments, **options: None


def _check_reachable(address: str) -> None:
    """Raises ClusterError at once if no server of HTTP/2 answers at host:port; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ClusterError(repr(address), "is no address of a cluster", cure="Use host:port, auto or local")
    cure = "Check the address, and `ray status` on the head node"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=10) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "1":
                return
            connection.sendall(GREETING)
            answer = connection.recv(9)
    except OSError as error:
        problem = f"no Ray cluster answers there ({error.strerror or error})"
        raise ClusterError(address, problem, cure=cure) from error
    if answer[3:4] != b"\4":  # the first frame of a server has its settings
        raise ClusterError(address, "what answers there is no Ray cluster", cure=cure)


def _describe(ray: Any, nodes: Sequence[dict[str, Any]], paths: Sequence[str]) -> list[Any]:
    """The description of each node, or the error that prevents it."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(num_cpus=0)(describe_node)
    place = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
    asked = [task.options(scheduling_strategy=one).remote(paths) for one in place]
    answers: list[Any] = []
    for reference in asked:
        try:
            answers.append(ray.get(reference, timeout=TIMEOUT))
        except ray.exceptions.RayError as error:
            answers.append(error)
    return answers


def _is_lost(ray: Any, node: str, error: Exception) -> bool:
    """Whether a node that did not answer was lost in the meantime. Ray notices that after some seconds."""
    if isinstance(error, ray.exceptions.RayTaskError):  # it answered
        return False
    end = time.monotonic() + NOTICE
    while any(one["NodeID"] == node and one["Alive"] for one in ray.nodes()):
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def _explain_node(node: dict[str, Any], error: Exception) -> ClusterError:
    """The error of a node that could not describe itself: most often firth is not installed there."""
    name = f"node {node.get('NodeName') or node.get('NodeManagerAddress')}"
    if "No module named" in str(error):
        cure = "Install it there: pip install 'firth[ray]'"
        return ClusterError(name, "has no firth", cure=cure)
    return ClusterError(name, f"does not answer ({type(error).__name__})", cure="See `ray status` on the head node")
