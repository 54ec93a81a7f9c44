"""The map in a browser: its pixels, its words and their neighbors are those of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.explorer.conftest import OpenTab, Tab, run_copied, start_explorer

import firth
from firth.explorer.models import Models
from firth.explorer.pages.map import data_address, default_direction, map_python
from firth.explorer.visit import Visit

PLOT = "document.querySelector('.scatter').scatter"
MODEL = "fasttext-fa"  # the smallest of those that ship


def open_map(tab: Tab, path: str) -> Any:
    page = tab.open(path)
    page.wait_for_function(f"document.querySelector('.scatter')?.scatter?.frames > 0 && {PLOT}.lit")
    return page


def count_colors(page: Any) -> int:
    """How many different colors the points have on the screen."""
    return page.evaluate(
        f"""() => {{
          const plot = {PLOT}, gl = plot.gl;
          plot.render();
          const pixels = new Uint8Array(4 * plot.points.width * plot.points.height);
          gl.readPixels(0, 0, plot.points.width, plot.points.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
          const seen = new Set();
          for (let k = 0; k < pixels.length; k += 4) if (pixels[k + 3] > 128) seen.add((pixels[k] >> 5) * 64 + (pixels[k + 1] >> 5) * 8 + (pixels[k + 2] >> 5));
          return seen.size;
        }}"""  # noqa: E501
    )


def test_the_addresses_of_data_have_the_labels_of_the_language() -> None:
    visit = Visit(Models(), "fa", "/map", {"method": "tsne"})
    assert "method=tsne" in data_address(visit, "/data/map/frame", MODEL)
    assert "cluster=" in data_address(visit, "/data/map", MODEL)
    assert default_direction(MODEL) == ("مرد", "زن")


def test_a_found_word_lights_its_neighbors_up_and_the_layout_becomes_the_librarys(tab: Tab) -> None:
    page = open_map(tab, f"/map?model={MODEL}")
    assert count_colors(page) > 10
    field = page.get_by_label("Find a word")
    field.fill("چای")
    field.press("Enter")
    page.wait_for_function(f"{PLOT}.lit.length > 0")
    near = firth.load(MODEL).most_similar("چای", topn=12)
    lit = page.evaluate(f"{PLOT}.lit.map((id) => {PLOT}.names[id])")
    assert lit == [word for word, _ in near]
    tab.settle()
    assert page.locator(".bars th[scope=row]").all_inner_texts() == lit
    assert [word for word, _ in run_copied(page.locator(".python code").inner_text())] == lit
    page.wait_for_function("document.querySelector('figcaption').innerText.includes('ten nearest')")
    page.wait_for_function(f"{PLOT}.mixing[1] === 1 && {PLOT}.data.fields.some((field) => field.key === 'kept')")
    positions = run_copied(f"import firth\n{map_python(MODEL)}")
    for _ in range(100):  # the last frame of the layout may still be on its way
        shown = np.reshape(page.evaluate(f"[...{PLOT}.locate()]"), (-1, 2))
        if np.allclose(shown, positions, atol=1e-4):
            break
        page.wait_for_timeout(200)
    np.testing.assert_allclose(shown, positions, atol=1e-4)
    page.wait_for_function("location.search.includes('view=')")
    view = page.evaluate(f"{PLOT}.view")
    page.reload()
    tab.settle()
    page.wait_for_function(f"document.querySelector('.scatter')?.scatter?.lit.length === {len(lit)}")
    assert page.get_by_label("Find a word").input_value() == "چای"
    assert view["k"] > 0


def test_two_models_stand_side_by_side_with_the_same_word_lit(tab: Tab) -> None:
    page = open_map(tab, f"/map?model={MODEL}&other={MODEL}&word=چای&color=direction")
    page.wait_for_function(f"document.querySelectorAll('.scatter')[1]?.scatter?.center >= 0 && {PLOT}.center >= 0")
    centers = page.evaluate(
        "[...document.querySelectorAll('.scatter')].map((one) => one.scatter.name(one.scatter.center))"
    )
    assert centers == ["چای", "چای"]
    page.wait_for_function(f"{PLOT}.field.key === 'direction'")
    assert "مرد" in page.locator(".scatter-legend").first.inner_text()


def test_a_phone_shows_the_plot_first_and_the_controls_in_a_sheet(open_tab: OpenTab) -> None:
    tab = open_tab("fa", "dark", 400, 800)
    page = open_map(tab, f"/map?model={MODEL}&word=ندارد‌ش")
    assert page.locator(".scatter").bounding_box()["y"] < 150
    assert page.get_by_label("یافتن واژه").is_hidden()
    page.get_by_role("button", name="تنظیم‌ها").click()
    assert page.get_by_label("یافتن واژه").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate(f"{PLOT}.dark")


def test_a_phone_shows_what_went_wrong_above_the_closed_controls(open_tab: OpenTab) -> None:
    tab = open_tab("en", "light", 400, 800)
    page = open_map(tab, "/map?model=word2vec-en&words=10000&word=cofffee")
    error = page.locator(".sheet .state.error")
    error.get_by_role("link", name="coffee", exact=True).wait_for(state="visible")
    assert page.get_by_label("Find a word").is_hidden()
    error.get_by_role("link", name="coffee", exact=True).click()
    page.wait_for_function("location.search.includes('word=coffee') && !document.querySelector('.state.error')")
    assert page.locator(".bars").is_hidden()


def test_the_legend_opens_and_lights_a_cluster_and_a_table_is_saved(tab: Tab) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    page = open_map(tab, f"/map?model={MODEL}&words=10000")
    page.locator(".scatter-legend summary").click()
    entry = page.locator(".scatter-legend button").nth(2)
    entry.click()
    members = int(entry.locator("span").inner_text().replace(",", ""))
    page.wait_for_function(f"{PLOT}.lit.length === {members}")
    assert "10,000 most frequent" in page.locator("figcaption").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as Parquet").click()
    table = pq.read_table(saved.value.path())
    assert saved.value.suggested_filename == f"{MODEL}.parquet"
    assert table.num_rows == 10_000
    assert table["word"].to_pylist() == list(firth.load(MODEL).vocabulary[:10_000])
    positions = run_copied(f"import firth\n{map_python(MODEL, 10_000)}")
    np.testing.assert_array_equal(np.stack([table["x"], table["y"]], axis=1), positions)


def test_the_keyboard_selects_words_of_the_map(tab: Tab) -> None:
    page = open_map(tab, f"/map?model={MODEL}")
    page.wait_for_function(f"{PLOT}.data.fields.some((field) => field.key === 'kept') && {PLOT}.mixing[1] !== 0.5")
    page.locator(".scatter").focus()
    for key in ("l", *["ArrowLeft"] * 4, *["ArrowUp"] * 4, " ", *["ArrowRight"] * 8, *["ArrowDown"] * 8, "Enter"):
        page.keyboard.press(key)
    page.locator(".scatter-selection").wait_for()
    rows = page.locator(".scatter-selection td:first-child").all_inner_texts()
    assert rows == page.evaluate(f"{PLOT}.lit.slice(0, 200).map((id) => {PLOT}.names[id])")
    assert len(rows) > 20


def test_a_layout_is_stopped_and_started_again(chromium: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    firth.save(
        firth.WordVectors([f"w{row}" for row in range(40_000)], rng.normal(size=(40_000, 48))), tmp_path / "many"
    )
    process, address = start_explorer(str(tmp_path / "many"))
    context = chromium.new_context(locale="en")
    tab = Tab(context, address)
    page = open_map(tab, "/map")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.locator("figcaption", has_text="the layout was stopped").wait_for()
    page.get_by_role("button", name="Start again", exact=True).click()
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    tab.check()
    context.close()
    process.terminate()
    process.wait(20)
