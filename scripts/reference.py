"""Pages of the reference, in Markdown, from the docstrings and signatures of the public names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

HEADING = "Parameters\n----------\n"
PARAMETER = re.compile(r"^(\w+) : (.+)$")
WIDTH = 88  # of a signature on one line


GROUPS = {  # in this order; the first pattern that a module matches decides
    "Text": r"text\.|models\.(phrases|segmenter)",
    "Counts and n-grams": r"models\.(counts|count_matrix|estimator|ngram)",
    "Classifiers": r"models\.(classifier|quantization|fasttext_estimator)",
    "ELMo": r"neural\.|models\.elmo|bulk\.|tasks\.(elmo_embedding|mix)",
    "Word vectors": r"models\.|vectors\.",
    "Tasks, evaluation and tools": "",
}


def group_names(places: Mapping[str, str]) -> dict[str, list[str]]:
    """The public names by topic, from the modules that they are in.

    >>> group_names({"Corpus": "firth.text.corpus:Corpus", "load": "firth.opening:load"})
    {'Text': ['Corpus'], 'Tasks, evaluation and tools': ['load']}
    """
    groups: dict[str, list[str]] = {title: [] for title in GROUPS}
    for name, place in places.items():
        module = place.partition(":")[0].removeprefix("firth.")
        groups[next(title for title, pattern in GROUPS.items() if re.match(pattern, module))].append(name)
    return {title: sorted(names) for title, names in groups.items() if names}


def write_index(groups: Mapping[str, list[str]], items: Mapping[str, Any]) -> str:
    """The list of the public names, with the first sentence of each."""
    lines = [
        "# Reference of all public names",
        "",
        "What `import firth` has: signature, types, options, methods, examples ",
    ]
    lines[-1] += "and source of each public name, from its docstring. Every example runs as a test."
    for title, names in groups.items():
        lines += ["", f"## {title}", "", "| name | |", "|---|---|"]
        for name in names:
            text = " ".join((inspect.getdoc(items[name]) or "").partition("\n\n")[0].split())
            lines.append(f"| [{name}]({name}.md) | {escape(text)} |")
    return "\n".join(lines) + "\n"


def write_page(name: str, item: Any, public: Collection[str] = ()) -> str:
    """The page of a public name: its signature, docstring and source and, of a class or module, those of its members.

    The names in `public` are linked where docstrings and annotations mention them.
    """
    members = public_members(item)
    others = [one for one in public if one != name]
    parts = [f"# firth.{name}", "", *write_signature(name, item), *write_docstring(item, others)]
    parts += [*write_types(item, others), *write_source(item)]
    if members:
        parts += ["", "## Members", "", ", ".join(f"[{member}](#{member.lower()})" for member, _ in members)]
    for member, value in members:
        parts += ["", f"## {member}", ""]
        function = value.fget if isinstance(value, property) else value
        if isinstance(value, property):
            parts += write_property(member, value)
        else:
            parts += write_signature(member, value)
        parts += [*write_docstring(value, others), *write_types(function, others), *write_source(function)]
    return "\n".join(parts) + "\n"


def write_property(name: str, value: property) -> list[str]:
    """The name of a property with its type."""
    result = inspect.signature(value.fget).return_annotation if value.fget else inspect.Signature.empty
    typed = "" if result is inspect.Signature.empty else f": {clean(str(result))}"
    return ["```python", f"{name}{typed}", "```", ""]


def write_types(item: Any, public: Collection[str]) -> list[str]:
    """Links to the public names in the annotations of a function."""
    try:
        signature = str(inspect.signature(item))
    except (TypeError, ValueError):
        return []
    named = [one for one in sorted(public) if re.search(rf"(?<![\w.]){one}(?!\w)", signature) and one[0].isupper()]
    return ["", "Types: " + ", ".join(f"[{one}]({one}.md)" for one in named)] if named else []


def write_source(item: Any) -> list[str]:
    """Where the code is and, of a function, the code itself, folded."""
    plain = inspect.unwrap(item) if callable(item) else item
    try:
        lines, first = inspect.getsourcelines(plain)
        file = inspect.getsourcefile(plain) or ""
    except (OSError, TypeError):
        return []
    place = "src/firth/" + file.replace("\\", "/").rpartition("/firth/")[2]
    if not inspect.isfunction(plain):
        return ["", f"Source: `{place}`" + (f", line {first}" if first else "")]
    code = inspect.cleandoc("\n" + "".join(lines)).splitlines()
    return [
        "",
        f'??? quote "Source: {place}, line {first}"',
        "",
        "    ```python",
        *(f"    {one}".rstrip() for one in code),
        "    ```",
    ]


def public_members(item: Any) -> list[tuple[str, Any]]:
    """The documented public methods and properties of a class and of its bases in firth, in the order of the source.

    Of a module, its functions.
    """
    found: dict[str, Any] = {}
    if inspect.ismodule(item):
        functions = inspect.getmembers(item, inspect.isfunction)
        return [(name, one) for name, one in functions if name[0] != "_" and one.__module__.startswith(item.__name__)]
    if not inspect.isclass(item):
        return []
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


def write_docstring(item: Any, public: Collection[str] = ()) -> list[str]:
    """A docstring: examples as blocks of code, parameters as a table, public names as links."""
    text = inspect.getdoc(item.fget if isinstance(item, property) else item) or ""
    body, _, parameters = text.partition(HEADING)
    lines = [*fence_examples(body.rstrip().splitlines())]
    lines = [line if line.startswith((">>>", "...")) else link_names(line, public) for line in lines]
    if parameters:
        lines += ["", "| parameter | type and default | |", "|---|---|---|", *write_rows(parameters.splitlines())]
    return lines


def link_names(line: str, public: Collection[str]) -> str:
    """A line in which the public names in backticks are links.

    >>> link_names("See `Corpus` and `fit`.", ["Corpus"])
    'See [`Corpus`](Corpus.md) and `fit`.'
    """
    return re.sub(r"`(\w+)`", lambda found: f"[{found[0]}]({found[1]}.md)" if found[1] in public else found[0], line)


def escape(text: str) -> str:
    """A text as a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


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
        yield "| " + " | ".join(map(escape, row)) + " |"
