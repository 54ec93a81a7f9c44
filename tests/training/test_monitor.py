"""Logs without lines of lost steps, clocks over several runs, and a Ctrl-C that waits for the end of a step."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.training import monitor as monitor_module
from firth.training.monitor import Clock, Log, Monitor, defer_interrupt


def read_steps(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def test_a_resumed_log_loses_the_lines_after_its_checkpoint_and_half_lines(tmp_path: Path):
    path = tmp_path / "new" / "log.jsonl"
    log = Log(path, 0)
    for step in (1, 2, 3):
        log.write({"step": step})
    with open(path, "a") as file:
        file.write('{"step": 4')  # killed while it was written
    Log(path, 2).write({"step": 3})
    assert read_steps(path) == [1, 2, 3]
    Log(path, 0)
    assert path.read_text() == ""


def test_the_first_control_c_is_deferred_and_the_second_is_not():
    before = signal.getsignal(signal.SIGINT)
    with defer_interrupt(enabled=True) as is_interrupted:
        assert not is_interrupted()
        os.kill(os.getpid(), signal.SIGINT)
        assert is_interrupted()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_without_checkpoints_control_c_is_not_deferred():
    with Monitor.open({}) as monitor:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler or not monitor.is_interrupted()
        assert monitor.checkpoints is None
        assert str(monitor.interruption()) == ""


def test_a_checkpoint_folder_has_the_log_unless_another_one_is_named(tmp_path: Path):
    with Monitor.open({}, checkpoint=tmp_path / "state") as monitor:
        assert monitor.log == tmp_path / "state" / "log.jsonl"
        assert monitor.checkpoints is not None
        monitor.checkpoints.save({}, {"step": 0})
        assert "run the same command again" in str(monitor.interruption())
    with Monitor.open({}, checkpoint=tmp_path / "state", log=tmp_path / "log") as monitor:
        assert monitor.log == tmp_path / "log"


def test_a_clock_goes_on_from_earlier_runs_and_leaves_evaluations_out_of_the_speed(monkeypatch: pytest.MonkeyPatch):
    now = 100.0
    monkeypatch.setattr(monitor_module.time, "monotonic", lambda: now)
    clock = Clock(seconds=50.0, tokens=1000)
    now = 110.0
    assert (clock.seconds, clock.speed(1500)) == (60.0, 50.0)
    now = 170.0
    clock.skip(1500)
    now = 171.0
    assert clock.speed(1600) == 100.0


def test_two_trainings_cannot_use_one_checkpoint_folder(tmp_path: Path):
    with Monitor.open({}, checkpoint=tmp_path / "state"):
        with (
            pytest.raises(OptionError, match=r"another run .*is writing there"),
            Monitor.open({}, checkpoint=tmp_path / "state"),
        ):
            pass
        with Monitor.open({}, checkpoint=tmp_path / "state", is_main=False):  # another rank of the same training
            pass
    with Monitor.open({}, checkpoint=tmp_path / "state"):
        pass


@pytest.mark.parametrize("line", ['{"step": 1}}', '{"step": "one"}', "[1, {}", b"{\xff}", "{" * 3000 + "}"], ids=repr)
def test_a_damaged_line_of_a_log_is_an_error_with_its_place(tmp_path: Path, line: str | bytes):
    path = tmp_path / "log.jsonl"
    text = line if isinstance(line, bytes) else line.encode()
    path.write_bytes(b'{"step": 1}\n' + text + b"\n")
    with pytest.raises(FormatError, match=r"log\.jsonl:2: "):
        Log(path, 2)
