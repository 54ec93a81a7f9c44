"""Map: the words of a model in the plane, in one model or in two side by side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nicegui import ui

from firth.errors import UnknownWord
from firth.explorer.answers.word_map import FIRST, MAPS, METHODS, MapJob, read_count
from firth.explorer.markup import join, tag
from firth.explorer.models import WORDS
from firth.explorer.plot_pages import draw_sheet, read_view, write_view
from firth.explorer.question import Question
from firth.explorer.scatter_plot import ScatterPlot
from firth.explorer.visit import Visit, make_address
from firth.explorer.widgets import (
    Panel,
    bars,
    button,
    choice,
    example_links,
    html,
    model_choice,
    python_line,
    remembering,
    text_field,
)

COUNTS = (10_000, FIRST, 1_000_000)  # words to choose from
COLORS = ("cluster", "frequency", "kept", "direction")
TICK = 0.5  # seconds between looks at a layout


def data_address(visit: Visit, route: str, model: str, other: str = "", **more: str) -> str:
    """The address of the data of a map.

    >>> from firth.explorer.models import Models
    >>> data_address(Visit(Models(), "en", "/map"), "/data/map/frame", "svd-en")
    '/data/map/frame?model=svd-en&method=umap&words=100000'
    """
    labels = {key: visit.t(f"map-{key}") for key in ("cluster", "frequency", "rare", "frequent", "kept")}
    count = str(read_count(visit.get("words")))
    state = {"model": model, "other": other, "method": visit.get("method", "umap"), "words": count, **more}
    return make_address(route, state | (labels if route == "/data/map" else {}))


def default_direction(model: str) -> tuple[str, str]:
    """Two words whose direction colors the map.

    >>> default_direction("svd-en")
    ('man', 'woman')
    """
    return ("مرد", "زن") if model.endswith("-fa") else ("man", "woman")


class MapView:
    """One map on the page: the plot and the line below it that says how true it is."""

    def __init__(self, visit: Visit, model: str, job: MapJob, cut: bool, other: str = "") -> None:
        self.visit, self.model, self.job, self.other, self.cut = visit, model, job, other, cut
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
            with ui.element("figcaption"):
                self.caption = html(join(""), "span").props("role=status")
                self.switch = button(visit.t("map-stop"), self.turn).classes("small")
        self.finished = job.result is not None
        self.tell()

    def tell(self) -> None:
        """Says how far the layout is, or how true the map is."""
        job = self.job
        name = tag("b", self.model, dir="ltr")
        self.switch.set_visibility(job.result is None)
        self.switch.content = self.visit.t("map-again" if job.stopped else "map-stop")
        if job.result is not None:
            text = self.visit.t("map-quality", percent=f"{100 * job.result.quality:.0f}")
        elif job.stopped:
            text = self.visit.t("map-stopped")
        else:
            text = self.visit.t(f"map-step-{job.step}", percent=f"{100 * job.share:.0f}")
        several = self.visit.t("map-first", count=f"{len(job.words):,}") if self.cut else ""
        landmarks = job.layout.landmarks
        placed = self.visit.t("map-landmarks", count=f"{landmarks:,}") if len(job.words) > landmarks else ""
        self.caption.content = join(name, " · ", " ".join(filter(None, (text, several, placed))))

    def tick(self) -> bool:
        """Shows the latest frame; whether it was the last one."""
        is_last = self.job.done.is_set()  # asked first: the job may end while its frame is shown
        if self.version != self.job.version:
            self.version = self.job.version
            self.plot.run_method("morph", data_address(self.visit, "/data/map/frame", self.model, self.other))
        if not self.finished:
            self.tell()
        if self.job.result is not None and not self.finished:
            self.finished = True
            field = {"key": "kept", "label": self.visit.t("map-kept"), "kind": "ramp", "low": "0", "high": "10"}
            address = data_address(self.visit, "/data/map/kept", self.model)
            self.plot.run_method("addField", field, address, self.visit.get("color") == "kept")
        return is_last

    async def turn(self) -> None:
        """Stops the layout, or makes it again."""
        if self.job.stopped:
            ui.navigate.to(make_address(self.visit.address, self.visit.state))
        else:
            self.job.stop()
            self.tell()

    def color(self) -> None:
        """Colors the points as the address says."""
        key = self.visit.get("color", "cluster")
        if key != "direction":
            self.plot.run_method("colorBy", key)
            return
        low, high = (self.visit.get(name) or default for name, default in zip(("low", "high"), self.ends()))
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
        word = visit.get(name) or default
        if word not in vectors:
            raise UnknownWord(word, vectors.vocabulary.near(word))


async def show(visit: Visit) -> None:
    """Draws the page."""
    model = visit.choose_model(*WORDS)
    other = visit.choose_other(*WORDS)
    method = visit.get("method", "umap")
    count = read_count(visit.get("words"))
    shown_models = [name for name in (model, other) if name]
    jobs = [await visit.compute(MAPS.job, visit.models, name, method, count, again=True) for name in shown_models]
    sizes = [len(await visit.load(name)) for name in shown_models]

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
            python_line(visit, map_python(model, count, method))
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
            cut = [len(job.words) < size for job, size in zip(jobs, sizes)]
            views = [MapView(visit, model, jobs[0], cut[0])]
            if other:
                views.append(MapView(visit, other, jobs[1], cut[1], model))
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
                counts = {str(one): f"{min(one, max(sizes)):,}" for one in list_counts(max(sizes), count)}
                choice(visit.t("map-words"), counts, str(count), reload("words"))
            with ui.element("div").classes("controls") as direction:
                ends = default_direction(model)
                text_field(visit.t("map-low"), visit.get("low", ends[0]), remembering(visit, "low", recolor))
                text_field(visit.t("map-high"), visit.get("high", ends[1]), remembering(visit, "high", recolor))
            direction.set_visibility(visit.get("color") == "direction")
            if find_spec("pyarrow"):  # an extra
                address = data_address(visit, "/data/map/table", model)
                label = visit.t("map-save")
                html(tag("p", tag("a", label, href=address, download=f"{Path(model).name}.parquet"), class_="save"))
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


def list_counts(size: int, chosen: int) -> list[int]:
    """The numbers of words to choose from: at most one that is not smaller than the vocabulary.

    >>> list_counts(18_000, FIRST), list_counts(400_000, FIRST), list_counts(18_000, 5_000)
    ([10000, 100000], [10000, 100000, 1000000], [5000, 10000, 100000])
    """
    counts = sorted({*COUNTS, chosen})
    enough = next((place for place, one in enumerate(counts) if one >= size), len(counts))
    return [one for place, one in enumerate(counts) if place <= enough or one == chosen]


def map_python(model: str, count: int = FIRST, method: str = "umap") -> str:
    """The lines of Python that give the positions of the map.

    >>> print(map_python("svd-en"))
    from firth.maps.cache import cached_map
    cached_map(firth.load('svd-en').unit[:100000]).positions
    >>> print(map_python("svd-en", 5000, "tsne").splitlines()[-1])
    cached_map(firth.load('svd-en').unit[:5000], Layout(method='tsne')).positions
    """
    lines = ["from firth.maps.cache import cached_map"]
    option = ""
    if method != "umap":
        lines.append("from firth.maps.layout import Layout")
        option = f", Layout(method={method!r})"
    return "\n".join([*lines, f"cached_map(firth.load({model!r}).unit[:{count}]{option}).positions"])
