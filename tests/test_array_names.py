"""The names of the files of a model's arrays."""

from __future__ import annotations

import pytest

from firth.array_names import MOST, array_files
from firth.errors import OptionError


def test_a_model_has_one_file_unless_its_config_has_a_number() -> None:
    assert array_files({}) == array_files({"files": 1}) == ["model.safetensors"]
    assert len({*array_files({"files": MOST})}) == MOST


def test_the_number_of_files_has_a_limit() -> None:
    with pytest.raises(OptionError, match="must be from 1 to"):
        array_files({"files": MOST + 1})
