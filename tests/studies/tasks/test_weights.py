"""The weights of the layers."""

import pytest

pytest.importorskip("torch")
from firth.studies.tasks.weights import LayerWeights


def test_the_shares_of_layers_are_means_over_seeds(tmp_path, finish, by_elmo):
    found = finish(LayerWeights(tasks=("srl",), seeds=2, start=False), tmp_path, by_elmo)
    assert found.tables[0].rows == (("srl, input", 0.2, 0.5, 0.3),)
    assert found.charts["shares"].series == {"layer 0": [0.2], "layer 1": [0.5], "layer 2": [0.3]}
