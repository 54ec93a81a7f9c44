"""Errors of the explorer: the same problem in both languages, and the models to choose from."""

from __future__ import annotations

import pytest

from firth.errors import OptionError
from firth.explorer.problems import NoModel, NoSuchModel, PageError
from firth.explorer.translations import TEXTS, translate


def test_every_problem_has_a_text_that_its_values_fill() -> None:
    error = PageError("sentence-long", count=1300, most=120)
    assert isinstance(error, OptionError)
    assert translate(error.key, "fa", **error.values).startswith("جمله 1,300 واژه دارد")
    with pytest.raises(KeyError):
        PageError("no-such-problem")
    assert sum(key.startswith("problem-") for key in TEXTS) > 10


def test_an_unknown_model_names_the_nearest_or_all() -> None:
    assert NoSuchModel("glov-en", ["glove-en"]).values["near"] == "glove-en"
    assert "There are: a, b" in str(NoSuchModel("zzz", ["a", "b"]))
    assert NoSuchModel("a", ["b"], known=True, state="other").state == "other"
    assert NoModel(("bilm", "task")).kinds == ("bilm", "task")
