"""The page that describes the API: made here from the OpenAPI description, so that it needs no other host."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: .5rem 1rem; }
summary { cursor: pointer; } summary b { display: inline-block; width: 3.5rem; }
summary b + code { margin-inline-end: .5rem; overflow-wrap: anywhere; } details details { margin: 1rem 0; }
code, pre, textarea { font: 14px/1.4 ui-monospace, monospace; }
pre { background: color-mix(in srgb, currentColor 7%, transparent); padding: .75rem; overflow: auto; }
pre { max-height: 24rem; white-space: pre-wrap; overflow-wrap: anywhere; }
textarea { width: 100%; margin-block-start: 1rem; box-sizing: border-box; } button, input { font: inherit; }
table { border-collapse: collapse; } td, th { text-align: start; padding: .2rem .8rem .2rem 0; vertical-align: top; }
"""
TITLES = {
    "embed": "Vectors of texts",
    "openai": "OpenAI's API",
    "words": "Words and sentences",
    "tasks": "Tasks",
    "state": "State",
}
SCRIPT = """
for (const form of document.querySelectorAll("form")) form.addEventListener("submit", async event => {
  event.preventDefault();
  const output = form.querySelector("pre"), body = form.querySelector("textarea");
  let path = form.dataset.path;
  for (const field of form.querySelectorAll("input[data-name]"))
    path = path.replace("{" + field.dataset.name + "}", encodeURIComponent(field.value));
  const headers = body ? {"content-type": "application/json"} : {};
  const token = document.querySelector("#token").value;
  if (token) headers.authorization = "Bearer " + token;
  output.hidden = false;
  try {
    const answer = await fetch(path, {method: form.dataset.method, headers, body: body ? body.value : undefined});
    const text = await answer.text();
    output.textContent = answer.status + "\\n" + text.slice(0, 20000);
  } catch (error) { output.textContent = "The server does not answer: " + error; }
});
"""


def describe_api(openapi: Mapping[str, Any]) -> str:
    """The page of an OpenAPI description: every address with its fields, statuses and an example to try.

    >>> info = {"title": "firth", "version": "1"}
    >>> page = describe_api({"info": info, "paths": {"/health": {"get": {"tags": ["state"]}}}})
    >>> "<code>/health</code>" in page, "https://" in page
    (True, False)
    """
    groups: dict[str, list[str]] = {}
    for path, methods in openapi["paths"].items():
        for method, entry in methods.items():
            section = show_address(path, method, entry, openapi)
            groups.setdefault(entry.get("tags", ["other"])[0], []).append(section)
    info = openapi["info"]
    parts = [f"<h2>{escape(TITLES.get(name, name))}</h2>{''.join(sections)}" for name, sections in groups.items()]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])} API</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('summary', ''))} "
        'The description for programs is <a href="openapi.json">openapi.json</a>.</p>'
        '<p><label>Token, where the server has one: <input id="token" type="password" autocomplete="off"></label></p>'
        f"{''.join(parts)}<script>{SCRIPT}</script></body></html>"
    )


def show_address(path: str, method: str, entry: Mapping[str, Any], openapi: Mapping[str, Any]) -> str:
    """One address: what it does, its fields and statuses, and a form to try it."""
    schema = find_schema(entry, openapi)
    names = [one["name"] for one in entry.get("parameters", ()) if one["in"] == "path"]
    inputs = "".join(f'<p><label>{escape(name)}: <input data-name="{escape(name)}"></label></p>' for name in names)
    body = ""
    if schema is not None:
        given = schema.get("example", {})
        ordered = {name: given[name] for name in schema.get("properties", ()) if name in given}
        example = json.dumps(ordered, ensure_ascii=False, indent=1)
        rows = example.count("\n") + 1
        body = f'<textarea aria-label="body" rows="{rows}" spellcheck="false">{escape(example)}</textarea>'
    statuses = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td></tr>"
        for status, answer in sorted(entry.get("responses", {}).items())
    )
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
        f"{show_code(entry.get('description', '').partition(chr(10))[0])}</summary>{show_fields(schema, openapi)}"
        f'<form data-path=".{escape(path)}" data-method="{method.upper()}">{inputs}{body}'
        "<p><button>Try it</button></p><pre hidden></pre></form>"
        f"<details><summary>Statuses</summary><table>{statuses}</table></details></details>"
    )


def find_schema(entry: Mapping[str, Any], openapi: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of the body of a request, if it has one."""
    content = entry.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    return None if schema is None else resolve(schema, openapi)


def resolve(schema: Mapping[str, Any], openapi: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema, or the one that it refers to."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Mapping[str, Any] = openapi["components"]["schemas"][reference.rpartition("/")[2]]
    return found


def show_fields(schema: Mapping[str, Any] | None, openapi: Mapping[str, Any]) -> str:
    """The fields of a body as a table."""
    if schema is None:
        return ""
    required = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{' *' if name in required else ''}</td><td>{describe_type(field)}</td>"
        f"<td>{show_code(field.get('description', ''))}{describe_limits(field)}</td></tr>"
        for name, field in schema.get("properties", {}).items()
    )
    head = "<tr><th>field (* needed)</th><th>type</th><th></th></tr>"
    return f"<p>{show_code(schema.get('description', ''))}</p><table>{head}{rows}</table>"


def show_code(text: str) -> str:
    """A text of the description, with code between backticks.

    >>> show_code("with `a < b`")
    'with <code>a &lt; b</code>'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def describe_limits(field: Mapping[str, Any]) -> str:
    """The default of a field and what its numbers may be.

    >>> describe_limits({"default": 5, "minimum": 1.0, "maximum": 1000.0})
    ' From 1 to 1000. Default: 5.'
    """
    limits = f" From {field['minimum']:g} to {field['maximum']:g}." if {"minimum", "maximum"} <= field.keys() else ""
    default = field.get("default")
    return limits if default in (None, [], "") else f"{limits} Default: {escape(json.dumps(default))}."


def describe_type(field: Mapping[str, Any]) -> str:
    """The type of a field in words.

    >>> describe_type({"anyOf": [{"type": "string"}, {"type": "null"}]}), describe_type({"enum": ["a", "b"]})
    ('string or null', 'a, b')
    """
    if "anyOf" in field:
        return " or ".join(map(describe_type, field["anyOf"]))
    if "enum" in field:
        return escape(", ".join(map(str, field["enum"])))
    if field.get("type") == "array":
        return f"list of {describe_type(field.get('items', {}))}"
    return escape(str(field.get("const", field.get("type", field.get("$ref", "value").rpartition("/")[2]))))
