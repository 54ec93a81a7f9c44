"""The card of a task's model: what it does, how well, and what it was made from, as a page that people read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from firth.tasks.model import TaskModel


def task_card(name: str, model: TaskModel) -> str:
    """A page in Markdown, made from what the model itself knows."""
    told = model.metadata
    parts = [
        f"---\nlibrary_name: firth\ntags:\n- {model.task.name}\n---",
        f"# {name}",
        f"A model of the task {model.task.name}: {sum(tensor.numel() for tensor in model.state().values()):,} numbers "
        "that were learnt, on top of the models that `embedding` names.",
    ]
    scores = {f"{part} {measure}": value for part in ("dev", "test") for measure, value in told.get(part, {}).items()}
    if scores:
        parts += ["## Scores", table(scores)]
    if told.get("layer_shares"):
        parts += ["## What each layer of the biLM counts", table(told["layer_shares"])]
    parts += ["## Network", table(model.task.as_dict()), "## Words", table(model.embedding.as_dict())]
    if "training" in told:
        parts += ["## Training", table({**told["training"], **told["examples"]})]
    use = f'from firth.tasks.model import open_task\n\nmodel = open_task("{name}")\nmodel.ask("...")'
    parts += ["## Use", f"```python\n{use}\n```"]
    return "\n\n".join(parts) + "\n"


def table(values: Mapping[str, Any]) -> str:
    """Names and values in two columns.

    >>> print(table({"accuracy": 0.51234567, "at": "both"}))
    | name | value |
    |---|---|
    | accuracy | `0.5123` |
    | at | `"both"` |
    """
    rows = [(name, round(value, 4) if isinstance(value, float) else value) for name, value in values.items()]
    return "\n".join(
        ["| name | value |", "|---|---|", *(f"| {name} | `{json.dumps(value)}` |" for name, value in rows)]
    )
