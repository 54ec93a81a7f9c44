"""How fast do sentences become ELMo vectors on a GPU? The original architecture with random weights.

    python benchmarks/embed_elmo_gpu.py [--text FILE] [--tokens 1000000]

Sentences are lines of words; without a file they are drawn at random. Printed: tokens a second of the LSTMs alone (all
words known), with the share of the fastest matrix products of the same precision; of `embed` with no word known and
with all known; and of `firth embed` onto disk, where a plain write of as many bytes is the limit. Before that, float32
is compared with the reference and bfloat16 with float32.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from firth.bulk.job import Bulk, embed_file
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.embed import GPU_BATCH_TOKENS, batches, distinct_vectors, padded_rows
from firth.neural.fast_gpu import GpuLayers
from firth.text.tokenize import Tokenizer

LSTM_OPERATIONS = 2 * 2 * 2 * (2 * 4 * 4096 * 512 + 4096 * 512)  # a token: layers, directions, products
KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The median of several runs, the GPU waited for."""
    found = []
    for _ in range(times):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    return sorted(found)[len(found) // 2]


def sentences_of(path: Path | None, tokens: int) -> list[list[str]]:
    """Sentences with so many tokens together."""
    if path is None:
        rng = np.random.default_rng(1)
        drawn = (rng.zipf(1.3, size=rng.integers(3, 50)) % 60_000 for _ in range(tokens))
        lines = (" ".join(f"w{number}" for number in numbers) for numbers in drawn)
    else:
        lines = iter(path.read_text(encoding="utf-8").splitlines())
    found, total = [], 0
    for line in lines:
        found.append(line.split())
        total += len(found[-1])
        if total >= tokens:
            break
    return found


def check(bilm: BiLM, sentences: list[list[str]]) -> None:
    """Prints how far the fast paths are from the reference, on a few sentences."""
    few = sorted(sentences[:40], key=len, reverse=True)
    lengths = [len(words) + 2 for words in few]
    vectors, words = distinct_vectors(bilm, few)
    tokens = vectors[torch.tensor(words, device=vectors.device)]
    plain, _ = bilm.contextualize(padded_rows(tokens, lengths), torch.tensor(lengths, device=tokens.device))
    plain = torch.cat([plain[:, row, :length] for row, length in enumerate(lengths)], 1)
    exact = GpuLayers(bilm, "float32").run(vectors, lengths, words)
    near = GpuLayers(bilm, "bfloat16").run(vectors, lengths, words)
    cosine = torch.cosine_similarity(exact, near, dim=2).min()
    print(f"float32 is {float((exact - plain).abs().max()):.1e} from the reference; lowest cosine {float(cosine):.5f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    asked = parser.parse_args()
    sentences = sentences_of(asked.text, asked.tokens)
    tokens = sum(map(len, sentences))
    bilm = BiLM(Architecture.named("original")).cuda().eval()
    with torch.no_grad():
        check(bilm, sentences)
        order = batches([len(words) + 2 for words in sentences], GPU_BATCH_TOKENS)
        prepared = []
        for places in order:
            chosen = [sentences[place] for place in places]
            prepared.append((*distinct_vectors(bilm, chosen), [len(words) + 2 for words in chosen]))
        framed = sum(sum(lengths) for _, _, lengths in prepared)
        print(f"{tokens:,} tokens, {framed:,} with the ends of sentences; {len(prepared)} batches")
        for precision, kind in KINDS.items():
            layers = GpuLayers(bilm, precision)
            spent = seconds(lambda run=layers.run: [run(vectors, lengths, ids) for vectors, ids, lengths in prepared])
            square = torch.randn(8192, 8192, device="cuda", dtype=kind)
            most = 2 * 8192**3 / seconds(lambda one=square: one @ one, 5)
            rate = framed * LSTM_OPERATIONS / spent
            print(
                f"{precision}: LSTMs alone {framed / spent / 1e3:,.0f} k tokens/s, {rate / 1e12:.0f} T operations/s, "
                f"{rate / most:.0%} of a large product ({most / 1e12:.0f} T)"
            )
    for precision in KINDS:
        bilm.known_words.forget(())
        first = seconds(lambda p=precision: bilm.embed(sentences, precision=p), 1)
        again = seconds(lambda p=precision: bilm.embed(sentences, precision=p), 2)
        print(f"{precision}: embed {tokens / first / 1e3:,.0f} k tokens/s, words known {tokens / again / 1e3:,.0f} k")
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
        for dtype, ending in (("float16", ".hdf5"), ("float32", ".hdf5"), ("float16", ".safetensors")):
            out, tokenizer = Path(folder) / f"{dtype}{ending}", Tokenizer(mode="whitespace", normalizer=None)
            done = embed_file(bilm, text, out, Bulk(dtype=dtype), tokenizer=tokenizer, precision="bfloat16")
            size = done.tokens * 1024 * (2 if dtype == "float16" else 4)
            start = time.perf_counter()
            with open(Path(folder) / "plain", "wb") as file:
                for _ in range(size // (1 << 24)):
                    file.write(bytes(1 << 24))
                file.flush()
            plain = time.perf_counter() - start
            print(
                f"onto disk, {dtype}{ending}: {done.tokens_per_second / 1e3:,.0f} k tokens/s, {done.seconds:.2f} s for "
                f"{size / 1e9:.1f} GB; a plain write takes {plain:.2f} s"
            )


if __name__ == "__main__":
    main()
