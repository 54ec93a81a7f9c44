"""What the studies of tasks share: unfinished runs, names of models, and quick versions."""

import json

import pytest

pytest.importorskip("torch")
from firth.errors import OptionError
from firth.runtime import Runtime
from firth.studies.tasks.layers import Layers
from firth.studies.tasks.runs import append_result
from firth.studies.tasks.samples import Samples
from firth.studies.tasks.table1 import Table1
from firth.studies.tasks.weights import LayerWeights


def test_what_is_not_finished_is_a_gap_and_nothing_at_all_is_an_error(tmp_path, make_result):
    study = Table1(tasks=("srl", "ner"), seeds=1, start=False)
    with pytest.raises(OptionError, match="no run of the study table1 is finished"):
        study.run(tmp_path, Runtime(1))
    append_result(study.runs()[0], make_result(study.runs()[0], 0.5), tmp_path)
    rows = study.run(tmp_path, Runtime(1)).tables[0].rows
    assert rows[0][3:7] == (1, "50.0", None, None)
    assert rows[1][3:7] == (0, None, None, None)


def test_values_name_models_and_not_the_folders_they_lie_in(tmp_path, finish):
    study = Table1(tasks=("srl",), seeds=1, static="/some/where/glove", elmo="/some/where/elmo", start=False)
    values = finish(study, tmp_path, lambda run: 0.5).values
    assert values["runs"][-1]["run"]["elmo"] == values["options"]["elmo"] == "elmo"
    assert "/some" not in json.dumps(values)


def test_the_quick_version_keeps_what_was_asked_for():
    assert Table1().make_quick().tasks == ("sentiment", "ner")
    assert Table1(tasks=("srl",)).make_quick().tasks == ("srl",)
    assert Table1(tasks=("srl",)).make_quick().small


@pytest.mark.parametrize("study", [Table1, Layers, LayerWeights, Samples])
def test_the_quick_version_trains_and_writes_all_its_files(data, tmp_path, study):
    pytest.importorskip("matplotlib")
    work = tmp_path / "work"
    work.mkdir()
    findings = study(tasks=("ner",)).make_quick().run(work, Runtime(1))
    written = findings.write(tmp_path / "out")
    assert {path.suffix for path in written} == {".md", ".json", ".svg", ".png"}
    assert all(path.stat().st_size for path in written)
    values = json.loads((tmp_path / "out" / f"{study.name}.json").read_text())
    assert values["options"]["small"] is True
    assert "only show that all works" in (tmp_path / "out" / f"{study.name}.md").read_text()
