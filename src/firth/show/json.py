"""Values as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


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
