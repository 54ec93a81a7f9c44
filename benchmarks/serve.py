"""The server under load: concurrent clients against one request at a time, on the same server and sentences.

    python benchmarks/serve.py --seconds 60 --clients 64

Clients are asyncio tasks of this process; the server is a process of its own. Printed are requests per second, the
times of requests (p50, p95, p99), CPU time of the server per request, its memory before and after, and errors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

WORDS = Path(__file__).resolve().parents[1] / "src" / "firth" / "tour.txt"


@dataclass
class Load:
    """What clients saw."""

    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def sentences(count: int) -> list[str]:
    """Different sentences of ordinary lengths."""
    lines = [line.strip() for line in re.split(r"(?<=[.!?])\s+", WORDS.read_text(encoding="utf-8")) if line.strip()]
    generator = np.random.default_rng(1)
    return [f"{lines[generator.integers(len(lines))]} {number}" for number in range(count)]


def cpu_seconds(process: int) -> float:
    """The CPU time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory(process: int) -> int:
    """The resident memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) // 1024 if found else 0


async def ask(address: str, texts: list[str], model: str, clients: int, seconds: float) -> Load:
    """Clients that ask again as soon as they are answered."""
    load, end, numbers = Load(), time.monotonic() + seconds, iter(range(1 << 40))
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=60, trust_env=False) as client:

        async def run() -> None:
            while time.monotonic() < end:
                body = {"model": model, "inputs": texts[next(numbers) % len(texts)]}
                start = time.monotonic()
                try:
                    answer = await client.post("/embed", json=body)
                    if answer.status_code != 200:
                        load.errors.append(str(answer.status_code))
                except httpx.HTTPError as error:
                    load.errors.append(type(error).__name__)
                load.times.append(time.monotonic() - start)

        await asyncio.gather(*(run() for _ in range(clients)))
    return load


def measure(
    address: str, process: int, texts: list[str], model: str, clients: int, seconds: float
) -> dict[str, object]:
    """A load, with what the server used."""
    cpu, before, start = cpu_seconds(process), memory(process), time.monotonic()
    load = asyncio.run(ask(address, texts, model, clients, seconds))
    wall, used = time.monotonic() - start, cpu_seconds(process) - cpu
    p50, p95, p99 = (round(1000 * float(np.quantile(load.times, share)), 1) for share in (0.5, 0.95, 0.99))
    return {
        "model": model,
        "clients": clients,
        "requests": len(load.times),
        "errors": len(load.errors),
        "requests_per_second": round(len(load.times) / wall, 1),
        "p50_ms": p50,
        "p95_ms": p95,
        "p99_ms": p99,
        "server_cpu_ms_per_request": round(1000 * used / len(load.times), 2),
        "memory_mb": [before, memory(process)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--alone", type=float, default=15, help="seconds of one request at a time")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--models", nargs="*", default=["elmo-en", "word2vec-en"])
    options = parser.parse_args()
    command = [sys.executable, "-m", "firth", "serve", *options.models, "--port", "0", "--json", "--no-log"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        text += process.stdout.readline()
    address, texts = json.loads(text)["address"], sentences(20_000)
    try:
        for model in options.models:
            measure(address, process.pid, texts, model, options.clients, 3)  # warm
            alone = measure(address, process.pid, texts, model, 1, options.alone)
            together = measure(address, process.pid, texts, model, options.clients, options.seconds)
            print(json.dumps(alone))
            print(json.dumps(together))
            rate = together["requests_per_second"] / alone["requests_per_second"]  # type: ignore[operator]
            cost = alone["server_cpu_ms_per_request"] / together["server_cpu_ms_per_request"]  # type: ignore[operator]
            print(
                f"{model}: {options.clients} clients have {rate:.1f} times the requests per second of one, "
                f"and {cost:.1f} times fewer CPU-ms per request"
            )
    finally:
        process.terminate()
        process.wait(70)


if __name__ == "__main__":
    main()
