"""The record of a training: means, the best evaluation, patience, curves of bounded length."""

from __future__ import annotations

import json

import pytest

from firth.errors import OptionError
from firth.training.record import CURVE_POINTS, CurveRecord, EpochRecord, Record


def test_lower_or_higher_values_are_better_as_asked():
    losses, scores = Record(), Record()
    for step, value in enumerate([2.0, 1.0, 1.0, 3.0], 1):
        losses.step = scores.step = step
        losses.update_best(value, higher_is_better=False)
        scores.update_best(value, higher_is_better=True)
    assert (losses.best_value, losses.best_step, losses.stale) == (1.0, 2, 2)
    assert (scores.best_value, scores.best_step, scores.stale) == (3.0, 4, 0)


def test_patience_ends_after_so_many_evaluations_without_improvement():
    record = Record(best_value=1.0, stale=2)
    assert not record.is_out_of_patience(None)
    assert not record.is_out_of_patience(3)
    assert record.is_out_of_patience(2)


def test_means_are_those_since_the_last_call_and_of_nothing_zero():
    record = Record(losses=[1.0, 3.0], norms=[5.0])
    assert record.take_means() == (2.0, 5.0)
    assert record.take_means() == (0.0, 0.0)


def test_a_long_curve_is_thinned_out_evenly():
    record = CurveRecord()
    for step in range(2000):
        record.add_point({"step": step})
    steps = [int(point["step"]) for point in record.curve]
    assert len(steps) <= CURVE_POINTS
    assert steps == list(range(0, 2000, record.stride))


def test_a_record_survives_json():
    record = EpochRecord(step=3, tokens=40, losses=[1.5], counts=[3], held_out=[0.25], best_value=0.1)
    assert EpochRecord(**json.loads(json.dumps(record.as_dict()))) == record


@pytest.mark.parametrize(
    "state",
    [{"step": -1}, {"step": 2.0}, {"step": True}, {"losses": 5}, {"losses": ["x"]}, {"other": 1}, {"seconds": 1e400}],
)
def test_a_state_that_no_training_wrote_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="the checkpoint does not fit"):
        EpochRecord.restore(state)


def test_a_record_comes_back_from_its_state() -> None:
    record = CurveRecord(step=3, losses=[1.0], held_out=[{"perplexity": 2.0}], best_value=None)
    assert CurveRecord.restore(record.as_dict()) == record
