"""Speed of ELMo embeddings on a GPU, in memory and to disk, with the original architecture and random weights.

    python benchmarks/embed_elmo_gpu.py --text FILE [--tokens 1000000] [--folder .] [--dry]

FILE has one tokenized sentence per line; without it, random sentences are used. The script takes about two minutes and
prints:

- the difference between float32 and the reference, and between bfloat16 and float32;
- tokens per second of the LSTMs alone (all words in the cache, no transfer to the host), and the proportion of the
  GPU's limit: the fastest large matrix product in the same precision;
- tokens per second of `BiLM.embed` with an empty and with a full cache of words, and the ratio to the LSTMs alone;
- tokens per second to disk, as HDF5 and as safetensors shards, compared with the writers alone and with plain writes
  of the same number of bytes, with and without the page cache;
- microseconds per token on the host by part: with the LSTMs, and with a stub that takes no time in their place.

`--dry` runs everything with a tiny model on any machine; its figures are meaningless.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from firth.bulk import append_only, embed_file, hdf5, journal, lines, shards
from firth.bulk.write_behind import WriteBehind
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.device import GPU
from firth.neural.inference import embed, layers_of, lstm_gpu, token_vectors
from firth.neural.inference.lstm_gpu import LayersGpu
from firth.progress import Progress
from firth.text.tokenize import Tokenizer

KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
WORDS = Tokenizer(mode="whitespace")
# The parts of the work on the host: module or class, function, and the label in the table.
PARTS = [
    (lines.LineReader, "blocks", "read lines, cut words"),
    (layers_of, "to_word_lists", "check lists"),
    (layers_of, "batches", "sort by length"),
    (token_vectors.TokenVectors, "_look_up", "look words up"),
    (token_vectors.TokenVectors, "_encode", "encode new words"),
    (layers_of, "encode_distinct", "distinct words of a batch"),
    (lstm_gpu.LayersGpu, "run", "launch the LSTMs"),
    (lstm_gpu, "order_by_step", "order the steps"),
    (lstm_gpu, "interleave_steps", "order the steps"),
    (embed, "start_transfer", "launch mix, cast and transfer"),
    (embed, "finish", "wait for the GPU"),
    (embed, "copy_arrays", "copy into arrays"),
    (embed, "split_arrays", "views of sentences"),
    (embed_file, "zero_rows", "count rows of zeros"),
    (embed_file.BulkEmbedder, "_cast", "cast (already done)"),
    (hdf5.Hdf5Writer, "append", "lay out HDF5"),
    (shards.ShardWriter, "append", "lay out shards"),
    (append_only.AppendOnlyFile, "append", "write"),
    (journal.Journal, "sync", "wait for the disk"),
]


class Clock:
    """Wall and CPU seconds of each part, without those of nested parts; each thread has its own nesting."""

    def __init__(self) -> None:
        self.wall: defaultdict[str, float] = defaultdict(float)
        self.cpu: defaultdict[str, float] = defaultdict(float)
        self.within = threading.local()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        outer = getattr(self.within, "spent", None)
        self.within.spent = [0.0, 0.0]
        start = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            taken = time.perf_counter() - start[0], time.thread_time() - start[1]
            self.wall[name] += taken[0] - self.within.spent[0]
            self.cpu[name] += taken[1] - self.within.spent[1]
            if outer is not None:
                outer[0] += taken[0]
                outer[1] += taken[1]
            self.within.spent = outer

    def wrap(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            with self.part(name):
                found = function(*args, **more)
            return self.wrap_iterator(found, name) if isinstance(found, Iterator) else found

        return call

    def wrap_iterator(self, items: Iterator[Any], name: str) -> Iterator[Any]:
        while True:
            with self.part(name):
                item = next(items, self)
            if item is self:
                return
            yield item

    @contextmanager
    def patch_parts(self) -> Iterator[None]:
        """Times the functions in PARTS inside the context."""
        originals = [(owner, attribute, getattr(owner, attribute)) for owner, attribute, _ in PARTS]
        for (owner, attribute, function), (*_, name) in zip(originals, PARTS):
            setattr(owner, attribute, self.wrap(function, name))
        try:
            yield
        finally:
            for owner, attribute, function in originals:
                setattr(owner, attribute, function)

    def show(self, title: str, tokens: int) -> None:
        print(f"  {title}: microseconds a token, processor (wall)")
        for name in dict.fromkeys(name for *_, name in PARTS):
            if name in self.wall:
                wall, cpu = self.wall[name] / tokens * 1e6, self.cpu[name] / tokens * 1e6
                print(f"    {name:32} {cpu:6.3f} ({wall:6.3f})")


class Bench:
    """The model, the text and the measurements."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.dry, self.folder = args.dry, args.folder
        self.device = "cpu" if args.dry and not torch.cuda.is_available() else "cuda"
        self.tokens = 3_000 if args.dry else args.tokens
        self.sentences = read_sentences(args.text, self.tokens)
        self.tokens = sum(map(len, self.sentences))
        sizes = Architecture.named("tiny" if args.dry else "original")
        self.bilm = BiLM(sizes).to(self.device).eval()
        both = 2 * (2 * 4 * sizes.cell * sizes.dim + sizes.cell * sizes.dim)  # one layer of one direction
        self.operations = 2 * sizes.layers * both
        self.kernels: dict[str, float] = {}

    def wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    def seconds(self, work: Callable[[], object], times: int = 3) -> float:
        """The median seconds of several runs, including the work on the GPU."""
        found = []
        for _ in range(times):
            self.wait()
            start = time.perf_counter()
            result = work()
            self.wait()
            found.append(time.perf_counter() - start)
            del result  # frees gigabytes outside of the measured time
        return statistics.median(found)

    def check(self) -> None:
        """Prints the differences between the fast paths and the reference, on a few sentences."""
        few = sorted(self.sentences[:40], key=len, reverse=True)
        lengths = [len(words) + 2 for words in few]
        vectors, words = layers_of.encode_distinct(self.bilm, few)
        rows = embed.pad_rows(vectors[torch.from_numpy(words).to(self.device)], lengths)
        plain, _ = self.bilm.contextualize(rows, torch.tensor(lengths, device=self.device))
        plain = torch.cat([plain[:, row, :length] for row, length in enumerate(lengths)], 1)
        exact, near = (LayersGpu(self.bilm, precision).run(vectors, lengths, words) for precision in KINDS)
        far, cosine = float((exact - plain).abs().max()), float(torch.cosine_similarity(exact, near, dim=2).min())
        print(f"float32 is {far:.1e} from the reference; lowest cosine of bfloat16 to it {cosine:.5f}")
        wide = self.bilm.embed(self.sentences[:200], precision="bfloat16")
        half = self.bilm.embed(self.sentences[:200], precision="bfloat16", dtype="float16")
        same = all(np.array_equal(a.astype(np.float16), b) for a, b in zip(wide, half))
        alone = [self.bilm.embed([words])[0] for words in self.sentences[:20]]
        apart = max(np.abs(a - b).max() for a, b in zip(alone, self.bilm.embed(self.sentences[:2000])))
        print(f"float16 is float32 rounded: {same}; a sentence alone and in company: {apart:.1e} apart in float32")

    def lstms_alone(self) -> None:
        """Prints the speed of the LSTMs without encoding and transfer."""
        prepared = []
        budget = 512 if self.dry else GPU.batch_tokens
        for places in layers_of.batches([len(words) + 2 for words in self.sentences], budget):
            chosen = [self.sentences[place] for place in places]
            prepared.append((*layers_of.encode_distinct(self.bilm, chosen), [len(words) + 2 for words in chosen]))
        framed = sum(sum(lengths) for *_, lengths in prepared)
        print(f"{self.tokens:,} tokens, {framed:,} with the ends of sentences; {len(prepared)} batches")
        for precision, kind in KINDS.items():
            run = LayersGpu(self.bilm, precision).run
            run(prepared[0][0], prepared[0][2], prepared[0][1])

            def all_of_them(run: Callable[..., object] = run) -> None:
                for vectors, words, lengths in prepared:
                    run(vectors, lengths, words)

            spent = self.seconds(all_of_them)
            square = torch.randn(*(2 * (64 if self.dry else 8192,)), device=self.device, dtype=kind)
            most = 2 * len(square) ** 3 / self.seconds(lambda one=square: one @ one, 5)
            rate = framed * self.operations / spent
            self.kernels[precision] = self.tokens / spent
            alone, all_tokens = thousands(self.tokens / spent), thousands(framed / spent)
            print(f"{precision}: LSTMs alone {alone} tokens/s ({all_tokens} with the ends of sentences)")
            share = f"{rate / most:.0%} of the {most / 1e12:.0f} T of a large product"
            print(f"  {rate / 1e12:.0f} T operations/s, as the plain way counts them: {share}")

    def whole_embed(self) -> None:
        """Prints the speed of `BiLM.embed`."""
        for precision, dtype, layers in (
            ("float32", "float32", "mix"),
            ("bfloat16", "float32", "mix"),
            ("bfloat16", "float16", "mix"),
            ("bfloat16", "float16", "top"),
        ):
            self.bilm.token_vectors.forget(())
            choices = {"precision": precision, "dtype": dtype, "layers": layers}
            first = self.seconds(lambda more=choices: self.bilm.embed(self.sentences, **more), 1)
            again = self.seconds(lambda more=choices: self.bilm.embed(self.sentences, **more), 2)
            rates = [self.tokens / spent for spent in (first, again)]
            shares = " / ".join(f"{rate / self.kernels[precision]:.0%}" for rate in rates)
            print(
                f"embed, {precision}, {layers} as {dtype}: no word known {thousands(rates[0])} tokens/s, all known "
                f"{thousands(rates[1])}; {shares} of the LSTMs alone"
            )

    def onto_disk(self) -> None:
        """Prints the speed of `embed_file`."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            text = Path(folder) / "text.txt"
            text.write_text("".join(" ".join(words) + "\n" for words in self.sentences), encoding="utf-8")
            first = Path(folder) / "first.txt"  # a warm-up run, which compiles the kernels
            first.write_text("".join(" ".join(words) + "\n" for words in self.sentences[:2000]), encoding="utf-8")
            embed_file.embed_file(self.bilm, first, Path(folder) / "first.hdf5", tokenizer=WORDS, precision="bfloat16")
            for precision, dtype, ending in (
                ("bfloat16", "float16", ".hdf5"),
                ("bfloat16", "float16", ".safetensors"),
                ("bfloat16", "float32", ".hdf5"),
                ("float32", "float16", ".hdf5"),
            ):
                size = self.tokens * 2 * self.bilm.architecture.dim * np.dtype(dtype).itemsize
                rates, out, seen = [], Path(folder) / f"out{ending}", list[tuple[float, float]]()

                def report(progress: Progress, seen: list[tuple[float, float]] = seen) -> None:
                    if progress.step == "embedding":
                        seen.append((time.perf_counter(), progress.done))

                for _ in range(2 if (precision, dtype) == ("bfloat16", "float16") else 1):
                    bulk = embed_file.BulkOptions(dtype=dtype)
                    how: dict[str, Any] = {"tokenizer": WORDS, "precision": precision, "restart": True}
                    seen.clear()
                    rates.append(
                        embed_file.embed_file(self.bilm, text, out, bulk, report=report, **how).tokens_per_second
                    )
                shown, speed = ", ".join(map(thousands, rates)), max(rates) * size / self.tokens / 1e9
                print(
                    f"onto disk, {precision}, {dtype}{ending}: {shown} tokens/s, {speed:.2f} GB/s; "
                    f"{max(rates) / self.kernels[precision]:.0%} of the LSTMs alone; from the second of {len(seen)} "
                    f"blocks to the last {thousands(self.tokens * steady_rate(seen, text.stat().st_size))}"
                )

    def writers_alone(self) -> None:
        """Prints the speed of the writers with precomputed arrays, and of plain writes of the same bytes and blocks."""
        dim = 2 * self.bilm.architecture.dim
        rows = np.random.default_rng(1).standard_normal((min(self.tokens, 131_072), dim), np.float32).astype(np.float16)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            text = Path(folder) / "text.txt"
            text.write_text("".join(" ".join(words) + "\n" for words in self.sentences), encoding="utf-8")
            blocks = list(lines.LineReader.of(text, WORDS, "strict").blocks(len(rows)))
            ready = [slice_rows(rows, block) for block in blocks]
            size = self.tokens * rows[0].nbytes
            for format in ("hdf5", "safetensors"):
                spent = self.time_writer(Path(folder) / f"out.{format}", format, blocks, ready)
                speed = f"{thousands(self.tokens / spent)} tokens/s, {size / spent / 1e9:.2f} GB/s"
                print(f"{format} alone, float16: {speed}")
            for way, direct in (("usual", False), ("direct", True)):
                times = write_plain(Path(folder) / "plain", size, direct)
                if times is not None:
                    handed, spent = (size / one / 1e9 for one in times)
                    print(f"plain write of as much, {way}: {spent:.2f} GB/s; handed over at {handed:.2f} GB/s")

    def time_writer(self, out: Path, format: str, blocks: list[Any], ready: list[Any]) -> float:
        """Seconds to write the arrays in a format."""
        with journal.Journal(out, {}, restart=True) as made:
            writer = embed_file.FORMATS[format].open(
                made, embed_file.BulkOptions(dtype="float16"), (2 * self.bilm.architecture.dim,)
            )
            worker = embed_file.BulkEmbedder(lines.LineReader((), WORDS), None, made, writer, "float16")  # type: ignore[arg-type]
            start = time.perf_counter()
            with WriteBehind(worker.append, made.sync) as pipeline:
                for block, arrays in zip(blocks, ready):
                    pipeline.submit(block, arrays, {"zero_rows": 0})
            made.publish(writer.finish(), made.state)
            return time.perf_counter() - start

    def host_by_part(self) -> None:
        """Prints the time on the host by part, with the LSTMs and with a stub that returns a constant."""
        layers = self.bilm.architecture.layers + 1
        most = 2 * (512 if self.dry else GPU.batch_tokens)
        ready = torch.ones(layers, most, 2 * self.bilm.architecture.dim, device=self.device)

        def stub(self: LayersGpu, vectors: Any, lengths: Any, words: Any) -> torch.Tensor:
            sizes, *orders = lstm_gpu.order_by_step(np.asarray(lengths))
            lstm_gpu.interleave_steps(words[orders[0]], words[orders[1]], sizes)
            return ready[:, : len(words)]

        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            text = Path(folder) / "text.txt"
            text.write_text("".join(" ".join(words) + "\n" for words in self.sentences), encoding="utf-8")
            choices = {"layers": "top", "precision": "bfloat16"}

            def to_memory() -> None:
                self.bilm.embed(self.sentences, dtype="float16", **choices)

            def to_disk() -> None:
                bulk = embed_file.BulkOptions(dtype="float16", layers="top")
                out = Path(folder) / "out.hdf5"
                embed_file.embed_file(self.bilm, text, out, bulk, tokenizer=WORDS, precision="bfloat16", restart=True)

            for title, work in (("embed", to_memory), ("onto disk", to_disk)):
                self.watch(title, work)
            original, LayersGpu.run = LayersGpu.run, stub  # type: ignore[method-assign, assignment]
            try:
                for title, work in (("embed, a stand-in for the LSTMs", to_memory), ("onto disk, a stand-in", to_disk)):
                    self.watch(title, work)
            finally:
                LayersGpu.run = original  # type: ignore[method-assign]

    def watch(self, title: str, work: Callable[[], None]) -> None:
        clock, start = Clock(), time.perf_counter()
        with clock.patch_parts():
            work()
        spent = time.perf_counter() - start
        clock.show(f"{title}, {spent / self.tokens * 1e6:.3f} a token by the wall clock", self.tokens)


def steady_rate(seen: list[tuple[float, float]], size: int) -> float:
    """The fraction of a text of `size` bytes per second, without the first block and the end of the run."""
    (start, first), (end, last) = seen[min(1, len(seen) - 1)], seen[-1]
    return (last - first) / size / max(1e-9, end - start)


def read_sentences(path: Path | None, tokens: int) -> list[list[str]]:
    """Sentences with this many tokens in total, from a file or at random."""
    if path is None:
        rng = np.random.default_rng(1)
        drawn = (rng.zipf(1.3, size=rng.integers(3, 50)) % 60_000 for _ in range(tokens))
        texts = (" ".join(f"w{number}" for number in numbers) for numbers in drawn)
    else:
        texts = iter(path.read_text(encoding="utf-8").splitlines())
    found, total = [], 0
    for text in texts:
        found.append(text.split())
        total += len(found[-1])
        if total >= tokens:
            break
    return found


def thousands(rate: float) -> str:
    return f"{rate / 1e3:,.0f} k"


def slice_rows(rows: np.ndarray, block: Any) -> list[np.ndarray]:
    """An array for each sentence of a block, from random positions of the rows, as in a sorted batch."""
    starts = np.random.default_rng(2).integers(0, max(1, len(rows) - 200), len(block.sentences)).tolist()
    return [rows[start : start + len(words)] for start, words in zip(starts, block.sentences)]


def write_plain(path: Path, size: int, direct: bool) -> tuple[float, float] | None:
    """Seconds to write `size` bytes in blocks: without and with the final fsync. None if the mode is not supported."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | (os.O_DIRECT if direct else 0)
    data = append_only.DirectBuffers().parts[0]
    data[:] = np.random.default_rng(3).integers(0, 256, len(data), dtype=np.uint8)
    try:
        file = os.open(path, flags)
    except OSError:
        return None
    start = time.perf_counter()
    for _ in range(-(-size // len(data))):
        os.write(file, data)
    handed = time.perf_counter() - start
    os.fsync(file)
    spent = time.perf_counter() - start
    os.close(file)
    path.unlink()
    return handed, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, help="A file with one tokenized sentence per line.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="Number of tokens; default: 1,000,000.")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="The folder for temporary files; default: the current folder."
    )
    parser.add_argument("--dry", action="store_true", help="Run everything with a tiny model, on any machine.")
    start = time.perf_counter()
    bench = Bench(parser.parse_args())
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    with torch.no_grad():
        for part in (
            bench.check,
            bench.lstms_alone,
            bench.whole_embed,
            bench.onto_disk,
            bench.writers_alone,
            bench.host_by_part,
        ):
            part()
            print(f"({time.perf_counter() - start:.0f} s so far)")


if __name__ == "__main__":
    main()
