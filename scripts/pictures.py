"""Makes the pictures of the explorer and of a report in docs/images again; that of a notebook is taken by hand.

    python scripts/pictures.py [name …]

Needs the extras `elmo` and `web`, playwright, Pillow and Chromium. The first run computes maps, which
are then kept in the cache of firth.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
READY = """document.querySelector('.content > *') && !document.querySelector('.working, .busy')
    && [...document.querySelectorAll('.plot')].every(one => one.scatter?.frames > 0)
    && ![...document.querySelectorAll('figcaption .button')].some(one => one.checkVisibility())"""  # no layout runs
MOST = 150_000  # bytes of a picture


@dataclass(frozen=True)
class Picture:
    """A page in a view."""

    name: str
    path: str
    language: str = "en"
    theme: str = "light"
    width: int = 1280
    height: int = 800
    act: Callable[[Any], None] | None = None


def open_sheet(page: Any) -> None:
    """Opens the controls on a narrow screen."""
    page.locator(".sheet-button").click()


PICTURES = (
    Picture("senses", "/senses?word=bank"),
    Picture("map", "/map?model=word2vec-en"),
    Picture("map-dark", "/map?model=fasttext-fa", "fa", "dark"),
    Picture("analogy", "/analogy?relation=capitals"),
    Picture("neighbors", "/neighbors?model=fasttext-fa&word=چای", "fa", "dark", height=760),
    Picture("inside", "/inside"),
    Picture("language-model", "/language-model", height=760),
    Picture("tasks", "/tasks?task=srl", height=760),
    Picture("training", "/training?step=1000", height=1280),
    Picture("phone-map", "/map?model=word2vec-en", width=400, height=800),
    Picture("phone-senses", "/senses", "fa", "dark", 400, 800, open_sheet),
)


def take(browser: Any, address: str, picture: Picture) -> None:
    """Takes one picture and writes it as WebP."""
    root = address.partition("/?")[0]
    view = {"width": picture.width, "height": picture.height}
    context = browser.new_context(viewport=view, locale=picture.language, device_scale_factor=1.5)
    context.add_cookies([{"name": "firth-theme", "value": picture.theme, "url": root}])
    context.request.get(address)
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(root + picture.path)
    page.wait_for_function(READY)
    if picture.act:
        picture.act(page)
    page.wait_for_timeout(1500)
    shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()
    path = FOLDER / f"explorer-{picture.name}.webp"
    for quality in (88, 80, 70, 60):
        shown.save(path, quality=quality, method=6)
        if path.stat().st_size <= MOST:
            break
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def take_report(browser: Any) -> None:
    """Takes the picture of a report, from disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        subprocess.run([sys.executable, "-m", "firth", "report", "word2vec-en", "--out", path], check=True)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(path.as_uri())
        page.wait_for_function("window.report?.plot.frames > 0")
        page.locator("#examples button").first.click()
        page.mouse.move(1, 1)
        page.wait_for_timeout(1500)
        Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(FOLDER / "report.webp", quality=80, method=6)
        page.close()


def main(names: list[str]) -> None:
    """Takes the pictures of these names, or all."""
    command = [sys.executable, "-m", "firth", "explore", "--no-browser", "--no-warm-up", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = re.search(r"http://\S+", server.stdout.readline())
    assert address is not None
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            for picture in PICTURES:
                if not names or picture.name in names:
                    take(browser, address[0], picture)
            if not names or "report" in names:
                take_report(browser)
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main(sys.argv[1:])
