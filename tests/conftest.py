"""What tests share: where the data lies, and a skip with a reason where it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("firth", deadline=None)  # the first call of a kernel compiles it
settings.load_profile("firth")

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The data folder: FIRTH_DATA, or `shared` beside the repository."""
    if not DATA.is_dir():
        pytest.skip(f"needs the data folder, and {DATA} is not there: set FIRTH_DATA")
    return DATA


@pytest.fixture
def gpu() -> None:
    """Skips a test where the kernels in Triton cannot run."""
    torch = pytest.importorskip("torch")
    from firth.kernels.triton_support import supports

    if not (torch.cuda.is_available() and supports(torch.device("cuda"))):
        pytest.skip("needs an NVIDIA GPU for data centers (H100 or newer), a torch that was built for it, and Triton")


def pytest_configure() -> None:
    """Forgets compiled kernels that are older than any kernel's source.

    numba compares a cached kernel with its own file only, and would keep machine code of a changed callee elsewhere.
    """
    kernels = Path(__file__).resolve().parents[1] / "src" / "firth" / "kernels"
    newest = max(path.stat().st_mtime for path in kernels.glob("*.py"))
    compiled = [*kernels.glob("__pycache__/*.nbi"), *kernels.glob("__pycache__/*.nbc")]
    for path in compiled:
        if path.stat().st_mtime < newest:
            path.unlink(missing_ok=True)
