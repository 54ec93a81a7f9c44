"""Map: the words of a model in the plane, in one model or in two side by side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from firth.errors import UnknownWord
from firth.explorer.answers.word_map import MAPS, METHODS, MOST, MapJob
from firth.explorer.markup import join, tag
from firth.explorer.models import WORDS
from firth.explorer.plot_pages import draw_sheet, read_view, write_view
from firth.explorer.question import Question
from firth.explorer.scatter_plot import ScatterPlot
from firth.explorer.visit import Visit, make_address
from firth.explorer.widgets import (
    Panel,
    bars,
    choice,
    example_links,
    html,
    model_choice,
    python_line,
    remembering,
    text_field,
)

COLORS = ("cluster", "frequency", "kept", "direction")
TICK = 0.5  # seconds between looks at a layout


def data_address(visit: Visit, route: str, model: str, other: str = "", **more: str) -> str:
    """The address of the data of a map.

    >>> from firth.explorer.models import Models
    >>> data_address(Visit(Models(), "en", "/map"), "/data/map/frame", "svd-en")
    '/data/map/frame?model=svd-en&method=umap'
    """
    labels = {key: visit.t(f"map-{key}") for key in ("cluster", "frequency", "rare", "frequent", "kept")}
    state = {"model": model, "other": other, "method": visit.get("method", "umap"), **more}
    return make_address(route, state | (labels if route == "/data/map" else {}))


def default_direction(model: str) -> tuple[str, str]:
    """Two words whose direction colors the map.

    >>> default_direction("svd-en")
    ('man', 'woman')
    """
    return ("مرد", "زن") if model.endswith("-fa") else ("man", "woman")


class MapView:
    """One map on the page: the plot and the line below it that says how true it is."""

    def __init__(self, visit: Visit, model: str, job: MapJob, other: str = "") -> None:
        self.visit, self.model, self.job, self.other = visit, model, job, other
        self.version = job.version
        with ui.element("figure").classes("plot-frame"):
            title = visit.t("map-of", model=model, count=f"{len(job.words):,}")
            self.plot = ScatterPlot(
                visit,
                data_address(visit, "/data/map", model, other),
                title,
                view=read_view(visit),
                group="maps",
            )
            self.caption = html(join(""), "figcaption").props("role=status")
        self.finished = job.result is not None
        self.tell()

    def tell(self) -> None:
        """Says how far the layout is, or how true the map is."""
        job = self.job
        name = tag("b", self.model, dir="ltr")
        if job.result is None:
            text = self.visit.t(f"map-step-{job.step}", percent=f"{100 * job.share:.0f}")
        else:
            text = self.visit.t("map-quality", percent=f"{100 * job.result.quality:.0f}")
        many = self.visit.t("map-first", count=f"{MOST:,}") if len(job.words) == MOST else ""
        self.caption.content = join(name, " · ", text, " ", many)

    def tick(self) -> bool:
        """Shows the latest frame; whether the map is finished and shown."""
        if self.version != self.job.version:
            self.version = self.job.version
            self.plot.run_method("morph", data_address(self.visit, "/data/map/frame", self.model, self.other))
            self.tell()
        if self.job.result is not None and not self.finished:
            self.finished = True
            field = {"key": "kept", "label": self.visit.t("map-kept"), "kind": "ramp", "low": "0", "high": "10"}
            address = data_address(self.visit, "/data/map/kept", self.model)
            self.plot.run_method("addField", field, address, self.visit.get("color") == "kept")
        return self.finished

    def color(self) -> None:
        """Colors the points as the address says."""
        key = self.visit.get("color", "cluster")
        if key != "direction":
            self.plot.run_method("colorBy", key)
            return
        low, high = (self.visit.get(name, default) for name, default in zip(("low", "high"), self.ends()))
        field = {"key": "direction", "label": f"{low} – {high}", "kind": "diverging", "low": low, "high": high}
        field["raw"] = False  # type: ignore[assignment]
        address = data_address(self.visit, "/data/map/direction", self.model, low=low, high=high)
        self.plot.run_method("addField", field, address, True)

    def ends(self) -> tuple[str, str]:
        """The default ends of the direction."""
        return default_direction(self.model)


async def check_direction(visit: Visit, model: str) -> None:
    """An unknown word at an end of the direction is an error of the page."""
    vectors = await visit.load(model)
    for name, default in zip(("low", "high"), default_direction(model)):
        word = visit.get(name, default)
        if word not in vectors:
            raise UnknownWord(word, vectors.vocabulary.near(word))


async def show(visit: Visit) -> None:
    """Draws the page."""
    model = visit.choose_model(*WORDS)
    other = visit.choose_other(*WORDS)
    method = visit.get("method", "umap")
    jobs = [await visit.compute(MAPS.job, visit.models, name, method) for name in filter(None, (model, other))]

    def reload(name: str) -> Callable[[str], Awaitable[None]]:
        async def change(value: str) -> None:
            state = {**visit.state, name: value, "view": ""}
            ui.navigate.to(make_address(visit.address, state))

        return change

    async def find(value: str) -> None:
        visit.remember(word=value, view="")
        await search()

    async def recolor() -> None:
        direction.set_visibility(visit.get("color") == "direction")
        await notes.fill(draw_notes)

    async def draw_notes() -> None:
        if visit.get("color") == "direction":
            await check_direction(visit, model)
        for view in views:
            view.color()

    async def search() -> None:
        await panel.fill(draw_neighbors)

    async def draw_neighbors() -> None:
        word = visit.get("word")
        if not word:
            for view in views:
                view.plot.run_method("light", [], -1, False)
            html(tag("p", visit.t("map-hint"), class_="note"))
            python_line(visit, map_python(model))
            return
        question = Question(model, "most_similar", (word,), {"topn": 12})
        near = await visit.ask(question)
        vectors = await visit.load(model)
        shown = vectors.vocabulary[int(vectors.ids([word])[0])] if int(vectors.ids([word])[0]) >= 0 else word
        finished = all(one.job.result is not None for one in views)  # until then points move
        for view in views:
            go = view is views[0] and finished and not visit.get("view")  # a view in the address stays
            view.plot.run_method("lightWords", [one for one, _ in near], shown, go)
        if other and finished:
            views[0].plot.run_method("tie", shown)
        rows = [
            (tag("a", one, href=make_address(visit.address, {**visit.state, "word": one, "view": ""})), cosine)
            for one, cosine in near
        ]
        html(tag("h2", word, dir="auto"))
        html(tag("p", visit.t("map-near", dim=vectors.dim), class_="note"))
        html(bars(rows, (visit.t("word"), visit.t("cosine"))))
        python_line(visit, question.python())

    with ui.element("div").classes("plot-page"):
        with ui.element("div").classes("plots two" if other else "plots"):
            views = [MapView(visit, model, jobs[0])]
            if other:
                views.append(MapView(visit, other, jobs[1], model))
        with draw_sheet(visit):
            names = visit.models.of(*WORDS)
            with ui.element("div").classes("controls"):
                field = text_field(visit.t("map-search"), visit.get("word"), find, "wide")
                colors = {one: visit.t(f"map-{one}") for one in COLORS}
                choice(
                    visit.t("map-color"), colors, visit.get("color", "cluster"), remembering(visit, "color", recolor)
                )
                model_choice(visit, names, model, reload("model"))
                model_choice(visit, names, other, reload("other"), "other-model")
                methods = {one: visit.t(f"map-{one}") for one in METHODS}
                choice(visit.t("map-method"), methods, method, reload("method"))
            with ui.element("div").classes("controls") as direction:
                ends = default_direction(model)
                text_field(visit.t("map-low"), visit.get("low", ends[0]), remembering(visit, "low", recolor))
                text_field(visit.t("map-high"), visit.get("high", ends[1]), remembering(visit, "high", recolor))
            direction.set_visibility(visit.get("color") == "direction")
            notes = Panel(visit, "notes")
            panel = Panel(visit)
            example_links(visit, make_examples(visit))

    async def pick(event: Any) -> None:
        field.value = event.args["name"]
        await find(event.args["name"])

    async def ready(event: Any) -> None:
        shown.add(event.sender)
        if len(shown) == len(views):
            await recolor()
            await search()

    shown: set[Any] = set()
    for view in views:
        view.plot.on("pick", pick).on("ready", ready)
    views[0].plot.on("view", lambda event: visit.remember(view=write_view(event.args)))

    calm: list[bool] = []

    async def tick() -> None:
        finished = [view.tick() for view in views]
        calm.append(all(finished))
        if all(calm[-3:]) and len(calm) > 2:  # the last layout has come to rest
            timer.deactivate()
            if visit.get("word") and not visit.get("view") and len(shown) == len(views):
                await search()

    timer = ui.timer(TICK, tick)


def make_examples(visit: Visit) -> dict[str, dict[str, object]]:
    """Maps worth a look.

    >>> from firth.explorer.models import Models
    >>> make_examples(Visit(Models(), "en", "/map"))["tea"]["word"]
    'tea'
    """
    return {
        "tea": {"word": "tea", "model": "word2vec-en"},
        "man – woman": {"color": "direction", "low": "man", "high": "woman", "model": "word2vec-en"},
        "word2vec | GloVe": {"model": "word2vec-en", "other": "glove-en", "word": "music"},
        "چای": {"model": "fasttext-fa", "word": "چای"},
    }


def map_python(model: str) -> str:
    """The lines of Python that give the positions of the map.

    >>> print(map_python("svd-en").splitlines()[1])
    cached_map(firth.load('svd-en').unit[:100000]).positions
    """
    lines = "from firth.maps.cache import cached_map\n"
    return f"{lines}cached_map(firth.load({model!r}).unit[:{MOST}]).positions"
