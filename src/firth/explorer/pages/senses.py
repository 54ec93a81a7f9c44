"""Senses: every occurrence of a word a point, with the layers of ELMo mixed by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from firth.errors import UnknownWord
from firth.explorer.answers.analogies import guess_language
from firth.explorer.answers.senses import (
    example_words,
    find_text,
    keep_text,
    make_senses,
    read_gamma,
    read_weights,
    shows_contexts,
)
from firth.explorer.markup import join, tag
from firth.explorer.plot_pages import draw_sheet, read_view, write_view
from firth.explorer.problems import NoOccurrence
from firth.explorer.scatter_plot import ScatterPlot
from firth.explorer.spans import LabeledSpan, draw_words
from firth.explorer.translations import check_language
from firth.explorer.visit import ADDRESS, Visit, make_address
from firth.explorer.widgets import (
    Panel,
    button,
    choice,
    example_links,
    html,
    model_choice,
    python_line,
    text_area,
    text_field,
    warn_reader,
)
from firth.maps.senses import SenseMap, Weights

SENSES = ("", "2", "3", "4", "5")
WORDS = {"en": "bank", "fa": "ماه"}  # moon, and month
SHOWN = 60  # sentences in the list


def data_address(visit: Visit) -> str:
    """The address of the data of the plot.

    >>> from firth.explorer.models import Models
    >>> data_address(Visit(Models(), "en", "/senses", {"word": "bank"}))
    '/data/senses?word=bank&label-sense=senses&label-mean=mean'
    """
    labels = {f"label-{name}": visit.t(f"senses-{name}") for name in ("sense", "mean")}
    return make_address("/data/senses", read_request(visit) | labels)


def read_request(visit: Visit) -> dict[str, str]:
    """What the address asks for. A text in the address is kept in memory, and named by its key.

    >>> from firth.explorer.models import Models
    >>> read_request(Visit(Models(), "en", "/senses", {"word": "bank", "text": "a bank"}))
    {'word': 'bank', 'pasted': '3b60d1de12f3775d'}
    """
    names = ("model", "word", "source", "pasted", "senses", "mix", "gamma", "unit")
    request = {name: visit.get(name) for name in names if visit.get(name)}
    return {**request, "pasted": keep_text(visit.get("text"))} if visit.get("text") else request


def python_lines(visit: Visit) -> str:
    """The Python that gives the vectors of the points.

    >>> from firth.explorer.models import Models
    >>> state = {"model": "elmo-en", "word": "bank", "mix": "0,0,1"}
    >>> print(python_lines(Visit(Models(), "en", "/senses", state)).splitlines()[-1])
    senses.mixed((0.0, 0.0, 1.0), 1, unit=True)
    """
    words = visit.get("word").split()[:2]
    known = example_words()
    imports, source = "from firth.maps.senses import SenseMap, example_sentences\n", visit.get("source")
    if pasted := visit.get("text") or find_text(visit.get("pasted")):
        sentences = repr([line for line in pasted.splitlines() if line.strip()])
    elif source:
        imports += (
            "from firth.explorer.answers.senses import find_sentences\nfrom firth.explorer.models import Models\n"
        )
        sentences = f"find_sentences(Models([{source!r}]), {words!r}, {source!r})"
    else:
        examples = [f"example_sentences({known[word]!r})[{word!r}]" for word in words if word in known]
        sentences = f"[sentence for _, sentence in {' + '.join(examples)}]"
    weights, gamma = read_weights(visit.get("mix")), read_gamma(visit.get("gamma"))
    unit = visit.get("unit", "1") == "1"
    count = f", senses={visit.get('senses')}" if visit.get("senses").isdecimal() else ""
    shown = f"senses.mixed({write_weights(weights)}, {gamma:g}, unit={unit})"
    return (
        f"{imports}sentences = {sentences}\n"
        f"senses = SenseMap.of(firth.load({visit.get('model')!r}), sentences, {words!r}{count})\n"
        f"{'senses.contexts' if shows_contexts(visit.get('mix')) else shown}"
    )


def write_weights(weights: Weights) -> str:
    """Weights as Python; equal ones exactly.

    >>> write_weights((0.3333, 0.3333, 0.3333)), write_weights((0.0, 0.5, 1.0))
    ('(1 / 3, 1 / 3, 1 / 3)', '(0.0, 0.5, 1.0)')
    """
    equal = all(abs(weight - 1 / 3) < 1e-3 for weight in weights)
    return "(1 / 3, 1 / 3, 1 / 3)" if equal else str(tuple(round(weight, 4) for weight in weights))


def list_sentences(visit: Visit, senses: SenseMap) -> str:
    """The sentences by sense, the word marked."""
    parts = []
    for label, name in enumerate(senses.names):
        rows = [row for row, own in enumerate(senses.labels.tolist()) if own == label]
        lines = []
        for row in rows[:SHOWN]:
            one = senses.occurrences[row]
            place = [LabeledSpan(one.position, one.position + 1, "")]
            lines.append(tag("li", draw_words(one.words, place, lambda span, word: tag("mark", word)), dir="auto"))
        summary = tag("summary", tag("b", name, dir="auto"), f" ({len(rows):,})")
        parts.append(tag("details", summary, tag("ul", *lines), class_="sense"))
    return join(*parts)


async def show(visit: Visit) -> None:
    """Draws the page."""
    model = visit.choose_model("bilm")
    visit.state.setdefault("word", WORDS[guess_language(model)])

    def setter(name: str) -> Callable[[str], Awaitable[None]]:
        async def change(value: str) -> None:
            visit.remember(**{name: value, "view": ""})
            await frame.fill(draw)

        return change

    async def use_text() -> None:
        text = (area.value or "").strip()
        short = len(text) <= ADDRESS
        visit.remember(text=text if short else "", pasted="" if short else keep_text(text), source="", view="")
        await frame.fill(draw)

    async def draw() -> None:
        bilm = await visit.load(visit.choose_model("bilm"))
        try:
            senses = await visit.compute(make_senses, visit.models, read_request(visit))
        except UnknownWord as error:
            raise NoOccurrence(error) from None
        warn_reader(visit, [word for one in senses.occurrences for word in one.words], bilm)
        with ui.element("figure").classes("plot-frame"):
            label = visit.t("senses-of", word=visit.get("word"), count=len(senses))
            found = visit.t("senses-predicted" if senses.predicted else "senses-context")
            unit = visit.get("unit", "1") == "1"
            plot = ScatterPlot(
                visit, data_address(visit), label, unit=unit, point_size=11, view=read_view(visit), mixer="#mixer"
            )
            html(
                join(
                    tag("b", visit.get("model"), dir="ltr"), " · ", label, " ", found, " ", visit.t("senses-mean-note")
                ),
                "figcaption",
            )
        html(join(list_sentences(visit, senses))).classes("senses-list")
        with ui.element("div") as lines:
            python_line(visit, python_lines(visit))

        def remember_mix(event: Any) -> None:
            weights = "" if event.args["second"] else ",".join(f"{weight:.4g}" for weight in event.args["mixing"])
            visit.remember(mix=weights, gamma=f"{event.args['gamma']:g}", unit=int(event.args["unit"]))
            lines.clear()
            with lines:
                python_line(visit, python_lines(visit))

        plot.on("mix", remember_mix)
        plot.on("view", lambda event: visit.remember(view=write_view(event.args)))

    with ui.element("div").classes("plot-page"):
        frame = Panel(visit, "plots")
        with draw_sheet(visit):
            with ui.element("div").classes("controls"):
                text_field(visit.t("senses-words"), visit.get("word"), setter("word"), "wide")
                counts = {one: one or visit.t("senses-auto") for one in SENSES}
                choice(visit.t("senses-count"), counts, visit.get("senses"), setter("senses"))
                model_choice(visit, visit.models.of("bilm"), model, setter("model"))
                if indexes := visit.models.of("occurrences"):
                    sources = {"": visit.t("senses-examples"), **{name: name for name in indexes}}
                    choice(visit.t("senses-source"), sources, visit.get("source"), setter("source"))
            html(join(), "div").props("id=mixer").classes("mixer-box")
            languages = {**example_words(), "bank bat": check_language("en")}
            example_links(
                visit,
                {word: {"word": word, "model": visit.model_for(one, "bilm")} for word, one in languages.items()},
            )
            pasted = visit.get("text") or find_text(visit.get("pasted"))
            area = text_area(visit, visit.t("senses-paste"), pasted, rows=3)
            button(visit.t("senses-use"), use_text)
    await frame.fill(draw)
