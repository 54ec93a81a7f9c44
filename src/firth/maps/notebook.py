"""Maps and senses in a notebook: the scatter plot as a widget (anywidget)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from html import escape
from os import PathLike
from string import Template
from typing import Any

from firth.errors import MissingExtra
from firth.files import write_bytes
from firth.maps.cache import cached_map
from firth.maps.layout import Layout
from firth.maps.report import map_data
from firth.maps.scatter import SCRIPT, ScatterData
from firth.maps.senses import LANGUAGES, SenseMap, example_sentences
from firth.vectors.words import WordVectors

RENDER = SCRIPT.with_name("notebook.js")
PAGE = SCRIPT.with_name("plot.html")


def make_page(data: bytes, *, mixer: bool = False, title: str = "firth") -> str:
    """A packed plot as one HTML file that opens from disk, without a network and without a kernel.

    >>> page = make_page(ScatterData([[[0, 0], [1, 1]]], names=["tea", "milk"]).pack())
    >>> page.startswith("<!doctype html>"), "https://" in page
    (True, False)
    """
    module = SCRIPT.read_text(encoding="utf-8") + RENDER.read_text(encoding="utf-8")
    texts = {
        "title": escape(title),
        "module": module.replace("export default", "const widget =").replace("</script", "<\\/script"),
        "data": base64.b64encode(data).decode(),
        "mixer": "true" if mixer else "false",
    }
    return Template(PAGE.read_text(encoding="utf-8")).substitute(texts)


@cache
def widget_class() -> Any:
    """The class of the widget, made when it is first shown, because anywidget is an extra."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingExtra("a plot in a notebook", "notebook") from error

    base: Any = anywidget.AnyWidget

    class ScatterWidget(base):  # type: ignore[misc]
        """A scatter plot; `picked` is the word that was clicked, `selected` are words in the lasso, at most 200.

        `save("map.html")` keeps it: a notebook keeps widgets only while its kernel runs.
        """

        _esm = SCRIPT.read_text(encoding="utf-8") + RENDER.read_text(encoding="utf-8")
        data = traitlets.Bytes().tag(sync=True)
        height = traitlets.Int(520).tag(sync=True)
        mixer = traitlets.Bool(False).tag(sync=True)
        picked = traitlets.Unicode("").tag(sync=True)
        selected = traitlets.List(traitlets.Unicode()).tag(sync=True)

        def save(self, path: str | PathLike[str]) -> None:
            """Writes the plot as one HTML file that opens without a network and without a kernel."""
            with write_bytes(path) as file:
                file.write(make_page(self.data, mixer=self.mixer).encode())

    return ScatterWidget


def show_plot(data: ScatterData, *, mixer: bool = False, height: int = 520) -> Any:
    """A plot as a widget."""
    return widget_class()(data=data.pack(), mixer=mixer, height=height)


def show_map(vectors: WordVectors, words: int = 20_000, *, layout: Layout | None = None, height: int = 520) -> Any:
    """The map of the most frequent words as a widget; `vectors.map()` calls it."""
    unit = vectors.unit[:words]
    result = cached_map(unit, layout)
    return show_plot(map_data(list(vectors.vocabulary[:words]), unit, result), height=height)


def show_senses(
    bilm: Any, words: str | Sequence[str], sentences: Sequence[str | Sequence[str]] | None = None, *, height: int = 520
) -> Any:
    """The occurrences of one word or two as a widget with sliders for the layers.

    Without sentences, the example sentences of the words are taken.
    """
    asked = [words] if isinstance(words, str) else list(words)
    if sentences is None:
        tables = [example_sentences(language) for language in LANGUAGES]
        sentences = [text for table in tables for word in asked for _, text in table.get(word, ())]
    return show_plot(SenseMap.of(bilm, sentences, asked).scatter(), mixer=True, height=height)
