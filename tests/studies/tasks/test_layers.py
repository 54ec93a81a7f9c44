"""Which layers, and where."""

import pytest

pytest.importorskip("torch")
from firth.studies.tasks.layers import Layers
from firth.studies.tasks.table1 import Table1


def test_which_layers_and_where_share_the_runs_of_table_1():
    study = Layers(tasks=("srl",), seeds=1)
    shared = set(study.runs()) & set(Table1(tasks=("srl",), seeds=1).runs())
    assert len(shared) == 2
    assert len(set(study.runs())) == 6  # baseline; top, λ=1, λ=0.001 at the input; both, output


def test_the_columns_of_the_layers_follow_their_names(tmp_path, finish):
    places = {None: 0.6, "both": 0.7, "output": 0.8}
    study = Layers(tasks=("srl",), seeds=1, start=False)
    which, where = finish(study, tmp_path, lambda run: places[run.at] if run.elmo else 0.5).tables
    assert which.rows[0] == ("srl", "50.0", "60.0", "60.0", "60.0")
    assert where.rows == (("srl", "60.0", "70.0", "80.0"), ("srl, in the paper", "84.7", "84.3", "80.9"))
