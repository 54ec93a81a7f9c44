"""Names are imported on first use, and described without an import."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from firth.errors import MissingExtra
from firth.lazy import import_name, lazy_attributes, read_docstring, read_literal


def test_a_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "firth.neural.mix", raising=False)
    with pytest.raises(MissingExtra, match=r"the mix needs an extra: pip install 'firth\[elmo\]'"):
        import_name("firth.neural.mix:ScalarMix", "the mix", "elmo")


def test_a_missing_module_of_firth_is_a_plain_import_error() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as error:
        import_name("firth.no_such_module:Name", "this", "elmo")
    assert not isinstance(error.value, MissingExtra)


def test_an_unknown_attribute_names_the_module() -> None:
    with pytest.raises(AttributeError, match="module 'tea' has no attribute 'black'"):
        lazy_attributes("tea", ["green"], str.upper)("black")


def test_a_class_is_described_without_being_imported() -> None:
    code = (
        "import sys; from firth.lazy import read_docstring, read_literal; from firth.tasks.registry import TASKS;"
        "assert all(read_docstring(place) and read_literal(place, 'commands') for place in TASKS.values());"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_read_is_what_an_import_gives() -> None:
    place = "firth.models.counts:Counts"
    counts = import_name(place, "this", "elmo")
    assert inspect.cleandoc(counts.__doc__).startswith(read_docstring(place))
    assert read_literal(place, "commands") == counts.commands
    assert read_literal(place, "no_such_attribute", "nothing") == "nothing"
