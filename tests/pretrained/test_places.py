"""Addresses and published names, as `firth.load` finds them. tests/hub has the rest."""

from __future__ import annotations

import subprocess
import sys

import pytest

import firth
from firth.errors import OptionError
from firth.pretrained.places import find_elsewhere


def test_an_unknown_scheme_is_an_error_with_the_known_ones() -> None:
    with pytest.raises(OptionError, match="the scheme gopher:// is unknown"):
        firth.load("gopher://bucket/vectors")


def test_a_name_that_nobody_knows_stays_a_path() -> None:
    assert find_elsewhere("vectors.bin") is None
    with pytest.raises(OptionError, match="no such file or folder"):
        firth.load("vectors.bin")


def test_a_published_model_that_is_not_here_names_the_command() -> None:
    with pytest.raises(OptionError, match="Fetch it: firth pull glove-6b-50d"):
        firth.load("glove-6b-50d")


def test_opening_a_local_file_imports_nothing_of_the_hub() -> None:
    code = "import sys, firth; firth.load('svd-en'); assert not {'firth.hub', 'huggingface_hub'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
