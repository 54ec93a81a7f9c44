"""What runs on the workers of a cluster: one task, the merge of results, and the description of a node.

A mistake of the user (a `FirthError`, a missing file) travels back as its message, so that the driver raises the
error that a single machine would raise. What a node lacks (a file, an extra, memory) is told with its name. Anything
else is a bug and keeps its traceback.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from firth import errors
from firth.installed import find_version

LIBRARIES = "firth", "numpy"  # whose versions must be equal on all nodes: results are the same to the bit
OF_NODES = errors.MissingExtra, errors.MissingFile, errors.MissingPackage  # errors that another node may not have
SHARED_MEMORY = "/dev/shm"  # where Ray keeps objects on Linux
ON_DISK = "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE"  # the variable that tells Ray to keep them elsewhere


@dataclass(frozen=True)
class TaskFailure:
    """An error of the user in a task: the name of its class, and its message.

    >>> TaskFailure.of(errors.FormatError("a.txt", "not UTF-8", line=3)).error()
    FormatError('a.txt:3: not UTF-8')
    >>> TaskFailure.of(OSError(28, "No space left on device", "x.bin"), node="b").error()
    ClusterError('node b: No space left on device: x.bin')
    """

    kind: str
    message: str

    @classmethod
    def of(cls, error: BaseException, node: str = "") -> TaskFailure:
        """The failure that an error stands for. `node` is the name of this machine, unless it is given."""
        place = f"node {node or platform.node()}"
        if isinstance(error, OF_NODES):
            return cls(type(error).__name__, f"{place}: {error}")
        if isinstance(error, errors.FirthError):
            return cls(type(error).__name__, str(error))
        if isinstance(error, OSError):
            parts = (error.strerror or str(error), error.filename)
            return cls("", f"{place}: {': '.join(str(part) for part in parts if part)}")
        return cls("", f"{place}: not enough memory for the task. Use fewer workers on a node")

    def error(self) -> errors.FirthError:
        """The error to raise on the driver, with the message of the worker."""
        kind = getattr(errors, self.kind, errors.ClusterError)
        raised: errors.FirthError = kind.__new__(kind, self.message)
        Exception.__init__(raised, self.message)
        return raised


def run_task(function: Callable[[Any, Any], Any], shared: Any, item: Any) -> Any:
    """The result of a task, or its failure."""
    try:
        return function(shared, item)
    except (errors.FirthError, OSError, MemoryError) as error:
        return TaskFailure.of(error)


def run_parts(function: Callable[[Any, Any], Any], shared: Any, item: Any, parts: int) -> list[Any]:
    """The results of a task, one for each range of keys, and None if all went well; else the failure, everywhere."""
    results = run_task(function, shared, item)
    if isinstance(results, TaskFailure):
        return [results] * (parts + 1)
    return [*results, None]


def merge_parts(merge: Callable[[Sequence[Any]], Any], *results: Any) -> Any:
    """The merged results of one range of keys, or the first failure among them."""
    failure = next((result for result in results if isinstance(result, TaskFailure)), None)
    return merge(results) if failure is None else failure


@dataclass(frozen=True)
class NodeDescription:
    """The versions on a node, the paths that it does not see, and the bytes of its shared memory, if they matter."""

    name: str
    versions: dict[str, str]
    missing: tuple[str, ...] = ()
    shared_memory: int | None = None

    @classmethod
    def here(cls, paths: Sequence[str] = ()) -> NodeDescription:
        """The description of this machine."""
        found = {"Python": ".".join(platform.python_version_tuple()[:2])}
        found |= {library: find_version(library) or "unknown" for library in LIBRARIES}
        missing = tuple(path for path in paths if not os.path.exists(path))
        matters = os.path.isdir(SHARED_MEMORY) and not os.environ.get(ON_DISK)
        return cls(platform.node(), found, missing, shutil.disk_usage(SHARED_MEMORY).total if matters else None)

    def check(self, driver: NodeDescription, objects: int = 0) -> None:
        """Raises ClusterError if results could differ from the driver's, or if the node lacks a file or memory.

        `objects` is the size of its object store in bytes.

        >>> driver = NodeDescription("a", {"Python": "3.11", "firth": "1.0"})
        >>> NodeDescription("b", {"Python": "3.11", "firth": "0.9"}).check(driver)
        Traceback (most recent call last):
        firth.errors.ClusterError: node b: firth 0.9 is installed there, but 1.0 here. Install the same version on...
        """
        for library, wanted in driver.versions.items():
            found = self.versions.get(library)
            if found != wanted:
                problem = f"{library} {found} is installed there, but {wanted} here"
                raise errors.ClusterError(f"node {self.name}", problem, cure="Install the same version on all nodes")
        if self.missing:
            problem = f"does not see {self.missing[0]}"
            cure = "Put it on a disk that all nodes share, under the same path, or use an address such as s3://"
            raise errors.ClusterError(f"node {self.name}", problem, cure=cure)
        if self.shared_memory is not None and objects > self.shared_memory:
            sizes = f"has {self.shared_memory / 1e9:.2f} GB, but the object store of Ray {objects / 1e9:.2f} GB"
            cure = (
                "Give its container more (docker run --shm-size), start the node with a smaller --object-store-memory, "
                f"or set {ON_DISK}=1 there for a slow store on disk"
            )
            raise errors.ClusterError(f"node {self.name}", f"{SHARED_MEMORY} {sizes}", cure=cure)


def describe_node(paths: Sequence[str]) -> NodeDescription:
    """The description of the machine that this task runs on."""
    return NodeDescription.here(paths)
