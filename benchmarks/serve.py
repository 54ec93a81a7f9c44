"""The server under load: concurrent clients against one request at a time, on the same server and sentences.

    python benchmarks/serve.py --seconds 60 --clients 64 --rounds 3

The clients are one process with an epoll loop over raw sockets and requests that were built before the clock starts, so
that they leave the cores to the server; their CPU time is printed too. Rounds alternate between one client and many.

For each load: requests per second and per CPU-second of the server, times of requests (p50, p95, p99), requests of a
batch, errors, and the memory of the server at ten moments.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import select
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import numpy as np

WORDS = Path(__file__).resolve().parents[1] / "src" / "firth" / "tour.txt"
MOMENTS = 10  # at which the memory is read


@dataclass
class Load:
    """What clients saw, and the CPU seconds that they used themselves."""

    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0


@dataclass
class Client:
    """A connection that asks again as soon as it is answered."""

    connection: socket.socket
    start: float = 0.0
    received: bytearray = field(default_factory=bytearray)
    needed: int = 0  # bytes of the whole answer; 0 until its head is there

    def ask(self, request: bytes) -> None:
        self.received.clear()
        self.needed, self.start = 0, time.perf_counter()
        self.connection.sendall(request)

    def is_answered(self) -> bool:
        """Reads what has arrived, and says whether the answer is complete."""
        part = self.connection.recv(1 << 18)
        if not part:
            raise ConnectionResetError("the server closed the connection")
        self.received += part
        if not self.needed:
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return False
            length = re.search(rb"content-length: (\d+)", self.received[:end])
            self.needed = end + 4 + int(length[1]) if length else end + 4
        return len(self.received) >= self.needed


def sentences(count: int) -> list[str]:
    """Different sentences of ordinary lengths."""
    lines = [line.strip() for line in re.split(r"(?<=[.!?])\s+", WORDS.read_text(encoding="utf-8")) if line.strip()]
    generator = np.random.default_rng(1)
    return [f"{lines[generator.integers(len(lines))]} {number}" for number in range(count)]


def requests_of(port: int, model: str, texts: list[str]) -> list[bytes]:
    """A request for the vector of each text, as bytes."""
    head = f"POST /embed HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    bodies = [json.dumps({"model": model, "inputs": text}).encode() for text in texts]
    return [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]


def generate(pipe: Connection, port: int, model: str, texts: list[str]) -> None:
    """The process of the clients: for each (clients, seconds) that arrives, a load."""
    requests, number = requests_of(port, model, texts), 0
    while True:
        clients, seconds = pipe.recv()
        if not clients:
            return
        load, poll, open_clients = Load(), select.epoll(), dict[int, Client]()
        for _ in range(clients):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            open_clients[connection.fileno()] = Client(connection)
            poll.register(connection, select.EPOLLIN)
        begin, cpu = time.perf_counter(), time.process_time()
        for client in open_clients.values():
            client.ask(requests[number % len(requests)])
            number += 1
        busy = clients
        while busy:
            for place, _ in poll.poll(60):
                client = open_clients[place]
                if not client.is_answered():
                    continue
                now = time.perf_counter()
                load.times.append(now - client.start)
                if not client.received.startswith(b"HTTP/1.1 200"):
                    load.errors.append(bytes(client.received[:300]).decode("latin-1"))
                if now - begin < seconds:
                    client.ask(requests[number % len(requests)])
                    number += 1
                else:
                    busy -= 1
        load.seconds, load.cpu = time.perf_counter() - begin, time.process_time() - cpu
        for client in open_clients.values():
            client.connection.close()
        pipe.send(load)


def cpu_seconds(process: int) -> float:
    """The CPU time of a process, of all its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory(process: int) -> int:
    """The resident memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) // 1024 if found else 0


def batches(address: str, model: str) -> tuple[float, float]:
    """The number of batches of a model since the server started, and of their requests."""
    page = build_opener(ProxyHandler({})).open(f"{address}/metrics").read().decode()
    counts = [
        re.search(rf'^firth_batch_requests_{part}{{model="{model}"}} (\S+)', page, re.M) for part in ("count", "sum")
    ]
    first, second = (float(count[1]) if count else 0.0 for count in counts)
    return first, second


def measure(address: str, process: int, pipe: Connection, model: str, clients: int, seconds: float) -> dict[str, float]:
    """A load, with what the server used."""
    cpu, before, memories = cpu_seconds(process), batches(address, model), [memory(process)]
    pipe.send((clients, seconds))
    while not pipe.poll(seconds / MOMENTS):
        memories.append(memory(process))
    load: Load = pipe.recv()
    used, after, count = cpu_seconds(process) - cpu, batches(address, model), len(load.times)
    p50, p95, p99 = (round(1000 * float(np.quantile(load.times, share)), 1) for share in (0.5, 0.95, 0.99))
    result = {
        "clients": clients,
        "requests": count,
        "errors": len(load.errors),
        "requests_per_second": round(count / load.seconds, 1),
        "requests_per_cpu_second": round(count / used, 1),
        "p50_ms": p50,
        "p95_ms": p95,
        "p99_ms": p99,
        "requests_per_batch": round((after[1] - before[1]) / max(1.0, after[0] - before[0]), 1),
        "server_cores": round(used / load.seconds, 2),
        "client_cpu_ms_per_request": round(1000 * load.cpu / count, 3),
    }
    print(json.dumps({"model": model, **result, "memory_mb": memories, "first_errors": load.errors[:3]}), flush=True)
    return result


def compare(address: str, process: int, model: str, options: argparse.Namespace) -> None:
    """Alternating rounds of one client and of many, and the ratios of their medians."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    port = int(address.rpartition(":")[2])
    clients = multiprocessing.get_context("spawn").Process(
        target=generate, args=(theirs, port, model, sentences(2_000))
    )
    clients.start()
    rounds: list[tuple[dict[str, float], dict[str, float]]] = []
    measure(address, process, ours, model, options.clients, options.warm)  # every sentence was seen; does not count
    for _ in range(options.rounds):
        alone = measure(address, process, ours, model, 1, options.alone)
        rounds.append((alone, measure(address, process, ours, model, options.clients, options.seconds)))
    ours.send((0, 0))
    clients.join()
    for name in ("requests_per_second", "requests_per_cpu_second"):
        alone_median, many_median = (np.median([one[side][name] for one in rounds]) for side in (0, 1))
        ratios = ", ".join(f"{many[name] / alone[name]:.2f}" for alone, many in rounds)
        print(f"{model}: {name}: {many_median:.1f} / {alone_median:.1f} = {many_median / alone_median:.2f} ({ratios})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--alone", type=float, default=15, help="seconds of one request at a time")
    parser.add_argument("--warm", type=float, default=20, help="seconds of many clients before the first round")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", nargs="*", default=["elmo-en", "word2vec-en"])
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    command = [sys.executable, "-m", "firth", "serve", *options.models, "--port", str(options.port), "--json"]
    process = subprocess.Popen([*command, "--no-log"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        text += process.stdout.readline()
    address = json.loads(text)["address"]
    try:
        for model in options.models:
            compare(address, process.pid, model, options)
    finally:
        process.terminate()
        process.wait(70)


if __name__ == "__main__":
    main()
