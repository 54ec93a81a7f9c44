"""The settings of the tasks."""

import pytest

pytest.importorskip("torch")
from firth.studies.tasks.runs import TaskRun
from firth.studies.tasks.settings import SETTINGS, locate


def test_every_setting_names_files_that_are_there_and_makes_options_that_fit(data):
    from firth.tasks.registry import find_task

    for name, setting in SETTINGS.items():
        for part in (*setting.train, *setting.dev, *setting.test):
            assert locate(part.file).startswith(str(data)), name
        find_task(setting.task)(**setting.network)
        find_task(setting.task)(**(dict(setting.network) | dict(setting.quick)))
        assert TaskRun(name).training().seed == 1
        assert TaskRun(name, elmo="elmo-en").embedding().elmo == "elmo-en"


def test_the_parts_of_a_setting_do_not_overlap():
    for name, setting in SETTINGS.items():
        taken = [part for which in (setting.train, setting.dev, setting.test) for part in which]
        for place, one in enumerate(taken):
            for other in taken[place + 1 :]:
                apart = one.file != other.file or one.end <= other.begin or other.end <= one.begin
                assert apart, (name, one, other)
