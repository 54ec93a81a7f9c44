"""All tasks together: what they must have in common."""

from __future__ import annotations

import dataclasses

import pytest

from firth.tasks.inputs import Embedding
from firth.tasks.registry import TASKS, find_task
from firth.tasks.training import Training

EMBEDDING, TRAINING = ({field.name for field in dataclasses.fields(one)} for one in (Embedding, Training))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_called_what_the_table_calls_it(name: str) -> None:
    task = find_task(name)
    assert task.name == name
    assert task() == task.from_dict(task().as_dict())


@pytest.mark.parametrize("name", TASKS)
def test_what_a_task_is_used_to_are_options_that_exist(name: str) -> None:
    usual = find_task(name).usual
    assert set(usual) <= EMBEDDING | TRAINING
    Embedding(**{key: value for key, value in usual.items() if key in EMBEDDING})
    Training(**{key: value for key, value in usual.items() if key in TRAINING})


@pytest.mark.parametrize("name", TASKS)
def test_no_flag_means_two_things(name: str) -> None:
    assert not {field.name for field in dataclasses.fields(find_task(name))} & TRAINING
