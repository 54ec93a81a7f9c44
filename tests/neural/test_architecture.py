"""Architectures: presets, checks, and a round trip through JSON."""

from __future__ import annotations

import json

import pytest

from firth.errors import OptionError
from firth.neural.architecture import PRESETS, Architecture


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_json(name: str) -> None:
    architecture = Architecture.named(name)
    assert Architecture.from_dict(json.loads(json.dumps(architecture.as_dict()))) == architecture


def test_the_original_has_2048_filters_and_4096_units_projected_to_512() -> None:
    original = Architecture.named("original")
    assert sum(count for _, count in original.filters) == 2048
    assert (original.cell, original.dim, original.layers, original.highways) == (4096, 512, 2, 2)


def test_an_unknown_preset_names_those_that_exist() -> None:
    with pytest.raises(OptionError, match=r"'huge'\. There are: tiny, small, medium, original"):
        Architecture.named("huge")


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ((), "must be pairs"),
        (((1, 0),), "must be pairs"),
        (((1, 2), (2, 3.0)), "must be pairs"),
        (((60, 4),), "the widest filter has width 60, but width is 50"),
    ],
)
def test_filters_that_cannot_be_are_refused(filters: tuple[tuple[int, int], ...], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Architecture(filters=filters)
    assert Architecture(encoder="words", filters=filters).filters == filters  # not used, not checked
