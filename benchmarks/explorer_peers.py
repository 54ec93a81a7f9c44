"""The explorer's map beside TensorBoard's projector and Apple's embedding-atlas, with the same points in one browser.

    python benchmarks/explorer_peers.py [--points 100000] [--rounds 3] [--peers PYTHON] [--atlas PYTHON] [--shots DIR]

PYTHON is an interpreter that has tensorboard and embedding-atlas. Needs playwright and Chromium; WebGL and WebGPU run
on SwiftShader, on the CPU. firth and TensorBoard get the vectors; firth's layout was computed before, TensorBoard's PCA
runs in the page. embedding-atlas gets the positions of firth's layout. Each server runs and was visited once; the cache
of the browser is empty.

First paint: the first frame in which a twentieth of the pixels of the plot (of senses: three in a thousand) are not
background, read back from its canvas. Frames: those in which the page drew on the GPU, while the mouse drags the plot.
CPU time is that of all processes of the browser. The programs take turns.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Error, sync_playwright

import firth
from firth.maps.cache import cached_map
from firth.vectors.words import WordVectors
from scatter import SOFTWARE, cpu_seconds

WEBGPU = [*SOFTWARE, "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"]
FRAMES = 30  # of a drag
LONGEST = 90.0  # seconds of a drag
WATCH = """
(() => {
  const seen = (window.seen = { painted: 0, frames: 0, counting: false });
  const small = document.createElement("canvas");
  small.width = 70; small.height = 40;
  let waiting = false, drawn = false;
  const look = (canvas) => {
    const context = small.getContext("2d", { willReadFrequently: true });
    context.clearRect(0, 0, 70, 40);
    context.drawImage(canvas, 0, 0, 70, 40);
    const pixels = new Uint32Array(context.getImageData(0, 0, 70, 40).data.buffer), counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (most < (1 - SHARE) * pixels.length) seen.painted = performance.timeOrigin + performance.now();
  };
  const note = (canvas) => {
    drawn = true;
    if (seen.painted || waiting || !(canvas?.width > 300)) return;
    waiting = true;
    queueMicrotask(() => { waiting = false; look(canvas); });
  };
  const wrap = (kind, name, find) => {
    const old = kind?.prototype[name];
    if (!old) return;
    kind.prototype[name] = function (...values) {
      const result = old.apply(this, values);
      note(find(this));
      return result;
    };
  };
  for (const kind of [window.WebGLRenderingContext, window.WebGL2RenderingContext])
    for (const name of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced"])
      wrap(kind, name, (gl) => gl.canvas);
  let canvas = null;
  const configure = window.GPUCanvasContext?.prototype.configure;
  if (configure) GPUCanvasContext.prototype.configure = function (...values) {
    canvas = this.canvas;
    return configure.apply(this, values);
  };
  wrap(window.GPUQueue, "submit", () => canvas);
  const tick = () => { if (drawn && seen.counting) seen.frames++; drawn = false; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
})();
"""


@dataclass
class Peer:
    """A program with a server: how to start it, and where its plot is."""

    name: str
    command: list[str]
    address: str  # with {root}; firth prints its root, the others have a port
    flags: list[str]
    port: int = 0
    share: float = 0.05  # of the pixels, that are not background when the plot is painted
    runs: list[dict[str, float]] = field(default_factory=list)


def make_files(folder: Path, size: int) -> None:
    """The same points for every program: vectors, TSV files and positions. The layout is computed here, and cached."""
    unit = firth.load("word2vec-en").unit
    more = np.random.default_rng(1)
    rows = unit[more.integers(0, len(unit), size)] + 0.08 * more.standard_normal((size, unit.shape[1]), np.float32)
    words = [f"word{number}" for number in range(size)]
    vectors = WordVectors(words, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    firth.save(vectors, folder / "vectors")
    positions = cached_map(firth.load(folder / "vectors").unit).positions
    board = folder / "board"
    board.mkdir(exist_ok=True)
    np.savetxt(board / "vectors.tsv", vectors.unit, "%.4f", "\t")
    (board / "words.tsv").write_text("\n".join(words) + "\n")
    text = 'embeddings { tensor_name: "words" tensor_path: "vectors.tsv" metadata_path: "words.tsv" }\n'
    (board / "projector_config.pbtxt").write_text(text)
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"word": words, "x": positions[:, 0].astype(float), "y": positions[:, 1].astype(float)})
    parquet.write_table(table, folder / "points.parquet")


@contextmanager
def serve(peer: Peer) -> Iterator[str]:
    """Runs the server of a program; gives the address to open."""
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(peer.command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            if peer.port:
                root = f"http://127.0.0.1:{peer.port}"
                wait_for(server, peer.port)
            else:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found is not None
                root = found[0]
            yield root
        finally:
            server.terminate()
            server.wait()


def wait_for(server: subprocess.Popen[str], port: int, seconds: float = 180) -> None:
    """Waits until a server listens."""
    import socket

    for _ in range(int(seconds / 0.5)):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if server.poll() is not None:
            raise SystemExit(f"{server.args} ended with {server.returncode}")
        time.sleep(0.5)
    raise SystemExit(f"nothing listens at {port}")


def find(page: Any, name: str) -> float:
    """The largest of a count over the frames of a page: TensorBoard's plot is in a frame of its own."""
    values = []
    for frame in page.frames:
        with suppress(Error):
            values.append(frame.evaluate(f"window.seen?.{name} || 0"))
    return max(values, default=0)


def visit(browser: Any, peer: Peer, root: str, shot: Path | None) -> dict[str, float]:
    """Opens the page with an empty cache, waits for the first paint, then drags the plot."""
    context = browser.new_context(viewport={"width": 1400, "height": 800})
    context.add_init_script(WATCH.replace("SHARE", str(peer.share)))
    if not peer.port:
        context.request.get(root)
    page, requests, received = context.new_page(), [], [0]
    context.on("requestfinished", lambda request: requests.append(request))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
    before, begin = cpu_seconds(), time.time()
    page.goto(peer.address.format(root=root.partition("/?")[0]), wait_until="commit", timeout=180_000)
    painted = 0.0
    while not painted and time.time() - begin < 300:
        page.wait_for_timeout(200)
        painted = find(page, "painted")
    result = {"paint": painted / 1000 - begin if painted else float("nan"), "paint_cpu": cpu_seconds() - before}
    settle(page)
    result["kilobytes"] = (sum(received) + sum(measure(request) for request in requests)) / 1000
    if shot:
        page.screenshot(path=shot)
    if painted:
        result |= drag(page)
    if shot:
        page.screenshot(path=shot.with_name(f"{shot.stem}-dragged.png"))
    context.close()
    return result


def measure(request: Any) -> int:
    """The bytes of an answer."""
    with suppress(Error):
        sizes = request.sizes()
        return sizes["responseBodySize"] + sizes["responseHeadersSize"]
    return 0


def settle(page: Any) -> None:
    """Waits until the browser computes nothing, or for half a minute."""
    for _ in range(30):
        before = cpu_seconds()
        page.wait_for_timeout(1000)
        if cpu_seconds() - before < 0.15:
            return


def drag(page: Any) -> dict[str, float]:
    """Drags the plot with the mouse; frames a second, and CPU time for a frame."""
    boxes = []
    for frame in page.frames:
        for canvas in frame.query_selector_all("canvas"):
            if box := canvas.bounding_box():
                boxes.append(box)
    box = max(boxes, key=lambda one: one["width"] * one["height"])
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for frame in page.frames:
        with suppress(Error):
            frame.evaluate("seen.frames = 0, seen.counting = true")
    before, begin, step, frames = cpu_seconds(), time.time(), 0, 0.0
    while frames < FRAMES and time.time() - begin < LONGEST:
        step += 1
        page.mouse.move(x + 6 * (step % 40 if step % 80 < 40 else 40 - step % 40), y + 2 * (step % 20))
        if step % 5 == 0:
            frames = find(page, "frames")
    seconds, spent = time.time() - begin, cpu_seconds() - before
    page.mouse.up()
    return {"rate": frames / seconds, "frame_cpu": 1000 * spent / max(frames, 1)}


def make_peers(folder: Path, python: str, atlas_python: str) -> list[Peer]:
    """The programs."""
    model = str(folder / "vectors")
    explore = ["-m", "firth", "explore", model, "--no-browser", "--no-warm-up", "--port", "0"]
    board = ["-m", "tensorboard.main", "--logdir", str(folder / "board"), "--port", "6107", "--host", "127.0.0.1"]
    code = "from embedding_atlas.cli import main; main()"
    atlas = ["-c", code, str(folder / "points.parquet"), "--x", "x", "--y", "y", "--text", "word", "--port", "6108"]
    return [
        Peer("firth", [sys.executable, *explore], "{root}/map?model=" + quote(model), SOFTWARE),
        Peer("senses of firth", [sys.executable, *explore], "{root}/senses?word=bank", SOFTWARE, share=0.003),
        Peer("TensorBoard projector", [python, *board], "{root}/#projector", SOFTWARE, 6107),
        Peer("embedding-atlas", [atlas_python, *atlas, "--no-auto-port"], "{root}/", WEBGPU, 6108),
    ]


def main() -> None:
    """Prints the figures: medians of the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--atlas", default="", help="the interpreter for embedding-atlas, if it is another one")
    parser.add_argument("--only", default="", help="a part of the name of one program")
    parser.add_argument("--shots", type=Path)
    arguments = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    folder = Path(tempfile.gettempdir()) / f"firth-peers-{os.getuid()}-{arguments.points}"
    os.environ["FIRTH_CACHE"] = str(folder / "cache")
    if not (folder / "points.parquet").is_file():
        folder.mkdir(exist_ok=True)
        make_files(folder, arguments.points)
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    peers = make_peers(folder, arguments.peers, arguments.atlas or arguments.peers)
    peers = [peer for peer in peers if arguments.only in peer.name]
    with sync_playwright() as driver, ExitStack() as servers:
        roots = [servers.enter_context(serve(peer)) for peer in peers]
        for number in range(arguments.rounds + 1):  # the first one warms the servers up
            for peer, root in zip(peers, roots):
                browser = driver.chromium.launch(executable_path=chromium, args=peer.flags)
                shot = arguments.shots and arguments.shots / f"{peer.name.replace(' ', '-')}.png"
                peer.runs.append(visit(browser, peer, root, shot if number == arguments.rounds else None))
                browser.close()
                print(number, peer.name, {key: round(value, 2) for key, value in peer.runs[-1].items()}, flush=True)
    for peer in peers:
        middle = {key: median(run.get(key, float("nan")) for run in peer.runs[1:]) for key in peer.runs[-1]}
        print(peer.name, {key: round(value, 2) for key, value in middle.items()})
    print("load", os.getloadavg())


if __name__ == "__main__":
    main()
