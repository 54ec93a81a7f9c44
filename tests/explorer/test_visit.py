"""A visit reads its state from the address."""

from __future__ import annotations

import pytest

from firth.errors import OptionError
from firth.explorer.models import WORDS, Models
from firth.explorer.problems import NoModel
from firth.explorer.visit import Visit, make_address


def test_the_address_names_the_model_or_the_first_of_the_kind_is_taken() -> None:
    models = Models()
    assert Visit(models, "en", "/", {"model": "svd-en"}).choose_model(*WORDS) == "svd-en"
    assert Visit(models, "en", "/").choose_model("subword-vectors") == "fasttext-en"
    with pytest.raises(OptionError, match="has no model"):
        Visit(models, "en", "/", {"model": "../secret"}).choose_model(*WORDS)
    with pytest.raises(NoModel):
        Visit(models, "en", "/").choose_model("phrases")


@pytest.mark.parametrize(("text", "value"), [("7", 7), ("-3", 1), ("1e9", 50), ("nan", 10), ("", 10), ("ten", 10)])
def test_a_number_of_an_address_stays_within_its_limits(text: str, value: float) -> None:
    assert Visit(Models(), "en", "/", {"topn": text}).get_number("topn", 10, 1, 50) == value


def test_an_address_keeps_every_script_and_drops_what_is_empty() -> None:
    assert make_address("/x", {"a": "a b&c", "b": "", "c": None}) == "/x?a=a+b%26c"
    assert Visit(Models(), "fa", "/").direction == "rtl"
