"""Speed of biLM training on a CPU, for the whole step: characters, LSTMs, softmax, optimizer and data.

    python benchmarks/train_elmo.py [--presets tiny small] [--steps 3] [--rounds 3] [--threads 2]

The peer is plain torch: the character CNN with Conv1d on all fifty characters of every token, the LSTMs word by word, a
sampled softmax with autograd and dense gradients, and Adam. Both train the same biLM on the same batches (64 rows of 20
words of English text, 8,192 negatives, dropout 0.1, clipped gradients); their losses are compared before the
measurement. Runs alternate and medians are printed. A token counts once, although both directions read it.
"""

from __future__ import annotations

import argparse
import copy
import lzma
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from firth.models.elmo import Elmo
from firth.neural.bilm import BiLM
from firth.neural.softmax import draw_words, expected_counts
from firth.neural.training.lstm import Dropout, LayerInputs, run_layers_reference
from firth.neural.training.pretrain import Pretraining
from firth.neural.training.streams import StreamBatch
from firth.runtime import Runtime
from firth.text.character_ids import BEGIN, END, CharacterIds
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))
ROWS, STEPS, NEGATIVES = 64, 20, 8192


def read_text(words: int) -> TokenFile:
    """The first sentences of the English corpus, with this many words in total."""
    lines, count = [], 0
    with lzma.open(DATA / "data" / "corpora" / "en-01.txt.xz", "rt", encoding="utf-8") as file:
        for line in file:
            lines.append(line)
            count += len(line.split())
            if count >= words:
                break
    return Corpus.of(["".join(lines)], tokenizer=Tokenizer(mode="whitespace")).tokens()


class PlainTorch:
    """The peer: the training step in plain torch."""

    def __init__(self, bilm: BiLM, tokens: TokenFile, seed: int) -> None:
        self.bilm, self.seed = bilm, seed
        names = [*tokens.vocabulary.words, BEGIN, END]
        self.characters = torch.from_numpy(CharacterIds(50).of(names))
        self.optimizer = torch.optim.AdamW(bilm.parameters(), 1e-3, betas=(0.9, 0.98))
        self.state = bilm.blank(ROWS)

    def step(self, batch: StreamBatch, number: int) -> float:
        """Makes one training step and returns the loss."""
        ids = [self.characters[batch.words[way]].flatten(0, 1) for way in (batch.forward, batch.backward)]
        vectors = [self.bilm.encoder.encode(one).view(STEPS, ROWS, -1) for one in ids]  # type: ignore[union-attr, operator]
        dropout = Dropout(0.1, self.seed, number, ROWS)
        ahead, behind, self.state = run_layers_reference(self.bilm, LayerInputs(*vectors, self.state, dropout))
        hidden = torch.cat([ahead, behind]).flatten(0, 1)
        targets = torch.cat([batch.forward_targets, batch.backward_targets]).flatten()
        loss = self.loss(hidden, targets, number)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.bilm.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return float(loss.detach())

    def loss(self, hidden: Tensor, targets: Tensor, number: int) -> Tensor:
        softmax = self.bilm.softmax
        assert isinstance(softmax, torch.nn.Linear)
        count = len(softmax.weight)
        drawn, tries = draw_words(count, NEGATIVES, (self.seed, number))
        others = torch.from_numpy(drawn)
        logits = functional.linear(hidden, softmax.weight[others], softmax.bias[others])
        logits = logits - expected_counts(others, tries, count).log()
        logits = logits.masked_fill(targets[:, None] == others, -torch.inf)
        own = (hidden * softmax.weight[targets]).sum(1) + softmax.bias[targets]
        own = own - expected_counts(targets, tries, count).log()
        return functional.cross_entropy(torch.cat([own[:, None], logits], 1), torch.zeros_like(targets))


def measure(preset: str, tokens: TokenFile, steps: int, rounds: int) -> None:
    """Prints the tokens per second of both, and the speedup."""
    recipe = Elmo(preset=preset, batch=ROWS, unroll=STEPS, negatives=NEGATIVES)  # type: ignore[arg-type]
    runtime = Runtime(1)
    bilm = recipe.new(tokens)
    theirs = PlainTorch(copy.deepcopy(bilm), tokens, recipe.seed)
    ours = Pretraining(bilm, tokens, recipe.plan(runtime), runtime)
    batches = [ours.streams.batch(number) for number in range(1 + 2 * rounds * steps)]

    def our_step(batch: StreamBatch) -> float:
        ours._step((ours._prepare(batch, ours.record.step),))
        return float(ours.pending[-1][0])

    def their_step(batch: StreamBatch, number: int = 0) -> float:
        return theirs.step(batch, number)

    first = our_step(batches[0]), their_step(batches[0])
    if abs(first[0] - first[1]) > 1e-3:
        raise SystemExit(f"the losses differ: {first}")
    seconds: dict[str, list[float]] = {"plain": [], "firth": []}
    for turn in range(rounds):
        some = batches[1 + turn * steps : 1 + (turn + 1) * steps]
        for name, step in (("plain", their_step), ("firth", our_step)):
            seconds[name].append(time_steps(step, some))
    speed = {name: ROWS * STEPS * steps / statistics.median(found) for name, found in seconds.items()}
    print(
        f"{preset:8} plain torch {speed['plain']:9,.0f} tokens/s   firth {speed['firth']:9,.0f} tokens/s   "
        f"{speed['firth'] / speed['plain']:.2f} times as fast   ({len(bilm.vocabulary or ()):,} words predicted)"
    )


def time_steps(step: Callable[[StreamBatch], float], batches: Sequence[StreamBatch]) -> float:
    """The seconds of one step per batch."""
    start = time.perf_counter()
    for batch in batches:
        step(batch)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["tiny", "small"], help="Presets; default: tiny small.")
    parser.add_argument("--steps", type=int, default=3, help="Steps per measurement; default: 3.")
    parser.add_argument("--rounds", type=int, default=3, help="Repetitions; default: 3.")
    parser.add_argument("--threads", type=int, default=None, help="Threads of torch; default: those of torch.")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    tokens = read_text(1_000_000)
    print(f"{len(tokens):,} words of text, {torch.get_num_threads()} threads")
    for preset in args.presets:
        measure(preset, tokens, args.steps, args.rounds)


if __name__ == "__main__":
    main()
