"""doc2vec against gensim: speed, and whether paragraphs of one article are neighbors.

    python benchmarks/train_doc2vec.py [--epochs 20] [--dim 100]

The documents are the paragraphs of the articles in WikiText-103's validation and test texts. Both train on the same
tokens with one thread, windows of 5, 5 negatives and the same learning rate, one after the other; CPU seconds are those
of training alone. The accuracy is leave-one-out: a paragraph gets the article of its nearest neighbor by cosine. The
inferred one is that of held-out paragraphs, every tenth, whose vectors are inferred.
"""

from __future__ import annotations

import argparse
import lzma
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.models.doc2vec import Doc2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.vectors.neighbors import unit_rows

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared")) / "data/corpora"
FILES = "wikitext103-valid.tokens.xz", "wikitext103-test.tokens.xz"
SHORTEST = 20  # words of a paragraph
MODES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # firth's options, gensim's options
    "PV-DBOW": ({"architecture": "pv-dbow"}, {"dm": 0}),
    "PV-DBOW, words": ({"architecture": "pv-dbow", "train_words": True}, {"dm": 0, "dbow_words": 1}),
    "PV-DM, mean": ({}, {"dm": 1, "dm_mean": 1}),
    "PV-DM, sum": ({"combination": "sum"}, {"dm": 1, "dm_mean": 0}),
    "PV-DM, concatenation": ({"combination": "concatenation"}, {"dm": 1, "dm_concat": 1}),
}


def read_paragraphs() -> tuple[list[list[str]], NDArray[np.int64]]:
    """The paragraphs and the number of the article of each."""
    paragraphs, articles, article = [], [], -1
    for name in FILES:
        with lzma.open(DATA / name, "rt", encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[:1] == ["="] and words[1:2] != ["="]:
                    article += 1
                elif len(words) >= SHORTEST:
                    paragraphs.append(words)
                    articles.append(article)
    return paragraphs, np.array(articles)


def accuracy(queries: Any, labels: Any, vectors: Any, known: Any, *, is_same: bool) -> float:
    """The share of queries whose nearest vector has their label; with `is_same` a query is not its own neighbor."""
    cosines = unit_rows(np.asarray(queries)) @ unit_rows(np.asarray(vectors)).T
    if is_same:
        np.fill_diagonal(cosines, -2)
    return float((known[cosines.argmax(axis=1)] == labels).mean())


def run_firth(paragraphs: list[list[str]], options: dict[str, Any], seed: int) -> tuple[float, Any, Any]:
    """CPU seconds, the vectors, and a function that infers."""
    corpus = Corpus.of(paragraphs)
    corpus.tokens()
    begin = time.process_time()
    model = Doc2Vec(**options, seed=seed).fit(corpus, runtime=Runtime(1))
    seconds = time.process_time() - begin
    return seconds, model.rows.block(0, len(model)), lambda new: model.infer(new, runtime=Runtime(1))


def run_gensim(paragraphs: list[list[str]], options: dict[str, Any], seed: int) -> tuple[float, Any, Any]:
    """CPU seconds, the vectors, and a function that infers."""
    from gensim.models.doc2vec import Doc2Vec as Peer
    from gensim.models.doc2vec import TaggedDocument

    documents = [TaggedDocument(words, [place]) for place, words in enumerate(paragraphs)]
    model = Peer(window=5, min_count=5, sample=1e-3, negative=5, hs=0, workers=1, seed=seed, **options)
    model.build_vocab(documents)
    begin = time.process_time()
    model.train(documents, total_examples=model.corpus_count, epochs=model.epochs)
    seconds = time.process_time() - begin
    return seconds, model.dv.vectors, lambda new: [model.infer_vector(words) for words in new]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20, help="Passes over the text; default: 20.")
    parser.add_argument("--dim", type=int, default=100, help="Dimension; default: 100.")
    parser.add_argument("--seeds", type=int, default=1, help="Seeds of each system; default: 1.")
    args = parser.parse_args()
    paragraphs, articles = read_paragraphs()
    out = np.arange(len(paragraphs)) % 10 == 9
    known, new = ([words for words, one in zip(paragraphs, out) if one == held] for held in (False, True))
    words = sum(map(len, known))
    print(f"{len(known):,} paragraphs of {articles.max() + 1} articles, {words:,} words, {args.epochs} epochs")
    for options, _ in MODES.values():  # compiles the kernels or loads them from the cache
        run_firth(known[:200], {"dim": args.dim, "epochs": 1, "min_count": 1, **options}, 1)[2](new[:2])
    print(f"{'':31} {'CPU s':>7} {'1000 words/s':>13} {'times':>6} {'accuracy':>9} {'inferred':>9} {'infer s':>8}")
    for mode, (ours, theirs) in MODES.items():
        peer = 0.0
        common = {"epochs": args.epochs, "alpha": 0.025, "vector_size": args.dim}
        systems = {
            "gensim": (run_gensim, {**common, **theirs}),
            "firth": (run_firth, {"epochs": args.epochs, "dim": args.dim, **ours}),
        }
        for name, (run, options) in systems.items():
            rows = []
            for seed in range(1, args.seeds + 1):
                seconds, vectors, infer = run(known, options, seed)
                begin = time.process_time()
                inferred = infer(new)
                infer_seconds = time.process_time() - begin
                own = accuracy(vectors, articles[~out], vectors, articles[~out], is_same=True)
                other = accuracy(inferred, articles[out], vectors, articles[~out], is_same=False)
                rows.append((seconds, own, other, infer_seconds))
            seconds, own, other, infer_seconds = np.mean(rows, axis=0).tolist()
            peer = seconds if name == "gensim" else peer
            speed = args.epochs * words / seconds / 1e3
            print(
                f"{mode:22} {name:8} {seconds:7.2f} {speed:13.0f} {peer / seconds:6.1f} {own:9.3f} {other:9.3f} "
                f"{infer_seconds:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
