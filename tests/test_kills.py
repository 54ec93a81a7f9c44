"""Commands that are killed at a random moment, and Ctrl-C: a short run of benchmarks/kills.py, which has them all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = ("convert over a folder", "train phrases", "train word2vec")


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
def test_killed_commands_go_on_to_the_same_bits_and_leave_nothing_behind(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    command = [sys.executable, ROOT / "benchmarks" / "kills.py", "--results", results, "--only", *COMMANDS]
    environment = {**os.environ, "FIRTH_THREADS": "1", "OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)}
    run = subprocess.run(
        [*command, "--kills", "1", "--interrupts", "1"], capture_output=True, text=True, env=environment, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr
    records = [json.loads(line) for line in results.read_text().splitlines()]
    tried = [(record["command"], record["signal"], record["signals"]) for record in records]
    assert tried == [(name, signal, 1) for name in COMMANDS for signal in ("SIGKILL", "SIGINT")]
