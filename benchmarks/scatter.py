"""The scatter plot in a software browser: time to the first paint, and CPU time and rate of frames while panning.

python benchmarks/scatter.py [points]        (needs playwright and Chromium)

The page is a file that contains the data. CPU time is that of all processes of the browser.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from firth.maps.scatter import SCRIPT, ScatterData

PAGE = """<!doctype html><meta charset="utf-8"><body style="margin:0"><div id="plot" style="height:800px"></div>
<script id="data" type="application/octet-stream">%s</script><script type="module">
%s
const begin = performance.now();
const text = atob(document.getElementById("data").textContent);
window.plot = new Scatter(document.getElementById("plot"));
plot.show(unpack(Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer));
requestAnimationFrame(() => requestAnimationFrame(() => (window.painted = performance.now() - begin)));
</script>"""
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PAN = """async (frames) => {
  const begin = performance.now();
  plot.held.set(1, { x: 0, y: 0 }); // as while a pointer is down: of more than 100,000 points fewer are drawn then
  for (let k = 0; k < frames; k++) { plot.pan(k % 20 < 10 ? 6 : -6, 2); await new Promise(requestAnimationFrame); }
  plot.gl.finish();
  plot.held.clear();
  return (performance.now() - begin) / frames;
}"""


def cpu_seconds() -> float:
    """The CPU time of the processes of the browser that this one started."""
    parents, times = {}, {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            command, _, rest = Path(f"/proc/{name}/stat").read_text().rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        parents[int(name)] = int(fields[1])
        times[int(name)] = int(fields[11]) + int(fields[12]) if "chrom" in command else 0
    total = 0
    for process, ticks in times.items():
        above = process
        while above > 1 and above != os.getpid():
            above = parents.get(above, 0)
        total += ticks if above == os.getpid() else 0
    return total / os.sysconf("SC_CLK_TCK")


def make_points(size: int) -> ScatterData:
    """Points in sixty clouds, with a word for each."""
    rng = np.random.default_rng(0)
    centers = 5 * rng.normal(size=(60, 2))
    positions = centers[rng.integers(0, 60, size)] + rng.normal(size=(size, 2))
    return ScatterData([positions], names=[f"word{number}" for number in range(size)])


def main(size: int = 100_000, frames: int = 40) -> None:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_path = Path(folder) / "page.html"
        data = base64.b64encode(make_points(size).pack()).decode()
        page_path.write_text(PAGE % (data, SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=path, args=SOFTWARE)
        page = browser.new_page(viewport={"width": 1400, "height": 800})
        before, begin = cpu_seconds(), time.perf_counter()
        page.goto(page_path.as_uri())
        page.wait_for_function("window.painted")
        print(f"{size:,} points: page opened and painted in {time.perf_counter() - begin:.2f} s", end="")
        print(f" ({cpu_seconds() - before:.2f} CPU-s), of which the plot {page.evaluate('painted'):.0f} ms")
        before = cpu_seconds()
        wall = page.evaluate(PAN, frames)
        cpu = 1000 * (cpu_seconds() - before) / frames
        print(f"panning: {cpu:.0f} CPU-ms a frame, {1000 / wall:.1f} frames a second")
        browser.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
