"""Text as an array of code points, which the kernels read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]


def code_points(text: str) -> Codes:
    """The code points of a text, including surrogates.

    >>> code_points("aé").tolist()
    [97, 233]
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def to_text(codes: Codes) -> str:
    """The text of code points.

    >>> to_text(code_points("aé"))
    'aé'
    """
    return codes.tobytes().decode("utf-32-le", "surrogatepass")
