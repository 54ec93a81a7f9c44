"""Sample efficiency."""

import pytest

pytest.importorskip("torch")
from firth.studies.tasks.samples import Samples


def test_shares_of_the_data_and_the_epoch_at_which_elmo_overtakes(tmp_path, finish):
    study = Samples(tasks=("srl",), seeds=1, shares=(0.01, 1.0), start=False)
    found = finish(study, tmp_path, lambda run: (0.5 if run.elmo else 0.4) * (1 if run.share == 1 else 0.5))
    shares, epochs = found.tables
    assert shares.rows == (("srl", "baseline", "20.0", "40.0"), ("srl", "with ELMo", "25.0", "50.0"))
    assert epochs.rows == (("srl", 41.0, 2, 1),)
    assert found.charts["srl-shares"].series["baseline"] == [(1.0, 20.0, 0.0), (100.0, 40.0, 0.0)]
