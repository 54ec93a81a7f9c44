"""Speed of training and scoring n-gram models, compared with KenLM in the same run.

    python benchmarks/ngrams.py [--words 2000000]

Training goes from a text to an ARPA file in both tools (`lmplz`, if it is on the PATH); the steps of firth are also
shown separately. Scoring takes sentences and returns total log probabilities; firth uses all its threads, kenlm one.
"""

from __future__ import annotations

import argparse
import lzma
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from firth.formats import arpa
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared")) / "data" / "corpora"
WHITESPACE = Tokenizer(mode="whitespace", normalizer=None)


def seconds(work: Callable[[], object]) -> float:
    """The wall seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def medians(*works: Callable[[], object], rounds: int = 5) -> list[float]:
    """The median wall seconds of each call, measured in alternation."""
    times = [[seconds(work) for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times)]


def take_words(path: Path, words: int, out: Path) -> int:
    """Writes the first sentences of a compressed text, up to this many words; returns the number of words."""
    taken = 0
    with lzma.open(path, "rt", encoding="utf-8") as source, out.open("w", encoding="utf-8") as target:
        for line in source:
            if taken >= words:
                break
            taken += len(line.split())
            target.write(line)
    return taken


def train(text: Path, words: int, order: int, folder: Path) -> NgramModel:
    """Prints the speed of training and returns the model."""
    corpus, recipe = Corpus(text, tokenizer=WHITESPACE), Ngram(order=order)
    model = recipe.fit(corpus)
    arpa.write(model, folder / "ours.arpa")
    reading, fitting, writing = medians(
        lambda: Corpus(text, tokenizer=WHITESPACE).tokens(),
        lambda: recipe.fit(corpus),
        lambda: arpa.write(model, folder / "ours.arpa"),
        rounds=3,
    )
    print(f"train order {order}: {words / fitting / 1e6:.2f} M words/s from ids; {model!r}")
    print(f"  text to ids {reading:.2f} s, ids to model {fitting:.2f} s, model to file {writing:.2f} s")
    if (lmplz := shutil.which("lmplz")) is None:
        print("  lmplz is not on the PATH: no comparison")
        return model
    command = [lmplz, "-o", str(order), "--text", str(text), "--arpa", str(folder / "lmplz.arpa")]
    command += ["--skip_symbols", "-S", "2G", "-T", str(folder)]

    def whole() -> None:
        arpa.write(recipe.fit(Corpus(text, tokenizer=WHITESPACE)), folder / "ours.arpa")

    theirs, ours = medians(lambda: subprocess.run(command, check=True, capture_output=True), whole, rounds=3)
    print(f"  text to file: lmplz {theirs:.2f} s, firth {ours:.2f} s, ratio {theirs / ours:.2f}")
    return model


def score(model: NgramModel, held_out: Path, folder: Path) -> None:
    """Prints the speed of scoring a held-out text, and the perplexities of both tools."""
    sentences = [line.split() for line in held_out.read_text(encoding="utf-8").splitlines() if line.split()]
    lines = [" ".join(sentence) for sentence in sentences]
    corpus = Corpus(held_out, tokenizer=WHITESPACE)
    found = model.perplexity(corpus)
    model.perplexity(sentences)
    try:
        import kenlm
    except ImportError:
        (ids, lists) = medians(lambda: model.perplexity(corpus), lambda: model.perplexity(sentences))
        speeds = f"{found.words / ids / 1e6:.2f} M words/s from ids, {found.words / lists / 1e6:.2f} M from lists"
        print(f"score order {model.order}: {speeds}; kenlm is not installed: no comparison")
        return
    path = folder / "ours.arpa"
    arpa.read(path)
    theirs = kenlm.Model(str(path))
    peer, lists, ids = medians(
        lambda: [theirs.score(line) for line in lines],
        lambda: model.perplexity(sentences),
        lambda: model.perplexity(corpus),
    )
    speeds = [f"{found.words / time / 1e6:.2f}" for time in (lists, ids, peer)]
    print(f"score order {model.order}, M words/s: from lists {speeds[0]}, from ids {speeds[1]}, kenlm {speeds[2]}")
    print(f"  ratio from lists {peer / lists:.2f}, from ids {peer / ids:.2f}")
    peer, ours = medians(lambda: kenlm.Model(str(path)), lambda: arpa.read(path), rounds=3)
    print(f"  reading the ARPA file: {len(model) / ours / 1e6:.2f} M n-grams/s, ratio {peer / ours:.2f}")
    value = 10 ** (-sum(theirs.score(line) for line in lines) / found.words)
    print(f"  perplexity: firth {found.value:.4f}, kenlm {value:.4f}")


def main() -> None:
    """Runs all measurements in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=2_000_000, help="Words of training text; default: 2,000,000.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, held_out = folder / "text.txt", folder / "held-out.txt"
        words = take_words(DATA / "en-01.txt.xz", args.words, text)
        take_words(DATA / "wikitext103-valid.tokens.xz", 10**9, held_out)
        for order in (3, 5):
            score(train(text, words, order, folder), held_out, folder)


if __name__ == "__main__":
    main()
