"""Files that are broken, or made to break a reader: each is read, or refused by an error of ours. Nothing else happens.

The readers run in child processes with limits of time and memory (`benchmarks/untrusted.py`, `benchmarks/fuzz.py`).
`FIRTH_FUZZ` is the number of mutated inputs of all readers together.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FIRTH_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)


needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="the limits need fork and /proc")


@needs_fork
def test_every_collected_file_that_once_broke_a_reader_is_read_or_refused(data: Path) -> None:
    folder = data / "fixtures" / "hostile"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing")
    result = run("untrusted.py", str(folder))
    assert result.returncode == 0, result.stdout + result.stderr
    assert '"refused"' in result.stdout


@needs_fork
def test_mutated_files_of_every_reader_are_read_or_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch", minversion="2.6", reason="files of ELMoForManyLangs need torch 2.6")
    total = os.environ.get("FIRTH_FUZZ", "20000")
    result = run("fuzz.py", "--state", str(tmp_path / "state"), "--total", total)
    assert result.returncode == 0, result.stdout + result.stderr
    counts = [line.split(" | ")[1] for line in result.stdout.splitlines() if line.startswith("| ")][1:]
    assert sum(int(count.replace(",", "")) for count in counts) == int(total)


@needs_fork
def test_mutated_requests_are_answered_or_refused() -> None:
    for module in ("torch", "fastapi", "uvicorn", "prometheus_client"):
        pytest.importorskip(module)
    result = run("fuzz_requests.py", "serve", "--count", "200", "--clients", "16")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "| serve | 200 |" in result.stdout


@needs_fork
def test_the_harness_sees_exceptions_crashes_hangs_and_memory(tmp_path: Path) -> None:
    script = f"""
import os, sys, time
from pathlib import Path
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
import numpy as np
from firth.errors import FirthError
from watchdog import watch
def use(path, turn):
    what = path.read_text()
    if what == "refused": raise FirthError("no")
    if what == "other": raise ZeroDivisionError
    if what == "crash": os.abort()
    while what == "hang": pass
    if what == "memory": np.ones(200 << 20, np.uint8)
    if what == "limit": np.ones(4 << 30, np.uint8)
kinds = ["accepted", "refused", "other", "crash", "hang", "memory", "limit", "accepted"]
samples = [Path(sys.argv[1], f"{{place}}-{{kind}}") for place, kind in enumerate(kinds)]
for path, kind in zip(samples, kinds):
    path.write_text(kind)
work = Path(sys.argv[1], "work")
work.mkdir()
print([outcome.kind for outcome in watch(use, samples, work, seconds=1)])
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    kinds = ["accepted", "refused", "other", "crash", "hang", "memory", "memory", "accepted"]
    assert result.stdout.strip() == str(kinds)
