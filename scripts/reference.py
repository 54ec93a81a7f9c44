"""Pages of the reference, in Markdown, from the docstrings and signatures of the public names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

HEADING = "Parameters\n----------\n"
PARAMETER = re.compile(r"^(\w+) : (.+)$")
WIDTH = 88  # of a signature on one line


def write_page(name: str, item: Any) -> str:
    """The page of a public name: its signature and docstring and, of a class, its methods and properties."""
    parts = [f"# firth.{name}", "", *write_signature(name, item), *write_docstring(item)]
    if inspect.isclass(item):
        for member, value in public_members(item):
            parts += ["", f"## {member}", ""]
            if not isinstance(value, property) and callable(value):
                parts += write_signature(member, value)
            parts += write_docstring(value)
    return "\n".join(parts) + "\n"


def public_members(item: type) -> list[tuple[str, Any]]:
    """The documented public methods and properties of a class and of its bases in firth, in the order of the source."""
    found: dict[str, Any] = {}
    for base in item.__mro__:
        if not base.__module__.startswith("firth"):
            continue
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            plain = getattr(plain, "func", plain) if type(plain).__name__ == "cached_property" else plain
            is_member = isinstance(plain, property) or inspect.isfunction(plain)
            if is_member and not name.startswith("_") and inspect.getdoc(plain):
                found.setdefault(name, as_property(value, plain))
    return list(found.items())


def as_property(value: Any, plain: Any) -> Any:
    """A cached property as a property, so that it has no signature."""
    return property(plain) if type(value).__name__ == "cached_property" else plain


def write_signature(name: str, item: Any) -> list[str]:
    """The signature as a block of code, a line for each parameter if it is long."""
    try:
        signature = inspect.signature(item)
    except (TypeError, ValueError):
        return []
    kept = [one for one in signature.parameters.values() if one.name != "self"]
    shown = [clean(str(one)) for one in kept]
    stars = {one.kind for one in kept}
    if inspect.Parameter.KEYWORD_ONLY in stars and inspect.Parameter.VAR_POSITIONAL not in stars:
        first = next(place for place, one in enumerate(kept) if one.kind is inspect.Parameter.KEYWORD_ONLY)
        shown.insert(first, "*")
    result = signature.return_annotation
    arrow = "" if inspect.isclass(item) or result is inspect.Signature.empty else f" -> {clean(str(result))}"
    line = f"{name}({', '.join(shown)}){arrow}"
    if len(line) > WIDTH:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){arrow}"
    return ["```python", line, "```", ""]


def clean(annotation: str) -> str:
    """A parameter or an annotation without the quotes of annotations that are texts.

    >>> clean("dim: 'int' = 100"), clean("kind: \"Literal['a', 'b']\" = 'a'"), clean("'list[str]'")
    ('dim: int = 100', "kind: Literal['a', 'b'] = 'a'", 'list[str]')
    """
    if annotation[:1] in "'\"" and annotation[-1:] == annotation[:1]:
        return annotation[1:-1]
    return re.sub(r": (['\"])(.*?)\1(?= =|$)", r": \2", annotation)


def write_docstring(item: Any) -> list[str]:
    """A docstring: examples as blocks of code, parameters as a table."""
    text = inspect.getdoc(item.fget if isinstance(item, property) else item) or ""
    body, _, parameters = text.partition(HEADING)
    lines = [*fence_examples(body.rstrip().splitlines())]
    if parameters:
        lines += ["", "| parameter | type and default | |", "|---|---|---|", *write_rows(parameters.splitlines())]
    return lines


def fence_examples(lines: list[str]) -> Iterator[str]:
    """Lines with a fence around each example that has none, from its first `>>>` to the next empty line."""
    has_fence = inside = False
    for line in lines:
        if line.startswith("```"):
            has_fence = not has_fence
        elif line.startswith(">>>") and not inside and not has_fence:
            inside = True
            yield "```python"
        elif not line.strip() and inside:
            inside = False
            yield "```"
        yield line
    if inside:
        yield "```"


def write_rows(lines: list[str]) -> Iterator[str]:
    """The parameters of a numpydoc section as rows of a table."""
    rows: list[list[str]] = []
    for line in lines:
        found = PARAMETER.match(line)
        if found:
            rows.append([f"`{found[1]}`", found[2], ""])
        elif rows and line.strip():
            rows[-1][2] = f"{rows[-1][2]} {line.strip()}".strip()
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in row) + " |"
