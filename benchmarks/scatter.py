"""The scatter plot in a software browser: first paint, frames while panning, and what a user does with many points.

python benchmarks/scatter.py [points]        (needs playwright and Chromium)

The page is a file that contains the data. CPU time and memory are those of all processes of the browser.
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


ACTIONS = {  # one call each; `round` is its number
    "find a word": "plot.lightWords([`word${17 * round + 5}`, `word${31 * round}`], `word${13 * round + 1}`)",
    "point under the mouse": "plot.pick(100 + (37 * round) % 1200, 60 + (53 * round) % 680)",
    "words at zoom 1": "plot.drawWords()",
    "words at zoom 3": "plot.view = { ...whole, k: 3 * whole.k }, plot.drawWords()",
    "words at zoom 30": "plot.view = { ...whole, k: 30 * whole.k }, plot.drawWords()",
    "lasso around a third": "plot.view = whole, plot.within([[300, 200], [1100, 200], [1100, 600], [300, 600]]).length",
}
REPEAT = """([code, count]) => {
  const act = new Function("plot", "whole", "round", `return ${code}`);
  plot.fit(false);
  const whole = { ...plot.view };
  act(plot, whole, 0); // the first call builds grids and tables
  for (let round = 1; round <= count; round++) act(plot, whole, round);
  plot.light([]);
}"""


FEW = 10_000  # points with layers
SLIDE = """async (updates) => {
  for (let k = 0; k < updates; k++) {
    plot.mix([k / updates, 1 - k / updates, 0.5], 1 + k / updates, true);
    await new Promise(requestAnimationFrame);
  }
  plot.gl.finish();
}"""


def resident() -> float:
    """The memory of the processes of the browser, in megabytes: proportional set size, so that nothing counts twice."""
    total = 0
    for process in own_processes():
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(text.partition("\nPss:")[2].split()[0])
    return total / 1024


def own_processes() -> list[int]:
    """The processes of the browser that this one started."""
    parents, named = {}, set()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            command, _, rest = Path(f"/proc/{name}/stat").read_text().rpartition(")")
        except OSError:
            continue
        parents[int(name)] = int(rest.split()[1])
        if "chrom" in command:
            named.add(int(name))
    found = []
    for process in named:
        above = process
        while above > 1 and above != os.getpid():
            above = parents.get(above, 0)
        if above == os.getpid():
            found.append(process)
    return found


def cpu_seconds() -> float:
    """The CPU time of the processes of the browser that this one started."""
    ticks = 0
    for process in own_processes():
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def make_points(size: int) -> ScatterData:
    """Points in sixty clouds, with a word for each; few points have three layers that can be mixed."""
    rng = np.random.default_rng(0)
    centers = 5 * rng.normal(size=(60, 2))
    positions = centers[rng.integers(0, 60, size)] + rng.normal(size=(size, 2))
    names = [f"word{number}" for number in range(size)]
    if size > FEW:
        return ScatterData([positions], names=names)
    vectors = rng.normal(size=(3, size, 16))
    return ScatterData([positions, *vectors[1:, :, :2]], names=names, vectors=vectors)


def main(size: int = 100_000, frames: int = 40) -> None:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_path = Path(folder) / "page.html"
        data = base64.b64encode(make_points(size).pack()).decode()
        page_path.write_text(PAGE % (data, SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=path, args=SOFTWARE)
        empty = resident()
        page = browser.new_page(viewport={"width": 1400, "height": 800})
        before, begin = cpu_seconds(), time.perf_counter()
        page.goto(page_path.as_uri())
        page.wait_for_function("window.painted", timeout=300_000)
        print(f"{size:,} points: page opened and painted in {time.perf_counter() - begin:.2f} s", end="")
        print(f" ({cpu_seconds() - before:.2f} CPU-s), of which the plot {page.evaluate('painted'):.0f} ms")
        before = cpu_seconds()
        wall = page.evaluate(PAN, frames)
        cpu = 1000 * (cpu_seconds() - before) / frames
        print(f"panning: {cpu:.0f} CPU-ms a frame, {1000 / wall:.1f} frames a second")
        if size <= FEW:
            before = cpu_seconds()
            page.evaluate(SLIDE, frames)
            print(f"a slider: {1000 * (cpu_seconds() - before) / frames:.0f} CPU-ms an update")
        print(f"memory of the browser: {resident() - empty:.0f} MB more than empty")
        for name, code in ACTIONS.items():
            count = 20 if "lasso" in name or "word" in name else 200
            page.evaluate(REPEAT, [code, 0])
            before = cpu_seconds()
            page.evaluate(REPEAT, [code, count])
            print(f"{name}: {1000 * (cpu_seconds() - before) / (count + 1):.1f} CPU-ms")
        browser.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
