"""The contract of a task."""

from __future__ import annotations

import pytest

from firth.errors import OptionError
from firth.tasks.ner.data import NerExample
from firth.tasks.ner.task import Ner
from firth.tasks.task import Task, require_gold


def test_empty_gold_labels_are_gold_labels() -> None:
    assert require_gold((), ["quiet"]) == ()
    with pytest.raises(OptionError, match="'quiet' has no gold labels"):
        require_gold(None, ["quiet"])


def test_an_error_quotes_only_the_beginning_of_a_long_text() -> None:
    with pytest.raises(OptionError) as error:
        require_gold(None, ["word"] * 1000)
    assert len(str(error.value)) < 200


def test_a_task_trains_on_the_examples_of_its_file() -> None:
    examples = [NerExample(("Ann",), ())]
    assert Ner().training_examples(examples) is examples


def test_a_task_without_its_methods_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Task()  # type: ignore[abstract]
