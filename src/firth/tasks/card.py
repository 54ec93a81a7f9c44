"""The card of a task's model, a page in Markdown: its use, its scores, and its data and options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from firth.show.markdown import markdown_table
from firth.tasks.model import TaskModel


def task_card(name: str, model: TaskModel) -> str:
    """The card of a model, from its options and metadata. A part without metadata is left out."""
    metadata = model.metadata
    head = [f"license: {metadata['licence']}"] if "licence" in metadata else []
    parts = [
        "\n".join(["---", *head, "library_name: firth", "tags:", f"- {model.task.name}", "---"]),
        f"# {name}",
        *([f"{metadata['about']}."] if "about" in metadata else []),
        f"A model of the task {model.task.name}: {model.learnt_numbers:,} numbers "
        "that were learnt, on top of the models that `embedding` names.",
        *("## Use", format_usage(name, metadata.get("asked") or ["..."])),
    ]
    if metadata.get("dev") or metadata.get("test"):
        parts += ["## How good it is", *format_scores(metadata)]
    if metadata.get("outside"):
        rows = [
            (f"{name} {metric}", format_cell(value))
            for name, one in metadata["outside"].items()
            for metric, value in one.items()
        ]
        parts += ["## On other sets", markdown_table(["measure", "here"], rows)]
    if metadata.get("layer_shares"):
        parts += ["## What each layer of the biLM counts", format_table(metadata["layer_shares"])]
    if metadata.get("data"):
        rows = [tuple(one.values()) for one in metadata["data"]]
        parts += ["## Data", markdown_table(["set", "licence"], rows)]
    parts += ["## Network", format_table(model.task.as_dict()), "## Words", format_table(model.embedding.as_dict())]
    if metadata.get("training"):
        counts = {f"{part} examples": count for part, count in (metadata.get("examples") or {}).items()}
        more = {one: metadata[one] for one in ("seconds",) if one in metadata}
        parts += ["## Training", format_table({**metadata["training"], **counts, **more})]
    if "licence" in metadata:
        parts += ["## Licence", NONCOMMERCIAL_LICENCE if "-nc-" in metadata["licence"] else LICENCE]
    if "command" in metadata:
        parts += ["## Make it again", f"```sh\n{metadata['command']}\n```"]
    return "\n\n".join(parts) + "\n"


LICENCE = (
    "The numbers are given under CC BY-SA 4.0, as those of the models that they stand on: use them for anything, say "
    "where they come from, and share models that you make by changing them alike. What they answer is yours. The sets "
    "that they were learnt from are named above with their licences; none of their text is here."
)
NONCOMMERCIAL_LICENCE = (
    "The numbers are given under CC BY-NC-SA 4.0, because one of the sets that they were learnt from is not for "
    "commercial use: say where they come from, and share models that you make by changing them alike. The sets are "
    "named above with their licences; none of their text is here."
)


def format_usage(name: str, samples: Sequence[str]) -> str:
    """Code that opens the model and asks it, in Python and on the command line."""
    texts = ", ".join(map(json.dumps, samples))
    python = f'from firth.tasks.model import open_task\n\nmodel = open_task("{name}")\nmodel.ask({texts})'
    shell = f"firth predict {name} {' '.join(map(json.dumps, samples))}"
    return f"```python\n{python}\n```\n\n```sh\n{shell}\n```"


def format_scores(metadata: Mapping[str, Any]) -> list[str]:
    """The scores; of a quantized model, also those before quantization."""
    scores = {
        f"{part} {metric}": value for part in ("dev", "test") for metric, value in (metadata.get(part) or {}).items()
    }
    if not metadata.get("trained"):
        return [format_table(scores)]
    before = {f"{part} {metric}": value for part, one in metadata["trained"].items() for metric, value in one.items()}
    rows = [(name, format_cell(before.get(name)), format_cell(value)) for name, value in scores.items()]
    legend = "`trained` is in float32, as it came from training; `here` is as it lies in this folder, in signed bytes."
    return [legend, markdown_table(["measure", "trained", "here"], rows)]


def format_table(values: Mapping[str, Any]) -> str:
    """Names and values in two columns.

    >>> print(format_table({"accuracy": 0.51234567, "at": "both"}))
    | name | value |
    |---|---|
    | accuracy | `0.5123` |
    | at | `"both"` |
    """
    return markdown_table(["name", "value"], [(name, format_cell(value)) for name, value in values.items()])


def format_cell(value: Any) -> str:
    """A value in a table.

    >>> format_cell(0.51234567), format_cell([0.25, 1 / 3])
    ('`0.5123`', '`[0.25, 0.3333]`')
    """
    if isinstance(value, list):
        value = [round(one, 4) if isinstance(one, float) else one for one in value]
    return f"`{json.dumps(round(value, 4) if isinstance(value, float) else value)}`"
