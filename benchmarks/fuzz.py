"""How do firth's readers take files that are broken or made to break them?

    python benchmarks/fuzz.py --state STATE --seconds 3600 --workers 2      # goes on where the last run stopped
    python benchmarks/fuzz.py --state STATE --count 1000 --readers arpa     # 1,000 more inputs of one reader
    python benchmarks/fuzz.py --state STATE --readers cli --streams 1 2 3 --workers 3    # one reader in three processes
    python benchmarks/fuzz.py --state STATE --total 20000                   # 20,000 more inputs of all readers
    python benchmarks/fuzz.py --state STATE --count 0                       # the table of what was tried so far
    python benchmarks/fuzz.py --state STATE --again arpa                    # ARPA was mended: counts from 0 again

Small valid files of every format (`seeds.py`) are changed with knowledge of their structure (`mutations.py`). Each
changed file is opened and used (`untrusted.py`) in a child process with limits of time and memory (`watchdog.py`).

An input that reaches new code is kept and changed further: one that is refused at a place where none was refused
before, and, for one input in sixteen, one that executes a line of firth that none executed before. From an empty STATE,
input number n of a reader is always the same; another stream has other inputs. STATE has the counts, the inputs that
were kept, and a copy of each finding: an input that was neither accepted nor refused by a FirthError. The files of
several STATEs with different streams can be put into one.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

os.environ.setdefault("FIRTH_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import firth
from mutations import Changes, Seed, mutate
from seeds import make_seeds, read_seed
from untrusted import CHANGED_BY_USE, FIRST_USES, READERS, SLOW
from watchdog import BAD, KINDS, Board, Outcome, Trial, supervise

SOURCE = str(Path(firth.__file__).parent)
TRACED = 16  # one input in so many is traced for the lines that it executes
MOST_KEPT = 400  # inputs of a reader that are changed further
LARGEST_KEPT = 1 << 15  # bytes
MOST_COPIES = 3  # of findings of one kind at one place
MILLION = 1_000_000


class LineCoverage:
    """The lines of firth that were executed while inputs were traced."""

    def __init__(self) -> None:
        self._left: dict[CodeType, set[int]] = {}  # lines of a function that were not executed yet
        self._is_new = False

    def __enter__(self) -> LineCoverage:
        self._is_new = False
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    @property
    def is_new(self) -> bool:
        """Whether a line was executed for the first time."""
        return self._is_new

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            if not code.co_filename.startswith(SOURCE):
                left = set()
            else:
                left = {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
            self._left[code] = left
        return self._line if left else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        left = self._left[frame.f_code]
        if frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self._is_new = True
        return self._line


class Workbench:
    """Files in memory (`/dev/shm`) on which inputs are tried. Only what changes is written."""

    def __init__(self, folder: Path, *, is_written_to: bool) -> None:
        self.folder, self.is_written_to = folder, is_written_to
        self._laid: set[int] = set()

    def path(self, number: int) -> Path:
        """The folder of the seed with this number."""
        return self.folder / str(number)

    @contextmanager
    def input(self, number: int, seed: Seed, changes: Changes) -> Iterator[tuple[Path, int]]:
        """A changed seed as a file or folder, and its size in bytes."""
        place = self.path(number)
        if number not in self._laid:
            for name, data in seed.files.items():
                write(place / name, data)
            self._laid.add(number)
        for name, data in changes.items():
            write(place / name, data)
        size = sum(len(changes.get(name, data) or b"") for name, data in seed.files.items())
        yield place / seed.root, size
        if self.is_written_to:
            shutil.rmtree(place)
            self._laid.discard(number)
        else:
            for name in changes:
                write(place / name, seed.files[name])


def write(path: Path, data: bytes | None) -> None:
    """Writes a new file, so that one that is still mapped keeps its bytes; None removes it."""
    name = str(path)
    try:
        os.unlink(name)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(name), exist_ok=True)
    if data is None:
        return
    handle = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600)
    while data:
        data = data[os.write(handle, data) :]
    os.close(handle)


@dataclass
class Record:
    """How many inputs of a reader were tried, and what happened; `earlier` are those before the last mending."""

    counts: dict[str, int]
    earlier: dict[str, int]
    seconds: float = 0.0

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record in a file; an empty one if there is none."""
        if not path.exists():
            return cls(dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0))
        return cls(**json.loads(path.read_text()))

    @property
    def tried(self) -> int:
        """Inputs of this version."""
        return sum(self.counts.values())

    @property
    def first(self) -> int:
        """The number of the next input."""
        return self.tried + sum(self.earlier.values())

    def write(self, path: Path) -> None:
        """Stores the record."""
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(vars(self)))
        draft.replace(path)


def stream_name(reader: str, stream: int) -> str:
    """The name of a stream of inputs of a reader, in STATE and in its random numbers."""
    return f"{reader}.{stream}" if stream else reader


def find_records(reader: str, state: Path) -> list[Path]:
    """The records of all streams of a reader."""
    return [path for path in (state / f"{reader}.json", *sorted(state.glob(f"{reader}.*.json"))) if path.exists()]


class Fuzzer:
    """Tries inputs of one stream."""

    def __init__(self, name: str, state: Path, work: Path) -> None:
        self.name, self.reader = name, name.partition(".")[0]
        self.state, self.work = state, work
        self.kept = state / "kept" / name

    def run(self, count: int, until: float) -> int:
        """Tries the next `count` inputs, or those until a time; returns how many."""
        path = self.state / f"{self.name}.json"
        record = Record.read(path)
        first, done = record.first, 0
        began = time.monotonic()
        while done < count and time.monotonic() < until:
            board = Board()
            board.number = first + done
            numbers = range(first + done, first + count)
            end, detail = supervise(partial(self.work_through, numbers, board, until), board)
            if end != "finished":
                self.keep_finding(Outcome(board.number, end, detail))
                board.count(end)
            for kind, number in board.counts.items():
                record.counts[kind] += number
                done += number
            shutil.rmtree(self.work, ignore_errors=True)
        record.seconds += time.monotonic() - began
        record.write(path)
        return done

    def work_through(self, numbers: range, board: Board, until: float) -> None:
        """The child process: tries inputs until the last one, the time, or one that took too much memory."""
        seeds = [read_seed(path) for path in sorted((self.state / "seeds" / self.reader).iterdir())]
        base = len(seeds)
        kept = sorted(self.kept.iterdir()) if self.kept.is_dir() else []
        seeds += [read_seed(path) for path in kept if len(list(path.iterdir())) == 1]  # a kill leaves others
        (self.work / "temporary").mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = str(self.work / "temporary")
        bench = Workbench(self.work, is_written_to=self.reader in CHANGED_BY_USE)
        trial, lines, stacks = Trial(READERS[self.reader]), LineCoverage(), set[tuple[object, ...]]()
        for number in numbers:
            board.number = number
            if number % 64 == 0 and time.monotonic() > until:
                return
            rng = Random(f"{self.name} {number}")
            chosen = rng.randrange(base if rng.random() < 0.5 else len(seeds))
            changes = mutate(rng, seeds, chosen)
            with bench.input(chosen, seeds[chosen], changes) as (path, size):
                if number % TRACED == 0:
                    with lines:
                        outcome = trial.outcome(number, path, size, number // TRACED)
                else:
                    outcome = trial.outcome(number, path, size, number)
                if outcome.kind in BAD:
                    self.keep_finding(outcome, path)
            board.count(outcome.kind)
            if outcome.kind == "memory":
                return
            is_new = number % TRACED == 0 and lines.is_new
            if trial.stack and trial.stack not in stacks:
                stacks.add(trial.stack)
                is_new = True
            if is_new and outcome.kind not in BAD and 0 < size <= LARGEST_KEPT and len(seeds) - base < MOST_KEPT:
                seeds.append(self.keep_seed(number, seeds[chosen], changes))

    def keep_seed(self, number: int, seed: Seed, changes: Changes) -> Seed:
        """Stores an input that reached new code."""
        files = {**seed.files, **changes}
        kept = Seed(seed.root, {name: data for name, data in files.items() if data is not None})
        shutil.rmtree(self.kept / f"{number:010}", ignore_errors=True)
        for name, data in kept.files.items():
            write(self.kept / f"{number:010}" / name, data)
        return kept

    def keep_finding(self, outcome: Outcome, path: Path | None = None) -> None:
        """Stores an input that is a finding, with what happened. A child that died left its files in `work`."""
        place = self.state / "findings" / self.name
        same = sorted(place.glob(f"{outcome.kind}-*/outcome.txt"))
        if sum(one.read_text().strip() == outcome.detail for one in same) >= MOST_COPIES:
            return
        folder = place / f"{outcome.kind}-{outcome.number}"
        folder.mkdir(parents=True, exist_ok=True)
        if path is None and self.work.is_dir():
            shutil.copytree(self.work, folder / "work", dirs_exist_ok=True)
        elif path is not None and path.is_dir():
            shutil.copytree(path, folder / path.name, dirs_exist_ok=True)
        elif path is not None and path.exists():
            shutil.copy(path, folder / path.name)
        (folder / "outcome.txt").write_text(outcome.detail + "\n")


@contextmanager
def only_one(path: Path) -> Iterator[bool]:
    """Whether this process alone works on a stream."""
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def work_off(counts: dict[str, int], state: Path, until: float, turn: float) -> None:
    """Tries so many inputs of each stream, in turns of `turn` seconds."""
    goals = {name: Record.read(state / f"{name}.json").first + count for name, count in counts.items()}
    left = dict(counts)
    with tempfile.TemporaryDirectory(prefix="firth-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as at:
        while any(left.values()) and time.monotonic() < until:
            for name in [name for name, count in left.items() if count]:
                with only_one(state / f"{name}.lock") as is_free:
                    left[name] = max(0, goals[name] - Record.read(state / f"{name}.json").first)
                    if is_free and left[name]:
                        fuzzer = Fuzzer(name, state, Path(at, name))
                        left[name] -= fuzzer.run(left[name], min(until, time.monotonic() + turn))
                    elif not is_free:
                        time.sleep(0.1)


def print_table(state: Path) -> None:
    """The counts of all readers as Markdown."""
    print(
        "| reader | inputs tried | accepted | refused | other exceptions | crashes | hangs | memory | mended before |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for reader in READERS:
        if records := [Record.read(path) for path in find_records(reader, state)]:
            found = sum(record.earlier[kind] for record in records for kind in BAD)
            counts = [sum(record.counts[kind] for record in records) for kind in KINDS]
            columns = (sum(counts), *counts, found)
            print(f"| {reader} | " + " | ".join(f"{value:,}" for value in columns) + " |")


def share_out(total: int, readers: list[str]) -> dict[str, int]:
    """So many inputs of all readers together; slow readers get a tenth of the others."""
    weights = {reader: 1 if reader in SLOW else 10 for reader in readers}
    shares = {reader: total * weight // sum(weights.values()) for reader, weight in weights.items()}
    shares[readers[-1]] += total - sum(shares.values())
    return shares


def share_with_streams(counts: dict[str, int], streams: list[int]) -> dict[str, int]:
    """The inputs of each reader, shared by its streams."""
    shared = {}
    for reader, count in counts.items():
        for place, stream in enumerate(streams):
            shared[stream_name(reader, stream)] = count // len(streams) + (place < count % len(streams))
    return shared


def main() -> None:
    """Runs the fuzzer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True, help="Folder of the counts and the findings.")
    parser.add_argument("--count", type=int, default=MILLION, help="Inputs of each reader.")
    parser.add_argument("--total", type=int, help="Inputs of all readers together.")
    parser.add_argument("--seconds", type=float, default=1e9, help="Stop after this time.")
    parser.add_argument("--turn", type=float, default=20.0, help="Seconds for a reader before the next one.")
    parser.add_argument("--workers", type=int, default=1, help="Streams that are tried at the same time.")
    parser.add_argument("--streams", type=int, nargs="+", default=[0], help="Streams that share a reader's inputs.")
    parser.add_argument("--readers", nargs="*", default=list(READERS), help="Readers to try.")
    parser.add_argument("--again", nargs="*", default=[], help="Readers that were mended: their counts begin again.")
    arguments = parser.parse_args()
    until = time.monotonic() + arguments.seconds
    state: Path = arguments.state
    state.mkdir(parents=True, exist_ok=True)
    for path in [path for reader in arguments.again for path in find_records(reader, state)]:
        record = Record.read(path)
        earlier = {kind: record.earlier[kind] + record.counts[kind] for kind in KINDS}
        Record(dict.fromkeys(KINDS, 0), earlier).write(path)
        shutil.rmtree(state / "findings" / path.stem, ignore_errors=True)
    if arguments.count and not arguments.again:
        warnings.simplefilter("ignore")
        make_seeds(state / "seeds", arguments.readers)
        counts = dict.fromkeys(arguments.readers, arguments.count)
        if arguments.total is not None:
            counts = share_out(arguments.total, arguments.readers)
            arguments.turn = arguments.seconds  # a turn that ends by the clock would change what is kept
        for reader in arguments.readers:
            for seed in sorted((state / "seeds" / reader).iterdir()):
                warm_up(reader, seed)
        shared = share_with_streams(counts, arguments.streams)
        start_workers(shared, state, until, arguments.turn, arguments.workers)
    print_table(state)
    sys.exit(show_findings(state))


def start_workers(counts: dict[str, int], state: Path, until: float, turn: float, workers: int) -> None:
    """Tries inputs in so many processes, and waits for them."""
    children = []
    streams = list(counts.items())
    for worker in range(1, workers):
        child = os.fork()
        if child == 0:
            first = worker * len(streams) // workers
            work_off(dict(streams[first:] + streams[:first]), state, until, turn)
            os._exit(0)
        children.append(child)
    work_off(counts, state, until, turn)
    for child in children:
        os.waitpid(child, 0)


def warm_up(reader: str, seed: Path) -> None:
    """Uses a valid input: it must be accepted. Its kernels are then compiled for all children."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, seed.name)
        shutil.copytree(seed, copy)
        FIRST_USES[reader](copy / read_seed(copy).root, None)


def show_findings(state: Path) -> int:
    """Prints the findings; returns 1 if there are some."""
    findings = sorted(state.glob("findings/*/*/outcome.txt"))
    for path in findings:
        print(f"{path.parent.parent.name} {path.parent.name}: {path.read_text().strip()}")
    return 1 if findings else 0


if __name__ == "__main__":
    main()
