"""Table 1: means, standard deviations and error reductions, worked out by hand."""

import math

import pytest

pytest.importorskip("torch")
from firth.runtime import Runtime
from firth.studies.tasks.runs import write_result
from firth.studies.tasks.table1 import Table1


def test_table_1_has_means_deviations_and_the_errors_that_are_gone(tmp_path, finish, by_elmo):
    study = Table1(tasks=("srl",), seeds=2, start=False)
    row = finish(study, tmp_path, by_elmo).tables[0].rows[0]
    # means 52 and 63, deviations 4/√2 and 6/√2; of 48 points of error 11 are gone; the paper has 81.4 and 84.6
    assert row == ("srl", "f1", 2, "52.0 ± 2.8", "63.0 ± 4.2", 11.0, round(100 * 11 / 48, 1), 3.2, 17.2)
    assert math.isclose(4 / math.sqrt(2), 2.83, abs_tol=0.01)


def test_table_1_tells_how_quick_the_training_was(tmp_path, finish, by_elmo):
    rows = finish(Table1(tasks=("srl",), seeds=2, start=False), tmp_path, by_elmo).tables[1].rows
    assert rows == (("srl", 10, 1000, None, 2, 36.0), ("srl, with ELMo", 10, 1000, 25.0, 2, 36.0))


def test_one_seed_of_several_has_no_deviation_yet(tmp_path, make_result):
    study = Table1(tasks=("srl",), seeds=3, start=False)
    (tmp_path / "runs").mkdir()
    write_result(study.runs()[0], make_result(study.runs()[0], 0.5), tmp_path / "runs")
    assert study.run(tmp_path, Runtime(1)).tables[0].rows[0][3] == "50.0"
