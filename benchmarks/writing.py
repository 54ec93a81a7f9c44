"""Speed of the writers of bulk embeddings, compared with plain writes of the same bytes (A/B/A/B, medians).

    python benchmarks/writing.py [megabytes]

Arrays are made before the measurement, so only casting, layout, writing and syncing are measured. The plain write
writes the same number of bytes in blocks of the same size and syncs after each block. The writers sync a block while
the next one is written, and bypass the page cache, so they can be faster than the plain write.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from firth.bulk.embed_file import FORMATS, BulkEmbedder, BulkOptions
from firth.bulk.embedder import Embed
from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock, LineReader
from firth.bulk.write_behind import WriteBehind
from firth.text.tokenize import Tokenizer

DIM, LENGTH, TOKENS = 1024, 25, 16_384


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((LENGTH, DIM)).astype(np.float32) for _ in range(TOKENS // LENGTH)]
    words = [f"word{i}" for i in range(LENGTH)]
    block = LineBlock([" ".join(words)] * len(arrays), [words] * len(arrays), "", 0)
    for dtype in ("float32", "float16"):
        size = sum(array.size for array in arrays) * np.dtype(dtype).itemsize
        count = max(2, (megabytes << 20) // size)
        times: dict[str, list[tuple[float, float]]] = {}
        for _ in range(3):
            times.setdefault("plain", []).append(time_plain(size, count))
            for format in FORMATS:
                times.setdefault(format, []).append(time_writer(format, dtype, block, arrays, count))
        base = statistics.median(wall for wall, _ in times["plain"])
        for name, runs in times.items():
            wall, cpu = (statistics.median(one[i] for one in runs) for i in (0, 1))
            rate = count * size / 1e6
            print(
                f"{dtype} {name:12} {rate / wall:7.0f} MB/s, {base / wall:5.2f} of a plain write; "
                f"{rate / cpu:7.0f} MB a CPU second; {count * TOKENS / wall:9,.0f} tokens/s of ELMo's 1024"
            )


def time_plain(size: int, count: int) -> tuple[float, float]:
    """Wall and CPU seconds to write `count` blocks of `size` bytes."""
    data = np.random.default_rng(2).bytes(size)
    with tempfile.TemporaryDirectory(dir=".") as folder, open(Path(folder) / "plain", "wb", buffering=0) as file:
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(count):
            file.write(data)
            os.fsync(file.fileno())
        return time.perf_counter() - begin, time.process_time() - cpu


def time_writer(format: str, dtype: str, block: LineBlock, arrays: list[np.ndarray], count: int) -> tuple[float, float]:
    """Wall and CPU seconds to write a block of arrays `count` times in a format."""
    with tempfile.TemporaryDirectory(dir=".") as folder, Journal(Path(folder) / "out", {}) as journal:
        writer = FORMATS[format].open(journal, BulkOptions(dtype=dtype), (DIM,))
        pump = BulkEmbedder(LineReader((), Tokenizer()), Embed(lambda sentences: arrays), journal, writer, dtype)
        begin, cpu = time.perf_counter(), time.process_time()
        with WriteBehind(pump.append, journal.sync) as behind:
            for _ in range(count):
                behind.submit(block, arrays, {"zero_rows": 0})
        journal.publish(writer.finish(), journal.state)
        return time.perf_counter() - begin, time.process_time() - cpu


if __name__ == "__main__":
    main()
