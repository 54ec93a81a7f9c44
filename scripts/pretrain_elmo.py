"""Train the biLMs of firth on one GPU, on the text of the data folder.

    python scripts/pretrain_elmo.py elmo-en --out models/elmo-en           # three minutes: the shipped model
    python scripts/pretrain_elmo.py elmo-en-large --out models/elmo-large  # the size of the original ELMo

The perplexity is measured on the last words of both texts, which are held out. `--minutes` sets the training time and
the decay of the learning rate. An interrupted run resumes when it is started again; its log is next to its checkpoint.
"""

from __future__ import annotations

import argparse
import lzma
from collections import deque
from dataclasses import replace
from pathlib import Path

from firth import data
from firth.formats.registry import save
from firth.models.elmo import Elmo
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

HELD_OUT = {"en-01": 400_000, "en-02": 200_000}  # words and sentence ends
RECIPES = {
    "elmo-en": Elmo(
        preset="small",
        filters=(1, 32, 2, 32, 3, 64, 4, 96, 5, 128, 6, 160),
        vocabulary=16_000,
        softmax="full",
        batch=2048,
        unroll=32,
        minutes=3.0,
        dropout=0.05,
        learning_rate=0.002,
        log_every=50,
    ),
    "elmo-en-large": Elmo(
        preset="original", vocabulary=50_000, softmax="sampled", batch=1024, unroll=32, minutes=25.0, log_every=50
    ),
}


def split(folder: Path) -> tuple[list[Path], list[Path]]:
    """Writes the training text and the held-out text as plain files to a folder and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    training: list[Path] = []
    held_out: list[Path] = []
    for name, count in HELD_OUT.items():
        with lzma.open(data.folder() / "data" / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8") as text:
            lines = text.readlines()
        last: deque[str] = deque()
        while count > 0:
            last.appendleft(lines.pop())
            count -= len(last[0].split()) + 1
        for kind, paths, some in (("learnt", training, lines), ("held-out", held_out, last)):
            paths.append(folder / f"{name}.{kind}.txt")
            paths[-1].write_text("".join(some), encoding="utf-8")
    return training, held_out


def show(progress: Progress) -> None:
    """Prints the progress of the training."""
    if progress.step == "training":
        values = ", ".join(f"{name} {value:.5g}" for name, value in progress.values.items() if name != "memory")
        print(f"{100 * (progress.share or 0):5.1f} %  {progress.done / 1e6:7.1f} M tokens  {values}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=RECIPES, help="The recipe.")
    parser.add_argument("--out", type=Path, required=True, help="The folder of the model.")
    parser.add_argument("--minutes", type=float, help="Minutes of training; default: those of the recipe.")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="The device; default: cuda.")
    args = parser.parse_args()
    recipe = RECIPES[args.name] if args.minutes is None else replace(RECIPES[args.name], minutes=args.minutes)
    state = args.out.with_name(args.out.name + ".state")
    tokenizer = Tokenizer(mode="whitespace", normalizer=None)
    training, held_out = (Corpus(paths, tokenizer=tokenizer) for paths in split(state / "text"))
    runtime = Runtime.from_env(device=args.device)
    bilm = recipe.fit(training, runtime=runtime, report=show, held_out=held_out, checkpoint=state / "training")
    save(bilm, args.out)
    print(bilm, bilm.metadata["perplexity"]["after"])


if __name__ == "__main__":
    main()
