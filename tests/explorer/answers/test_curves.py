"""Curves of logs, checkpoints and finished models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.explorer.answers.curves import collect, flatten, lines_of, read_curves, read_lines


def test_a_log_that_is_being_written_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"step": 1, "tokens": 10, "loss": 3, "seconds": 1.5}\n{"step": 2, "tokens": 20, "loss": 2}\n{"st')
    assert len(read_lines(log)) == 2
    for name in (log, tmp_path):
        training = read_curves(str(name))
        assert training.axis == "tokens"
        assert training.curves == {"loss": ((10.0, 3.0), (20.0, 2.0))}
        assert training.seconds == 1.5


def test_a_checkpoint_of_each_kind_has_its_curves(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(
        json.dumps({"kind": "checkpoint", "state": {"losses": [6.0, 4.0], "counts": [2, 2], "held_out": [9.0]}})
    )
    assert read_curves(str(tmp_path)).curves == {"loss": ((1.0, 3.0), (2.0, 2.0)), "held-out loss": ((1.0, 9.0),)}
    bilm = {"curve": [{"tokens": 1, "loss": 2.0}], "held_out": [{"tokens": 1, "average": 8.0}]}
    assert collect(lines_of(bilm)).curves["held-out average"] == ((1.0, 8.0),)
    assert "dev f1" in read_curves("task-ner").curves


def test_flags_and_times_are_no_curves_and_a_folder_without_a_log_is_an_error(tmp_path: Path) -> None:
    assert flatten({"loss": 1, "seconds": 2, "best": True, "name": "x", "dev": {"f1": 0.5}}) == {
        "loss": 1.0,
        "dev f1": 0.5,
    }
    with pytest.raises(FormatError, match=r"log\.jsonl"):
        read_curves(str(tmp_path))
