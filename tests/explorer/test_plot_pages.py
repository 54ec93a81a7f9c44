"""The view of a plot in the address."""

from __future__ import annotations

import pytest

from firth.explorer.models import Models
from firth.explorer.plot_pages import read_view, write_view
from firth.explorer.visit import Visit


def test_a_view_survives_the_address() -> None:
    view = {"x": -1.5, "y": 0.25, "k": 12.0}
    assert read_view(Visit(Models(), "en", "/map", {"view": write_view(view)})) == view


@pytest.mark.parametrize("text", ["", "1,2", "a,b,c", "1,2,-3", "1,nan,2", "1,inf,2", "1,2,3,4"])
def test_what_is_no_view_is_ignored(text: str) -> None:
    assert read_view(Visit(Models(), "en", "/map", {"view": text})) is None
