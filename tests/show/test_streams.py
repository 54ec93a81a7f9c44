"""Standard streams that nobody reads, or that are full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
ENVIRONMENT["PYTHONPATH"] = str(ROOT / "src")


def run(command: list[str], *, nobody_reads: str = "stdout") -> subprocess.CompletedProcess[bytes]:
    """Runs Python with a pipe that has no reader, from the start, in place of a stream."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {nobody_reads: writer}
    try:
        return subprocess.run([sys.executable, *command], env=ENVIRONMENT, stdin=subprocess.DEVNULL, **streams)
    finally:
        os.close(writer)


@pytest.mark.parametrize("arguments", [["models"], ["card", "svd-en"], ["--help"], ["--version"], ["info", "svd-en"]])
@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_short_output_that_nobody_reads_ends_the_command_without_a_word(
    arguments: list[str], unbuffered: bool
) -> None:
    ended = run([*["-u"] * unbuffered, "-m", "firth", *arguments])
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["models"], ["--version"]])
def test_an_output_that_is_full_is_told_in_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "firth", *arguments], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE
        )
    assert (ended.returncode, ended.stderr) == (2, b"firth: No space left on device\n")


def test_work_goes_on_when_nobody_reads_its_progress_and_its_warnings() -> None:
    code = (
        "import warnings\n"
        "from firth.cli import main as command\n"
        "from firth.progress import Progress\n"
        "from firth.show import terminal\n"
        "from firth.show.streams import end\n"
        "terminal.LOG_SECONDS = 0\n"
        "with terminal.progress() as report:\n"
        "    for step in range(3): report(Progress('reading', step, 3, 'words'))\n"
        "command.show_warning('tea')\n"
        "print('done')\n"
        "end(0)"
    )
    ended = run(["-c", code], nobody_reads="stderr")
    assert (ended.returncode, ended.stdout) == (0, b"done\n")


def test_a_mistake_that_nobody_reads_keeps_its_exit_code() -> None:
    assert run(["-m", "firth", "no-such-command"], nobody_reads="stderr").returncode == 2
