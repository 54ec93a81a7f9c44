"""Speed of word2vec training: one epoch, window 5, 5 negatives, min-count 5, subsampling 1e-3.

    python benchmarks/train_static.py [--words 17000000] [--dims 100 300] [--threads 1 2] [--rounds 3]

The peer is gensim with `corpus_file`, its fastest input. Both start from the same file of pre-tokenized lines. Runs
alternate, and medians are printed: words per second of wall time and of CPU time, for training alone and with reading
and counting the text. Ratios compare equal numbers of threads. Kernels are compiled before the measurement.
"""

from __future__ import annotations

import argparse
import itertools
import lzma
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))


@dataclass(frozen=True)
class Run:
    """Wall and CPU seconds of reading and of training."""

    read_wall: float
    read_cpu: float
    train_wall: float
    train_cpu: float

    @property
    def columns(self) -> tuple[float, float, float, float]:
        """Wall and CPU seconds of training, and of reading and training."""
        return self.train_wall, self.train_cpu, self.read_wall + self.train_wall, self.read_cpu + self.train_cpu


OURS: dict[str, dict[str, Any]] = {
    "skip-gram": {},
    "skip-gram, one window": {"shared_negatives": 1},
    "skip-gram, per pair": {"shared_negatives": 0},
    "cbow": {"architecture": "cbow"},
}


def write_text(path: Path, words: int) -> int:
    """Writes the first sentences of the English corpora; returns the number of words."""
    written = 0
    with open(path, "wb") as file:
        for name in ("en-01.txt.xz", "en-02.txt.xz"):
            with lzma.open(DATA / "data/corpora" / name, "rb") as source:
                for line in source:
                    if written >= words:
                        return written
                    file.write(line)
                    written += len(line.split())
    return written


def time_call(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """The wall seconds and CPU seconds of a call, and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def run_firth(path: Path, dim: int, threads: int, options: dict[str, Any]) -> Run:
    """Reads the text and trains with firth."""
    corpus = Corpus([path], tokenizer=Tokenizer(mode="whitespace", normalizer=None), threads=threads)
    read_wall, read_cpu, _ = time_call(corpus.tokens)
    recipe = Word2Vec(dim=dim, epochs=1, **options)
    train_wall, train_cpu, _ = time_call(lambda: recipe.fit(corpus, runtime=Runtime(threads)))
    return Run(read_wall, read_cpu, train_wall, train_cpu)


def run_gensim(path: Path, dim: int, threads: int, architecture: str) -> Run:
    """Reads the text and trains with gensim."""
    from gensim.models import Word2Vec as Peer

    skip_gram = architecture == "skip-gram"
    model = Peer(
        vector_size=dim,
        sg=int(skip_gram),
        negative=5,
        window=5,
        min_count=5,
        sample=1e-3,
        alpha=0.025 if skip_gram else 0.05,
        workers=threads,
        epochs=1,
    )
    read_wall, read_cpu, _ = time_call(lambda: model.build_vocab(corpus_file=str(path)))

    def train() -> None:
        model.train(
            corpus_file=str(path), total_words=model.corpus_total_words, total_examples=model.corpus_count, epochs=1
        )

    train_wall, train_cpu, _ = time_call(train)
    return Run(read_wall, read_cpu, train_wall, train_cpu)


def measure(path: Path, words: int, dim: int, threads: int, rounds: int) -> None:
    """Prints one block of the table."""
    systems: dict[str, Callable[[], Run]] = {}
    for architecture in ("skip-gram", "cbow"):
        systems[f"gensim {architecture}"] = lambda a=architecture: run_gensim(path, dim, threads, a)
        for name, options in OURS.items():
            if name.startswith(architecture):
                systems[f"firth {name}"] = lambda o=options: run_firth(path, dim, threads, o)
    runs: dict[str, list[Run]] = {name: [] for name in systems}
    for name in itertools.chain.from_iterable([systems] * rounds):
        runs[name].append(systems[name]())
    print(f"\ndim {dim}, {threads} thread{'s' * (threads > 1)}: thousand words/s, and the ratio to gensim")
    print(f"{'':30} {'train, wall':>15} {'train, CPU':>15} {'all, wall':>15} {'all, CPU':>15}")
    peer: list[float] = []
    for name, found in runs.items():
        seconds = [statistics.median(column) for column in zip(*(run.columns for run in found))]
        peer = seconds if name.startswith("gensim") else peer
        cells = (f"{words / mine / 1e3:7.0f} {other / mine:5.1f} x" for mine, other in zip(seconds, peer))
        print(f"{name:30} " + " ".join(f"{cell:>15}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=17_000_000, help="Words of text; default: 17,000,000.")
    parser.add_argument("--dims", type=int, nargs="+", default=[100, 300], help="Dimensions; default: 100 300.")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="Numbers of threads; default: 1 2.")
    parser.add_argument("--rounds", type=int, default=3, help="Repetitions; default: 3.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, sample = Path(folder) / "text.txt", Path(folder) / "sample.txt"
        write_text(sample, 20_000)
        for options in OURS.values():
            run_firth(sample, 100, 1, options)  # compiles the kernels or loads them from the cache
        words = write_text(path, args.words)
        print(f"{words:,} words of pre-tokenized English")
        for dim, threads in itertools.product(args.dims, args.threads):
            measure(path, words, dim, threads, args.rounds)


if __name__ == "__main__":
    main()
