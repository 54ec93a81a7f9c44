"""Speed of reading and writing vector files, compared with gensim in the same run on the same files.

    python benchmarks/loading.py [--words 400000] [--dim 300] [--repeats 3] [--big 2e9]

word2vec text and binary: loading in alternation (A/B/A/B), medians of wall and CPU time; writing once each. firth's own
format: loading again, and loading with ten lookups in a new process. A large fastText `.bin`: time and peak memory of
loading it and looking up ten words. Files are written to a temporary folder (about 4 GB) and removed.
"""

from __future__ import annotations

import argparse
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import firth.formats.registry as firth
from firth.vectors.words import WordVectors


def measure(job: Callable[[], object]) -> tuple[float, float]:
    """The wall seconds and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - wall, time.process_time() - cpu


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> None:
    results = [(measure(ours), measure(theirs)) for _ in range(repeats)]
    (our_wall, our_cpu), (their_wall, their_cpu) = (
        [statistics.median(column) for column in zip(*side)] for side in zip(*results)
    )
    print(
        f"{name:28} firth {our_wall:7.2f} s (cpu {our_cpu:6.2f})   gensim {their_wall:7.2f} s (cpu {their_cpu:6.2f})   "
        f"{their_wall / our_wall:5.1f}x wall, {their_cpu / our_cpu:5.1f}x cpu"
    )


def random_vectors(words: int, dim: int) -> WordVectors:
    rng = np.random.default_rng(0)
    return WordVectors([f"word{i}" for i in range(words)], rng.standard_normal((words, dim), np.float32) * 0.3)


def write_fasttext(path: Path, size: float, dim: int) -> None:
    """Writes a fastText model of 200,000 words with a constant input matrix of `size` bytes."""
    rows = int(size) // (4 * dim)
    words = [f"word{i}" for i in range(200_000)]
    with open(path, "wb") as file:
        file.write(struct.pack("<2i12id", 793712314, 12, dim, 5, 5, 5, 5, 1, 2, 2, rows - len(words), 3, 6, 100, 1e-4))
        file.write(struct.pack("<3iqq", len(words), len(words), 0, 10**9, -1))
        for i, word in enumerate(words):
            file.write(word.encode() + b"\0" + struct.pack("<qb", 10**6 - i, 0))
        file.write(struct.pack("<?qq", False, rows, dim))
        block = np.full((4096, dim), 0.25, np.float32)
        for start in range(0, rows, 4096):
            file.write(block[: rows - start].tobytes())
        file.write(struct.pack("<?qq", False, 1, dim) + bytes(4 * dim))


LOADER = """
import re, sys, time
from firth.formats.registry import load

def peak():  # of this process only; getrusage includes the peak of the parent
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024

load(sys.argv[2]).take([0])  # loads the compiled kernels
idle = peak()
start = time.perf_counter()
vectors = load(sys.argv[1])
opened = time.perf_counter() - start
vectors.of([f"word{i}" for i in range(10)])
print(f"{opened:.4f} {time.perf_counter() - start:.4f} {idle} {peak()}")
"""


def load_in_new_process(path: Path, warm: Path) -> list[str]:
    """Seconds to load, seconds with ten lookups, and peak memory before and after, in MB."""
    command = [sys.executable, "-c", LOADER, str(path), str(warm)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=400_000, help="Number of words; default: 400,000.")
    parser.add_argument("--dim", type=int, default=300, help="Dimension; default: 300.")
    parser.add_argument("--repeats", type=int, default=3, help="Repetitions; default: 3.")
    parser.add_argument("--big", type=float, default=2e9, help="Bytes of the fastText model; default: 2e9.")
    options = parser.parse_args()
    from gensim.models import KeyedVectors

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vectors = random_vectors(options.words, options.dim)
        small = random_vectors(50, options.dim)
        theirs = KeyedVectors(options.dim)
        theirs.add_vectors(list(vectors.vocabulary), vectors.matrix)
        text, binary, own = folder / "text.txt", folder / "binary.bin", folder / "own"
        for path in (folder / "warm.txt", folder / "warm.bin", folder / "warm"):
            firth.save(small, path)
            firth.load(path)["word1"]
        print(f"{options.words:,} x {options.dim}")
        compare("write word2vec text", lambda: firth.save(vectors, text), lambda: theirs.save_word2vec_format(text), 1)
        compare(
            "write word2vec binary",
            lambda: firth.save(vectors, binary),
            lambda: theirs.save_word2vec_format(binary, binary=True),
            1,
        )
        firth.save(vectors, own)
        compare(
            "load word2vec text",
            lambda: firth.load(text),
            lambda: KeyedVectors.load_word2vec_format(text),
            options.repeats,
        )
        compare(
            "load word2vec binary",
            lambda: firth.load(binary),
            lambda: KeyedVectors.load_word2vec_format(binary, binary=True),
            options.repeats,
        )
        times = [measure(lambda: firth.load(own))[0] for _ in range(9)]
        print(f"reopen our own folder        {statistics.median(times):.4f} s")
        opened, looked, idle, peak = load_in_new_process(own, folder / "warm")
        print(f"  fresh process              {opened} s, with 10 look-ups {looked} s, memory {idle} -> {peak} MB")
        for path in (text, binary):
            opened, _, idle, peak = load_in_new_process(path, folder / f"warm{path.suffix}")
            print(f"  memory of loading {path.suffix}     {idle} -> {peak} MB, {opened} s")
            path.unlink()
        write_fasttext(folder / "big.bin", options.big, options.dim)
        write_fasttext(folder / "little.bin", 3e8, options.dim)
        size = (folder / "big.bin").stat().st_size
        opened, looked, idle, peak = load_in_new_process(folder / "big.bin", folder / "little.bin")
        print(f"fastText .bin of {size / 1e9:.1f} GB      opened in {opened} s, 10 words looked up by {looked} s, ")
        print(f"                             memory {idle} -> {peak} MB")


if __name__ == "__main__":
    main()
