"""What tests share: where the data lies, and a skip with a reason where it does not."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Before torch is imported. Test processes run side by side; a pool of threads in each would only make them wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("firth", deadline=None)  # the first call of a kernel compiles it
settings.load_profile("firth")

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))

SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def data() -> Path:
    """The data folder: FIRTH_DATA, or `shared` beside the repository."""
    if not DATA.is_dir():
        pytest.skip(f"needs the data folder, and {DATA} is not there: set FIRTH_DATA")
    return DATA


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Finished maps of tests stay apart from those of the user."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("FIRTH_CACHE")
    os.environ["FIRTH_CACHE"] = str(folder)
    yield folder
    os.environ.pop("FIRTH_CACHE")
    if before is not None:
        os.environ["FIRTH_CACHE"] = before


@pytest.fixture
def gpu() -> None:
    """Skips a test where the kernels in Triton cannot run."""
    torch = pytest.importorskip("torch")
    from firth.kernels.triton_support import supports

    if not (torch.cuda.is_available() and supports(torch.device("cuda"))):
        pytest.skip("needs an NVIDIA GPU for data centers (H100 or newer), a torch that was built for it, and Triton")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser, with WebGL 2 in software. A test that finds none is skipped with the reason."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'firth[test]'")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("needs a Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=SOFTWARE)
        yield browser
        browser.close()


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in its own hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run in several processes, one of them has the browser and the explorer."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("browser"))


def pytest_configure() -> None:
    """Forgets compiled kernels that are older than their source or than a kernel that they call.

    numba compares a cached kernel with its own file only, and would keep machine code of a changed callee elsewhere.
    """
    kernels = Path(__file__).resolve().parents[1] / "src" / "firth" / "kernels"
    sources = {path.stem: path for path in kernels.glob("*.py")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in sources.items()}
    imported = re.compile(r"firth\.kernels(?:\.| import )(\w+)")
    callees = {name: set(imported.findall(text)) & sources.keys() for name, text in texts.items()}
    for name in sources:
        needed, pending = {name}, [name]
        while pending:
            new = callees[pending.pop()] - needed
            needed |= new
            pending += new
        newest = max(sources[one].stat().st_mtime for one in needed)
        for path in kernels.glob(f"__pycache__/{name}.*.nb[ic]"):
            if path.stat().st_mtime < newest:
                path.unlink(missing_ok=True)
