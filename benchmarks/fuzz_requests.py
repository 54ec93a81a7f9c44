"""How do the server and the explorer take requests that are broken or made to break them?

    python benchmarks/fuzz_requests.py serve --count 20000       # mutated requests to `firth serve`
    python benchmarks/fuzz_requests.py explore --count 2000      # and to `firth explore`

The command runs in a process of its own, with small models. Valid requests are changed with knowledge of their parts:
the values of a JSON body, the address, the lines of the head, the length that the head states, chunks, single bytes.
Each goes over a connection of its own on loopback. An answer is a status below 500, or 503 and 504, which say that the
server is busy; or a closed connection. A finding is another status, an answer that is no HTTP, a NaN in JSON, words of
a traceback, no end within the time, a command that has died or whose memory has grown. Request number n of a seed is
always the same.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import firth
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from mutations import LONG_WORDS, WORDS, change_bytes, change_json, change_lines

SECONDS = 3  # that the server gives a request
PATIENCE = 60.0  # seconds until a connection without an end is a finding
GROWTH = 256  # MiB
BUSY = (503, 504)
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
TRACES = (b"Traceback", b"site-packages", b'File "')
SECRET = "token-of-the-test"
LENGTHS = (b"0", b"-1", b"1", b"9" * 20, b"4194305", b"nan", b"", b"0x10", b"5, 6")
LINES = (
    *(
        b"Content-Encoding: gzip",
        b"Expect: 100-continue",
        b"Upgrade: websocket",
        b"Upgrade: h2c",
        b"Host: evil.example",
    ),
    *(b"Host:", b"Origin: null", b"Authorization: Bearer x", b"Authorization:", b"Cookie: a=\xff; =", b": no name"),
    *(
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: x, chunked",
        b"Range: bytes=0-",
        b" folded: line",
        b"x" * 70_000,
    ),
    *(
        b"Content-Type: application/x-www-form-urlencoded",
        b"Content-Type: multipart/form-data; boundary=x",
        b"TE: trailers",
    ),
)
TARGETS = (
    *("/..%2f..%2fetc/passwd", "//evil.example/", "/%00", "/%ff%fe", "/%0d%0aX-New:%201", "/" + "a/" * 3000, "*", "?"),
    *(
        "http://evil.example/",
        "/health?" + "a=1&" * 3000,
        "/v1/models/%2e%2e%2f",
        "/predict/" + "x" * 3000,
        "/é",
        "/\udcff",
    ),
)


class Request(NamedTuple):
    """A request in parts."""

    method: str
    target: str
    body: bytes = b""


def list_server_requests() -> list[Request]:
    """Valid requests to the server, one or more for every address."""
    texts = ["hot tea", "the rain in the garden", "چای گرم"]
    bodies: list[tuple[str, object]] = [
        ("/v1/embeddings", {"input": texts, "model": "vectors", "encoding_format": "base64"}),
        ("/v1/embeddings", {"input": "tea", "model": "bilm", "dimensions": 2}),
        ("/embed", {"inputs": texts, "model": "bilm", "layers": "average", "normalize": True}),
        ("/", {"inputs": "hot tea"}),
        ("/embed_all", {"inputs": texts, "model": "vectors"}),
        ("/similarity", {"inputs": {"source_sentence": "tea", "sentences": ["rain", "hot tea"]}, "model": "vectors"}),
        ("/neighbors", {"words": ["tea"], "model": "vectors", "top": 2}),
        ("/neighbors", {"word": "tea", "model": "vectors", "top": 2}),
        ("/analogy", {"a": "tea", "b": "hot", "c": "rain", "model": "vectors", "top": 2}),
        ("/score", {"inputs": texts, "model": "ngrams"}),
        ("/score", {"sentences": texts, "model": "bilm"}),
        ("/predict", {"inputs": texts, "model": "classifier", "top": 2}),
        ("/predict/classifier", {"inputs": texts}),
    ]
    posts = [Request("POST", path, json.dumps(body).encode()) for path, body in bodies]
    return posts + [Request("GET", path) for path in ("/health", "/ready", "/metrics", "/info", "/v1/models", "/docs")]


def list_explorer_requests() -> list[Request]:
    """Valid requests to the explorer: every page with the arguments of its address, and routes below the pages."""
    from firth.explorer.registry import PAGES

    arguments = (
        "model=vectors&word=tea&a=tea&b=hot&c=rain&words=tea+hot+rain&color=group&text=hot+tea&top=5&language=fa"
    )
    pages = [Request("GET", f"{page.address}?{arguments}") for page in PAGES]
    others = ("/static/", "/data/map", "/_nicegui/auto/static/x.js", "/_nicegui_ws/socket.io/?EIO=4&transport=polling")
    return pages + [Request("GET", path) for path in others]


def change_target(rng: Random, target: str) -> str:
    """Another address: arguments with unusual values, removed or repeated, or a path that leads elsewhere."""
    if rng.random() < 0.15:
        return rng.choice(TARGETS)
    path, _, query = target.partition("?")
    pairs = query.split("&") if query else ["x=1"]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(pairs))
        name = pairs[at].partition("=")[0]
        word = rng.choice(LONG_WORDS)[:5000] if rng.random() < 0.02 else rng.choice(WORDS)
        value = quote(word) if rng.random() < 0.9 else word.decode("latin-1").translate({10: None, 13: None, 32: None})
        pairs[at] = rng.choice((f"{name}={value}", f"{value}={value}", name, f"{pairs[at]}&{name}={value}", ""))
    return path + "?" + "&".join(pairs)


def write_request(rng: Random, seed: Request, host: str, cookie: str, *, is_whole: bool) -> bytes:
    """A changed request as bytes. A whole one says how long it is, so that it must be answered."""
    method, target, body = seed
    action = rng.random()
    if body and action < 0.6:
        body = change_json(rng, body) if rng.random() < 0.85 else change_bytes(rng, body)
    elif action < (0.7 if body else 0.6):
        target = change_target(rng, target)
    if rng.random() < 0.05:
        method = rng.choice(("GET", "POST", "HEAD", "OPTIONS", "DELETE", "TRACE", "CONNECT", "PRI", "X" * 300, "get"))
    lines = [f"{method} {target} HTTP/1.1".encode("utf-8", "surrogateescape"), b"Host: " + host.encode()]
    lines += [b"Connection: close", b"Content-Type: application/json"]
    lines += [f"Authorization: Bearer {SECRET}".encode()] * (rng.random() < 0.97)
    lines += [f"Cookie: {cookie}".encode()] * (bool(cookie) and rng.random() < 0.95)
    framing = [b"Content-Length: %d" % len(body)] if body or method == "POST" else []
    if rng.random() < 0.1:
        lines.insert(rng.randrange(1, len(lines) + 1), rng.choice(LINES[:8] if is_whole else LINES))
    if not is_whole and rng.random() < 0.1:
        framing = [b"Content-Length: " + rng.choice(LENGTHS)]
    if not is_whole and body and rng.random() < 0.1:
        framing = [b"Transfer-Encoding: chunked"]
        cut = rng.randrange(len(body) + 1)
        parts = [part for part in (body[:cut], body[cut:]) if part]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        body = change_lines(rng, body) if rng.random() < 0.5 else body
    head = b"\r\n".join([*lines, *framing]) + b"\r\n\r\n"
    if not is_whole and rng.random() < 0.15:
        head = change_lines(rng, head) if rng.random() < 0.5 else change_bytes(rng, head)
    return head + body


def judge(answer: bytes) -> tuple[str, str]:
    """What an answer is: its class of status, "closed" without one, or "finding" with what is wrong."""
    if not answer:
        return "closed", ""
    while answer.startswith(b"HTTP/1.1 100 "):  # only says that the body may come
        answer = answer.partition(b"\r\n\r\n")[2]
    match = STATUS.match(answer)
    if match is None:
        return "finding", f"no HTTP: {answer[:80]!r}"
    status, (head, _, body) = int(match[1]), answer.partition(b"\r\n\r\n")
    if status >= 500 and status not in BUSY:
        return "finding", f"status {status}: {body[:200]!r}"
    if any(trace in answer for trace in TRACES):
        return "finding", f"words of a traceback: {body[:200]!r}"
    if b"\nX-New:" in head or b"evil.example" in head:
        return "finding", f"a line of the request in the head of the answer: {head[:300]!r}"
    if b"application/json" in head and body and b"chunked" not in head:
        try:
            json.loads(body, parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError):
            return "finding", f"no JSON, or a NaN: {body[:200]!r}"
    return f"{status // 100}xx", ""


def ask(address: tuple[str, int], request: bytes, patience: float) -> bytes | None:
    """The answer, to the end of the connection; None if it does not end in time."""
    end = time.monotonic() + patience
    answer = bytearray()
    with socket.create_connection(address, timeout=patience) as connection:
        with suppress(ConnectionError, TimeoutError):  # the rest is not wanted: an answer may be there already
            connection.sendall(request)
        while time.monotonic() < end:
            connection.settimeout(max(0.01, end - time.monotonic()))
            try:
                piece = connection.recv(1 << 16)
            except ConnectionError:
                return bytes(answer)
            except TimeoutError:
                break
            if not piece:
                return bytes(answer)
            answer += piece
    return None


def make_models(folder: Path) -> list[str]:
    """Small models of several kinds."""
    text = ["strong tea and strong coffee", "powerful computers and cold rain", "hot tea in the rain"]
    vocabulary = firth.Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain", "strong", "hot"])
    labeled = firth.Corpus.of(
        ["__label__hot tea", "__label__cold rain"] * 20, tokenizer=firth.Tokenizer(mode="whitespace")
    )
    models = {
        "vectors": firth.WordVectors(["tea", "coffee", "rain", "hot"], [[1, 0.1], [1, 0.2], [0, 1], [1, 1]]),
        "bilm": BiLM(Architecture.named("tiny"), vocabulary=vocabulary),
        "ngrams": firth.Ngram(order=2).fit(firth.Corpus.of(text)),
        "classifier": firth.FastTextClassifier(dim=4, epochs=2, buckets=10).fit(labeled),
    }
    for name, model in models.items():
        firth.save(model, folder / name)
    return [str(folder / name) for name in models]


@contextmanager
def running(command: str, models: Sequence[str], errors: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command `serve` or `explore` in a process, and its address."""
    more = ["--timeout", str(SECONDS), "--no-log"] if command == "serve" else ["--no-browser", "--no-warm-up"]
    line = [sys.executable, "-m", "firth", command, *models, "--port", "0", "--json", *more]
    environment = {**os.environ, "FIRTH_TOKEN": SECRET}
    with (
        errors.open("w") as file,
        subprocess.Popen(line, stdout=subprocess.PIPE, stderr=file, text=True, env=environment) as process,
    ):
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())["address"]
        finally:
            process.kill()


def memory_of(process: int) -> int:
    """MiB of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    match = re.search(r"VmRSS:\s+(\d+)", status)
    return int(match[1]) >> 10 if match else 0


def get_cookie(url: str) -> str:
    """The cookie that the explorer gives for the token in its address."""
    place = urlsplit(url)
    line = f"GET /?{place.query} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n\r\n"
    answer = ask((str(place.hostname), place.port or 80), line.encode(), PATIENCE) or b""
    match = re.search(rb"set-cookie: ([^;\r]+)", answer, re.IGNORECASE)
    return match[1].decode() if match else ""


def main() -> None:
    """Runs the requests; prints a row of a table and the findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("serve", "explore"))
    parser.add_argument("--count", type=int, default=1000, help="Requests.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=8, help="Requests at the same time.")
    parser.add_argument("--seconds", type=float, default=1e9, help="Stop after this time.")
    arguments = parser.parse_args()
    serves = arguments.command == "serve"
    seeds = list_server_requests() if serves else list_explorer_requests()
    until = time.monotonic() + arguments.seconds
    counts: Counter[str] = Counter()
    findings: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder, "errors")
        with running(arguments.command, make_models(Path(folder)), errors) as (process, url):
            place = urlsplit(url)
            address = str(place.hostname), place.port or 80
            cookie = "" if serves else get_cookie(url)

            def send(number: int) -> tuple[int, bytes, bytes | None] | None:
                if time.monotonic() > until or process.poll() is not None:
                    return None
                rng = Random(f"{arguments.command} {arguments.seed} {number}")
                seed = seeds[number % len(seeds)] if number < len(seeds) else rng.choice(seeds)
                request = write_request(rng, seed, place.netloc, cookie, is_whole=not serves)
                return number, request, ask(address, request, PATIENCE)

            with ThreadPoolExecutor(arguments.clients) as pool:
                memory = 0
                for done, result in enumerate(pool.map(send, range(arguments.count))):
                    if result is None:
                        break
                    number, request, answer = result
                    kind, detail = ("finding", "no end") if answer is None else judge(answer)
                    counts[kind] += 1
                    if kind == "finding":
                        findings.append(f"{number}: {detail} for {request[:300]!r}")
                    if done == min(500, arguments.count // 2):
                        memory = memory_of(process.pid)
            if process.poll() is not None:
                findings.append(f"the command has ended with {process.returncode}")
            elif (growth := memory_of(process.pid) - memory) > GROWTH:
                findings.append(f"the memory has grown by {growth} MiB")
            line = f"GET /health HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
            alive = ask(address, line.encode(), PATIENCE) or b""
            if not STATUS.match(alive):
                findings.append("the command does not answer any more")
        said = errors.read_text(errors="replace")
    if "Traceback" in said:
        findings.append(f"a traceback in its log: {said[said.index('Traceback') :][:3000]}")
    kinds = ("2xx", "3xx", "4xx", "5xx", "closed", "finding")
    print("| command | requests | " + " | ".join(kinds) + " |\n" + "|---" * (len(kinds) + 2) + "|")
    print(f"| {arguments.command} | {counts.total():,} | " + " | ".join(f"{counts[kind]:,}" for kind in kinds) + " |")
    for finding in findings[:20]:
        print(finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
