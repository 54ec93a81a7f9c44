"""The names of the files of a model's arrays in firth's own format: one file, or several of a limited size.

`config.json` has their number as `files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firth.errors import OptionError

ARRAYS = "model.safetensors"
MOST = 1000  # files of a model


def array_files(config: Mapping[str, Any]) -> list[str]:
    """The names of the files of arrays that a config implies.

    >>> array_files({}), array_files({"files": 2})
    (['model.safetensors'], ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'])
    """
    count = config.get("files", 1)
    if type(count) is not int or not 1 <= count <= MOST:
        raise OptionError(f"the number of files is {count!r:.60}, but must be from 1 to {MOST}")
    if count == 1:
        return [ARRAYS]
    return [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
