"""Files of studies: their data, and results that are stored as soon as they are computed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from firth import data
from firth.files import atomic_file

TEXT = "data/corpora/en-01.txt.xz"  # the English text of the studies


def load_or_compute(path: Path, identity: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
    """The result stored in a file if it has the same identity; otherwise it is computed and stored there.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "sum.json"
    >>> load_or_compute(file, {"n": 3}, lambda: {"sum": 6}), load_or_compute(file, {"n": 3}, lambda: {"sum": -1})
    ({'sum': 6}, {'sum': 6})
    >>> load_or_compute(file, {"n": 4}, lambda: {"sum": 10})
    {'sum': 10}
    """
    identity = json.loads(json.dumps(dict(identity)))
    if path.is_file():
        try:
            stored = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            stored = None  # incomplete or another file
        if isinstance(stored, dict) and stored.get("of") == identity and "result" in stored:
            return stored["result"]
    result = json.loads(json.dumps(compute()))
    with atomic_file(path) as file:
        file.write_text(json.dumps({"of": identity, "result": result}), encoding="utf-8")
    return result


def data_file(name: str) -> Path:
    """The path of a file in the data folder. If it is missing, the error says how to install its set."""
    return data.find_file(name)
