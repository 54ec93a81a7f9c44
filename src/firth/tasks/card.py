"""The card of a task's model: what it does, how well, and what it was made from, as a page that people read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from firth.show.markdown import markdown_table
from firth.tasks.model import TaskModel


def task_card(name: str, model: TaskModel) -> str:
    """A page in Markdown, made from what the model itself knows; a part that it does not know is left out."""
    told = model.metadata
    head = [f"license: {told['licence']}"] if "licence" in told else []
    parts = [
        "\n".join(["---", *head, "library_name: firth", "tags:", f"- {model.task.name}", "---"]),
        f"# {name}",
        *([f"{told['about']}."] if "about" in told else []),
        f"A model of the task {model.task.name}: {model.learnt_numbers:,} numbers "
        "that were learnt, on top of the models that `embedding` names.",
        *("## Use", use(name, model.task.name, told.get("asked", ["..."]))),
    ]
    if told.get("dev") or told.get("test"):
        parts += ["## How good it is", *scores(told)]
    if told.get("layer_shares"):
        parts += ["## What each layer of the biLM counts", table(told["layer_shares"])]
    if "data" in told:
        rows = [tuple(one.values()) for one in told["data"]]
        parts += ["## Data", markdown_table(["set", "licence"], rows)]
    parts += ["## Network", table(model.task.as_dict()), "## Words", table(model.embedding.as_dict())]
    if "training" in told:
        counts = {f"{part} examples": count for part, count in told["examples"].items()}
        more = {one: told[one] for one in ("seconds",) if one in told}
        parts += ["## Training", table({**told["training"], **counts, **more})]
    if "licence" in told:
        parts += ["## Licence", LICENCE]
    if "command" in told:
        parts += ["## Make it again", f"```sh\n{told['command']}\n```"]
    return "\n\n".join(parts) + "\n"


LICENCE = (
    "The numbers are given under CC BY-SA 4.0, as those of the models that they stand on: use them for anything, say "
    "where they come from, and share models that you make by changing them alike. What they answer is yours. The sets "
    "that they were learnt from are named above with their licences; none of their text is here."
)


def use(name: str, task: str, asked: Sequence[str]) -> str:
    """How the model is opened and asked, in Python and on the command line."""
    texts = ", ".join(map(json.dumps, asked))
    python = f'from firth.tasks.model import open_task\n\nmodel = open_task("{name}")\nmodel.ask({texts})'
    shell = f"firth predict {name} {' '.join(map(json.dumps, asked))}"
    return f"```python\n{python}\n```\n\n```sh\n{shell}\n```"


def scores(told: Mapping[str, Any]) -> list[str]:
    """The scores; where the numbers were rounded, also those from before."""
    found = {f"{part} {measure}": value for part in ("dev", "test") for measure, value in told.get(part, {}).items()}
    if "trained" not in told:
        return [table(found)]
    before = {f"{part} {measure}": value for part, one in told["trained"].items() for measure, value in one.items()}
    rows = [(name, cell(before.get(name)), cell(value)) for name, value in found.items()]
    says = "`trained` is in float32, as it came from training; `here` is as it lies in this folder, in signed bytes."
    return [says, markdown_table(["measure", "trained", "here"], rows)]


def table(values: Mapping[str, Any]) -> str:
    """Names and values in two columns.

    >>> print(table({"accuracy": 0.51234567, "at": "both"}))
    | name | value |
    |---|---|
    | accuracy | `0.5123` |
    | at | `"both"` |
    """
    return markdown_table(["name", "value"], [(name, cell(value)) for name, value in values.items()])


def cell(value: Any) -> str:
    """A value in a table.

    >>> cell(0.51234567), cell([0.25, 1 / 3])
    ('`0.5123`', '`[0.25, 0.3333]`')
    """
    if isinstance(value, list):
        value = [round(one, 4) if isinstance(one, float) else one for one in value]
    return f"`{json.dumps(round(value, 4) if isinstance(value, float) else value)}`"
