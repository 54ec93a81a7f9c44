"""The plot as a widget of a notebook: its module draws what Python packed, and tells what was picked."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from firth.errors import MissingExtra
from firth.maps.notebook import show_map, show_plot, show_senses, widget_class
from firth.maps.scatter import ScatterData, unpack
from firth.vectors.words import WordVectors


class Letters:
    """A biLM without weights."""

    def embed(self, sentences: list[list[str]], layers: str) -> list[Any]:
        rng = np.random.default_rng(1)
        return [rng.normal(size=(3, len(words), 4)).astype(np.float32) for words in sentences]


def test_a_map_and_senses_are_widgets_with_packed_data() -> None:
    pytest.importorskip("anywidget")
    vectors = WordVectors([f"w{i}" for i in range(12)], np.random.default_rng(1).normal(size=(12, 4)))
    widget = vectors.map(words=10)
    assert unpack(widget.data)[0]["names"] == [f"w{i}" for i in range(10)]
    assert show_map(vectors, height=300).height == 300
    senses = show_senses(Letters(), "bat")
    assert senses.mixer
    assert unpack(senses.data)[0]["size"] == 15
    assert unpack(show_senses(Letters(), ["tea"], ["some tea", "more tea"]).data)[0]["size"] == 3


def test_without_anywidget_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget_class.cache_clear()
    with pytest.raises(MissingExtra, match=r"firth\[notebook\]"):
        show_plot(ScatterData([np.zeros((1, 2))]))
    widget_class.cache_clear()


def test_a_saved_plot_draws_and_tells_what_was_picked(chromium: Any, tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    data = ScatterData([np.array([[0, 0], [1, 1.0]])], names=["tea", "چای</script>"])
    path = tmp_path / "page.html"
    show_plot(data, mixer=True).save(path)
    context = chromium.new_context(offline=True)
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelector('.scatter')?.scatter?.frames > 0")
    x, y = page.evaluate(
        "(({x, y}, [a, b]) => [x + a, y + b])(...(s => [s.getBoundingClientRect(), s.scatter.toPixel(1)])"
        "(document.querySelector('.scatter')))"
    )
    page.mouse.click(x, y)
    assert page.evaluate("state.picked") == "چای</script>"
    assert page.locator(".mixer input[type=range]").count() == 4
    assert requests == [path.as_uri()]
    context.close()


def write_notebook(path: Path) -> None:
    """A notebook that shows the map of a few words."""
    code = [
        "import numpy as np",
        "from firth.vectors.words import WordVectors",
        "rows = np.random.default_rng(1).normal(size=(40, 4))",
        "WordVectors([f'w{i}' for i in range(40)], rows).map()",
    ]
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    page = {"cells": [cell | {"source": "\n".join(code)}], "metadata": {"kernelspec": kernel}}
    path.write_text(json.dumps(page | {"nbformat": 4, "nbformat_minor": 5}))


def test_a_map_is_drawn_in_jupyterlab_without_foreign_requests(chromium: Any, tmp_path: Path) -> None:
    pytest.importorskip("jupyterlab", reason="needs jupyterlab: pip install jupyterlab")
    pytest.importorskip("anywidget")
    write_notebook(tmp_path / "map.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--IdentityProvider.token=token", f"--ServerApp.root_dir={tmp_path}"]
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **folders, "IPYTHONDIR": str(tmp_path / "ipython")}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            page = chromium.new_page(viewport={"width": 1200, "height": 900})
            page.set_default_timeout(120_000)
            foreign: list[str] = []
            page.on("request", lambda request: foreign.append(request.url) if is_foreign(request.url) else None)
            open_page(page, f"http://127.0.0.1:{port}/lab/tree/map.ipynb?token=token")
            page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(state="attached")
            page.locator(".jp-Cell .cm-content").first.click()
            page.keyboard.press("Shift+Enter")
            page.wait_for_function("document.querySelector('.scatter')?.scatter?.frames > 0")
            assert page.evaluate("document.querySelector('.scatter').scatter.size") == 40
            image = pytest.importorskip("PIL.Image").open(io.BytesIO(page.locator(".scatter").screenshot()))
            assert len(image.convert("RGB").getcolors(1 << 20)) > 30
            assert foreign == []
            page.close()
        finally:
            server.terminate()


def is_foreign(url: str) -> bool:
    """Whether a request leaves this machine."""
    return urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).hostname != "127.0.0.1"


def open_page(page: Any, address: str) -> None:
    """Opens a page as soon as its server answers."""
    for attempt in range(240):
        try:
            page.goto(address)
        except Exception:
            if attempt == 239:
                raise
            time.sleep(0.25)
        else:
            return
