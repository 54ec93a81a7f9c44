"""How fast do sentences become ELMo vectors on a CPU?

    python benchmarks/embed_elmo.py [--sentences 2000] [--batches 8] [--rounds 2] [--case original ...]

2000 English sentences of mixed length, all three layers of every word, random weights in the published shapes. The peer
is the algorithm of AllenNLP, written again in plain torch: batches of 64 in file order, sorted only within a batch, the
character CNN over 50 characters of every token and of the padding, an LSTM cell with projection that goes one time step
after another. It runs on `--batches` of its batches, evenly spread (0: on all of them), in turn with ours on all
sentences; medians of words per second are compared, by the clock and per CPU-second. Neither is charged for loading or
packing weights. Ours starts each time without a single known word.

Cases: original (exact, bfloat16 and int8), small (exact; and against the peer with all its batches sorted by length),
latency (one sentence alone, original). The first prints how near the lower precisions come to float32, too, and the
limit: the speed at which the sentences could be embedded if nothing but the products were to be computed, each distinct
word's once, as fast as this machine multiplies large matrices. For quiet figures let nothing else run: the peer's
threads wait for each other.
"""

from __future__ import annotations

import argparse
import itertools
import lzma
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from firth.kernels import products
from firth.neural.bilm import Architecture, BiLM
from firth.neural.layers import CharacterCnn, ProjectedLstm
from firth.runtime import Runtime
from firth.text.character_ids import BEGIN, END

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))
GOALS = {"float32": 3.5, "bfloat16": 8.0, "int8": 8.0}
BATCH = 64


class Peer:
    """AllenNLP's way, with the weights of our model."""

    def __init__(self, bilm: BiLM) -> None:
        assert isinstance(bilm.encoder, CharacterCnn)
        self.cnn = bilm.encoder
        self.layers = [bilm.forward_layers, bilm.backward_layers]

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """All layers of each sentence, (layers + 1, length, 2 · dim), one batch at a time in the order given."""
        arrays: list[np.ndarray] = []
        for start in range(0, len(sentences), BATCH):
            batch = sentences[start : start + BATCH]
            found = self.batch(batch).numpy()
            arrays += [found[:, row, 1 : len(words) + 1] for row, words in enumerate(batch)]
        return arrays

    def batch(self, batch: Sequence[Sequence[str]]) -> Tensor:
        lengths = torch.tensor([len(words) + 2 for words in batch])
        longest = int(lengths.max())
        ids = torch.zeros(len(batch), longest, 50, dtype=torch.int64)
        for row, words in enumerate(batch):
            ids[row, : len(words) + 2] = torch.from_numpy(self.cnn.spelling.of([BEGIN, *words, END]))
        tokens = self.encode(ids.view(-1, 50)).view(len(batch), longest, -1)
        order = lengths.argsort(descending=True, stable=True)
        inputs, lengths = tokens[order], lengths[order]
        outputs = [torch.cat([inputs, inputs], 2)]
        sides = [inputs, inputs]
        for depth in range(len(self.layers[0])):
            made = [self.read(self.layers[side][depth], sides[side], lengths, side == 1) for side in (0, 1)]
            sides = [new + old if depth else new for new, old in zip(made, sides)]
            outputs.append(torch.cat(sides, 2))
        mask = (torch.arange(longest) < lengths[:, None]).float()[None, :, :, None]
        return (torch.stack(outputs) * mask)[:, order.argsort()]

    def encode(self, ids: Tensor) -> Tensor:
        characters = functional.embedding(ids, self.cnn.table).transpose(1, 2)
        answers = [functional.relu(conv(characters).max(dim=-1)[0]) for conv in self.cnn.filters]
        x = torch.cat(answers, dim=-1)
        for highway in self.cnn.highways:
            x = highway(x)
        return self.cnn.projection(x)

    def read(self, lstm: ProjectedLstm, inputs: Tensor, lengths: Tensor, backwards: bool) -> Tensor:
        """One layer in one direction: at each time step, the rows that have a word there."""
        rows, longest, _ = inputs.shape
        outputs = inputs.new_zeros(rows, longest, lstm.dim)
        memory, state = inputs.new_zeros(rows, lstm.cell), inputs.new_zeros(rows, lstm.dim)
        for step in range(longest):
            time_step = longest - 1 - step if backwards else step
            alive = int((lengths > time_step).sum())
            projected = functional.linear(inputs[:alive, time_step], lstm.input)
            recurrent = functional.linear(state[:alive].clone(), lstm.recurrent, lstm.bias)
            cell = lstm.cell
            gates = [
                projected[:, k * cell : (k + 1) * cell] + recurrent[:, k * cell : (k + 1) * cell] for k in range(4)
            ]
            i, f, g, o = torch.sigmoid(gates[0]), torch.sigmoid(gates[1]), torch.tanh(gates[2]), torch.sigmoid(gates[3])
            new = torch.clamp(i * g + f * memory[:alive].clone(), -lstm.cell_clip, lstm.cell_clip)
            said = functional.linear(o * torch.tanh(new), lstm.projection)
            said = torch.clamp(said, -lstm.projection_clip, lstm.projection_clip)
            memory, state = memory.clone(), state.clone()
            memory[:alive], state[:alive] = new, said
            outputs[:alive, time_step] = said
        return outputs


def read_sentences(count: int) -> list[list[str]]:
    """Every 50th sentence of the English corpus."""
    with lzma.open(DATA / "data/corpora/en-01.txt.xz", "rt", encoding="utf-8") as file:
        return [line.split() for line in itertools.islice(file, 0, 50 * count, 50)]


def speed(run: Callable[[], object], words: int) -> tuple[float, float]:
    """Words a second, by the clock and per CPU-second."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return words / (time.perf_counter() - wall), words / (time.process_time() - cpu)


def in_turn(ours: Callable[[], object], words: int, peer: Callable[[], object], peer_words: int, rounds: int):
    """Median speeds of ours and of the peer, A/B/A/B."""
    pairs = [(speed(ours, words), speed(peer, peer_words)) for _ in range(rounds)]
    return [[statistics.median(pair[side][kind] for pair in pairs) for kind in (0, 1)] for side in (0, 1)]


def compare(name: str, goal: float, speeds) -> None:
    (wall, cpu), (peer_wall, peer_cpu) = speeds
    print(
        f"{name:32} {wall:7.0f} words/s ({cpu:6.0f} per CPU-s), peer {peer_wall:5.0f} ({peer_cpu:5.0f}): "
        f"{wall / peer_wall:5.1f} x (CPU {cpu / peer_cpu:5.1f} x), goal {goal} x",
        flush=True,
    )


def embed(bilm: BiLM, sentences: Sequence[Sequence[str]], precision: str) -> list[np.ndarray]:
    bilm.known_words.forget(())
    return bilm.embed(sentences, layers="all", precision=precision)


def some_of(sentences: Sequence[Sequence[str]], batches: int) -> list[Sequence[str]]:
    """Whole batches of the peer's, evenly spread over the file."""
    starts = range(0, len(sentences), BATCH)
    chosen = starts if batches == 0 else starts[:: max(1, len(starts) // batches)][:batches]
    return [words for start in chosen for words in sentences[start : start + BATCH]]


def count(sentences: Sequence[Sequence[str]]) -> int:
    return sum(map(len, sentences))


def nearness(bilm: BiLM, sentences: Sequence[Sequence[str]], precision: str) -> tuple[float, float]:
    """The smallest and the mean cosine of a word's vectors, layer by layer, to those of float32."""
    exact, rounded = (np.concatenate(embed(bilm, sentences, kind), axis=1) for kind in ("float32", precision))
    norms = np.linalg.norm(exact, axis=-1) * np.linalg.norm(rounded, axis=-1)
    cosines = (exact * rounded).sum(-1) / norms
    return float(cosines.min()), float(cosines.mean())


def rate(precision: str) -> float:
    """Operations a second of our product of matrices, on all threads."""
    rng = np.random.default_rng(1)
    matrix = products.pack(rng.standard_normal((16384, 512)).astype(np.float32), precision)
    blocks = len(matrix[0])
    bias = np.zeros((blocks, products.BLOCK), np.float32)
    runtime = Runtime.from_env()

    def multiply(_: int) -> None:
        room, out = products.room(192, matrix[0]), np.empty((blocks * 192, products.BLOCK), np.float32)
        products.multiply(matrix, bias, (0, blocks), room, 192, out, 1, 192)

    multiply(0)
    start = time.perf_counter()
    runtime.spread(multiply, range(8 * runtime.threads))
    return 8 * runtime.threads * 2 * 192 * 512 * 16384 / (time.perf_counter() - start)


def limit(bilm: BiLM, sentences: Sequence[Sequence[str]], precision: str) -> float:
    """Words a second if only products took time."""
    sizes, features = bilm.architecture, sum(number for _, number in bilm.architecture.filters)
    distinct = len({word for words in sentences for word in words}) + 2
    tokens = count(sentences) + 2 * len(sentences)
    encoder = distinct * (sizes.highways * 4 * features**2 + 2 * features * sizes.dim)
    weights = sizes.cell * sizes.dim
    lstms = 2 * weights * (distinct * 8 + tokens * (10 * sizes.layers + 8 * (sizes.layers - 1)))
    return count(sentences) / (encoder / rate("float32") + lstms / rate(precision))


def original(bilm: BiLM, sentences: list[list[str]], batches: int, rounds: int) -> None:
    peer, share = Peer(bilm), some_of(sentences, batches)
    theirs, exact = peer.embed(share[:4]), embed(bilm, share[:4], "float32")
    print(f"largest difference to the peer: {max(abs(a - b).max() for a, b in zip(theirs, exact)):.1e}")
    for precision, goal in GOALS.items():
        least, mean = nearness(bilm, sentences[:100], precision)
        print(f"{precision}: cosine to float32 at least {least:.5f}, {mean:.5f} on average")
        speeds = in_turn(
            lambda kind=precision: embed(bilm, sentences, kind),
            count(sentences),
            lambda: peer.embed(share),
            count(share),
            rounds,
        )
        compare(f"original, {precision}", goal, speeds)
        most = limit(bilm, sentences, precision)
        print(f"{precision}: the limit is {most:.0f} words/s, of which {speeds[0][0] / most:.0%} is reached")


def small(bilm: BiLM, sentences: list[list[str]], batches: int, rounds: int) -> None:
    peer = Peer(bilm)
    for name, goal, theirs in (("small", 15, sentences), ("small, peer sorted", 6, sorted(sentences, key=len))):
        share = some_of(theirs, batches)
        embed(bilm, sentences[:2], "float32")
        peer.embed(share[:2])
        speeds = in_turn(
            lambda: embed(bilm, sentences, "float32"),
            count(sentences),
            lambda given=share: peer.embed(given),
            count(share),
            rounds,
        )
        compare(name, goal, speeds)


def latency(bilm: BiLM, sentences: list[list[str]], batches: int, rounds: int) -> None:
    middle = sorted(sentences, key=len)[len(sentences) // 2 :][:5]
    peer = Peer(bilm)
    for precision in GOALS:
        embed(bilm, middle[:1], precision)
        peer.embed(middle[:1])
        speeds = in_turn(
            lambda kind=precision: [embed(bilm, [words], kind) for words in middle],
            count(middle),
            lambda: [peer.embed([words]) for words in middle],
            count(middle),
            rounds,
        )
        each = count(middle) / len(middle)
        print(f"a sentence of {each:.0f} words: {1e3 * each / speeds[0][0]:.0f} ms, {1e3 * each / speeds[1][0]:.0f} ms")
        compare(f"one sentence, {precision}", 3, speeds)


CASES = {"original": original, "small": small, "latency": latency}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--case", choices=CASES, nargs="*", default=list(CASES))
    asked = parser.parse_args()
    sentences = read_sentences(asked.sentences)
    distinct = len({word for words in sentences for word in words})
    print(f"{len(sentences)} sentences, {count(sentences)} words, {distinct} of them distinct")
    with torch.inference_mode():
        for case in asked.case:
            bilm = BiLM(Architecture.named("small" if case == "small" else "original"))
            CASES[case](bilm, sentences, asked.batches, asked.rounds)


if __name__ == "__main__":
    main()
