"""Quality of the vectors that the training benchmarks measure: five epochs, dim 100, means over several seeds.

    python benchmarks/quality_static.py RESULTS.jsonl [--systems NAME …] [--words 17000000] [--seeds 1 2 3]
    python benchmarks/quality_static.py RESULTS.jsonl --show

Every system is trained on the same lower-cased text with window 5, 5 negatives, min-count 5 and subsampling 1e-3, and
evaluated on the same sets by `firth.evaluate`. A run appends one line per system and seed to RESULTS.jsonl, so a long
list can be run in parts; `--show` prints the means as a table. The gensim systems need gensim; the fastText systems
need the official program, which `--fasttext PROGRAM` names.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import firth
import firth.evaluate
from firth.models.fasttext import FastText
from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors
from train_static import write_text

SETS = ("google", "wordsim353", "simlex999", "men", "rarewords")
OURS = {
    "firth skip-gram": Word2Vec(),
    "firth skip-gram, shared by 4": Word2Vec(shared_negatives=4),
    "firth skip-gram, per pair": Word2Vec(shared_negatives=0),
    "firth cbow": Word2Vec(architecture="cbow"),
    "firth cbow, shared by 4": Word2Vec(architecture="cbow", shared_negatives=4),
    "firth cbow, own negatives": Word2Vec(architecture="cbow", shared_negatives=0),
    "firth fasttext skip-gram": FastText(subsample=1e-3),
    "firth fasttext skip-gram, per pair": FastText(subsample=1e-3, shared_negatives=0),
    "firth fasttext cbow": FastText(subsample=1e-3, architecture="cbow"),
    "firth fasttext cbow, own negatives": FastText(subsample=1e-3, architecture="cbow", shared_negatives=0),
}
GENSIM = {"gensim skip-gram": 1, "gensim cbow": 0}
FASTTEXT = {"fastText skip-gram": "skipgram", "fastText cbow": "cbow"}


def train_firth(recipe: Word2Vec | FastText, text: Path, seed: int, threads: int) -> WordVectors:
    corpus = Corpus([text], tokenizer=Tokenizer(mode="whitespace", normalizer=None), threads=threads)
    return replace(recipe, seed=seed).fit(corpus, runtime=Runtime(threads))


def train_gensim(skip_gram: int, text: Path, seed: int, threads: int) -> WordVectors:
    from gensim.models import Word2Vec as Peer

    model = Peer(
        corpus_file=str(text),
        vector_size=100,
        sg=skip_gram,
        negative=5,
        window=5,
        min_count=5,
        sample=1e-3,
        alpha=0.025 if skip_gram else 0.05,
        workers=threads,
        epochs=5,
        seed=seed,
    )
    return WordVectors(model.wv.index_to_key, model.wv.vectors)


def train_fasttext(program: str, model: str, text: Path, seed: int, threads: int) -> WordVectors:
    with tempfile.TemporaryDirectory() as folder:
        options = {"input": text, "output": Path(folder) / "theirs", "dim": 100, "epoch": 5, "t": 1e-3, "seed": seed}
        flags = [word for name, value in (options | {"thread": threads}).items() for word in (f"-{name}", str(value))]
        subprocess.run([program, model, *flags], check=True, capture_output=True)
        return firth.load(Path(folder) / "theirs.bin")


def evaluate(vectors: WordVectors) -> dict[str, float]:
    """The score of every set, in percent."""
    values = {name: firth.evaluate.similarity(vectors, name).value for name in SETS[1:]}
    values["google"] = firth.evaluate.analogies(vectors, "google").value
    return {name: round(100 * value, 2) for name, value in values.items() if value is not None}


def show(results: Path) -> None:
    """Prints the mean and the standard deviation over the seeds."""
    found: dict[str, list[dict[str, float]]] = {}
    for line in results.read_text(encoding="utf-8").splitlines():
        result = json.loads(line)
        found.setdefault(result["system"], []).append(result["scores"])
    print(f"| {'':36} | seeds | " + " | ".join(f"{name:>12}" for name in SETS) + " |")
    for system in [*GENSIM, *FASTTEXT, *OURS]:
        runs = found.get(system, [])
        if runs:
            columns = [[run[name] for run in runs] for name in SETS]
            cells = (f"{statistics.mean(c):6.1f} ± {statistics.stdev(c) if len(c) > 1 else 0:3.1f}" for c in columns)
            print(f"| {system:36} | {len(runs):5} | " + " | ".join(f"{cell:>12}" for cell in cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="A JSON Lines file that the results are appended to.")
    parser.add_argument(
        "--systems",
        nargs="+",
        default=list(OURS),
        choices=[*OURS, *GENSIM, *FASTTEXT],
        help="Systems; default: all of firth.",
    )
    parser.add_argument("--words", type=int, default=17_000_000, help="Words of text; default: 17,000,000.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="Seeds; default: 1 2 3.")
    parser.add_argument("--threads", type=int, default=2, help="Number of threads; default: 2.")
    parser.add_argument("--fasttext", default=os.environ.get("FASTTEXT", "fasttext"), help="The official program.")
    parser.add_argument("--show", action="store_true", help="Print the results as a table and stop.")
    args = parser.parse_args()
    if args.show:
        show(args.results)
        return
    with tempfile.TemporaryDirectory() as folder:
        cased, text = Path(folder) / "cased.txt", Path(folder) / "text.txt"
        write_text(cased, args.words)
        text.write_text(cased.read_text(encoding="utf-8").lower(), encoding="utf-8")
        for seed in args.seeds:
            for system in args.systems:
                start = time.perf_counter()
                if system in OURS:
                    vectors = train_firth(OURS[system], text, seed, args.threads)
                elif system in GENSIM:
                    vectors = train_gensim(GENSIM[system], text, seed, args.threads)
                else:
                    vectors = train_fasttext(args.fasttext, FASTTEXT[system], text, seed, args.threads)
                seconds = round(time.perf_counter() - start, 1)
                result = {"system": system, "seed": seed, "seconds": seconds, "scores": evaluate(vectors)}
                with args.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
                print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
