"""Speed of reading text: firth's Corpus (token file and vocabulary) and gensim's Word2Vec.build_vocab (counts only).

    python benchmarks/reading.py [--words 17000000] [--rounds 3]

Pre-tokenized text is read in whitespace mode, raw text with firth's tokenizer; gensim splits at spaces in both cases.
Each measurement runs in its own process, so that its peak memory can be measured, after a warm-up that compiles the
kernels. The tools alternate, and medians are compared. The last part reads a text once and eight times in a row: memory
must grow with the vocabulary only, not with the text.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared")) / "data" / "corpora"


def read_with_firth(path: str, mode: str) -> int:
    from firth.text.corpus import Corpus
    from firth.text.tokenize import Tokenizer

    return len(Corpus(path, tokenizer=Tokenizer(mode=mode)).tokens())  # type: ignore[arg-type]


def read_with_gensim(path: str, mode: str) -> int:
    from gensim.models import Word2Vec

    model = Word2Vec(min_count=5, vector_size=2, workers=2)
    model.build_vocab(corpus_file=path)
    return int(model.corpus_total_words)


def measure(tool: str, path: str, mode: str) -> None:
    """Reads a text in this process and prints time and memory as JSON."""
    read = {"firth": read_with_firth, "gensim": read_with_gensim}[tool]
    with tempfile.TemporaryDirectory() as folder:
        warm = Path(folder) / "warm.txt"
        warm.write_text("It's a small text. It warms up.\nنیم‌فاصله a-word-of-more-than-sixteen-bytes\n" * 9)
        read(str(warm), mode)
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    words = read(path, mode)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_memory()
    print(json.dumps({"words": words, "wall": wall, "cpu": cpu, "peak": peak, "grown": peak - before}))


def peak_memory() -> float:
    """The peak memory of this process in MB. (getrusage would include the peak of its parent.)"""
    status = Path("/proc/self/status")
    if status.exists():
        return float(status.read_text().split("VmHWM:")[1].split()[0]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measure_in_process(tool: str, path: Path, mode: str) -> dict[str, Any]:
    """Runs `measure` in a new process and returns its result."""
    command = [sys.executable, __file__, "--measure", tool, str(path), mode]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # type: ignore[no-any-return]


def compare(title: str, path: Path, mode: str, words: int, rounds: int, goal: float) -> None:
    """Runs both tools in alternation. Rates count the same words for both: those between spaces."""
    runs: dict[str, list[dict[str, Any]]] = {"firth": [], "gensim": []}
    for _ in range(rounds):
        for tool, results in runs.items():
            results.append(measure_in_process(tool, path, mode))
    print(f"\n{title}: {words:,} words between blanks, {path.stat().st_size / 1e6:.0f} MB")
    medians = {}
    for tool, results in runs.items():
        medians[tool] = {key: statistics.median(run[key] for run in results) for key in results[0]}
        one = medians[tool]
        rate = words / one["wall"] / 1e6
        print(f"  {tool:6}  wall {one['wall']:6.2f} s  cpu {one['cpu']:6.2f} s  {rate:5.1f} M words/s", end="")
        print(f"  peak memory {one['peak']:.0f} MB, {one['grown']:.0f} of them by reading")
    wall = medians["gensim"]["wall"] / medians["firth"]["wall"]
    cpu = medians["gensim"]["cpu"] / medians["firth"]["cpu"]
    print(f"  firth is {wall:.1f}x faster by wall time (goal {goal:.0f}x), {cpu:.1f}x by processor time")


def unpack(name: str, target: Path, words: int, times: int = 1) -> int:
    """Writes the first words of a corpus, `times` times in a row; returns the number of words."""
    lines, count = [], 0
    with lzma.open(DATA / name, "rb") as file:
        for line in file:
            lines.append(line)
            count += len(line.split())
            if count >= words:
                break
    text = b"".join(lines)
    with open(target, "wb") as out:
        for _ in range(times):
            out.write(text)
    return count * times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=17_000_000, help="Words of text; default: 17,000,000.")
    parser.add_argument("--rounds", type=int, default=3, help="Repetitions; default: 3.")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        words = unpack("en-01.txt.xz", path, arguments.words)
        compare("pre-tokenized", path, "whitespace", words, arguments.rounds, 8)
        words = unpack("en-raw-sample.txt.xz", path, 2_000_000, times=6)
        compare("raw running text", path, "running", words, arguments.rounds, 2)
        print("\nmemory, the same text once and eight times over")
        for mode, name in (("whitespace", "en-01.txt.xz"), ("running", "en-raw-sample.txt.xz")):
            for times in (1, 8):
                words = unpack(name, path, 2_000_000, times)
                one = measure_in_process("firth", path, mode)
                size = path.stat().st_size / 1e6
                print(f"  {mode:10}  {size:4.0f} MB of text, {words:,} words: reading adds {one['grown']:.0f} MB")


if __name__ == "__main__":
    main()
