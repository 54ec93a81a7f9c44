"""The texts of plots are texts of the interface."""

from __future__ import annotations

from firth.explorer.plot_texts import PLOT_TEXTS
from firth.explorer.translations import TEXTS


def test_every_text_of_a_plot_is_a_text_of_the_interface() -> None:
    assert PLOT_TEXTS.items() <= TEXTS.items()
