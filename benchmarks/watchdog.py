"""Runs readers in child processes with limits of time and memory, and tells what happened to each input.

A child goes on from input to input. It writes the number of the input that it is at, and how many there were of each
kind, to shared memory, so that nothing is sent for an input. The parent looks at this a few times a second. It replaces
a child that crashed, or that was busy with one input for too long.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from firth.errors import FirthError

KINDS = ("accepted", "refused", "other", "crash", "hang", "memory")
BAD = KINDS[2:]
SECONDS = 30.0  # of CPU time for one input, compiling its kernels included
WAITING = 240.0  # seconds for one input, if the child waits and does not work
ADDRESS_SPACE = 700 << 20  # bytes beyond those of the idle process
TOLERATED = 128 << 20  # resident bytes that any input may need: all 50,000 neighbors of a word take 119 MiB
MULTIPLE = 40  # and this many times its size
POLL = 0.02  # seconds
OWN_ERROR = 70  # the exit code of a child with an error of its own
COUNTERS = 1 << 10  # bytes of the board; the rest is for a note
Use = Callable[[Path, int | None], None]


@dataclass(frozen=True)
class Outcome:
    """What happened to one input: accepted, refused, other (an exception), memory, crash or hang."""

    number: int
    kind: str
    detail: str = ""


class Board:
    """Numbers in shared memory: the input that the child is at, and how many of each kind it has counted."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 4096)
        self._numbers = memoryview(self._memory)[:COUNTERS].cast("q")
        self.number = -1

    @property
    def number(self) -> int:
        """The input that the child is at; -1 before the first one."""
        return self._numbers[0]

    @number.setter
    def number(self, value: int) -> None:
        self._numbers[0] = value

    @property
    def note(self) -> str:
        """A text of the child."""
        return self._memory[COUNTERS:].rstrip(b"\0").decode("utf-8", "replace")

    @note.setter
    def note(self, text: str) -> None:
        data = text.encode("utf-8", "replace")[-(len(self._memory) - COUNTERS) :]
        self._memory[COUNTERS : COUNTERS + len(data)] = data

    def count(self, kind: str) -> None:
        """Counts an input."""
        self._numbers[1 + KINDS.index(kind)] += 1

    @property
    def counts(self) -> dict[str, int]:
        """The inputs of each kind."""
        return {kind: self._numbers[1 + place] for place, kind in enumerate(KINDS)}


def supervise(work: Callable[[], None], board: Board, seconds: float = SECONDS) -> tuple[str, str]:
    """Runs `work` in a child process, and returns how it ended: finished, crash or hang, and a detail."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _serve(work, board)
    at, busy, since = board.number, 0.0, time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(POLL)
        if board.number != at:
            at, busy, since = board.number, cpu_seconds(child), time.monotonic()
        elif cpu_seconds(child) - busy > seconds or time.monotonic() - since > max(WAITING, seconds):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hang", f"more than {seconds} s of CPU time"
    if os.WIFSIGNALED(status):
        return "crash", signal.Signals(os.WTERMSIG(status)).name
    if os.WEXITSTATUS(status) == OWN_ERROR:
        raise RuntimeError(board.note)
    if os.WEXITSTATUS(status):
        return "crash", f"exit {os.WEXITSTATUS(status)}"
    return "finished", ""


def cpu_seconds(process: int) -> float:
    """The CPU time of a process so far."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{process}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _serve(work: Callable[[], None], board: Board) -> None:
    """The child process. An exception that reaches this place is an error of the fuzzer itself."""
    code = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        warnings.simplefilter("ignore")
        limit_memory()
        work()
        code = 0
    except Exception:
        board.note = traceback.format_exc()
        code = OWN_ERROR
    finally:
        os._exit(code)


class Trial:
    """Uses inputs in this process, and compares the memory with that of the idle process."""

    def __init__(self, use: Use) -> None:
        self.use = use
        self.idle = reset_peak()
        self.stack: tuple[object, ...] = ()

    def outcome(self, number: int, path: Path, size: int, turn: int | None) -> Outcome:
        """What happens to an input. `stack` is then where it was refused."""
        kind, detail = self._try(path, turn)
        if kind in ("accepted", "refused") and peak() - self.idle > TOLERATED + MULTIPLE * size:
            before = reset_peak()  # it may have been the compiler, or what other inputs left: once more
            kind, detail = self._try(path, turn)
            used = peak() - before
            if used > TOLERATED + MULTIPLE * size:
                return Outcome(number, "memory", f"{used >> 20} MiB for {size:,} bytes; {kind} {detail}")
            self.idle = reset_peak()
        return Outcome(number, kind, detail)

    def _try(self, path: Path, turn: int | None) -> tuple[str, str]:
        self.stack = ()
        try:
            self.use(path, turn)
        except (FirthError, FileNotFoundError) as error:  # the latter: a part of a folder is missing
            self.stack = read_stack(error)
            return "refused", ""
        except MemoryError:
            return "memory", describe_error()
        except Exception:
            return "other", describe_error()
        return "accepted", ""


def read_stack(error: BaseException) -> tuple[object, ...]:
    """The functions and lines that an exception came through."""
    places: list[object] = []
    trace = error.__traceback__
    while trace is not None:
        places += [trace.tb_frame.f_code, trace.tb_lineno]
        trace = trace.tb_next
    return tuple(places)


def describe_error() -> str:
    """The exception that is being handled, and the last line of firth that it came through."""
    text = traceback.format_exc()
    frames = [line.strip() for line in text.splitlines() if line.strip().startswith("File ") and "/firth/" in line]
    place = frames[-1].split("/firth/")[-1] if frames else ""
    return f"{text.strip().splitlines()[-1][:160]} [{place}]"


def reset_peak() -> int:
    """Resets the peak of resident memory, and returns the current value in bytes."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak()


def peak() -> int:
    """The peak of resident memory in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def limit_memory(beyond: int = ADDRESS_SPACE) -> None:
    """Limits the address space of this process to its present size and `beyond` bytes."""
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + beyond, size + beyond))


def watch(use: Use, samples: Sequence[Path], work: Path, seconds: float = 4 * SECONDS) -> Iterator[Outcome]:
    """The outcome of every sample, of which a copy is used in `work`."""
    at = 0
    log = work / "outcomes"
    while at < len(samples):
        log.unlink(missing_ok=True)
        board = Board()
        child = partial(try_samples, use, samples, range(at, len(samples)), work, log, board)
        end, detail = supervise(child, board, seconds)
        for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
            yield Outcome(at, *json.loads(line))
            at += 1
        if end != "finished":
            yield Outcome(at, end, detail)
            at += 1


def try_samples(use: Use, samples: Sequence[Path], numbers: range, work: Path, log: Path, board: Board) -> None:
    """The child process: uses samples until one takes too much memory, and writes the outcomes to a file."""
    tempfile.tempdir = str(work)
    trial = Trial(use)
    with open(log, "a", encoding="utf-8") as file:
        for number in numbers:
            board.number = number
            path = copy_sample(samples[number], work / "sample")
            size = sum(one.stat().st_size for one in [path, *path.rglob("*")] if one.is_file())
            outcome = trial.outcome(number, path, size, None)
            file.write(json.dumps([outcome.kind, outcome.detail]) + "\n")
            file.flush()
            if outcome.kind == "memory":
                return


def copy_sample(sample: Path, folder: Path) -> Path:
    """A copy of a file or folder, alone in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if sample.is_dir():
        shutil.copytree(sample, folder / sample.name, copy_function=shutil.copy)
    else:
        shutil.copy(sample, folder / sample.name)
    return folder / sample.name
