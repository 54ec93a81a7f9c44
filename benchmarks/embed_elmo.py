"""Speed of ELMo embeddings on a CPU.

    python benchmarks/embed_elmo.py [--sentences 2000] [--batches 8] [--rounds 2] [--case original ...]
        [--precision float32 ...] [--allennlp PYTHON] [--without-rendering]

The input is 2000 English sentences of mixed length; all three layers of every word are computed, with random weights in
the published sizes. The peer is AllenNLP's algorithm in plain torch: batches of 64 in file order, sorted only within a
batch; the character CNN on 50 characters of every token and of the padding; an LSTM cell with projection, one time step
after another. `--allennlp` names the Python of an environment with AllenNLP, which is then a second peer;
`--without-rendering` disables the first one. A peer runs on `--batches` of its batches, evenly spaced and different in
each round (0: all batches), alternating with firth on all sentences. Medians of words per second are compared, by wall
time and by CPU time. Loading and packing weights is not included. firth starts every run with an empty cache of words.

Cases: original (float32, bfloat16 and int8), small (float32), sorted (small; the peer's batches are sorted by length as
well), latency (one sentence at a time, original). The case original also prints the cosine between the lower precisions
and float32, and a limit: the speed if only the matrix products took time, with each distinct word encoded once, at the
speed of large matrix products on this machine. Run nothing else meanwhile: the peer's threads wait for each other.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from firth.formats.registry import save
from firth.kernels import matmul
from firth.neural.bilm import Architecture, BiLM
from firth.neural.layers import CharacterCnn, ProjectedLstm
from firth.runtime import Runtime
from firth.text.character_ids import BEGIN, END

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))
GOALS = {"float32": 3.5, "bfloat16": 8.0, "int8": 8.0}
BATCH = 64
Sentences = Sequence[Sequence[str]]
Speed = tuple[float, float]  # words per second of wall time and of CPU time


class Peer(Protocol):
    """An implementation to compare with: embeds sentences and measures its speed, in batches of `batch`."""

    name: str

    def embed(self, sentences: Sentences) -> list[np.ndarray]: ...
    def speed(self, sentences: Sentences, batch: int = BATCH) -> Speed: ...


class PlainTorch:
    """AllenNLP's algorithm in plain torch, with the weights of our model."""

    name = "in plain torch"

    def __init__(self, bilm: BiLM) -> None:
        assert isinstance(bilm.encoder, CharacterCnn)
        self.cnn = bilm.encoder
        self.layers = [bilm.forward_layers, bilm.backward_layers]

    def embed(self, sentences: Sentences, batch: int = BATCH) -> list[np.ndarray]:
        """All layers of each sentence, (layers + 1, length, 2 · dim), one batch at a time in the given order."""
        arrays: list[np.ndarray] = []
        for start in range(0, len(sentences), batch):
            some = sentences[start : start + batch]
            layers = self.batch(some).numpy()
            arrays += [layers[:, row, 1 : len(words) + 1] for row, words in enumerate(some)]
        return arrays

    def speed(self, sentences: Sentences, batch: int = BATCH) -> Speed:
        return speed(lambda: self.embed(sentences, batch), sentences)

    def batch(self, batch: Sentences) -> Tensor:
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
            new_sides = [self.read(self.layers[side][depth], sides[side], lengths, side == 1) for side in (0, 1)]
            sides = [new + old if depth else new for new, old in zip(new_sides, sides)]
            outputs.append(torch.cat(sides, 2))
        mask = (torch.arange(longest) < lengths[:, None]).float()[None, :, :, None]
        return (torch.stack(outputs) * mask)[:, order.argsort()]

    def encode(self, ids: Tensor) -> Tensor:
        characters = functional.embedding(ids, self.cnn.table).transpose(1, 2)
        features = [functional.relu(conv(characters).max(dim=-1)[0]) for conv in self.cnn.filters]
        x = torch.cat(features, dim=-1)
        for highway in self.cnn.highways:
            x = highway(x)
        return self.cnn.projection(x)

    def read(self, lstm: ProjectedLstm, inputs: Tensor, lengths: Tensor, backwards: bool) -> Tensor:
        """One layer in one direction. Each time step processes the rows that have a word there."""
        rows, longest, _ = inputs.shape
        outputs = inputs.new_zeros(rows, longest, lstm.dim)
        cells, hidden = inputs.new_zeros(rows, lstm.cell), inputs.new_zeros(rows, lstm.dim)
        for step in range(longest):
            time_step = longest - 1 - step if backwards else step
            active = int((lengths > time_step).sum())
            projected = functional.linear(inputs[:active, time_step], lstm.input)
            recurrent = functional.linear(hidden[:active].clone(), lstm.recurrent, lstm.bias)
            cell = lstm.cell
            gates = [
                projected[:, k * cell : (k + 1) * cell] + recurrent[:, k * cell : (k + 1) * cell] for k in range(4)
            ]
            i, f, g, o = torch.sigmoid(gates[0]), torch.sigmoid(gates[1]), torch.tanh(gates[2]), torch.sigmoid(gates[3])
            new = torch.clamp(i * g + f * cells[:active].clone(), -lstm.cell_clip, lstm.cell_clip)
            output = functional.linear(o * torch.tanh(new), lstm.projection)
            output = torch.clamp(output, -lstm.projection_clip, lstm.projection_clip)
            cells, hidden = cells.clone(), hidden.clone()
            cells[:active], hidden[:active] = new, output
            outputs[:active, time_step] = output
        return outputs


class AllenNlp:
    """AllenNLP in a separate process, with the weights of our model; see `allennlp_peer.py`."""

    name = "AllenNLP"

    def __init__(self, python: str, bilm: BiLM, folder: Path) -> None:
        save(bilm, folder / "model", format="elmo")
        self.out = folder / "arrays.npz"
        files = [str(folder / "model" / name) for name in ("options.json", "weights.hdf5")]
        command = [python, str(Path(__file__).with_name("allennlp_peer.py")), *files]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        about = self.read_response()
        print("AllenNLP {allennlp}, torch {torch}, {threads} threads, ready in {seconds:.0f} s".format(**about))

    def read_response(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def request(self, sentences: Sentences, **more: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        print(json.dumps({"sentences": sentences, **more}), file=self.process.stdin, flush=True)
        return self.read_response()

    def embed(self, sentences: Sentences) -> list[np.ndarray]:
        self.request(sentences, reset=True, out=str(self.out))
        with np.load(self.out) as arrays:
            return [arrays[str(number)] for number in range(len(sentences))]

    def speed(self, sentences: Sentences, batch: int = BATCH) -> Speed:
        times = self.request(sentences, batch=batch)
        return count(sentences) / times["wall"], count(sentences) / times["cpu"]

    def close(self) -> None:
        self.process.communicate()


def read_sentences(count: int) -> list[list[str]]:
    """Every 50th sentence of the English corpus."""
    with lzma.open(DATA / "data/corpora/en-01.txt.xz", "rt", encoding="utf-8") as file:
        return [line.split() for line in itertools.islice(file, 0, 50 * count, 50)]


def count(sentences: Sentences) -> int:
    return sum(map(len, sentences))


def speed(run: Callable[[], object], sentences: Sentences) -> Speed:
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return count(sentences) / (time.perf_counter() - wall), count(sentences) / (time.process_time() - cpu)


def embed(bilm: BiLM, sentences: Sentences, precision: str) -> list[np.ndarray]:
    bilm.token_vectors.forget(())
    return bilm.embed(sentences, layers="all", precision=precision)


def select_batches(sentences: Sentences, batches: int, turn: int) -> list[Sequence[str]]:
    """Batches of the peer, evenly spaced over the file and different in each round."""
    starts = range(0, len(sentences), BATCH)
    step = max(1, len(starts) // batches) if batches else 1
    chosen = starts[turn % step :: step][: batches or None]
    return [words for start in chosen for words in sentences[start : start + BATCH]]


def alternate(contenders: Sequence[Callable[[int], Speed]], rounds: int) -> list[Speed]:
    """The median speed of each, measured in alternation: A/B/A/B."""
    found = [[contender(turn) for contender in contenders] for turn in range(rounds)]
    return [(statistics.median(wall), statistics.median(cpu)) for wall, cpu in (zip(*runs) for runs in zip(*found))]


def compare(name: str, goal: float, peers: Sequence[Peer], speeds: Sequence[Speed]) -> None:
    (wall, cpu), *others = speeds
    print(f"{name:24} {wall:7.0f} words/s ({cpu:6.0f} per CPU-s), goal {goal} x", flush=True)
    for peer, (peer_wall, peer_cpu) in zip(peers, others):
        ratios = f"{wall / peer_wall:5.1f} x (CPU {cpu / peer_cpu:5.1f} x)"
        print(f"  {peer.name:22} {peer_wall:7.0f} words/s ({peer_cpu:6.0f} per CPU-s): {ratios}", flush=True)


def cosines_to_float32(bilm: BiLM, sentences: Sentences, precision: str) -> tuple[float, float]:
    """The lowest and the mean cosine between the vectors of a precision and those of float32, over words and layers."""
    exact, rounded = (np.concatenate(embed(bilm, sentences, kind), axis=1) for kind in ("float32", precision))
    norms = np.linalg.norm(exact, axis=-1) * np.linalg.norm(rounded, axis=-1)
    cosines = (exact * rounded).sum(-1) / norms
    return float(cosines.min()), float(cosines.mean())


def rate(precision: str) -> float:
    """Operations per second of our matrix product, on all threads."""
    rng = np.random.default_rng(1)
    matrix = matmul.pack(rng.standard_normal((16384, 512)).astype(np.float32), precision)
    blocks = len(matrix[0])
    bias = np.zeros((blocks, matmul.BLOCK), np.float32)
    runtime = Runtime.from_env()

    def multiply(_: int) -> None:
        rows, out = matmul.allocate_rows(192, matrix[0]), np.empty((blocks * 192, matmul.BLOCK), np.float32)
        matmul.multiply(matrix, bias, (0, blocks), rows, 192, out, 1, 192)

    multiply(0)
    start = time.perf_counter()
    runtime.map(multiply, range(8 * runtime.threads))
    return 8 * runtime.threads * 2 * 192 * 512 * 16384 / (time.perf_counter() - start)


def limit(bilm: BiLM, sentences: Sentences, precision: str) -> float:
    """Words per second if only matrix products took time."""
    sizes, features = bilm.architecture, sum(number for _, number in bilm.architecture.filters)
    distinct = len({word for words in sentences for word in words}) + 2
    tokens = count(sentences) + 2 * len(sentences)
    encoder = distinct * (sizes.highways * 4 * features**2 + 2 * features * sizes.dim)
    weights = sizes.cell * sizes.dim
    lstms = 2 * weights * (distinct * 8 + tokens * (10 * sizes.layers + 8 * (sizes.layers - 1)))
    return count(sentences) / (encoder / rate("float32") + lstms / rate(precision))


def original(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], args: Any) -> None:
    exact = embed(bilm, sentences[:4], "float32")
    for peer in peers:
        largest = max(np.abs(one - other).max() for one, other in zip(peer.embed(sentences[:4]), exact))
        print(f"largest difference to {peer.name}: {largest:.1e}")
    for precision in args.precision:
        least, mean = cosines_to_float32(bilm, sentences[:100], precision)
        print(f"{precision}: cosine to float32 at least {least:.5f}, {mean:.5f} on average")
        speeds = measure_speeds(bilm, sentences, sentences, precision, peers, args)
        compare(f"original, {precision}", GOALS[precision], peers, speeds)
        most = limit(bilm, sentences, precision)
        print(f"{precision}: the limit is {most:.0f} words/s, of which {speeds[0][0] / most:.0%} is reached")


def measure_speeds(
    bilm: BiLM, sentences: Sentences, theirs: Sentences, precision: str, peers: Sequence[Peer], args: Any
) -> list[Speed]:
    """The speed of firth on all sentences, and of each peer on some of its batches."""

    def ours(_: int) -> Speed:
        return speed(lambda: embed(bilm, sentences, precision), sentences)

    def other(peer: Peer) -> Callable[[int], Speed]:
        return lambda turn: peer.speed(select_batches(theirs, args.batches, turn))

    return alternate([ours, *map(other, peers)], args.rounds)


def small(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], args: Any) -> None:
    warm_up(bilm, sentences[:2], peers)
    compare("small", 15, peers, measure_speeds(bilm, sentences, sentences, "float32", peers, args))


def by_length(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], args: Any) -> None:
    warm_up(bilm, sentences[:2], peers)
    theirs = sorted(sentences, key=len)
    compare("small, peer sorted", 6, peers, measure_speeds(bilm, sentences, theirs, "float32", peers, args))


def warm_up(bilm: BiLM, sentences: Sentences, peers: Sequence[Peer]) -> None:
    embed(bilm, sentences, "float32")
    for peer in peers:
        peer.embed(sentences)


def latency(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], args: Any) -> None:
    middle = sorted(sentences, key=len)[len(sentences) // 2 :][:5]
    each = count(middle) / len(middle)

    def other(peer: Peer) -> Callable[[int], Speed]:
        return lambda _: peer.speed(middle, batch=1)

    warm_up(bilm, middle[:1], peers)
    for precision in args.precision:
        embed(bilm, middle[:1], precision)

        def ours(_: int, kind: str = precision) -> Speed:
            return speed(lambda: [embed(bilm, [words], kind) for words in middle], middle)

        speeds = alternate([ours, *map(other, peers)], args.rounds)
        times = ", ".join(f"{1e3 * each / wall:.0f} ms" for wall, _ in speeds)
        print(f"a sentence of {each:.0f} words: {times}")
        compare(f"one sentence, {precision}", 3, peers, speeds)


CASES = {"original": original, "small": small, "sorted": by_length, "latency": latency}
SIZES = {"original": "original", "small": "small", "sorted": "small", "latency": "original"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000, help="Number of sentences; default: 2000.")
    parser.add_argument("--batches", type=int, default=8, help="Batches per round for each peer; 0: all. Default: 8.")
    parser.add_argument("--rounds", type=int, default=2, help="Repetitions of each measurement; default: 2.")
    parser.add_argument("--case", choices=CASES, nargs="*", default=list(CASES))
    parser.add_argument("--precision", choices=GOALS, nargs="*", default=list(GOALS))
    parser.add_argument("--allennlp", metavar="PYTHON", help="The Python of an environment with AllenNLP.")
    parser.add_argument("--without-rendering", action="store_true", help="Skip the peer in plain torch.")
    args = parser.parse_args()
    sentences = read_sentences(args.sentences)
    distinct = len({word for words in sentences for word in words})
    print(f"{len(sentences)} sentences, {count(sentences)} words, {distinct} of them distinct")
    for case in args.case:
        bilm = BiLM(Architecture.named(SIZES[case]))
        with torch.inference_mode(), tempfile.TemporaryDirectory() as folder:
            peers: list[Peer] = [] if args.without_rendering else [PlainTorch(bilm)]
            if args.allennlp:
                peers.append(AllenNlp(args.allennlp, bilm, Path(folder)))
            CASES[case](bilm, sentences, peers, args)
            for peer in peers:
                if isinstance(peer, AllenNlp):
                    peer.close()


if __name__ == "__main__":
    main()
