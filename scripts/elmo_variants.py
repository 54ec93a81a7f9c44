"""Compares variants of the `elmo-en-large` recipe that train for the same time on the same text and GPU.

    python scripts/elmo_variants.py --text TEXT... --held-out TEXT --minutes 2 --out variants.jsonl [--only NAME...]

Each variant changes a few options of the recipe. A line of JSON per variant has its options, the tokens it read, its
speed, and its exact perplexity on the held-out text. Finished variants are skipped when the command is repeated.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from firth.models.elmo import Elmo
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

BASELINE = Elmo(preset="original", vocabulary=50_000, softmax="sampled", batch=1024, unroll=32, log_every=50)
VARIANTS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "learning rate 0.002": {"learning_rate": 0.002},
    "no dropout": {"dropout": 0.0},
    "batch 512": {"batch": 512},
    "batch 2048, learning rate 0.002": {"batch": 2048, "learning_rate": 0.002},
    "unroll 64, batch 512": {"unroll": 64, "batch": 512},
    "16,384 negatives": {"negatives": 16_384},
    "learning rate 0.004": {"learning_rate": 0.004},
    "batch 512, learning rate 0.002": {"batch": 512, "learning_rate": 0.002},
    "batch 512, unroll 64, learning rate 0.002": {"batch": 512, "unroll": 64, "learning_rate": 0.002},
    "learning rate 0.008": {"learning_rate": 0.008},
    "batch 512, unroll 64, learning rate 0.004": {"batch": 512, "unroll": 64, "learning_rate": 0.004},
    "constant, averaged, learning rate 0.004": {"learning_rate": 0.004, "cooldown": 0.0, "averaging": 400},
    "cooldown 0.2, learning rate 0.004": {"learning_rate": 0.004, "cooldown": 0.2},
    "muon, learning rate 0.002": {"optimizer": "muon", "learning_rate": 0.002},
    "muon, learning rate 0.004": {"optimizer": "muon", "learning_rate": 0.004},
    "muon, learning rate 0.008": {"optimizer": "muon", "learning_rate": 0.008},
}


def train(recipe: Elmo, corpus: Corpus, held_out: Corpus, runtime: Runtime) -> dict[str, Any]:
    """Train one variant; return tokens, seconds and perplexities."""
    tokens = 0

    def report(progress: Progress) -> None:
        nonlocal tokens
        if progress.step == "training":
            tokens = progress.done

    start = time.perf_counter()
    bilm = recipe.fit(corpus, runtime=runtime, report=report, held_out=held_out)
    seconds = time.perf_counter() - start
    return {"tokens": tokens, "seconds": round(seconds, 1), "perplexity": bilm.metadata["perplexity"]["after"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs="+", required=True, help="Tokenized text, one sentence per line.")
    parser.add_argument("--held-out", required=True, help="Tokenized text that no variant trains on.")
    parser.add_argument("--minutes", type=float, default=2.0, help="Training time of each variant.")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines; one is appended per finished variant.")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), help="Variants to train.")
    parser.add_argument("--cache", help="Folder that keeps the tokens between runs.")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    options = parser.parse_args()
    finished = (
        {json.loads(line)["name"] for line in options.out.read_text().splitlines()} if options.out.exists() else set()
    )
    tokenizer = Tokenizer(mode="whitespace", normalizer=None)
    corpus = Corpus(options.text, tokenizer=tokenizer, cache=options.cache)
    held_out = Corpus([options.held_out], tokenizer=tokenizer)
    runtime = Runtime.from_env(device=options.device)
    for name in options.only:
        if name in finished:
            continue
        recipe = replace(BASELINE, minutes=options.minutes, **VARIANTS[name])
        line = {"name": name, "options": VARIANTS[name], "minutes": options.minutes}
        line |= train(recipe, corpus, held_out, runtime)
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
