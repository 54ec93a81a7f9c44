"""The explorer: bytes and seconds of a first visit, and the server's memory over many visits.

    python benchmarks/explorer.py [--visits 200]

Needs a Chromium on PATH and playwright. Memory is the resident set of the server (Linux only).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

READY = "document.querySelector('.content > *') && !document.querySelector('.working, .busy')"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
PAGES = ("/neighbors?word=tea", "/odd", "/counts", "/subwords", "/training", "/ratio", "/")


def resident(pid: int) -> float:
    """The resident set of a process in megabytes."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def processor_seconds(pid: int) -> float:
    """The CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def measure_first_visit(browser: Any, address: str, path: str) -> tuple[float, float, float]:
    """Kilobytes received, seconds to the first paint, and seconds to the finished page, with an empty cache."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.request.get(address)
    page = context.new_page()
    session, received = context.new_cdp_session(page), [0]
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    start = time.perf_counter()
    page.goto(address.partition("/?")[0] + path)
    page.wait_for_function(READY, timeout=120_000)
    seconds = time.perf_counter() - start
    paint = page.evaluate(PAINT) or float("nan")
    context.close()
    return sum(received) / 1000, paint / 1000, seconds


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=200)
    visits = parser.parse_args().visits
    command = [sys.executable, "-m", "firth", "explore", "--no-browser", "--no-warm-up", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = re.search(r"http://\S+", server.stdout.readline())
    assert address is not None
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            print(f"memory at the start: {resident(server.pid):.0f} MB")
            for path in PAGES:  # opens models and compiles kernels
                measure_first_visit(browser, address[0], path)
            for path in ("/", "/neighbors?word=tea", "/training"):
                runs = [measure_first_visit(browser, address[0], path) for _ in range(3)]
                size, paint, seconds = (median(values) for values in zip(*runs))
                print(f"{path}: {size:.0f} kB, first paint {paint:.2f} s, finished {seconds:.2f} s")
            context = browser.new_context()
            context.request.get(address[0])
            page = context.new_page()
            before, curve = processor_seconds(server.pid), []
            for visit in range(visits):
                page.goto(address[0].partition("/?")[0] + PAGES[visit % len(PAGES)])
                page.wait_for_function(READY, timeout=120_000)
                if (visit + 1) % max(1, visits // 8) == 0:
                    curve.append(f"{visit + 1}: {resident(server.pid):.0f}")
            spent = (processor_seconds(server.pid) - before) / visits
            print(f"memory in MB after visits {', '.join(curve)}; {1000 * spent:.0f} CPU-ms of the server a visit")
            page.goto("about:blank")
            time.sleep(12)
            print(f"memory when all pages are closed: {resident(server.pid):.0f} MB")
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
