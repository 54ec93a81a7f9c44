"""Scripts are no package: each is loaded from its file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def load_script() -> Callable[[str], Any]:
    """Loads a script as a new module, by its path in the repository."""

    def load(path: str) -> Any:
        spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # its dataclasses look for it there
        spec.loader.exec_module(module)
        return module

    return load
