"""Does every long command survive being killed, and how fast does it heed Ctrl-C?

    python benchmarks/kills.py --results RESULTS                              # twenty of both for every command
    python benchmarks/kills.py --results RESULTS --only convert elmo --kills 5 --interrupts 0
    python benchmarks/kills.py --results RESULTS --kills 0 --interrupts 0     # the table of what was tried so far

A command runs once without a disturbance. Then it is started again and again and killed with SIGKILL at a random moment
of that time, until it was killed as often as asked for; a run that ends before its kill starts over. After every kill
what lies under the name of the output must be nothing, or the whole output (or what was there before); only the card
of a model and its curves may be missing, which are written last. At the end the command runs to its end. The output
must equal that of the undisturbed run to the bit, but for times and speeds, and nothing else may be left, in the folder
or in the temporary directory.

Ctrl-C (SIGINT) is tried the same way: the command must end with exit code 130 and one line on standard error. The time
until it ends is CPU time, so that other work of the machine does not count.

Commands run in forked children of this process, which has run the command once, with one thread: a kill hits the work,
not the imports and the loading of kernels. RESULTS is a file of JSON lines, one for each trial of a command.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("FIRTH_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("FIRTH_COMMIT", "of the trial")  # studies name the commit, which may change meanwhile

import numpy as np

import firth
from firth.cli.main import main

TIMES = re.compile(r"seconds|per_second|bilm_share|hours|time|speed")  # keys of JSON whose values depend on the clock
CLOCK = re.compile(r"[\d,.]+ (hours|seconds|words/s|tokens/s|words per second)|seconds[^\n]*")  # in pages
TEMPORARY = "temporary"
CARD = ("README.md", "curves.svg")
INTERRUPTED = "firth: interrupted"
WORDS = 4000


@dataclass(frozen=True)
class Command:
    """A command as typed in a folder with the `inputs`, and its output. `old` is there before, and may be replaced."""

    line: str
    inputs: tuple[str, ...]
    out: str = "out"
    old: str | None = None
    is_whole_at_once: bool = True  # studies write their results and pages one by one


def words(rng: np.random.Generator, count: int) -> np.ndarray:
    """Words with the frequencies of Zipf's law."""
    return np.array([f"w{i}" for i in range(WORDS)])[np.minimum(rng.zipf(1.3, count), WORDS) - 1]


def write_text(path: Path, lines: int = 4_000) -> None:
    """Labeled lines of ten words, which are a text for every recipe."""
    rng = np.random.default_rng(1)
    table = words(rng, 10 * lines).reshape(lines, 10)
    path.write_text("".join(f"__label__{i % 3} {' '.join(row)}\n" for i, row in enumerate(table)))


def write_vectors(path: Path, count: int = 40_000, dim: int = 100) -> None:
    """A large file of vectors in word2vec's text format."""
    matrix = np.random.default_rng(2).standard_normal((count, dim)).astype(np.float32)
    firth.save(firth.WordVectors([f"word{i}" for i in range(count)], matrix), path, format="word2vec")


def write_near_vectors(path: Path) -> None:
    """Small vectors in word2vec's text format, with the words of `write_text`."""
    matrix = np.random.default_rng(7).standard_normal((2000, 50)).astype(np.float32)
    firth.save(firth.WordVectors([f"w{i}" for i in range(2000)], matrix), path, format="word2vec")


def write_chinese(path: Path) -> None:
    """Lines of words of one to three Chinese characters without spaces."""
    rng = np.random.default_rng(8)
    signs = [chr(0x4E00 + i) for i in range(400)]
    known = ["".join(rng.choice(signs, rng.integers(1, 4))) for _ in range(600)]
    picks = np.minimum(rng.zipf(1.3, (6000, 12)), len(known)) - 1
    path.write_text("".join("".join(known[i] for i in row) + "\n" for row in picks), encoding="utf-8")


def write_old_model(path: Path) -> None:
    firth.save(firth.WordVectors(["old"], np.ones((1, 3), np.float32)), path)


def write_fasttext(path: Path) -> None:
    text = path.with_name("short.txt")
    write_text(text, 500)
    firth.save(firth.FastText(dim=64, min_count=1, epochs=1, buckets=10_000).fit(text), path)
    text.unlink()


def write_phrases(path: Path) -> None:
    text = path.with_name("short.txt")
    write_text(text, 2000)
    firth.save(firth.Phrases(threshold=1, delta=1).fit(text), path)
    text.unlink()


def write_bilm(path: Path) -> None:
    from firth.neural.architecture import Architecture

    firth.save(firth.BiLM(Architecture.named("tiny"), seed=3), path)


def write_sentences(path: Path) -> None:
    rng = np.random.default_rng(4)
    path.write_text("".join(" ".join(words(rng, 12)) + "\n" for _ in range(1000)))


def write_opinions(path: Path) -> None:
    rng = np.random.default_rng(5)
    kinds = {"good": ["good", "fine", "film", "the"], "bad": ["bad", "poor", "film", "the"]}
    names = [list(kinds)[i % 2] for i in range(400)]
    path.write_text("".join(f"{name}\t{' '.join(rng.choice(kinds[name], 8))}\n" for name in names))


def write_pairs(path: Path) -> None:
    rng = np.random.default_rng(6)
    letters = [rng.choice(list("abcdef"), rng.integers(3, 8)).tolist() for _ in range(300)]
    path.write_text("".join(f"{' '.join(one)}\t{' '.join(reversed(one))}\n" for one in letters))


INPUTS: dict[str, Callable[[Path], None]] = {
    "text.txt": write_text,
    "large.txt": lambda path: write_text(path, 20_000),
    "vectors.txt": write_vectors,
    "near.txt": write_near_vectors,
    "chinese.txt": write_chinese,
    "model.bin": write_fasttext,
    "phrases": write_phrases,
    "bilm": write_bilm,
    "sentences.txt": write_sentences,
    "opinions.tsv": write_opinions,
    "pairs.tsv": write_pairs,
}
READ = "--tokens whitespace --threads 1"
SAVE = "--checkpoint state --checkpoint-seconds 0"
STATIC = f"text.txt --dim 20 --min-count 1 {READ} --epochs 6 {SAVE} --out out"
COMMANDS = {
    "train word2vec": Command(f"train word2vec {STATIC}", ("text.txt",)),
    "train fasttext": Command(f"train fasttext {STATIC} --buckets 20000", ("text.txt",)),
    "train glove": Command(f"train glove {STATIC.replace(' --checkpoint-seconds 0', '')}", ("text.txt",)),
    "train doc2vec": Command(f"train doc2vec {STATIC}", ("text.txt",)),
    "train classifier": Command(f"train classifier {STATIC} --buckets 20000", ("text.txt",)),
    "train ngram": Command(f"train ngram large.txt --order 4 {READ} --out out", ("large.txt",)),
    "train counts": Command(
        f"train counts large.txt --kind co-occurrence --window 8 --memory-limit 8MB {READ} --out out", ("large.txt",)
    ),
    "train phrases": Command(f"train phrases large.txt --threshold 1 --delta 1 {READ} --out out", ("large.txt",)),
    "train segmenter": Command("train segmenter chinese.txt --threads 1 --out out", ("chinese.txt",)),
    "align": Command("align near.txt near.txt --out out", ("near.txt",)),
    "map": Command("map near.txt --out out.tsv", ("near.txt",), "out.tsv"),
    "phrases": Command(
        f"phrases phrases large.txt {READ} --out out.txt.gz", ("large.txt", "phrases"), out="out.txt.gz"
    ),
    "train elmo": Command(
        f"train elmo sentences.txt --preset tiny --steps 40 --batch 8 --save-every 4 {READ} "
        "--checkpoint state --out out",
        ("sentences.txt",),
    ),
    "embed, HDF5": Command("embed bilm sentences.txt --out out.hdf5", ("bilm", "sentences.txt"), "out.hdf5"),
    "embed, safetensors": Command(
        "embed bilm sentences.txt --out out.safetensors",
        ("bilm", "sentences.txt"),
        "out.safetensors",
    ),
    "embed, Parquet": Command(
        "embed bilm sentences.txt --out out.parquet",
        ("bilm", "sentences.txt"),
        "out.parquet",
    ),
    "index": Command("index bilm sentences.txt --out out", ("bilm", "sentences.txt")),
    "task sentiment": Command(
        "task sentiment --train opinions.tsv --dev opinions.tsv --network plain --hidden 16 --embedding none "
        "--embedding-words 16 --epochs 6 --batch 8 --patience 9 --threads 1 --save-every 5 "
        "--checkpoint state --out out",
        ("opinions.tsv",),
    ),
    "task seq2seq": Command(
        "task seq2seq --train pairs.tsv --dev pairs.tsv --embedding none --embedding-words 16 --hidden 16 --epochs 3 "
        "--batch 16 --patience 9 --threads 1 --save-every 5 --checkpoint state --out out",
        ("pairs.tsv",),
    ),
    "study weights": Command(
        "study weights --quick --tasks ner --threads 1 --out out",
        (),
        is_whole_at_once=False,
    ),
    "quantize": Command("quantize model.bin out.ftz --dsub 2", ("model.bin",), "out.ftz"),
    "convert to a folder": Command("convert vectors.txt out", ("vectors.txt",)),
    "convert over a folder": Command("convert vectors.txt out", ("vectors.txt",), old="out"),
    "convert to text": Command(
        "convert vectors.txt out.txt.gz --limit 5000 --format word2vec", ("vectors.txt",), "out.txt.gz"
    ),
    "tokens": Command("tokens large.txt --out out.txt", ("large.txt",), "out.txt"),
}


@dataclass(frozen=True)
class Ended:
    """How a run ended: exit code (negative: the signal), seconds, CPU seconds after a signal, standard error."""

    code: int
    seconds: float
    waited: float
    error: str
    was_disturbed: bool


def start(command: Command, folder: Path, moment: float | None = None, number: int = signal.SIGKILL) -> Ended:
    """Runs a command in a forked child in a folder; a signal comes at a moment."""
    log = folder.with_suffix(".log")
    begin = time.monotonic()
    child = os.fork()
    if not child:
        run_child(command, folder, log)
    due = None if moment is None else begin + moment
    sent = None
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        now = time.monotonic()
        if done:
            break
        if due is not None and sent is None and now >= due:
            sent = cpu_seconds(child)
            os.kill(child, number)
        time.sleep(0.001 if due is not None else 0.01)
    waited = 0.0 if sent is None else max(0.0, usage.ru_utime + usage.ru_stime - sent)
    error = log.read_text(encoding="utf-8", errors="replace")
    return Ended(os.waitstatus_to_exitcode(status), now - begin, waited, error, sent is not None)


def cpu_seconds(child: int) -> float:
    """The CPU time of a process so far."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def run_child(command: Command, folder: Path, log: Path) -> None:
    """The child's part: streams to files, an own temporary directory, the command."""
    code = 1
    try:
        null, errors = os.open(os.devnull, os.O_RDWR), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for target, source in ((0, null), (1, null), (2, errors)):
            os.dup2(source, target)
        os.chdir(folder)
        os.environ["TMPDIR"] = str(folder / TEMPORARY)
        tempfile.tempdir = None
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main(command.line.split())
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def prepare(command: Command, folder: Path, inputs: Path) -> Path:
    """A folder in which a command can start: links to its inputs and what its output replaces."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / TEMPORARY).mkdir(parents=True)
    for name in command.inputs:
        (folder / name).symlink_to(inputs / name)
    if command.old:
        write_old_model(folder / command.old)
    return folder


def contents(path: Path) -> dict[str, Any]:
    """The files under a name: their bytes, or their values without times and speeds."""
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {str(one.relative_to(path)): content(one) for one in paths if one.is_file()}


def content(path: Path) -> Any:
    data = path.read_bytes()
    if path.suffix == ".json":
        return without_times(json.loads(data))
    if path.suffix == ".jsonl":
        return [without_times(json.loads(line)) for line in data.splitlines()]
    if path.suffix in (".md", ".svg") and path.name != "vocab":
        return CLOCK.sub("", data.decode())
    return data


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if not TIMES.search(name)}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def left_over(command: Command, folder: Path) -> list[str]:
    """What lies in the folder beside inputs, output and checkpoint, and in the temporary directory."""
    known = {*command.inputs, command.out, f"{command.out}.md", "state", TEMPORARY}
    found = [path.name for path in folder.iterdir() if path.name not in known]
    hidden = [str(path.relative_to(folder)) for path in folder.rglob(".*") if path.parent != folder]
    return found + hidden + [f"{TEMPORARY}/{path.name}" for path in (folder / TEMPORARY).iterdir()]


class Trial:
    """Disturbs one command, and notes what went wrong."""

    def __init__(self, command: Command, work: Path, inputs: Path, rng: Random) -> None:
        self.command, self.work, self.inputs, self.rng = command, work, inputs, rng
        self.warm_up()
        ended = start(command, prepare(command, work / "run", inputs))  # some outputs name the folder
        if ended.code:
            raise SystemExit(f"{command.line}: exit code {ended.code}: {ended.error}")
        self.seconds = ended.seconds
        self.whole = contents(work / "run" / command.out)
        self.allowed = [self.whole]
        if command.old:
            self.allowed.append(contents(prepare(command, work / "old", inputs) / command.old))
        self.failures: list[str] = []

    def warm_up(self) -> None:
        """Runs the command in this process, so that children have its imports and kernels."""
        before = os.getcwd()
        os.chdir(prepare(self.command, self.work / "warm", self.inputs))
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                main(self.command.line.split())
        finally:
            os.chdir(before)

    def disturb(self, count: int, number: int) -> dict[str, Any]:
        """Sends a signal `count` times while the command runs; returns the row of the table."""
        folder = prepare(self.command, self.work / "run", self.inputs)
        hits, ended_early, waits = 0, 0, []
        while hits < count:
            ended = start(self.command, folder, self.rng.uniform(0.0, self.seconds), number)
            if ended.code == 0:
                ended_early += 1
                self.check_whole(folder, is_last=not ended.was_disturbed)
                folder = prepare(self.command, folder, self.inputs)
                continue
            hits += 1
            waits.append(ended.waited)
            self.check_ending(ended, number)
            out = folder / self.command.out
            if self.command.is_whole_at_once and out.exists() and not self.is_whole(contents(out)):
                self.failures.append(f"half an output after {hits} signals")
            elif out.is_file():  # finished: another run would refuse to replace it
                folder = prepare(self.command, folder, self.inputs)
        ended = start(self.command, folder)
        if ended.code:
            self.failures.append(f"exit code {ended.code} at the end: {ended.error[-400:]}")
        self.check_whole(folder, is_last=True)
        return {"signals": hits, "ended before": ended_early, "waits": [round(one, 3) for one in waits]}

    def is_whole(self, found: dict[str, Any]) -> bool:
        """Whether the output is whole, or was before, but for the card."""
        return any(
            {name: one[name] for name in one if name in found or name not in CARD} == found for one in self.allowed
        )

    def check_ending(self, ended: Ended, number: int) -> None:
        if number == signal.SIGKILL and ended.code != -signal.SIGKILL:
            self.failures.append(f"exit code {ended.code}: {ended.error[-400:]}")
        if number == signal.SIGINT:
            lines = [line for line in ended.error.splitlines() if line.startswith("firth:")]
            if (
                ended.code != 130
                or len(lines) != 1
                or not lines[0].startswith(INTERRUPTED)
                or "Traceback" in ended.error
            ):
                self.failures.append(f"Ctrl-C: exit code {ended.code}: {ended.error[-600:]}")

    def check_whole(self, folder: Path, *, is_last: bool) -> None:
        """Compares the output with that of the undisturbed run; the last run must have left nothing else."""
        out = folder / self.command.out
        found = contents(out) if out.exists() else {}
        if found != self.whole:
            names = sorted(name for name in found.keys() | self.whole.keys() if found.get(name) != self.whole.get(name))
            self.failures.append(f"other bytes in {', '.join(names)}")
        left = left_over(self.command, folder)
        if left and is_last:
            self.failures.append(f"left over: {', '.join(left)}")


def run_trials(names: list[str], kills: int, interrupts: int, seed: int, work: Path) -> Iterator[dict[str, Any]]:
    """A record for each command and signal."""
    inputs = work / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    for name in names:
        command = COMMANDS[name]
        for one in command.inputs:
            if not (inputs / one).exists():
                INPUTS[one](inputs / one)
        trial = Trial(command, work, inputs, Random(f"{seed} {name}"))
        for number, count in ((signal.SIGKILL, kills), (signal.SIGINT, interrupts)):
            if count:
                trial.failures = []
                row = trial.disturb(count, number)
                record = {"command": name, "signal": number.name, "seconds": round(trial.seconds, 2)}
                yield record | row | {"failures": trial.failures}


def table(records: list[dict[str, Any]]) -> str:
    """The records as a table in Markdown, summed over all trials of a command."""
    lines = [
        "| command | seconds | kills | failed | Ctrl-C | failed | longest CPU time to the end |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in COMMANDS:
        mine = [one for one in records if one["command"] == name]
        if not mine:
            continue
        cells = [name, f"{mine[-1]['seconds']:.1f}"]
        for kind in ("SIGKILL", "SIGINT"):
            some = [one for one in mine if one["signal"] == kind]
            cells += [str(sum(one["signals"] for one in some)), str(sum(len(one["failures"]) for one in some))]
        waits = [wait for one in mine if one["signal"] == "SIGINT" for wait in one["waits"]]
        cells.append(f"{max(waits):.2f} s" if waits else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="file of JSON lines; trials are appended")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--interrupts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = parse()
    failed = False
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        names = chosen.only if chosen.kills or chosen.interrupts else []
        for record in run_trials(names, chosen.kills, chosen.interrupts, chosen.seed, Path(folder).resolve()):
            with open(chosen.results, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
            failed |= bool(record["failures"])
    print(table([json.loads(line) for line in chosen.results.read_text(encoding="utf-8").splitlines()]))
    sys.exit(1 if failed else 0)
