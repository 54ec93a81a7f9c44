"""The studies of tasks sum up results that are worked out by hand here, and run in small."""

import json
import math

import pytest

pytest.importorskip("torch")

from firth.errors import OptionError
from firth.runtime import Runtime
from firth.studies.tasks.layers import Layers
from firth.studies.tasks.runs import write_result
from firth.studies.tasks.samples import Samples
from firth.studies.tasks.table1 import Table1
from firth.studies.tasks.weights import LayerWeights

SCORES = {False: (0.50, 0.54), True: (0.60, 0.66)}


def result(run, score):
    line = {"epoch": 1, "dev": {"f1": score}}
    return {
        "run": run.as_dict(),
        "test": {"f1": score},
        "dev": {"f1": score},
        "epochs": [line, line | {"epoch": 2, "dev": {"f1": score + 0.01}}],
        "layer_shares": {"input": [0.2, 0.5, 0.3]} if run.elmo else {},
        "words_per_second": 1000.0,
        "bilm_share": 0.25,
        "seconds": 36.0,
        "parameters": 10,
        "device": "cpu",
    }


def finished(study, work, score_of):
    (work / "runs").mkdir(exist_ok=True)
    for run in study.runs():
        write_result(run, result(run, score_of(run)), work / "runs")
    return study.run(work, Runtime(1))


def by_elmo(run):
    return SCORES[bool(run.elmo)][run.seed - 1]


def test_table_1_has_means_deviations_and_the_errors_that_are_gone(tmp_path):
    study = Table1(tasks=("srl",), seeds=2, start=False)
    row = finished(study, tmp_path, by_elmo).tables[0].rows[0]
    # means 52 and 63, deviations 4/√2 and 6/√2; of 48 points of error 11 are gone; the paper has 81.4 and 84.6
    assert row == ("srl", "f1", 2, "52.0 ± 2.8", "63.0 ± 4.2", 11.0, round(100 * 11 / 48, 1), 3.2, 17.2)
    assert math.isclose(4 / math.sqrt(2), 2.83, abs_tol=0.01)


def test_table_1_tells_how_quick_the_training_was(tmp_path):
    rows = finished(Table1(tasks=("srl",), seeds=2, start=False), tmp_path, by_elmo).tables[1].rows
    assert rows == (("srl", 10, 1000, None, 2, 36.0), ("srl, with ELMo", 10, 1000, 25.0, 2, 36.0))


def test_what_is_not_finished_is_a_gap_and_nothing_at_all_is_an_error(tmp_path):
    study = Table1(tasks=("srl", "ner"), seeds=1, start=False)
    with pytest.raises(OptionError, match="no run of the study table1 is finished"):
        study.run(tmp_path, Runtime(1))
    write_result(study.runs()[0], result(study.runs()[0], 0.5), tmp_path / "runs")
    first, second = study.run(tmp_path, Runtime(1)).tables[0].rows
    assert first[2:6] == (0, "50.0", None, None)
    assert second[1:6] == (None, 0, None, None, None)


def test_one_seed_of_several_has_no_deviation_yet(tmp_path):
    study = Table1(tasks=("srl",), seeds=3, start=False)
    (tmp_path / "runs").mkdir()
    write_result(study.runs()[0], result(study.runs()[0], 0.5), tmp_path / "runs")
    assert study.run(tmp_path, Runtime(1)).tables[0].rows[0][3] == "50.0"


def test_values_name_models_and_not_the_folders_they_lie_in(tmp_path):
    study = Table1(tasks=("srl",), seeds=1, static="/some/where/glove", elmo="/some/where/elmo", start=False)
    values = finished(study, tmp_path, lambda run: 0.5).values
    assert values["runs"][1]["run"]["elmo"] == values["options"]["elmo"] == "elmo"
    assert "/some" not in json.dumps(values)


def test_which_layers_and_where_share_the_runs_of_table_1():
    study = Layers(tasks=("srl",), seeds=1)
    shared = set(study.runs()) & set(Table1(tasks=("srl",), seeds=1).runs())
    assert len(shared) == 2
    assert len(set(study.runs())) == 6  # baseline; top, λ=1, λ=0.001 at the input; both, output


def test_the_columns_of_the_layers_follow_their_names(tmp_path):
    places = {None: 0.6, "both": 0.7, "output": 0.8}
    study = Layers(tasks=("srl",), seeds=1, start=False)
    which, where = finished(study, tmp_path, lambda run: places[run.at] if run.elmo else 0.5).tables
    assert which.rows[0] == ("srl", "50.0", "60.0", "60.0", "60.0")
    assert where.rows == (("srl", "60.0", "70.0", "80.0"), ("srl, in the paper", "84.7", "84.3", "80.9"))


def test_the_shares_of_layers_are_means_over_seeds(tmp_path):
    found = finished(LayerWeights(tasks=("srl",), seeds=2, start=False), tmp_path, by_elmo)
    assert found.tables[0].rows == (("srl, input", 0.2, 0.5, 0.3),)
    assert found.charts["shares"].series == {"layer 0": [0.2], "layer 1": [0.5], "layer 2": [0.3]}


def test_shares_of_the_data_and_the_epoch_at_which_elmo_overtakes(tmp_path):
    study = Samples(tasks=("srl",), seeds=1, shares=(0.01, 1.0), start=False)
    found = finished(study, tmp_path, lambda run: (0.5 if run.elmo else 0.4) * (1 if run.share == 1 else 0.5))
    shares, epochs = found.tables
    assert shares.rows == (("srl", "baseline", "20.0", "40.0"), ("srl", "with ELMo", "25.0", "50.0"))
    assert epochs.rows == (("srl", 41.0, 2, 1),)
    assert found.charts["srl-shares"].series["baseline"] == [(1.0, 20.0, 0.0), (100.0, 40.0, 0.0)]


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
