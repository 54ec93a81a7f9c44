"""Train the biLMs of firth on one GPU.

    python scripts/pretrain_elmo.py prepare --corpus corpus                    # held-out texts and softmax vocabulary
    python scripts/pretrain_elmo.py elmo-en --corpus corpus --out models/elmo-en
    python scripts/pretrain_elmo.py elmo-en-large --corpus corpus --out models/elmo-en-large --snapshots 5 10
    python scripts/pretrain_elmo.py elmo-fa --corpus corpus --out models/elmo-fa

English is the corpus that `scripts/corpus.py` assembles. The perplexity is measured on the ends of en-01 and en-02,
which the corpus does not contain. The softmax predicts the most frequent words of the rest of both, so perplexities
stay comparable when the corpus changes. Persian is fa-01 and fa-02; one block of lines in fifty is held out. `prepare`
needs the data folder and writes all of this into the corpus folder; training then needs that folder alone. `--minutes`
sets the training time. An interrupted run resumes when it is started again; its log is next to its checkpoint.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus_files import MIXTURE, PERSIAN_TOKENIZER, list_files, split_persian
from corpus_heldout import HELD_OUT_ENDS, split_end
from firth import data
from firth.formats.registry import load, save
from firth.models.elmo import Elmo
from firth.neural.bilm import BiLM
from firth.neural.training.vocabulary import select_softmax_words
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

TOKENIZER = Tokenizer(mode="whitespace", normalizer=None)
CHOICES = "minutes", "learning_rate", "cooldown", "evaluate_every", "save_every"  # options of recipe and script
WORDS = 100_000  # words in words.vocab; a recipe takes the most frequent of them
RECIPES = {
    "elmo-en": Elmo(
        preset="medium",
        filters=(1, 32, 2, 64, 3, 128, 4, 256, 5, 256, 6, 288),
        vocabulary=30_000,
        softmax="sampled",
        batch=2048,
        unroll=32,
        minutes=7.5,
        optimizer="muon",
        cooldown=0.5,
        averaging=500,
        dropout=0.0,
        log_every=100,
        evaluate_every=1500,
    ),
    "elmo-en-large": Elmo(
        preset="original",
        vocabulary=50_000,
        softmax="sampled",
        batch=1024,
        unroll=32,
        minutes=15.0,
        optimizer="muon",
        cooldown=0.5,
        averaging=500,
        dropout=0.05,
        log_every=100,
        evaluate_every=1500,
    ),
    "elmo-fa": Elmo(
        preset="small",
        width=64,
        filters=(1, 32, 2, 64, 4, 96, 6, 128, 8, 128, 10, 64),  # a Persian letter has two bytes
        vocabulary=20_000,
        min_count=3,
        softmax="full",
        batch=512,
        unroll=32,
        minutes=6.0,
        optimizer="muon",
        cooldown=0.5,
        averaging=200,
        dropout=0.2,
        log_every=100,
        evaluate_every=500,
    ),
}


def prepare(corpus: Path) -> None:
    """Writes the held-out texts, the vocabulary of the softmax and the Persian text into the folder of the corpus."""
    held_out: list[str] = []
    rest: list[str] = []
    for name, places in HELD_OUT_ENDS.items():
        before, end = split_end(data.folder() / "data" / "corpora" / f"{name}.txt.xz", places)
        rest += before
        held_out += end
    write_lines(corpus / "held-out.txt", held_out)
    tokens = Corpus.of(["\n".join(rest)], tokenizer=TOKENIZER).tokens()
    select_softmax_words(tokens.vocabulary, WORDS, 2).save(corpus / "words.vocab")
    training, held_out = split_persian()
    write_lines(corpus / "persian.txt", training)
    write_lines(corpus / "persian-held-out.txt", held_out)


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def new_bilm(recipe: Elmo, words: Vocabulary) -> BiLM:
    """The biLM of a recipe before training; its softmax predicts the most frequent of the words."""
    chosen = Vocabulary(words.words[: recipe.vocabulary], words.counts[: recipe.vocabulary])
    return BiLM(recipe.architecture(), vocabulary=chosen, seed=recipe.seed)


def show(progress: Progress) -> None:
    """Prints the progress of the training."""
    if progress.step == "training":
        values = ", ".join(f"{name} {value:.5g}" for name, value in progress.values.items() if name != "memory")
        print(f"{100 * (progress.share or 0):5.1f} %  {progress.done / 1e6:7.1f} M tokens  {values}", flush=True)


class Snapshots:
    """Saves the biLM, with its perplexity, when so many minutes of training are over; called after each evaluation."""

    def __init__(self, out: Path, minutes: list[float]) -> None:
        self.out, self.minutes = out, sorted(minutes)

    def __call__(self, bilm: BiLM, line: Mapping[str, float]) -> None:
        print(f"held-out {json.dumps(dict(line))}", flush=True)
        while self.minutes and line["seconds"] >= 60 * self.minutes[0]:
            bilm.metadata = {"perplexity": {"after": dict(line)}}
            save(bilm, self.out.with_name(f"{self.out.name}-{60 * self.minutes.pop(0):.0f}s"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["prepare", *RECIPES], help="The recipe.")
    parser.add_argument("--corpus", type=Path, required=True, help="The folder that scripts/corpus.py wrote.")
    parser.add_argument("--out", type=Path, help="The folder of the model.")
    parser.add_argument("--minutes", type=float, help="Minutes of training; default: those of the recipe.")
    parser.add_argument(
        "--snapshots", type=float, nargs="*", default=[], help="Save the model after these minutes too."
    )
    parser.add_argument("--learning-rate", type=float, help="The highest learning rate; default: that of the recipe.")
    parser.add_argument(
        "--cooldown", type=float, help="Part of the training in which the rate falls to its end; default: the recipe's."
    )
    parser.add_argument("--evaluate-every", type=int, help="Steps between evaluations; default: those of the recipe.")
    parser.add_argument(
        "--save-every", type=int, help="Steps between checkpoints, which take seconds; default: one every minute."
    )
    parser.add_argument("--teacher", help="A larger biLM to distill from. Its softmax must have the same first words.")
    parser.add_argument("--cache", help="Folder that keeps the tokens between runs.")
    parser.add_argument("--threads", type=int, default=1, help="Threads that read the text; default: 1.")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="The device; default: cuda.")
    args = parser.parse_args()
    if args.name == "prepare":
        prepare(args.corpus)
        return
    if args.out is None:
        parser.error("--out is required")
    options = {name: getattr(args, name) for name in CHOICES}
    recipe = replace(RECIPES[args.name], **{name: value for name, value in options.items() if value is not None})
    how: dict[str, Any] = {"cache": args.cache, "threads": args.threads}
    if args.name == "elmo-fa":
        how["tokenizer"] = PERSIAN_TOKENIZER
        names, start = ("persian.txt", "persian-held-out.txt"), None
        training, held_out = (Corpus([args.corpus / name], **how) for name in names)
    else:
        how["tokenizer"] = TOKENIZER
        training = Corpus(list_files(args.corpus, MIXTURE), **how)
        held_out = Corpus([args.corpus / "held-out.txt"], **how)
        start = new_bilm(recipe, Vocabulary.load(args.corpus / "words.vocab"))
    bilm = recipe.fit(
        training,
        runtime=Runtime.from_env(device=args.device),
        report=show,
        start=start,
        held_out=held_out,
        checkpoint=args.out.with_name(args.out.name + ".state"),
        callback=Snapshots(args.out, args.snapshots),
        teacher=None if args.teacher is None else load(args.teacher),
    )
    save(bilm, args.out)
    print(bilm, bilm.metadata["perplexity"]["after"])


if __name__ == "__main__":
    main()
