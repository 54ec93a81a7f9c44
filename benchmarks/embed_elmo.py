"""How fast do sentences become ELMo vectors on a CPU?

    python benchmarks/embed_elmo.py [--sentences 2000] [--batches 8] [--rounds 2] [--case original ...]
        [--precision float32 ...] [--allennlp PYTHON] [--without-rendering]

2000 English sentences of mixed length, all three layers of every word, random weights in the published shapes. The peer
is the algorithm of AllenNLP, written again in plain torch: batches of 64 in file order, sorted only within a batch, the
character CNN over 50 characters of every token and of the padding, an LSTM cell with projection that goes one time step
after another. `--allennlp` names the python of an environment that has AllenNLP: it then is a second peer, or the only
one. A peer runs on `--batches` of its batches, evenly spread and others in each round (0: on all of them), in turn with
ours on all sentences; medians of words per second are compared, by the clock and per CPU-second. No one is charged for
loading or packing weights. Ours starts each time without a single known word.

Cases: original (exact, bfloat16 and int8), small (exact), sorted (small, and the peer's batches sorted by length, too),
latency (one sentence alone, original). The first prints how near the lower precisions come to float32, too, and the
limit: the speed at which the sentences could be embedded if nothing but the products were to be computed, each distinct
word's once, as fast as this machine multiplies large matrices. For quiet figures let nothing else run: the peer's
threads wait for each other.
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
Speed = tuple[float, float]  # words a second, by the clock and per CPU-second


class Peer(Protocol):
    """Whoever embeds sentences and says how fast, `batch` of them together."""

    name: str

    def embed(self, sentences: Sentences) -> list[np.ndarray]: ...
    def speed(self, sentences: Sentences, batch: int = BATCH) -> Speed: ...


class Rendering:
    """AllenNLP's way in plain torch, with the weights of our model."""

    name = "in plain torch"

    def __init__(self, bilm: BiLM) -> None:
        assert isinstance(bilm.encoder, CharacterCnn)
        self.cnn = bilm.encoder
        self.layers = [bilm.forward_layers, bilm.backward_layers]

    def embed(self, sentences: Sentences, batch: int = BATCH) -> list[np.ndarray]:
        """All layers of each sentence, (layers + 1, length, 2 · dim), one batch at a time in the order given."""
        arrays: list[np.ndarray] = []
        for start in range(0, len(sentences), batch):
            some = sentences[start : start + batch]
            found = self.batch(some).numpy()
            arrays += [found[:, row, 1 : len(words) + 1] for row, words in enumerate(some)]
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


class AllenNlp:
    """AllenNLP itself, in a process of its own python, with the weights of our model; see `allennlp_peer.py`."""

    name = "AllenNLP"

    def __init__(self, python: str, bilm: BiLM, folder: Path) -> None:
        save(bilm, folder / "model", format="elmo")
        self.out = folder / "arrays.npz"
        files = [str(folder / "model" / name) for name in ("options.json", "weights.hdf5")]
        command = [python, str(Path(__file__).with_name("allennlp_peer.py")), *files]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        about = self.answer()
        print("AllenNLP {allennlp}, torch {torch}, {threads} threads, ready in {seconds:.0f} s".format(**about))

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, sentences: Sentences, **more: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        print(json.dumps({"sentences": sentences, **more}), file=self.process.stdin, flush=True)
        return self.answer()

    def embed(self, sentences: Sentences) -> list[np.ndarray]:
        self.ask(sentences, reset=True, out=str(self.out))
        with np.load(self.out) as arrays:
            return [arrays[str(number)] for number in range(len(sentences))]

    def speed(self, sentences: Sentences, batch: int = BATCH) -> Speed:
        took = self.ask(sentences, batch=batch)
        return count(sentences) / took["wall"], count(sentences) / took["cpu"]

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


def some_of(sentences: Sentences, batches: int, turn: int) -> list[Sequence[str]]:
    """Whole batches of the peer's, evenly spread over the file, others at each turn."""
    starts = range(0, len(sentences), BATCH)
    step = max(1, len(starts) // batches) if batches else 1
    chosen = starts[turn % step :: step][: batches or None]
    return [words for start in chosen for words in sentences[start : start + BATCH]]


def in_turn(contenders: Sequence[Callable[[int], Speed]], rounds: int) -> list[Speed]:
    """The median speeds of each, one after the other and all over again: A/B/A/B."""
    found = [[contender(turn) for contender in contenders] for turn in range(rounds)]
    return [(statistics.median(wall), statistics.median(cpu)) for wall, cpu in (zip(*runs) for runs in zip(*found))]


def compare(name: str, goal: float, peers: Sequence[Peer], speeds: Sequence[Speed]) -> None:
    (wall, cpu), *others = speeds
    print(f"{name:24} {wall:7.0f} words/s ({cpu:6.0f} per CPU-s), goal {goal} x", flush=True)
    for peer, (peer_wall, peer_cpu) in zip(peers, others):
        ratios = f"{wall / peer_wall:5.1f} x (CPU {cpu / peer_cpu:5.1f} x)"
        print(f"  {peer.name:22} {peer_wall:7.0f} words/s ({peer_cpu:6.0f} per CPU-s): {ratios}", flush=True)


def nearness(bilm: BiLM, sentences: Sentences, precision: str) -> tuple[float, float]:
    """The smallest and the mean cosine of a word's vectors, layer by layer, to those of float32."""
    exact, rounded = (np.concatenate(embed(bilm, sentences, kind), axis=1) for kind in ("float32", precision))
    norms = np.linalg.norm(exact, axis=-1) * np.linalg.norm(rounded, axis=-1)
    cosines = (exact * rounded).sum(-1) / norms
    return float(cosines.min()), float(cosines.mean())


def rate(precision: str) -> float:
    """Operations a second of our product of matrices, on all threads."""
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
    """Words a second if only products took time."""
    sizes, features = bilm.architecture, sum(number for _, number in bilm.architecture.filters)
    distinct = len({word for words in sentences for word in words}) + 2
    tokens = count(sentences) + 2 * len(sentences)
    encoder = distinct * (sizes.highways * 4 * features**2 + 2 * features * sizes.dim)
    weights = sizes.cell * sizes.dim
    lstms = 2 * weights * (distinct * 8 + tokens * (10 * sizes.layers + 8 * (sizes.layers - 1)))
    return count(sentences) / (encoder / rate("float32") + lstms / rate(precision))


def original(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], asked: Any) -> None:
    exact = embed(bilm, sentences[:4], "float32")
    for peer in peers:
        largest = max(np.abs(one - other).max() for one, other in zip(peer.embed(sentences[:4]), exact))
        print(f"largest difference to {peer.name}: {largest:.1e}")
    for precision in asked.precision:
        least, mean = nearness(bilm, sentences[:100], precision)
        print(f"{precision}: cosine to float32 at least {least:.5f}, {mean:.5f} on average")
        speeds = against(bilm, sentences, sentences, precision, peers, asked)
        compare(f"original, {precision}", GOALS[precision], peers, speeds)
        most = limit(bilm, sentences, precision)
        print(f"{precision}: the limit is {most:.0f} words/s, of which {speeds[0][0] / most:.0%} is reached")


def against(
    bilm: BiLM, sentences: Sentences, theirs: Sentences, precision: str, peers: Sequence[Peer], asked: Any
) -> list[Speed]:
    """The speed of ours over all sentences, and of each peer over some of its batches."""

    def ours(_: int) -> Speed:
        return speed(lambda: embed(bilm, sentences, precision), sentences)

    def other(peer: Peer) -> Callable[[int], Speed]:
        return lambda turn: peer.speed(some_of(theirs, asked.batches, turn))

    return in_turn([ours, *map(other, peers)], asked.rounds)


def small(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], asked: Any) -> None:
    warm_up(bilm, sentences[:2], peers)
    compare("small", 15, peers, against(bilm, sentences, sentences, "float32", peers, asked))


def by_length(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], asked: Any) -> None:
    warm_up(bilm, sentences[:2], peers)
    theirs = sorted(sentences, key=len)
    compare("small, peer sorted", 6, peers, against(bilm, sentences, theirs, "float32", peers, asked))


def warm_up(bilm: BiLM, sentences: Sentences, peers: Sequence[Peer]) -> None:
    embed(bilm, sentences, "float32")
    for peer in peers:
        peer.embed(sentences)


def latency(bilm: BiLM, sentences: list[list[str]], peers: Sequence[Peer], asked: Any) -> None:
    middle = sorted(sentences, key=len)[len(sentences) // 2 :][:5]
    each = count(middle) / len(middle)

    def other(peer: Peer) -> Callable[[int], Speed]:
        return lambda _: peer.speed(middle, batch=1)

    warm_up(bilm, middle[:1], peers)
    for precision in asked.precision:
        embed(bilm, middle[:1], precision)

        def ours(_: int, kind: str = precision) -> Speed:
            return speed(lambda: [embed(bilm, [words], kind) for words in middle], middle)

        speeds = in_turn([ours, *map(other, peers)], asked.rounds)
        times = ", ".join(f"{1e3 * each / wall:.0f} ms" for wall, _ in speeds)
        print(f"a sentence of {each:.0f} words: {times}")
        compare(f"one sentence, {precision}", 3, peers, speeds)


CASES = {"original": original, "small": small, "sorted": by_length, "latency": latency}
SIZES = {"original": "original", "small": "small", "sorted": "small", "latency": "original"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--case", choices=CASES, nargs="*", default=list(CASES))
    parser.add_argument("--precision", choices=GOALS, nargs="*", default=list(GOALS))
    parser.add_argument("--allennlp", metavar="PYTHON")
    parser.add_argument("--without-rendering", action="store_true")
    asked = parser.parse_args()
    sentences = read_sentences(asked.sentences)
    distinct = len({word for words in sentences for word in words})
    print(f"{len(sentences)} sentences, {count(sentences)} words, {distinct} of them distinct")
    for case in asked.case:
        bilm = BiLM(Architecture.named(SIZES[case]))
        with torch.inference_mode(), tempfile.TemporaryDirectory() as folder:
            peers: list[Peer] = [] if asked.without_rendering else [Rendering(bilm)]
            if asked.allennlp:
                peers.append(AllenNlp(asked.allennlp, bilm, Path(folder)))
            CASES[case](bilm, sentences, peers, asked)
            for peer in peers:
                if isinstance(peer, AllenNlp):
                    peer.close()


if __name__ == "__main__":
    main()
