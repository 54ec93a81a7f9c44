"""Speed of FastText training, compared with the official fastText on the same text in the same run.

    python benchmarks/train_fasttext.py --fasttext-python PATH [--words 5000000] [--dims 100 300] [--quality]

PATH is a Python that can import `fasttext` (the package fasttext-wheel, which needs numpy<2 and thus an environment of
its own). Both read the same lower-cased text, split at spaces, and train one epoch with n-grams of 3 to 6 characters,
window 5, 5 negatives, min-count 5 and subsampling 1e-3. Runs alternate and medians are printed; a short first run
compiles the kernels. The columns are words per second of wall time and of CPU time, with and without reading the text.
With `--quality` both train five epochs and are evaluated on the sets of `firth.evaluate`.
"""

from __future__ import annotations

import argparse
import gc
import json
import lzma
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import firth
from firth.models.fasttext import FastText
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared")) / "data"
WHITESPACE = Tokenizer(mode="whitespace", normalizer=None)
SHARED = FastText().shared_negatives
SETS = ("wordsim353", "simlex999", "men", "rarewords")
PEER = """
import json, resource, sys, time
import fasttext
path, model, dim, threads, epochs, sample, out = sys.argv[1:]
def measure(**options):
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        options |= {"dim": int(dim), "thread": int(threads), "epoch": int(epochs), "t": float(sample), "verbose": 0}
        trained = fasttext.train_unsupervised(path, model=model, **options)
    except ValueError:  # raised if no word has minCount occurrences: the text is read, and nothing is trained
        trained = None
    return time.perf_counter() - wall, time.process_time() - cpu, trained
*reading, _ = measure(minCount=10**8)
*whole, trained = measure(minCount=5)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
if out:
    trained.save_model(out)
print(json.dumps({"reading": reading, "whole": whole, "peak": peak}))
"""


def take_words(path: Path, words: int, out: Path) -> int:
    """Writes the first sentences of a compressed text in lower case; returns the number of words."""
    taken = 0
    with lzma.open(path, "rt", encoding="utf-8") as source, out.open("w", encoding="utf-8") as target:
        for line in source:
            if taken >= words:
                break
            taken += len(line.split())
            target.write(line.lower())
    return taken


def train_theirs(python: str, text: Path, model: str, dim: int, threads: int, epochs: int, sample: float, out: str):
    """Seconds (wall, CPU) of reading and of the whole run of the official fastText."""
    command = [python, "-c", PEER, str(text), model, str(dim), str(threads), str(epochs), str(sample), out]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def train_ours(text: Path, recipe: FastText, threads: int):
    """Seconds (wall, CPU) of reading and of the whole run of firth, and the vectors."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    corpus = Corpus(text, tokenizer=WHITESPACE, threads=threads)
    corpus.tokens()
    reading = time.perf_counter() - wall, time.process_time() - cpu
    vectors = recipe.fit(corpus, runtime=Runtime(threads))
    whole = time.perf_counter() - wall, time.process_time() - cpu
    return {"reading": reading, "whole": whole}, vectors


def speeds(runs: list[dict], words: int) -> list[float]:
    """Thousands of words per second of wall and CPU time, with reading and without."""
    whole = [statistics.median(run["whole"][k] for run in runs) for k in (0, 1)]
    alone = [statistics.median(run["whole"][k] - run["reading"][k] for run in runs) for k in (0, 1)]
    return [words / seconds / 1e3 for seconds in (*whole, *alone)]


def show(name: str, numbers: list[float], unit: str) -> None:
    print(
        f"  {name:<28}" + "".join(f"{number:>12,.{0 if unit == 'k' else 2}f}{unit}" for number in numbers), flush=True
    )


def compare(args: argparse.Namespace, text: Path, words: int, architecture: str, dim: int) -> None:
    """Prints one block of the table: fastText, firth with shared and with own negatives, and the ratios."""
    model = "skipgram" if architecture == "skip-gram" else "cbow"
    shares = {"firth": SHARED, "firth, own negatives": 0 if model == "skipgram" else 1}
    recipes = {
        name: FastText(dim=dim, architecture=architecture, epochs=1, subsample=args.subsample, shared_negatives=shared)
        for name, shared in shares.items()
    }
    print(f"{architecture}, dim {dim}, {args.threads} thread(s); words/s: wall, CPU with reading; wall, CPU without")
    runs: dict[str, list[dict]] = {name: [] for name in ("fastText", *recipes)}
    for _ in range(args.rounds):
        if args.fasttext_python:
            options = (model, dim, args.threads, 1, args.subsample, "")
            runs["fastText"].append(train_theirs(args.fasttext_python, text, *options))
        for name, recipe in recipes.items():
            runs[name].append(train_ours(text, recipe, args.threads)[0])
    found = {name: speeds(of_one, words) for name, of_one in runs.items() if of_one}
    for name, numbers in found.items():
        show(name, numbers, "k")
    for name in recipes:
        if "fastText" in found:
            show(f"{name} / fastText", [ours / theirs for ours, theirs in zip(found[name], found["fastText"])], "x")
    if runs["fastText"]:
        peaks = runs["fastText"][0]["peak"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(f"  peak memory so far: fastText {peaks[0] / 1e6:,.0f} MB, firth {peaks[1] / 1e6:,.0f} MB")


def print_scores(name: str, vectors: firth.WordVectors) -> None:
    """Prints Spearman correlations and the accuracy on the Google analogies."""
    scores = {one: firth.evaluate.similarity(vectors, one).value for one in SETS}
    scores["google"] = firth.evaluate.analogies(vectors, "google").value
    print(f"  {name:<28}" + "  ".join(f"{one} {100 * value:.1f}" for one, value in scores.items()), flush=True)


def quality(args: argparse.Namespace, text: Path, folder: Path) -> None:
    """Trains both for five epochs and evaluates the vectors."""
    for architecture in ("skip-gram", "cbow"):
        print(f"quality of {architecture}, dim 100, 5 epochs, subsampling {args.subsample}")
        for name, shared in (("firth", SHARED), ("firth, own negatives", 0)):
            recipe = FastText(architecture=architecture, subsample=args.subsample, shared_negatives=shared)
            print_scores(name, train_ours(text, recipe, args.threads)[1])
        if args.fasttext_python:
            out = str(folder / "theirs.bin")
            model = "skipgram" if architecture == "skip-gram" else "cbow"
            train_theirs(args.fasttext_python, text, model, 100, args.threads, 5, args.subsample, out)
            print_scores("fastText", firth.load(out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--fasttext-python", default=os.environ.get("FASTTEXT_PYTHON", ""), help="A Python with fasttext."
    )
    parser.add_argument("--words", type=int, default=5_000_000, help="Words of text; default: 5,000,000.")
    parser.add_argument("--dims", type=int, nargs="+", default=[100, 300], help="Dimensions; default: 100 300.")
    parser.add_argument("--threads", type=int, default=1, help="Number of threads; default: 1.")
    parser.add_argument("--rounds", type=int, default=2, help="Repetitions; default: 2.")
    parser.add_argument("--subsample", type=float, default=1e-3, help="Subsampling threshold; default: 0.001.")
    parser.add_argument("--quality", action="store_true", help="Evaluate the vectors instead of the speed.")
    args = parser.parse_args()
    if not args.fasttext_python:
        print("the official fastText is skipped: set --fasttext-python to a Python that can import fasttext")
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        words = take_words(DATA / "corpora" / "en-01.txt.xz", 60_000, text)
        for architecture in ("skip-gram", "cbow"):
            for shared in (0, SHARED):
                train_ours(text, FastText(dim=16, epochs=1, architecture=architecture, shared_negatives=shared), 1)
        words = take_words(DATA / "corpora" / "en-01.txt.xz", args.words, text)
        print(f"{words:,} words; load {os.getloadavg()[0]:.1f}; Python {sys.version.split()[0]}")
        if args.quality:
            quality(args, text, Path(folder))
            return
        for dim in args.dims:
            for architecture in ("skip-gram", "cbow"):
                compare(args, text, words, architecture, dim)


if __name__ == "__main__":
    main()
