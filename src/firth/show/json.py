"""Values as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from firth.text.vocabulary import make_printable


def to_json(value: Any) -> Any:
    """Plain JSON: NumPy values become numbers and lists, NaN and infinity become null, lone surrogates are replaced.

    >>> to_json({"cosine": np.float32(0.5), "ratio": float("inf"), "words": ("a", "b")})
    {'cosine': 0.5, 'ratio': None, 'words': ['a', 'b']}
    """
    if isinstance(value, Mapping):
        return {str(to_json(key)): to_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, str):
        return make_printable(value)
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    if isinstance(value, np.generic):
        return to_json(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
