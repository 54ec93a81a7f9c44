"""What the probing studies share: stored results, and errors about missing data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from firth.errors import OptionError
from firth.formats.registry import save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.probes.sense_files import SEMCOR
from firth.studies.findings import Findings
from firth.studies.probing.senses import Senses
from firth.studies.study import Study


def test_a_study_that_was_stopped_goes_on_behind_what_it_has(
    folder: Path, run_study: Callable[[Study], Findings]
) -> None:
    study = Senses(elmo=str(folder / "tiny"), static="none")
    first = run_study(study)
    [file] = (folder / "work").glob("*.json")
    held = json.loads(file.read_bytes())
    held["result"]["seconds"] = 1234.0
    file.write_text(json.dumps(held))
    assert run_study(study).values["seconds"] == {"tiny": 1234.0}
    save(BiLM(Architecture.named("tiny"), seed=9), folder / "tiny")  # another model of the same name
    again = run_study(study)
    assert again.values["seconds"] != {"tiny": 1234.0}
    assert list(again.values["scores"]) == list(first.values["scores"])


def test_missing_data_is_named(folder: Path, run_study: Callable[[Study], Findings]) -> None:
    (folder / "shared" / SEMCOR).unlink()
    with pytest.raises(OptionError, match=r"semcor: the data folder .* has no .*semcor3\.0\.tsv\.xz\. Install it"):
        run_study(Senses(elmo="none"))
