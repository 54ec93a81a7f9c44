"""The map in a browser: its pixels, its words and their neighbors are those of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.explorer.conftest import OpenTab, Tab, run_copied

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
    np.testing.assert_allclose(np.reshape(page.evaluate(f"[...{PLOT}.locate()]"), (-1, 2)), positions, atol=1e-4)
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
