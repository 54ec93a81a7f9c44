"""The parts of a saved artifact: settings, arrays and word lists; nothing executable.

A folder may be damaged, or made by somebody else. So an artifact takes its parts through the methods of `Parts`, which
check them against each other before any kernel sees them: kinds, shapes, ranges of ids and settings, rising pointers.
Integer arrays are checked whole: kernels index memory with them. Matrices of floating-point numbers are not read when
they are opened, since they may be larger than memory; a number that is not finite is found where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

BLOCK = 1 << 20  # numbers checked at a time
KINDS = {"f": "floating-point numbers", "iu": "whole numbers", "u": "whole numbers without a sign"}

# The forms of the sections of the metadata that are read, of all kinds of artifacts and of one: a type, or a list or a
# table of values of one form.
METADATA: dict[str, Any] = {"recipe": dict, "fasttext": dict}
METADATA_OF_KIND: dict[str, dict[str, Any]] = {
    "task": {
        "training": dict,
        "no_answer": dict,
        "dev": {"": float},
        "test": {"": float},
        "examples": {"": float},
        "epochs": [dict],
        "data": [dict],
        "trained": {"": {"": float}},
        "layer_shares": {"": [float]},
        "asked": [str],
    },
    "vector-map": {"pairs": int},
    "occurrences": {"settings": dict},
}
FORMS = {dict: "a table", str: "a text", int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Parts:
    """The parts of one artifact. `config` must be plain JSON; each vocabulary becomes a text file.

    The list called "vocab" is the artifact's own vocabulary; other lists (labels, contexts, documents) have other
    names.

    >>> parts = Parts("tea", {"size": 2}, {"cups": np.array([0, 3])})
    >>> parts.ids("cups", parts.number("size", 0, 9), below=3)
    Traceback (most recent call last):
    firth.errors.OptionError: the array 'cups' must have numbers from 0 to 2, but has 3
    """

    kind: str
    config: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    vocabularies: Mapping[str, Vocabulary] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(np.asarray(array).nbytes for array in self.arrays.values())

    @property
    def vocabulary(self) -> Vocabulary:
        """The list called "vocab"."""
        if "vocab" not in self.vocabularies:
            raise OptionError("the list of words is missing")
        return self.vocabularies["vocab"]

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata; the sections that models, cards and commands read are checked."""
        metadata = self.table("metadata")
        for name, form in (METADATA | METADATA_OF_KIND.get(self.kind, {})).items():
            is_absent = name not in metadata or (metadata[name] is None and name not in METADATA)
            if not is_absent and not has_form(metadata[name], form):
                raise OptionError(f"metadata.{name} is {metadata[name]!r:.60}, but must be {describe_form(form)}")
        if metadata.get("tokenizer"):
            if not isinstance(metadata["tokenizer"], dict):
                raise OptionError(f"metadata.tokenizer is {metadata['tokenizer']!r:.60}, but must be a table")
            try:
                Tokenizer.from_dict(metadata["tokenizer"])
            except (TypeError, AttributeError) as error:
                raise OptionError(f"metadata.tokenizer is not a tokenizer: {error}") from error
        return metadata

    def table(self, name: str) -> dict[str, Any]:
        """A section of the settings; empty if it is missing."""
        value = self.config.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise OptionError(f"{name} is {value!r:.60}, but must be a table")
        return dict(value)

    def number(self, name: str, low: int, high: int) -> int:
        """A whole number of the settings, from low to high."""
        return check_number(name, self.config.get(name), low, high)

    def array(self, name: str, kinds: str, *shape: int | None) -> NDArray[Any]:
        """An array of these kinds (see `KINDS`) and this shape; None matches any size."""
        if name not in self.arrays:
            raise OptionError(f"the array {name!r} is missing")
        return check_array(name, np.asarray(self.arrays[name]), kinds, *shape)

    def ids(self, name: str, *shape: int | None, below: int) -> NDArray[Any]:
        """An array of whole numbers from 0 to below - 1."""
        array = self.array(name, "iu", *shape)
        check_range(name, array, 0, below - 1)
        return array

    def pointers(self, name: str, count: int, last: int, first: int = 0) -> NDArray[Any]:
        """`count` + 1 whole numbers that never fall, from `first` to `last`."""
        array = self.array(name, "iu", count + 1)
        check_pointers(name, array, first, last)
        return array

    def numbers(self, name: str, *shape: int | None, low: float, high: float) -> NDArray[Any]:
        """An array of floating-point numbers from low to high, none of which is NaN."""
        array = self.array(name, "f", *shape)
        check_range(name, array, low, high)
        return array


def has_form(value: Any, form: Any) -> bool:
    """Whether a value of JSON has a form: a type, a list of one form, or a table whose values have one form.

    >>> has_form([1, 0.5], [float]), has_form({"f1": "x"}, {"": float}), has_form(True, int)
    (True, False, False)
    """
    if isinstance(form, list):
        return isinstance(value, list) and all(has_form(item, form[0]) for item in value)
    if isinstance(form, dict):
        return isinstance(value, dict) and all(has_form(item, form[""]) for item in value.values())
    return isinstance(value, (int, float) if form is float else form) and not isinstance(value, bool)


def describe_form(form: Any) -> str:
    """A form in words.

    >>> describe_form({"": [float]})
    'a table, each value of which is a list, each item of which is a number'
    """
    if isinstance(form, list):
        return f"a list, each item of which is {describe_form(form[0])}"
    if isinstance(form, dict):
        return f"a table, each value of which is {describe_form(form[''])}"
    return FORMS[form]


def check_array(name: str, array: NDArray[Any], kinds: str, *shape: int | None) -> NDArray[Any]:
    """The array, if it has one of the kinds and the shape; None matches any size."""
    if array.dtype.kind not in kinds:
        expected = KINDS.get(kinds, "numbers")
        raise OptionError(f"the array {name!r} must have {expected}, but has {array.dtype}")
    if array.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, array.shape)):
        raise OptionError(f"the array {name!r} is {_write_shape(array.shape)}, but must be {_write_shape(shape)}")
    return array


def _write_shape(shape: tuple[int | None, ...]) -> str:
    return " × ".join("any" if size is None else f"{size:,}" for size in shape) or "one number"


def check_range(name: str, array: NDArray[Any], low: float, high: float) -> None:
    """Refuses an array with a number below low or above high, or with a NaN."""
    flat = array.reshape(-1)
    for start in range(0, len(flat), BLOCK):
        part = flat[start : start + BLOCK]
        for extreme in (part.min(), part.max()):
            if not low <= extreme <= high:
                number = extreme.item()
                raise OptionError(f"the array {name!r} must have numbers from {low} to {high}, but has {number}")


def check_pointers(name: str, array: NDArray[Any], first: int, last: int) -> None:
    """Refuses an array that does not begin with `first` and end with `last`, or that falls anywhere."""
    if not len(array) or int(array[0]) != first or int(array[-1]) != last:
        raise OptionError(f"the array {name!r} must begin with {first:,} and end with {last:,}")
    for start in range(0, len(array) - 1, BLOCK):
        part = array[start : start + BLOCK + 1]
        if np.any(part[1:] < part[:-1]):
            raise OptionError(f"the array {name!r} must never fall")


def check_number(name: str, value: Any, low: int, high: int) -> int:
    """A whole number from low to high.

    >>> check_number("dim", 2**40, 1, 1_000_000)
    Traceback (most recent call last):
    firth.errors.OptionError: dim is 1099511627776, but must be a whole number from 1 to 1,000,000
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise OptionError(f"{name} is {value!r:.60}, but must be a whole number from {low:,} to {high:,}")
    return int(value)


class Artifact(Protocol):
    """A value that can be saved: it converts to parts and from parts."""

    def to_parts(self) -> Parts: ...

    @classmethod
    def from_parts(cls, parts: Parts) -> Self: ...
