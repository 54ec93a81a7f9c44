"""The package that can be called: one object for Python, and one class for type checkers."""

from __future__ import annotations

import inspect
import sys

import firth
from firth import evaluate
from firth.evaluate import intrinsic
from firth.evaluate.package import EvaluatePackage


def test_the_name_is_the_package_and_an_object_of_the_class() -> None:
    assert firth.evaluate is evaluate is sys.modules["firth.evaluate"]
    assert isinstance(firth.evaluate, EvaluatePackage)
    assert callable(firth.evaluate)


def test_the_class_knows_every_public_name_of_the_package() -> None:
    files = {"analogy_search", "intrinsic", "language", "lookup", "package", "questions", "score", "statistics"}
    public = {name for name in vars(evaluate) if not name.startswith("_")} - files - {"EvaluatePackage"}
    declared = {name for name in vars(EvaluatePackage) if not name.startswith("_")}
    assert declared == public
    for name in declared:
        assert getattr(EvaluatePackage, name) is getattr(evaluate, name)


def test_the_call_has_the_options_of_the_function() -> None:
    ours, theirs = (inspect.signature(one).parameters for one in (evaluate.__call__, intrinsic.evaluate))
    assert list(ours) == list(theirs)
    assert [one.default for one in ours.values()] == [one.default for one in theirs.values()]
