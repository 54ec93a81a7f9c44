"""Does a process that uses models all day grow, and do threads and child processes get the same answers?

    python benchmarks/long_use.py                    # a million look-ups, 100,000 loads, 10,000 embeddings, then tables
    python benchmarks/long_use.py --share 0.01       # a hundredth of it

Every call has other words, so that a cache without a limit would show. After a first part that fills what is computed
once, memory, open files and threads are taken; then again at the end. Growth of more than `TOLERATED` bytes, or of one
open file, is a failure. Eight threads that start at the same moment on one fresh model must answer as one thread does,
and so must a forked child and a spawned process after the model was used.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("FIRTH_THREADS", "2")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import firth
from firth.models.classifier_model import Classifier

MOST_THREADS = 8  # of the pool, which starts them one by one
TOLERATED = 4 << 20  # bytes; allocators keep a few pieces
FIRST = 0.1  # of the calls come before the first measurement
THREADS = 8
SECONDS = 60  # for a forked child
TEXT = [f"__label__{i % 2} w{i % 50} w{i % 7} w{i % 31} tea rain" for i in range(400)]

Question = Callable[[Any, int], Any]


def word(number: int) -> str:
    return f"w{number % 50}"


def write_models(folder: Path) -> dict[str, Path]:
    """One small model of every kind."""
    from firth.neural.architecture import Architecture

    text = folder / "text.txt"
    text.write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    rng = np.random.default_rng(1)
    vectors = firth.WordVectors([f"w{i}" for i in range(3000)], rng.standard_normal((3000, 20)).astype(np.float32))
    models = {
        "vectors": vectors,
        "vectors.txt": vectors,
        "vectors.bin": vectors,
        "fasttext.bin": firth.FastText(dim=8, min_count=1, epochs=1, buckets=500).fit(text),
        "classifier.bin": firth.FastTextClassifier(dim=8, epochs=2, buckets=500).fit(
            firth.Corpus(text, tokenizer=firth.Tokenizer(mode="whitespace"))
        ),
        "ngram": firth.Ngram(order=3, discount_fallback=(0.5, 1.0, 1.5)).fit(text),
        "counts": firth.Counts(kind="ppmi").fit(text),
        "phrases": firth.Phrases(threshold=0.1, delta=1).fit(text),
        "bilm": firth.BiLM(Architecture.named("tiny"), seed=1),
    }
    formats = {"vectors.txt": "word2vec", "vectors.bin": "word2vec-binary"}
    for name, model in models.items():
        firth.save(model, folder / name, format=formats.get(name))
    return {name: folder / name for name in models}


QUESTIONS: dict[str, tuple[str, Question]] = {
    "look up a word": ("vectors", lambda model, i: model[f"w{i % 3000}"]),
    "cosine of two words": ("vectors", lambda model, i: model.similarity(f"w{i % 3000}", f"w{i % 777}")),
    "ten neighbors": ("vectors", lambda model, i: model.most_similar(f"w{i % 3000}", topn=10)),
    "analogy": ("vectors", lambda model, i: model.analogy(f"w{i % 97}", f"w{100 + i % 89}", f"w{200 + i % 83}")),
    "a word that fastText has not seen": ("fasttext.bin", lambda model, i: model[f"unseen{i}"]),
    "classify a text": ("classifier.bin", lambda model, i: Classifier(model).predict([f"tea {word(i)} new{i}"])),
    "score a sentence with n-grams": ("ngram", lambda model, i: model.score([word(i), "tea", f"new{i}"])),
    "a cell of a count matrix": ("counts", lambda model, i: model.value(word(i), "tea")),
    "join phrases": ("phrases", lambda model, i: model.apply([word(i), "tea", "rain", f"new{i}"])),
    "embed a sentence with a biLM": ("bilm", lambda model, i: model.embed([["the", f"new{i}", word(i), "tea"]])[0]),
}
CALLS = {"look up a word": 1_000_000, "cosine of two words": 100_000, "a word that fastText has not seen": 100_000}
LOADS = {"vectors": 100_000}  # others: 10,000
FEW = 10_000


def resident() -> int:
    """The bytes of memory that this process has."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def repeat(action: Callable[[int], Any], count: int) -> dict[str, Any]:
    """Calls an action many times; what the process has grown by after the first part, and the time of a call."""
    first = max(1, int(count * FIRST))
    for i in range(first):
        action(i)
    before = resident(), open_files(), threading.active_count()
    begin = time.process_time()
    for i in range(first, count):
        action(i)
    seconds = time.process_time() - begin
    after = resident(), open_files(), threading.active_count()
    grown, files, threads = (b - a for a, b in zip(before, after))
    failed = grown > TOLERATED or files > 0 or threads > MOST_THREADS
    return {
        "calls": count,
        "us": 1e6 * seconds / max(1, count - first),
        "grown": grown,
        "files": files,
        "failed": failed,
    }


def same(one: Any, other: Any) -> bool:
    """Whether two answers are equal to the bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or repr(one) == repr(other)


def ask_in_threads(path: Path, question: Question, count: int = 25) -> int:
    """How many of the answers of eight threads on one fresh model differ from those of one thread on another."""
    wanted = [question(model, i) for model in [firth.load(path)] for i in range(count)]
    model, barrier = firth.load(path), threading.Barrier(THREADS)
    found: dict[int, list[Any]] = {}

    def ask(number: int) -> None:
        barrier.wait()
        found[number] = [question(model, i) for i in range(count)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(THREADS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    missing = THREADS - len(found)  # of threads that raised
    return missing * count + sum(not same(a, b) for answers in found.values() for a, b in zip(wanted, answers))


def ask_by_name(name: str, path: Path, count: int = 10) -> list[Any]:
    """The answers to a question, for a spawned process."""
    model, question = firth.load(path), QUESTIONS[name][1]
    return [question(model, i) for i in range(count)]


def ask_in_child(name: str, path: Path, count: int = 10) -> bool:
    """Whether a forked child answers as its parent, which used the model before, and does not wait for ever."""
    model, question = firth.load(path), QUESTIONS[name][1]
    wanted = [question(model, i) for i in range(count)]
    child = os.fork()
    if not child:
        try:
            os._exit(0 if same(wanted, [question(model, i) for i in range(count)]) else 1)
        finally:
            os._exit(2)
    begin = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        if time.monotonic() - begin > SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.01)


def ask_in_spawned(paths: dict[str, Path], count: int = 10) -> dict[str, bool]:
    """Whether one spawned process answers every question as this one."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        work = [(name, paths[QUESTIONS[name][0]], count) for name in QUESTIONS]
        found = pool.starmap(ask_by_name, work)
    return {name: same(ask_by_name(name, path, count), answers) for (name, path, _), answers in zip(work, found)}


def run(share: float) -> bool:
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        paths = write_models(Path(folder))
        print("| action | calls | µs of CPU time | growth of memory | of open files |\n|---|---|---|---|---|")
        loads = {f"load {name}": (path, None) for name, path in paths.items()}
        actions = {name: (paths[model], question) for name, (model, question) in QUESTIONS.items()} | loads
        for name, (path, question) in actions.items():
            usual = CALLS.get(name, LOADS.get(path.name, FEW) if question is None else FEW)
            if question is None:
                row = repeat(lambda i, path=path: firth.load(path), max(20, int(usual * share)))
            else:
                model = firth.load(path)
                row = repeat(lambda i, model=model, ask=question: ask(model, i), max(20, int(usual * share)))
            failed |= row["failed"]
            grown = f"{row['grown'] / 2**20:.1f} MiB{' **failed**' if row['failed'] else ''}"
            print(f"| {name} | {row['calls']:,} | {row['us']:.1f} | {grown} | {row['files']} |", flush=True)
        print(
            "\n| question | wrong of 200 answers of eight threads | forked child | spawned process |\n|---|---|---|---|"
        )
        spawned = ask_in_spawned(paths)
        for name, (model, question) in QUESTIONS.items():
            wrong, forked = ask_in_threads(paths[model], question), ask_in_child(name, paths[model])
            failed |= wrong > 0 or not forked or not spawned[name]
            print(
                f"| {name} | {wrong} | {'same' if forked else 'no'} | {'same' if spawned[name] else 'no'} |", flush=True
            )
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of calls")
    sys.exit(run(parser.parse_args().share))
