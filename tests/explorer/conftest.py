"""One explorer for all tests of its pages, and tabs in the browser of tests/conftest.py."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

SECONDS = 180_000  # milliseconds that a page may take: the first answers of a cold machine compile kernels


def start_explorer(*arguments: str, port: int = 0) -> tuple[subprocess.Popen[str], str]:
    """A process that serves the explorer, by default on a free port, and its address with the token."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    command = [
        sys.executable,
        "-m",
        "firth",
        "explore",
        "--no-browser",
        "--no-warm-up",
        "--port",
        str(port),
        *arguments,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    assert found is not None, f"the explorer printed {line!r}"
    return process, found[0]


@pytest.fixture(scope="session")
def training_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that the explorer shows."""
    folder = tmp_path_factory.mktemp("training")
    (folder / "log.jsonl").write_text('{"step": 1, "loss": 3}\n{"step": 2, "loss": 2}\n')
    return folder


@pytest.fixture(scope="session")
def explorer(training_folder: Path) -> Iterator[str]:
    """The address of a running explorer, with its token."""
    pytest.importorskip("nicegui", reason="needs the extra web: pip install 'firth[web]'")
    process, address = start_explorer(str(training_folder))
    yield address
    process.terminate()
    process.wait(20)


class Tab:
    """A tab of the browser with a visitor of its own, and what it saw: errors and foreign requests."""

    def __init__(self, context: Any, address: str) -> None:
        self.context, self.address = context, address
        self.root = address.partition("/?")[0]
        self.page = context.new_page()
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        context.on("request", lambda request: self.note(request.url))
        self.page.set_default_timeout(SECONDS)
        context.request.get(address)  # the token becomes a cookie

    def note(self, url: str) -> None:
        """Notes a request that leaves this machine."""
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.foreign.append(url)

    def open(self, path: str) -> Any:
        """The page at a path, complete."""
        self.page.goto(self.root + path)
        self.settle()
        return self.page

    def settle(self) -> None:
        """Waits until nothing computes."""
        self.page.wait_for_function(
            "document.querySelector('.content > *') && !document.querySelector('.working, .busy')"
        )

    def look(self, width: int, theme: str) -> None:
        """Makes the window wide or narrow, and the system light or dark."""
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=theme)

    def check(self) -> None:
        """Fails if the browser reported errors, or asked another machine."""
        errors, self.errors = self.errors, []
        assert errors == []
        assert self.foreign == []


OpenTab = Callable[..., Tab]


@pytest.fixture
def open_tab(chromium: Any, explorer: str) -> Iterator[OpenTab]:
    """Opens tabs, each with its own visitor: language, theme, and size of the window."""
    tabs: list[Tab] = []

    def open_one(language: str = "en", theme: str = "light", width: int = 1400, height: int = 900) -> Tab:
        context = chromium.new_context(viewport={"width": width, "height": height}, locale=language)
        root = explorer.partition("/?")[0]
        context.add_cookies([{"name": "firth-theme", "value": theme, "url": root}])
        tabs.append(Tab(context, explorer))
        return tabs[-1]

    yield open_one
    for tab in tabs:
        tab.context.close()
    for tab in tabs:
        tab.check()


@pytest.fixture
def tab(open_tab: OpenTab) -> Tab:
    """A tab in English."""
    return open_tab()


def run_code(code: str) -> tuple[dict[str, Any], list[Any]]:
    """Runs code that a page offers to copy: its variables, and the value of every line that is an expression."""
    names: dict[str, Any] = {}
    values = []
    for line in code.strip().splitlines():
        if isinstance(ast.parse(line).body[0], ast.Expr):
            exec(f"value = {line}", names)
            values.append(names["value"])
        else:
            exec(line, names)
    return names, values


def run_copied(code: str) -> Any:
    """The value of the last line of code that a page offers to copy."""
    return run_code(code)[1][-1]
