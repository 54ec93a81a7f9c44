"""The packed data of a plot, and the plot itself in a browser: its pixels, picking, lasso, labels and mixing."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.maps.analogies import RelationPlot, find_relation
from firth.maps.scatter import SCRIPT, PlotField, ScatterData, inner_products, unpack

PAGE = """<!doctype html><meta charset="utf-8">
<body style="margin:0;background:#ffffff;color:#111;font-family:sans-serif"><div id="plot" style="height:600px"></div>
<script type="module">
%s
window.Scatter = Scatter;
window.load = (text) => unpack(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
window.events = [];
window.plot = new Scatter(document.getElementById("plot"), {
  label: "test",
  onPick: (id, name) => events.push(["pick", id, name]),
  onSelect: (chosen) => events.push(["select", chosen]),
});
</script>"""


def make_plain(count: int = 4) -> ScatterData:
    """Points in a row, each in a cluster of its own."""
    positions = np.stack([np.arange(count), np.zeros(count)], axis=1)
    field = PlotField("cluster", "Clusters", "category", np.arange(count) % 3, names=["red", "green", "blue"])
    return ScatterData([positions], names=[f"w{i}" for i in range(count)], fields=[field])


def test_a_packed_plot_is_unpacked() -> None:
    head, (positions, shades) = unpack(make_plain(3).pack())
    assert head["names"] == ["w0", "w1", "w2"]
    assert head["fields"][0]["names"] == ["red", "green", "blue"]
    assert positions.tolist() == [0, 0, 1, 0, 2, 0]
    assert shades.tolist() == [0, 1, 2]


def test_inner_products_give_the_length_of_any_mix() -> None:
    rng = np.random.default_rng(1)
    vectors, weights = rng.normal(size=(3, 5, 7)), np.array([0.2, -0.5, 0.9])
    squares, products = inner_products(vectors)
    pairs = np.array([weights[0] * weights[1], weights[0] * weights[2], weights[1] * weights[2]])
    expected = np.linalg.norm(np.tensordot(weights, vectors, 1), axis=1)
    np.testing.assert_allclose(np.sqrt(squares @ weights**2 + 2 * products @ pairs), expected)


def test_lists_of_another_length_are_an_error() -> None:
    positions = np.zeros((2, 2))
    with pytest.raises(OptionError, match="2 points cannot have 1 names"):
        ScatterData([positions], names=["a"])
    with pytest.raises(OptionError, match="shape"):
        ScatterData([positions, np.zeros((3, 2))])
    with pytest.raises(OptionError, match="each field needs 2 values"):
        ScatterData([positions], fields=[PlotField("a", "a", "ramp", np.zeros(3))])


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scatter") / "page.html"
    path.write_text(PAGE % SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shared_page(chromium: Any, page_file: Path):
    page = chromium.new_page(viewport={"width": 800, "height": 600})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(page_file.as_uri())
    page.wait_for_function("window.plot")
    yield page
    page.close()
    assert errors == []


class Shown:
    """A plot in the browser."""

    def __init__(self, page: Any, data: ScatterData) -> None:
        self.page = page
        page.evaluate("(text) => { plot.unit = false; events.length = 0; plot.show(load(text)); }", pack(data))
        self.wait()

    def wait(self) -> None:
        """Waits until two more frames could be drawn."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, code: str, argument: Any = None) -> Any:
        return self.page.evaluate(code, argument)

    def color(self, x: float, y: float) -> tuple[int, ...]:
        """The color of a pixel of the drawn points; transparent is (0, 0, 0, 0)."""
        code = """([x, y]) => {
          plot.render();
          const pixel = new Uint8Array(4), gl = plot.gl;
          gl.readPixels(Math.round(x), Math.round(plot.height - 1 - y), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
          return [...pixel];
        }"""
        return tuple(self.run(code, [x, y]))

    def pixel(self, id: int) -> list[float]:
        return list(self.run("(id) => plot.toPixel(id)", id))


def pack(data: ScatterData) -> str:
    return base64.b64encode(data.pack()).decode()


@pytest.fixture
def show(shared_page: Any):
    return lambda data: Shown(shared_page, data)


def test_every_point_has_its_color_at_its_place_and_the_ground_is_empty(show: Any) -> None:
    plot = show(make_plain(4))
    tones = plot.run("plot.tones.slice(0, 3)")
    for id in range(4):
        red, green, blue, alpha = plot.color(*plot.pixel(id))
        assert alpha > 200
        expected = [int(tones[id % 3][k : k + 2], 16) for k in (1, 3, 5)]
        np.testing.assert_allclose(np.array([red, green, blue]) * 255 / alpha, expected, atol=4)
    x, y = plot.pixel(0)
    assert plot.color(x, y + 60) == (0, 0, 0, 0)


def test_the_point_under_the_pointer_is_named_and_picked(show: Any) -> None:
    plot = show(make_plain(4))
    x, y = plot.pixel(2)
    plot.page.mouse.move(x + 3, y + 2)
    plot.wait()
    assert "w2" in plot.page.locator(".scatter-tip").inner_text()
    assert "blue" in plot.page.locator(".scatter-tip").inner_text()
    plot.page.mouse.click(x + 3, y + 2)
    assert plot.run("events") == [["pick", 2, "w2"]]
    plot.page.mouse.move(x, y + 120)
    assert plot.page.locator(".scatter-tip").is_hidden()


def test_picking_by_the_grid_is_picking_by_distance(show: Any) -> None:
    rng = np.random.default_rng(7)
    plot = show(ScatterData([rng.normal(size=(3000, 2))]))
    places = np.array(plot.run("Array.from({ length: 3000 }, (_, id) => plot.toPixel(id))"))
    for x, y in rng.uniform([100, 100], [700, 500], (40, 2)).tolist():
        distances = np.linalg.norm(places - [x, y], axis=1)
        expected = int(distances.argmin()) if distances.min() < 12 else -1
        assert plot.run("([x, y]) => plot.pick(x, y)", [x, y]) == expected


def test_a_lasso_selects_what_lies_in_it_and_writes_a_table(show: Any) -> None:
    plot = show(make_plain(6))
    (left, y), (right, _) = plot.pixel(1), plot.pixel(3)
    mouse = plot.page.mouse
    plot.page.keyboard.down("Shift")
    mouse.move(left - 20, y - 40)
    mouse.down()
    for x, dy in ((right + 20, -40), (right + 20, 40), (left - 20, 40)):
        mouse.move(x, y + dy, steps=3)
    mouse.up()
    plot.page.keyboard.up("Shift")
    plot.wait()
    assert plot.run("events") == [["select", {"count": 3, "ids": [1, 2, 3]}]]
    assert plot.page.locator(".scatter-selection tr").count() == 3
    lines = plot.run("plot.toTsv([1, 2, 3])").splitlines()
    assert lines[0].split("\t") == ["word", "x", "y", "cluster"]
    assert lines[2].split("\t") == ["w2", "2", "0", "blue"]
    with plot.page.expect_download() as saved:
        plot.page.get_by_role("button", name="Save as TSV").click()
    assert Path(saved.value.path()).read_text(encoding="utf-8").splitlines() == lines
    assert plot.color(*plot.pixel(2))[3] > 240
    assert plot.color(*plot.pixel(5))[3] < 60  # what is not selected is pale


def press(plot: Shown, *keys: str) -> None:
    """Presses keys one after another."""
    for key in keys:
        plot.page.keyboard.press(key)
    plot.wait()


def go_to(plot: Shown, x: float, y: float) -> None:
    """Moves the cross of the keyboard, by arrow keys, as near to a pixel as its small steps allow."""
    for axis, (less, more) in enumerate((("ArrowLeft", "ArrowRight"), ("ArrowUp", "ArrowDown"))):
        away = (x, y)[axis] - plot.run("plot.cross")[axis]
        key = more if away > 0 else less
        press(plot, *[key] * int(abs(away) // 24), *[f"Shift+{key}"] * round(abs(away) % 24 / 6))


def test_the_keyboard_draws_a_box_and_hears_the_word_under_the_cross(show: Any) -> None:
    plot = show(make_plain(6))
    (left, y), (right, _) = plot.pixel(1), plot.pixel(3)
    plot.page.locator("#plot").focus()
    press(plot, "l")
    assert plot.page.locator(".scatter-help").is_visible()
    assert "Space sets a corner" in plot.page.locator(".scatter-live").inner_text()
    go_to(plot, left, y)
    assert "w1" in plot.page.locator(".scatter-live").inner_text()
    go_to(plot, left - 20, y - 40)
    press(plot, "Space")
    go_to(plot, right + 20, y + 40)
    press(plot, "Enter")
    assert plot.run("events") == [["select", {"count": 3, "ids": [1, 2, 3]}]]
    assert "3 selected" in plot.page.locator(".scatter-live").inner_text()
    assert plot.page.locator(".scatter-help").is_hidden()
    view = plot.run("plot.view.x")
    press(plot, "ArrowRight")  # the arrow keys move the map again
    assert plot.run("plot.view.x") > view


def test_the_keyboard_draws_a_polygon_and_escape_leaves_it(show: Any) -> None:
    plot = show(ScatterData([np.array([[0, 0], [2, 0], [0, 2], [2, 2], [1, 0.4]])], names=list("abcde")))
    plot.page.get_by_role("button", name="Select with a lasso").focus()
    press(plot, "Enter")
    for id, (across, down) in ((0, (-20, 20)), (1, (20, 20)), (3, (20, -20))):
        x, y = plot.pixel(id)
        go_to(plot, x + across, y + down)
        press(plot, "Space")
    press(plot, "Enter")
    assert plot.run("events.at(-1)")[1]["ids"] == [0, 1, 3, 4]
    press(plot, "l", "Space", "ArrowLeft", "Space", "Escape")
    assert plot.run("[plot.lassoing, plot.cross, plot.path]") == [False, None, None]
    assert len(plot.run("events")) == 1


def test_a_selection_of_all_points_sends_few_ids(show: Any) -> None:
    plot = show(ScatterData([np.random.default_rng(1).normal(size=(50_000, 2))]))
    plot.run("plot.select(plot.within([[0, 0], [800, 0], [800, 600], [0, 600]]))")
    [[kind, chosen]] = plot.run("events")
    assert (kind, chosen["count"], len(chosen["ids"])) == ("select", 50_000, 200)


def boxes_overlap(boxes: np.ndarray) -> bool:
    left, top, right, bottom = boxes.T
    apart = (left[:, None] > right) | (right[:, None] < left) | (top[:, None] > bottom) | (bottom[:, None] < top)
    np.fill_diagonal(apart, True)
    return not apart.all()


@pytest.mark.parametrize("zoom", [1, 6, 60])
def test_labels_never_overlap_and_frequent_words_come_first(show: Any, zoom: float) -> None:
    rng = np.random.default_rng(3)
    names = [f"word{i}" if i % 2 else f"واژه{i}" for i in range(5000)]
    plot = show(ScatterData([rng.normal(size=(5000, 2))], names=names))
    plot.run("(factor) => plot.zoom(factor)", zoom)
    plot.wait()
    labels = plot.run("plot.labels")
    assert len(labels) > (40 if zoom < 60 else 1)
    assert not boxes_overlap(np.array([label["box"] for label in labels]))
    places = np.array(plot.run("Array.from({ length: 5000 }, (_, id) => plot.toPixel(id))"))
    visible = np.flatnonzero(((places > 0) & (places < [800, 600])).all(axis=1))
    assert labels[0]["id"] <= visible[0]


def make_mixed(count: int = 2000) -> tuple[ScatterData, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(3, count, 16)) + 1
    axes = np.linalg.qr(rng.normal(size=(16, 2)))[0]
    return ScatterData([layer @ axes for layer in vectors], vectors=vectors), vectors, axes


def test_the_mix_is_computed_exactly_with_and_without_unit_length(show: Any) -> None:
    data, vectors, axes = make_mixed(300)
    plot = show(data)
    for weights, gamma, unit in (([1, 0, 0], 1, False), ([0.2, 0.5, 0.3], 1.7, False), ([0.1, 0, 0.9], 0.4, True)):
        plot.run("([weights, gamma, unit]) => plot.mix(weights, gamma, unit)", [weights, gamma, unit])
        mixed = gamma * np.tensordot(weights, vectors, 1)
        if unit:
            mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        shown = np.array(plot.run("[...plot.locate()]")).reshape(-1, 2)
        np.testing.assert_allclose(shown, mixed @ axes, atol=2e-5 * np.abs(mixed).max())
        plot.run("plot.fit(false)")
        alone = plot.run(
            """() => {  // the shader puts a point where it was computed to be: its pixel is drawn, and no other
              const places = Array.from({ length: plot.size }, (_, id) => plot.toPixel(id));
              const gap = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
              const nearest = (id) => Math.min(...places.map((there, k) => k === id ? 99 : gap(places[id], there)));
              return places.map((here, id) => [...here, nearest(id)]).filter((one) => one[2] > 9).slice(0, 8);
            }"""
        )
        assert alone
        for x, y, _ in alone:
            assert plot.color(x, y)[3] > 60
            assert plot.color(x + 6, y)[3] == 0


def cpu_seconds_of_children() -> float:
    """The CPU time of the processes of the browser that this process started."""
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


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="CPU time of the browser is read from /proc"
)


@needs_proc
def test_sliders_draw_at_least_ten_times_a_second_and_ask_nothing(show: Any) -> None:
    plot = show(make_mixed()[0])
    requests: list[str] = []
    plot.page.on("request", lambda request: requests.append(request.url))
    before = cpu_seconds_of_children()
    frames = plot.run(
        """async () => {
          const before = plot.frames;
          for (let step = 0; step < 30; step++) {
            plot.mix([step / 30, 1 - step / 30, 0.5], 1 + step / 30, true);
            await new Promise(requestAnimationFrame);
          }
          return plot.frames - before;
        }"""
    )
    assert frames >= 28
    assert (cpu_seconds_of_children() - before) / frames <= 0.1
    assert requests == []


@needs_proc
def test_panning_a_hundred_thousand_points_is_cheap(show: Any) -> None:
    rng = np.random.default_rng(9)
    centers = rng.normal(size=(60, 2)) * 5
    positions = centers[rng.integers(0, 60, 100_000)] + rng.normal(size=(100_000, 2))
    plot = show(ScatterData([positions], names=[f"w{i}" for i in range(100_000)]))
    before = cpu_seconds_of_children()
    plot.run(
        "async () => { for (let k = 0; k < 12; k++) { plot.pan(5, 3); await new Promise(requestAnimationFrame); } }"
    )
    plot.run("new Promise((done) => { plot.gl.finish(); done(); })")
    assert 1000 * (cpu_seconds_of_children() - before) / 12 <= 250


def test_a_layout_moves_to_the_next(show: Any) -> None:
    plot = show(make_plain(4))
    target = [[0, 5], [1, 6], [2, 7], [3, 8]]
    plot.run("(places) => plot.morph(new Float32Array(places.flat()), 30)", target)
    plot.page.wait_for_function("plot.mixing[1] === 1")
    np.testing.assert_allclose(np.reshape(plot.run("[...plot.locate()]"), (4, 2)), target, atol=1e-6)
    assert plot.color(*plot.pixel(3))[3] > 200


def test_a_word_lights_up_in_both_of_two_plots(show: Any) -> None:
    plot = show(make_plain(4))
    shown = plot.run(
        """() => {
          const other = document.createElement("div");
          other.style.cssText = "width: 300px; height: 300px";
          document.body.append(other);
          const second = new Scatter(other, {});
          second.show({ ...plot.data, names: ["w3", "w2", "w1", "w0"] });
          Scatter.link(plot, second);
          plot.hover(0);
          plot.zoom(2);
          const answer = [second.echoed, second.view.k === plot.view.k];
          plot.tie("w0");
          plot.pan(40, 20);
          const share = (one) => (one.toPixel(one.find("w0"))[0] - one.width / 2) / Math.min(one.width, one.height);
          answer.push(Math.abs(share(plot) - share(second)) < 1e-6, second.find("w0") !== plot.find("w0"));
          plot.partner = null;
          other.remove();
          return answer;
        }"""
    )
    assert shown == [3, True, True, True]


def test_the_keyboard_moves_and_picks(show: Any) -> None:
    plot = show(make_plain(3))
    plot.page.locator("#plot").focus()
    before = plot.run("plot.view")
    plot.page.keyboard.press("ArrowRight")
    plot.page.keyboard.press("+")
    after = plot.run("plot.view")
    assert after["x"] > before["x"]
    assert after["k"] > before["k"]
    plot.page.keyboard.press("0")
    plot.page.wait_for_function("(k) => Math.abs(plot.view.k - k) < 1e-9", arg=before["k"])
    plot.page.keyboard.press("Enter")
    assert plot.run("events")[-1] == ["pick", 1, "w1"]


def test_without_webgl_there_is_a_message_and_a_table(chromium: Any, page_file: Path) -> None:
    page = chromium.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(page_file.as_uri())
    page.evaluate("(text) => plot.show(load(text))", pack(make_plain(5)))
    assert "no WebGL 2" in page.get_by_role("alert").inner_text()
    assert page.locator("tr").count() == 5
    assert page.locator("tr").nth(3).inner_text().split() == ["w3", "red"]
    page.close()


MOVING = """() => {
  const plot = Object.assign(Object.create(Scatter.prototype), { size: 1e6, held: new Map(), draw() {} });
  const counts = [plot.countDrawn()];
  plot.move();
  counts.push(plot.countDrawn());
  plot.last -= 200;
  counts.push(plot.countDrawn());
  plot.last -= 60_000;
  counts.push(plot.countDrawn());
  clearTimeout(plot.resting);
  plot.share = plot.last = 0;
  counts.push(plot.countDrawn());
  plot.move();
  clearTimeout(plot.resting);
  return [...counts, plot.countDrawn()];
}"""


def test_a_million_points_are_fewer_while_they_move_slowly_and_all_at_rest(shared_page: Any) -> None:
    rest, first, second, least, again, next_move = shared_page.evaluate(MOVING)
    assert rest == first == again == 1_000_000
    assert 100_000 < second < 260_000
    assert least == next_move == 100_000


def test_words_cover_neither_arrows_nor_points_nor_the_buttons(show: Any) -> None:
    rng = np.random.default_rng(4)
    levels = np.linspace(-1, 1, 10)
    first = np.stack([-1 + 0.2 * rng.uniform(size=10), levels], axis=1)
    second = np.stack([1 + 0.2 * rng.uniform(size=10), rng.permutation(levels)], axis=1)
    arrows = [{"from": row, "to": row + 10} for row in range(10)]
    beside = [[first[4, 0] + 0.07, first[4, 1] + 0.02]]  # a point where the word of another would stand
    data = ScatterData([np.vstack([first, second, beside])], names=[f"word {row}" for row in range(21)], arrows=arrows)
    plot = show(data)
    boxes = {label["id"]: label["box"] for label in plot.run("plot.labels")}
    assert len(boxes) == 21
    assert not boxes_overlap(np.array([*boxes.values(), *plot.run("plot.covered")]))
    places = np.array([plot.pixel(row) for row in range(21)])
    for id, (left, top, right, bottom) in boxes.items():
        inside = ((places > [left, top]) & (places < [right, bottom])).all(axis=1)
        assert not inside[np.arange(21) != id].any()
    assert plot.run("plot.labels.filter(({ id, box }) => plot.countCovered(id, box) > 0).length") <= 1


def test_a_word_stands_nearer_to_its_own_point_than_to_another(show: Any) -> None:
    relation = RelationPlot.of(firth.load("word2vec-en"), find_relation("capitals", "en"))
    plot = show(relation.scatter("a", "b", "capitals"))
    labels = {label["id"]: label["box"] for label in plot.run("plot.labels")}
    points = np.array([plot.pixel(row) for row in range(plot.run("plot.size"))])
    assert len(labels) == len(points) > 20
    astray = 0
    for id, (left, top, right, bottom) in labels.items():
        outside = np.maximum(np.maximum([left, top] - points, points - [right, bottom]), 0)
        gaps = np.hypot(*outside.T)
        astray += bool((gaps < gaps[id]).any())
    assert astray <= 1


def test_punctuation_gives_way_to_words(show: Any) -> None:
    rng = np.random.default_rng(3)
    positions = rng.uniform(-1, 1, (800, 2))
    positions[1] = positions[0]
    plot = show(ScatterData([positions], names=[",", "tea", *(f"w{row}" if row % 2 else "." for row in range(798))]))
    names = plot.run("plot.labels.map((label) => plot.names[label.id])")
    assert "tea" in names
    assert "," not in names
    assert len([name for name in names if name != "."]) > 20


def test_labels_of_a_million_points_are_frequent_words_at_every_zoom(show: Any) -> None:
    rng = np.random.default_rng(6)
    plot = show(ScatterData([rng.uniform(size=(200_000, 2))], names=[f"w{row}" for row in range(200_000)]))
    plot.run("plot.zoom(2.4)")  # a fifth of the map, with more than 20,000 points
    plot.wait()
    ids = plot.run("plot.labels.map((label) => label.id)")
    assert len(ids) > 30
    assert ids == sorted(ids)
    assert max(ids) < 6000


def test_a_searched_word_has_its_neighbors_and_some_others_around_it(show: Any) -> None:
    rng = np.random.default_rng(8)
    positions = np.vstack([rng.normal(size=(40, 2)) * 0.01 + [3, 3], rng.normal(size=(4000, 2))])
    plot = show(ScatterData([positions], names=[f"w{row}" for row in range(4040)]))
    plot.run("plot.light([1, 2, 3, 4, 5], 0, true)")
    plot.page.wait_for_function("plot.moved")
    plot.wait()
    x, y = plot.pixel(0)
    assert (abs(x - 400), abs(y - 300)) < (2, 2)
    assert {label["id"] for label in plot.run("plot.labels")} >= {0}
    places = np.array(plot.run("plot.names.map((_, id) => plot.toPixel(id))"))
    seen = ((places > 0) & (places < [800, 600])).all(axis=1).sum()
    assert 20 < seen < 2000


def test_words_stand_beside_arrows_and_tags_beside_points(show: Any) -> None:
    data = ScatterData(
        [np.array([[0, 0], [1, 0], [0.5, 0.4]])],
        names=["from", "to", ""],
        arrows=[{"from": 0, "to": 1}],
        tags=[{"at": 2, "text": "a sense", "tone": 0}],
    )
    shown = show(data)
    labels = {label["id"]: label["box"] for label in shown.run("plot.labels")}
    places = shown.run("[0, 1, 2].map((id) => plot.toPixel(id))")
    assert labels[0][2] < places[0][0]
    assert labels[1][0] > places[1][0]
    left, top, right, bottom = labels[2]
    assert left < places[2][0] < right
    assert not top - 1 < places[2][1] < bottom + 1
