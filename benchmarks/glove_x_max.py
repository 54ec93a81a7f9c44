"""Which x_max suits a corpus of which size: similarity scores of GloVe for several values.

    python benchmarks/glove_x_max.py CORPUS RESULTS.jsonl --words 1000000 --values 5 10 30 100

The first words of the corpus are counted once (lower case, window 10, min-count 5), and vectors are trained with each
value. A run appends one line per value. The mean is over WordSim-353, SimLex-999 and MEN.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import firth
from firth.evaluate import intrinsic
from firth.files import open_bytes
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.glove import Glove
from firth.runtime import Runtime
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

SETS = "wordsim353", "simlex999", "men"


def count(path: str, words: int) -> CountMatrix:
    """The co-occurrence counts of the first words of a file."""
    lines: list[str] = []
    found = 0
    with open_bytes(path) as file:
        for line in file:
            lines.append(line.decode("utf-8", "replace"))
            found += len(line.split())
            if found >= words:
                break
    tokenizer = Tokenizer(normalizer=Normalizer(fold_case=True))
    corpus = firth.Corpus.of(lines, tokenizer=tokenizer)
    return Counts(kind="co-occurrence", window=10, weighting="harmonic", min_count=5).fit(corpus)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("results", type=Path)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--values", type=float, nargs="+", default=[5, 10, 30, 100])
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=25)
    options = parser.parse_args()
    counts = count(options.corpus, options.words)
    for value in options.values:
        clock = time.process_time()
        vectors = Glove(dim=options.dim, epochs=options.epochs, x_max=value).fit_counts(counts, runtime=Runtime(1))
        seconds = time.process_time() - clock
        scores = {score.name: score.value for score in intrinsic.evaluate(vectors, SETS)}
        line = {"words": options.words, "vocabulary": len(vectors), "pairs": vectors.metadata["pairs"], "x_max": value}
        line |= {"dim": options.dim, "epochs": options.epochs}
        line |= {"cpu_seconds": round(seconds, 1), **{name: round(one, 4) for name, one in scores.items()}}
        line["mean"] = round(sum(scores.values()) / len(scores), 4)
        print(json.dumps(line), flush=True)
        with open(options.results, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
