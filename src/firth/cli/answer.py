"""How a command answers: a picture for people, JSON for programs, always from the same values."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import RenderableType

from firth import show
from firth.errors import OptionError
from firth.formats.catalogue import load
from firth.vectors import WordVectors


def answer(values: object, picture: RenderableType, as_json: bool) -> None:
    """Prints the values as JSON, or the picture."""
    if as_json:
        sys.stdout.write(json.dumps(jsonable(values), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    else:
        show.stdout().print(picture)


def json_line(values: object) -> str:
    """The values as one line of JSON."""
    return json.dumps(jsonable(values), ensure_ascii=False, allow_nan=False) + "\n"


def jsonable(value: Any) -> Any:
    """Plain JSON: NumPy numbers become numbers, what is not a finite number becomes null, odd bytes are replaced.

    >>> jsonable({"cosine": np.float32(0.5), "ratio": float("inf"), "words": ("a", "b")})
    {'cosine': 0.5, 'ratio': None, 'words': ['a', 'b']}
    """
    if isinstance(value, Mapping):
        return {str(jsonable(key)): jsonable(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, Sequence):
        return [jsonable(item) for item in value]
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def load_vectors(path: str) -> WordVectors:
    """The word vectors in a file; another kind of model is an error that says what it is."""
    model = load(path)
    if not isinstance(model, WordVectors):
        raise OptionError(f"{path}: holds a {type(model).__name__}, but this command needs word vectors")
    return model
