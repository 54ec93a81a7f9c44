"""What is wrong with the body of a request, in one sentence: the field, what it is, and what it must be."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from firth.errors import suggest

LONGEST = 60  # characters of a value that is shown
KINDS = {  # what a value of another kind must be, by pydantic's name of the error
    "string_type": "a text",
    "list_type": "a list",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "none_required": "null",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "literal_error": "{expected}",  # all but false are texts
}
SIZES = {
    "too_short": "items",
    "too_long": "items",
    "string_too_short": "characters",
    "string_too_long": "characters",
}
BOUNDS = {  # what a value of the right kind must be
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "finite_number": "a finite number",
}


def explain(errors: Sequence[Mapping[str, Any]], body: Any, names: Collection[str] = ()) -> tuple[str, str | None]:
    """The first problem among pydantic's errors, and the place of its field. `names` are the fields of the body.

    A field may be of several kinds. Where a value is of the right kind, or has a part that is not, that is explained.

    >>> errors = [{"type": "string_type", "loc": ("inputs", "str"), "input": 5}]
    >>> errors += [{"type": "list_type", "loc": ("inputs", "list[str]"), "input": 5}]
    >>> explain(errors, {"inputs": 5})
    ('inputs is 5, but must be a text or a list', 'inputs')
    >>> explain([{"type": "extra_forbidden", "loc": ("topn",)}], {"topn": 5}, ["words", "top"])
    ("there is no field 'topn'. Did you mean 'top'?", 'topn')
    """
    if errors[0]["type"] == "json_invalid":
        return f"the body is not valid JSON: {errors[0]['ctx']['error']}", None
    extra = [one for one in errors if one["type"] == "extra_forbidden"]
    near = extra if extra and errors[0]["type"] == "missing" else errors  # a field is missing if it is misspelled
    places = [(one, place_of(one, body)) for one in near if one["loc"][:1] == near[0]["loc"][:1]]
    place = max((place for _, place in places), key=len)
    found = [one for one, its_place in places if its_place == place]
    found = [one for one in found if one["type"] not in KINDS] or found
    name = ".".join(map(str, place))
    return describe(name or "the body", found, names if len(place) == 1 else ()), name or None


def describe(name: str, errors: Sequence[Mapping[str, Any]], names: Collection[str]) -> str:
    """The errors of one value in words."""
    kind, limits, value = errors[0]["type"], errors[0].get("ctx", {}), errors[0].get("input")
    if kind == "missing":
        return f"the field {name!r} is missing"
    if kind == "extra_forbidden":
        problem = f"there is no field {name!r:.200}"
        return f"{problem}. {suggest(name[:200], names)}" if names else problem
    if kind in SIZES:
        least, most = limits.get("min_length"), limits.get("max_length")
        limit = f"at most {most:,}" if least is None else f"at least {least:,}"
        return f"{name} has {len(value or ()):,} {SIZES[kind]}, but must have {limit}"
    if not all(one["type"] in KINDS | BOUNDS for one in errors):
        return f"{name}: {errors[0]['msg']}"
    kinds = dict.fromkeys((KINDS | BOUNDS)[one["type"]].format(**one.get("ctx", {})) for one in errors)
    return f"{name} is {show(value)}, but must be {' or '.join(kinds).replace('False', 'false')}"


def place_of(error: Mapping[str, Any], body: Any) -> tuple[str | int, ...]:
    """The keys and numbers that lead to the value of an error, without pydantic's names of kinds.

    >>> place_of({"type": "string_type", "loc": ("inputs", "list[str]", 1)}, {"inputs": ["tea", 5]})
    ('inputs', 1)
    """
    place: tuple[str | int, ...] = ()
    for part in error["loc"]:
        has_part = part in body if isinstance(body, dict) else isinstance(body, list) and isinstance(part, int)
        if has_part:
            place, body = (*place, part), body[part]
    return (*place, error["loc"][-1]) if error["type"] == "missing" else place


def show(value: Any) -> str:
    """A value of a body in JSON; a long text is cut, and of a list or an object only its kind is said.

    >>> show(None), show(2.5), show(["tea"]), show("tea " * 50)[:12]
    ('null', '2.5', 'a list', '"tea tea tea')
    """
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, str) and len(value) > LONGEST:
        value = value[:LONGEST] + "…"
    return json.dumps(value, ensure_ascii=False)
