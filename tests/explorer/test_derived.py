"""Derived models: small ones of the text that comes with firth, and the lines that make them."""

from __future__ import annotations

from tests.explorer.conftest import run_copied

from firth.explorer.derived import DERIVED, TEXT, python_of
from firth.explorer.models import Models


def test_the_line_of_a_derived_model_makes_the_same_model() -> None:
    assert TEXT.is_file()
    models = Models()
    made = models.load("tour-counts")
    assert models.kinds["tour-counts"] == made.kind == DERIVED["tour-counts"].kind
    again = run_copied(f"import firth\n{python_of('tour-counts')}")
    assert (made.matrix != again.matrix).nnz == 0
    assert python_of("svd-en") == "firth.load('svd-en')"
