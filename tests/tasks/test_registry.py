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
def test_the_defaults_of_a_task_are_options_that_exist(name: str) -> None:
    defaults = find_task(name).defaults
    assert set(defaults) <= EMBEDDING | TRAINING
    Embedding(**{key: value for key, value in defaults.items() if key in EMBEDDING})
    Training(**{key: value for key, value in defaults.items() if key in TRAINING})


@pytest.mark.parametrize("name", TASKS)
def test_no_flag_means_two_things(name: str) -> None:
    assert not {field.name for field in dataclasses.fields(find_task(name))} & TRAINING


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_a_description_a_sample_and_commands(name: str) -> None:
    task = find_task(name)
    assert (task.__doc__ or "").splitlines()[0].endswith(".")
    assert task.question.endswith("?")
    assert task().ask(*task.sample)
    assert all(command.startswith(f"firth task {name} --train ") for command in task.commands)


def test_the_names_of_tasks_do_not_import_torch() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from firth.tasks.registry import TASKS; import firth.cli.task; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
