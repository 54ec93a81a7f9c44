"""A model's card tells what the model itself knows, and nothing more."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.show.cards import model_card, write_card


def test_a_card_leaves_out_what_is_not_known() -> None:
    page = model_card("small", 10, None, {})
    assert "## Recipe" not in page
    assert "## Loss" not in page
    assert "A vectors model of 10 words." in page


def test_a_card_shows_the_loss_of_every_epoch() -> None:
    assert "| 2 | 2.500000 |" in model_card("small", 10, 5, {"loss": [4.0, 2.5]})


@pytest.mark.parametrize("value", ["x", 3, {"a": 1}, [[1]], [None], {"before": 3}])
def test_a_card_leaves_out_what_others_wrote_in_place_of_losses(value: object) -> None:
    page = model_card("small", 10, 5, {"loss": value, "held_out_loss": value, "perplexity": value})
    assert "## Loss" not in page
    assert "## Perplexity" not in page
    assert "held-out" not in model_card("small", 10, 5, {"loss": [4.0, 2.5], "held_out_loss": value})


def test_a_card_lies_in_a_folder_or_beside_a_file(tmp_path: Path) -> None:
    assert write_card(tmp_path, "page") == tmp_path / "README.md"
    assert write_card(tmp_path / "v.bin", "page").read_text() == "page"
    assert (tmp_path / "v.bin.md").exists()


def test_a_held_out_loss_stands_beside_that_of_training():
    page = model_card("tea", 3, 2, {"loss": [4.1, 2.5], "held_out_loss": [4.0, 3.0]})
    assert "| epoch | mean loss | on held-out text |\n|---|---|---|\n| 1 | 4.100000 | 4.000000 |\n" in page
