"""What studies find and leave on disk: files of the data folder, and results that cost time.

A result is kept in a file as soon as it is there, so that who was stopped goes on behind it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from firth import data
from firth.errors import OptionError
from firth.files import atomic_file

TEXT = "data/corpora/en-01.txt.xz"  # the English text of the studies


def load_or_compute(path: Path, of: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
    """What a file holds if it is a result of the same options, and else what is computed now, which is put there.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "sum.json"
    >>> load_or_compute(file, {"of": 3}, lambda: {"sum": 6}), load_or_compute(file, {"of": 3}, lambda: {"sum": -1})
    ({'sum': 6}, {'sum': 6})
    >>> load_or_compute(file, {"of": 4}, lambda: {"sum": 10})
    {'sum': 10}
    """
    options = json.loads(json.dumps(dict(of)))
    if path.is_file():
        try:
            held = json.loads(path.read_bytes())
        except ValueError:
            held = None  # not ours, or not whole: computed anew
        if isinstance(held, dict) and held.get("of") == options and "result" in held:
            return held["result"]
    result = json.loads(json.dumps(compute()))
    with atomic_file(path) as file:
        file.write_text(json.dumps({"of": options, "result": result}), encoding="utf-8")
    return result


def data_file(name: str) -> Path:
    """A file of the data folder."""
    path = data.folder() / name
    if not path.exists():
        raise OptionError(f"the data folder has no {name}. It is looked for in {data.folder()}")
    return path
